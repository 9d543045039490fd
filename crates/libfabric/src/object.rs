//! libfabric's objects, all of which are closed in the same way.

use crate::abi::Fid;
use crate::error::Error;
use std::fmt;
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

/// An object, closed when this is dropped: what was made of it goes before.
pub(crate) struct Closing<T>(pub(crate) NonNull<T>);

impl<T> Closing<T> {
    pub(crate) fn new(object: *mut T, failed: impl FnOnce() -> Error) -> Result<Closing<T>, Error> {
        NonNull::new(object).map(Closing).ok_or_else(failed)
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: a live object, which this has.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }
}

impl<T> fmt::Debug for Closing<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl<T> Drop for Closing<T> {
    fn drop(&mut self) {
        // SAFETY: an object of libfabric, which nothing uses.
        unsafe { close(self.fid()) };
    }
}
