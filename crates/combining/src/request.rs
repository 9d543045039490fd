//! A posted operation, and the wait for its result.
//!
//! **What it gives.** [`Frame`] holds one operation: on the stack of the thread that waits for it, so that
//! waiting allocates nothing, or ([`Posted`](crate::posted)) in separate memory that ends with the operation.
//! [`Request`] is its first field, which does not know the operation's type. Combiners chain, run and answer
//! requests.
//!
//! | `state` | meaning | left by |
//! |---|---|---|
//! | `UNATTENDED` | no thread waits; the memory ends when the operation has run | never |
//! | `WAITING` | the owner waits, perhaps asleep on this word | the combiner's store of `TOLD` |
//! | `TOLD` | the verdict comes in a moment | the combiner's store of a verdict |
//! | `LEAD` | the owner is to be the next combiner | the owner, or a combiner's `TOLD` |
//! | `DONE` | the result is there | never |
//!
//! **Invariants.**
//!
//! 1. The operation and the result belong to the combiner from the moment it found the request until it
//!    stores a verdict, and to the owner before and after. The Release and Acquire of the list that holds the
//!    request order the finding; the verdict's store is Release and the owner's check Acquire.
//! 2. After it stored a verdict the combiner does not touch the request: the owner may have left, and its
//!    stack with it. So the wake-up comes before the verdict, which is why there is `TOLD`.
//! 3. *No lost wake-up.* The owner sets `parked`, passes `heavy`, and sleeps only while `state` is `WAITING`;
//!    the combiner stores `TOLD`, passes `light`, and checks `parked`. So either the combiner sees it and
//!    wakes the owner, or the owner sees `TOLD`. While no owner sleeps, waking costs a load of a line that
//!    the combiner has anyway.
//! 4. An operation that panics is caught where it runs. The panic goes on in the thread that waits for the
//!    result; if no thread waits, only the panic hook's message remains. Neither touches other operations.
//!    The value stays as the operation left it: nothing is poisoned.
//!
//! **Liveness.** If a combiner stops between `TOLD` and the verdict, that one owner goes on yielding.

use crate::patience::{AttemptTimes, Meanwhile, Wait};
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer, MemoryCell};
use heddle_platform::{Platform, Scope};
use heddle_sync::Next;
use heddle_sync::queues::chain::{Linked, NODE_ALIGN};
use heddle_sync::wait::Waiter;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};
use std::thread;

const WAITING: u32 = 0;
const TOLD: u32 = 1;
const LEAD: u32 = 2;
const DONE: u32 = 3;
const UNATTENDED: u32 = 4;

/// The answer to a waiting owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The owner shall be the combiner.
    Lead,
    /// The result is there.
    Done,
}

/// A request of any operation on a `T`; see the [module](self).
#[repr(C)]
pub(crate) struct Request<P: Platform, T: 'static> {
    next: P::AtomicPtr<Self>,
    /// Runs the operation of the frame around this request, and frees an unattended one.
    execute: unsafe fn(NonNull<Self>, &mut T),
    state: P::AtomicU32,
    /// 1 while the owner may be asleep on `state`.
    parked: P::AtomicU32,
}

// SAFETY: it always returns the same field.
unsafe impl<P: Platform, T: 'static> Linked<P> for Request<P, T> {
    #[inline(always)]
    fn next(&self) -> &P::AtomicPtr<Self> {
        &self.next
    }
}

