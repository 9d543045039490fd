//! Memory for messages, registered where the provider wants it.

use crate::abi::{self, Mr};
use crate::error::Error;
use crate::object::close;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// A registration, ended when it is dropped. Without one, where the provider needs none, it says so to the
/// calls that want a descriptor.
#[derive(Debug)]
pub struct Registered(Option<NonNull<Mr>>);

// SAFETY: a registration is used by the thread that has the endpoint.
unsafe impl Send for Registered {}

impl Registered {
    /// Memory of a provider that needs no registration.
    pub(crate) const NONE: Registered = Registered(None);

    /// # Safety
    /// The domain lives longer than the result, and so do the `len` bytes at `start`.
    pub(crate) unsafe fn new(
        domain: NonNull<abi::Domain>,
        start: *mut u8,
        len: usize,
        check: impl Fn(&'static str, i32) -> Result<(), Error>,
    ) -> Result<Registered, Error> {
        let mut region = ptr::null_mut();
        // SAFETY: by the caller's promise.
        let fid = unsafe { &raw mut (*domain.as_ptr()).fid };
        // SAFETY: by the caller's promise.
        let register = unsafe { domain.as_ref() }.registration().reg;
        let access = abi::SEND | abi::RECV;
        // SAFETY: by the caller's promise.
        let result =
            unsafe { register(fid, start.cast(), len, access, 0, 0, 0, &raw mut region, ptr::null_mut()) };
        check("fi_mr_reg", result)?;
        Ok(Registered(NonNull::new(region)))
    }

    /// The descriptor for calls that use the memory.
    pub(crate) fn descriptor(&self) -> *mut c_void {
        // SAFETY: a live registration.
        self.0.map_or(ptr::null_mut(), |region| unsafe { region.as_ref() }.mem_desc)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(region) = self.0 {
            // SAFETY: a live registration that nothing uses any more.
            unsafe { close(region.as_ptr().cast()) };
        }
    }
}
