//! An operation without a waiting thread, in memory that ends with it.

use crate::request::{Frame, Request};
use heddle_platform::Platform;
use heddle_sync::node;
use heddle_sync::queues::chain::NODE_ALIGN;
use std::mem::MaybeUninit;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;

/// The memory of a posted operation that is small enough.
#[repr(C, align(128))]
struct Block(MaybeUninit<[u8; node::BLOCK_BYTES]>);

/// An operation for whose result no thread will wait, in separate memory.
pub(crate) struct Posted<P: Platform, T: 'static, F> {
    frame: NonNull<Frame<P, T, F, ()>>,
}

impl<P: Platform, T: 'static, F: FnOnce(&mut T) + Send + 'static> Posted<P, T, F> {
    pub(crate) fn new(operation: F) -> Self {
        let frame = Frame::unattended(operation, Self::execute);
        if !Self::FITS_BLOCK {
            return Self { frame: NonNull::from(Box::leak(Box::new(frame))) };
        }
        let place = node::take::<P, _>(Block(MaybeUninit::uninit())).cast();
        // SAFETY: large and aligned enough, and only the caller has it.
        unsafe { place.write(frame) };
        Self { frame: place }
    }

    const FITS_BLOCK: bool = size_of::<Frame<P, T, F, ()>>() <= node::BLOCK_BYTES
        && align_of::<Frame<P, T, F, ()>>() <= NODE_ALIGN;

    /// The request, to be handed to others: [`Request::execute`] ends it.
    pub(crate) fn request(&self) -> NonNull<Request<P, T>> {
        self.frame.cast()
    }

    /// Ends an operation that no thread found, and returns it.
    pub(crate) fn into_operation(self) -> Option<F> {
        // SAFETY: no thread found it.
        unsafe { Self::end(self.frame) }
    }

    /// Takes the operation out and gives the memory back.
    ///
    /// # Safety
    ///
    /// `place` is from [`new`](Self::new), alive, and only the caller has it; it ends here.
    unsafe fn end(place: NonNull<Frame<P, T, F, ()>>) -> Option<F> {
        if !Self::FITS_BLOCK {
            // SAFETY: leaked by new() as this type, ended once.
            return unsafe { Box::from_raw(place.as_ptr()) }.into_operation();
        }
        // SAFETY: new() wrote a frame of this type there; it ends once, so it is moved out once.
        let frame = unsafe { place.read() };
        // SAFETY: taken by new() as a block; the frame in it has been moved out.
        unsafe { node::give::<P, Block>(place.cast()) };
        frame.into_operation()
    }

    unsafe fn execute(request: NonNull<Request<P, T>>, state: &mut T) {
        // The memory goes back before the operation runs, since the operation may be long or post another.
        // SAFETY: request() made it from a frame of this type; it is run once.
        let operation = unsafe { Self::end(request.cast()) };
        if let Some(operation) = operation {
            run_unattended(operation, state);
        }
    }
}

/// Runs an operation for which no thread waits. A panic ends with it.
pub(crate) fn run_unattended<T>(operation: impl FnOnce(&mut T), state: &mut T) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| operation(state))) {
        // Its destructor may panic as well.
        let _ = panic::catch_unwind(AssertUnwindSafe(move || drop(payload)));
    }
}
