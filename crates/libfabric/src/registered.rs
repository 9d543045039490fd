//! Memory for messages, registered where the provider wants it.

use crate::abi::{self, Domain, Ep, Fid, Mr};
use crate::error::Error;
use crate::library::Provider;
use crate::object::close;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// A registration, ended when it is dropped. Without one, where the provider needs none, it says so to the
/// calls that want a descriptor.
#[derive(Debug)]
pub struct Registered(Option<NonNull<Mr>>);

// SAFETY: a registration is used by the thread that has the endpoint.
unsafe impl Send for Registered {}

/// The objects that memory is registered with.
pub(crate) struct Owner<'a> {
    pub(crate) domain: NonNull<Domain>,
    pub(crate) endpoint: NonNull<Ep>,
    pub(crate) provider: &'a Provider,
}

impl Registered {
    /// Memory of a provider that needs no registration.
    pub const NONE: Registered = Registered(None);

    /// Registers memory for what `access` says, with this key if the provider lets the caller choose.
    ///
    /// # Safety
    /// The domain and the endpoint live longer than the result, and so does the memory.
    pub(crate) unsafe fn new(
        owner: &Owner<'_>,
        memory: *mut [u8],
        access: u64,
        key: u64,
    ) -> Result<Registered, Error> {
        let Owner { domain, endpoint, provider } = *owner;
        let check = |call, result| provider.functions.check(call, result);
        let mut region = ptr::null_mut();
        let domain_fid = domain.as_ptr().cast();
        // SAFETY: by the caller's promise.
        let register = unsafe { domain.as_ref() }.registration().reg;
        let (start, len) = (memory.cast(), memory.len());
        // SAFETY: by the caller's promise.
        let result =
            unsafe { register(domain_fid, start, len, access, 0, key, 0, &raw mut region, ptr::null_mut()) };
        check("fi_mr_reg", result)?;
        let registered = Registered(NonNull::new(region));
        if let Some(region) = registered.0.filter(|_| provider.registers(abi::MR_ENDPOINT)) {
            let fid: *mut Fid = region.as_ptr().cast();
            // SAFETY: a live registration.
            let table = unsafe { region.as_ref() }.fid.functions();
            // SAFETY: a live registration, and a live endpoint of the same domain.
            check("fi_mr_bind", unsafe { (table.bind)(fid, endpoint.as_ptr().cast(), 0) })?;
            // SAFETY: a live registration; the command takes no argument.
            check("fi_mr_enable", unsafe { (table.control)(fid, abi::ENABLE, ptr::null_mut()) })?;
        }
        Ok(registered)
    }

    /// The key by which peers name the memory.
    pub(crate) fn key(&self) -> Option<u64> {
        // SAFETY: a live registration.
        self.0.map(|region| unsafe { region.as_ref() }.key)
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
