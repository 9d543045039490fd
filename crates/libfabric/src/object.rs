//! libfabric's objects, all of which are closed in the same way.

use crate::abi::Fid;
use crate::error::Error;
use std::ptr::NonNull;

/// Closes an object.
///
/// # Safety
/// It is live, and nothing uses it any more.
pub(crate) unsafe fn close(fid: *mut Fid) {
    // SAFETY: by the caller's promise.
    let close = unsafe { &*fid }.functions().close;
    // SAFETY: by the caller's promise. There is nothing to be done about an object that stays.
    unsafe { close(fid) };
}

/// Closes an object unless it is [kept](Closing::keep).
pub(crate) struct Closing<T>(pub(crate) NonNull<T>);

impl<T> Closing<T> {
    pub(crate) fn new(object: *mut T, failed: impl FnOnce() -> Error) -> Result<Closing<T>, Error> {
        NonNull::new(object).map(Closing).ok_or_else(failed)
    }

    pub(crate) fn keep(self) -> NonNull<T> {
        let object = self.0;
        std::mem::forget(self);
        object
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: a live object, which this has.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }
}

impl<T> Drop for Closing<T> {
    fn drop(&mut self) {
        // SAFETY: an object of libfabric, which nothing uses yet.
        unsafe { close(self.fid()) };
    }
}