impl<P: Platform, T: 'static> Request<P, T> {
    fn new(execute: unsafe fn(NonNull<Self>, &mut T), state: u32) -> Self {
        Self {
            next: AtomicPointer::new(ptr::null_mut()),
            execute,
            state: AtomicInteger::new(state),
            parked: AtomicInteger::new(0),
        }
    }

    /// Returns true if a thread waits for it.
    #[inline(always)]
    pub(crate) fn is_attended(&self) -> bool {
        self.state.load(Ordering::Relaxed) != UNATTENDED
    }

    /// Runs the operation. A request without a waiting thread is gone afterwards.
    ///
    /// # Safety
    ///
    /// The caller found the request by an Acquire and runs it once, and no other thread does.
    #[inline]
    pub(crate) unsafe fn execute(request: NonNull<Self>, state: &mut T) {
        // SAFETY: found, and its owner has not been told yet: alive.
        let execute = unsafe { request.as_ref() }.execute;
        // SAFETY: the function that was made with this request; the caller's promise is the same.
        unsafe { execute(request, state) };
    }

    /// Runs a request of a taken chain, tells the owner if there is one, and returns the next of the chain.
    ///
    /// # Safety
    ///
    /// The caller has taken the chain, and calls this once for each of its requests; no other thread
    /// could tell the owner now.
    #[inline]
    pub(crate) unsafe fn serve(request: NonNull<Self>, state: &mut T) -> *mut Self {
        // SAFETY: taken and not run, so alive.
        let taken = unsafe { request.as_ref() };
        let next = taken.next.load(Ordering::Relaxed);
        let attended = taken.is_attended();
        // SAFETY: taken by an Acquire, and run once by the caller's promise.
        unsafe { Self::execute(request, state) };
        if attended {
            // SAFETY: its owner waits for this.
            unsafe { Self::tell(request, Verdict::Done) };
        }
        next
    }

    /// The next request of a taken chain.
    pub(crate) fn next_taken(&self) -> *mut Self {
        self.next.load(Ordering::Relaxed)
    }

    /// Gives the owner its verdict. Afterwards the request may be gone.
    ///
    /// # Safety
    ///
    /// The owner waits and has not been told `Done`; no other thread could tell it now.
    #[inline]
    pub(crate) unsafe fn tell(request: NonNull<Self>, verdict: Verdict) {
        // SAFETY: the owner waits for the verdict, so it is alive until the last store.
        let request = unsafe { request.as_ref() };
        request.state.store(TOLD, Ordering::Relaxed);
        P::light();
        if request.parked.load(Ordering::Relaxed) != 0 {
            request.wake();
        }
        let verdict = if verdict == Verdict::Done { DONE } else { LEAD };
        // Release: pairs with the Acquire in verdict() (invariant 1).
        request.state.store(verdict, Ordering::Release);
    }

    #[cold]
    fn wake(&self) {
        P::wake(&self.state, 1, Scope::Process);
    }

    /// The verdict, if the owner has been told.
    #[inline]
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        // Acquire: pairs with the Release in tell().
        match self.state.load(Ordering::Acquire) {
            DONE => Some(Verdict::Done),
            LEAD => Some(Verdict::Lead),
            _ => None,
        }
    }

    /// Waits for a verdict, and does `meanwhile` what the owner can do for itself.
    #[inline]
    pub(crate) fn await_verdict(&self, wait: Wait<'_>, meanwhile: &mut impl Meanwhile) -> Verdict {
        let mut waiter = Waiter::<P>::new(wait.policy, wait.crowd);
        let mut attempts = AttemptTimes::<P>::new(wait);
        loop {
            if let Some(verdict) = self.verdict() {
                return verdict;
            }
            let sleeps = waiter.pause() == Next::Park;
            if attempts.is_call_due(sleeps) {
                meanwhile.call();
            }
            if sleeps {
                self.sleep(|| meanwhile.attempt());
                waiter.reset();
            } else if attempts.is_due(&waiter) {
                meanwhile.attempt();
            }
        }
    }

    /// Sleeps until a verdict comes (invariant 3). A holder that comes after `last_check` sees the owner's
    /// [call](Meanwhile::call).
    #[cold]
    fn sleep(&self, last_check: impl FnOnce()) {
        self.parked.store(1, Ordering::Relaxed);
        P::heavy(Scope::Process);
        last_check();
        while self.state.load(Ordering::Relaxed) == WAITING {
            P::wait(&self.state, WAITING, None, Scope::Process);
        }
        self.parked.store(0, Ordering::Relaxed);
        if self.state.load(Ordering::Relaxed) == TOLD {
            P::yield_now();
        }
    }

    /// Accepts the verdict to lead, so that the owner can be told another.
    pub(crate) fn wait_again(&self) {
        if self.state.load(Ordering::Relaxed) == LEAD {
            self.state.store(WAITING, Ordering::Relaxed);
        }
    }
}

/// An operation, then its result.
enum Body<F, R> {
    Operation(F),
    Outcome(thread::Result<R>),
    Taken,
}

/// A request and its operation.
#[repr(C, align(128))]
pub(crate) struct Frame<P: Platform, T: 'static, F, R> {
    request: Request<P, T>,
    body: P::Cell<Body<F, R>>,
}

const _: () = assert!(align_of::<Frame<heddle_platform::Native, (), (), ()>>() == NODE_ALIGN);

impl<P: Platform, T: 'static, F, R> Frame<P, T, F, R> {
    /// Takes the operation out of a frame that no thread found.
    pub(crate) fn into_operation(self) -> Option<F> {
        match self.body.into_inner() {
            Body::Operation(operation) => Some(operation),
            _ => None,
        }
    }
}

impl<P: Platform, T: 'static, F: FnOnce(&mut T) -> R, R> Frame<P, T, F, R> {
    /// A frame for a thread that waits.
    #[inline(always)]
    pub(crate) fn new(operation: F) -> Self {
        let request = Request::new(Self::execute, WAITING);
        Self { request, body: MemoryCell::new(Body::Operation(operation)) }
    }

    /// A frame for an operation for which no thread waits. `execute` ends it.
    #[inline(always)]
    pub(crate) fn unattended(operation: F, execute: unsafe fn(NonNull<Request<P, T>>, &mut T)) -> Self {
        Self { request: Request::new(execute, UNATTENDED), body: MemoryCell::new(Body::Operation(operation)) }
    }

    /// The request, to be handed to other threads. They may use it while the frame stays in place.
    #[inline(always)]
    pub(crate) fn request(&self) -> NonNull<Request<P, T>> {
        // The frame's address, with the right to all of it, since execute() goes back to the frame.
        NonNull::from(self).cast()
    }

    /// The result, or the operation's panic. The owner has been told `Done`.
    #[inline(always)]
    pub(crate) fn into_result(self) -> R {
        // An access that a model checker sees, unlike into_inner().
        self.body.with_mut(|_| ());
        match self.body.into_inner() {
            Body::Outcome(Ok(result)) => result,
            Body::Outcome(Err(payload)) => panic::resume_unwind(payload),
            _ => unreachable!("told `Done` before the operation was run"),
        }
    }

    /// Runs the operation of this frame.
    ///
    /// # Safety
    ///
    /// The same as for [`Request::execute`].
    #[inline(always)]
    pub(crate) unsafe fn run(&self, state: &mut T) {
        let operation = self.body.with_mut(|body| {
            // SAFETY: only the combiner accesses it now (module's invariant 1).
            mem::replace(unsafe { &mut *body }, Body::Taken)
        });
        let Body::Operation(operation) = operation else { return };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| operation(state)));
        self.body.with_mut(|body| {
            // SAFETY: only the combiner accesses it now (module's invariant 1); this overwrites `Taken`.
            unsafe { *body = Body::Outcome(outcome) };
        });
    }

    unsafe fn execute(request: NonNull<Request<P, T>>, state: &mut T) {
        // SAFETY: request() made it from a frame of this type, whose owner waits.
        let frame = unsafe { request.cast::<Self>().as_ref() };
        // SAFETY: the caller's promise.
        unsafe { frame.run(state) };
    }
}
