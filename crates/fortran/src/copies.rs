//! Copies of array sections that no datatype describes. C's operation gets the copy. What it has received
//! goes to the section when the call returns, or when Fortran learns that the request is complete.

use crate::constants::{MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::handle::Handle;
use crate::section::Section;
use crate::subroutines as c;
use heddle_platform::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// A section, and its elements without gaps.
pub(crate) struct Copy {
    section: Section,
    /// Of a type with the greatest alignment that elements have.
    elements: Vec<u128>,
    is_out: bool,
}

impl Copy {
    /// A copy; it goes back to the section if `is_out`.
    pub(crate) fn new(section: Section, is_out: bool) -> Copy {
        let bytes = section.bytes().unsigned_abs();
        let mut copy = Copy { section, elements: vec![0; bytes.div_ceil(size_of::<u128>())], is_out };
        copy.read();
        copy
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.elements.as_mut_ptr().cast()
    }

    /// Takes over what the section holds. Elements that MPI does not write keep their value so.
    fn read(&mut self) {
        let bytes = self.section.bytes().unsigned_abs();
        // SAFETY: the elements have room for the bytes of the section.
        let to = unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), bytes) };
        self.section.read(to);
    }

    /// Hands over to the section what MPI has written.
    pub(crate) fn write(&self) {
        if self.is_out {
            let bytes = self.section.bytes().unsigned_abs();
            // SAFETY: the elements have as much room as the section has bytes.
            let from = unsafe { std::slice::from_raw_parts(self.elements.as_ptr().cast(), bytes) };
            self.section.write(from);
        }
    }
}

/// The copies of a request.
struct Kept {
    copies: Vec<Copy>,
    is_persistent: bool,
    /// True while the operation is under way.
    is_active: bool,
}

/// By Fortran's handle of the request.
static KEPT: Mutex<BTreeMap<c_int, Kept>> = Mutex::new(BTreeMap::new());

/// Their number, so that calls need not look if there are none.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn change<T>(what: impl FnOnce(&mut BTreeMap<c_int, Kept>) -> T) -> T {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let result = what(&mut kept);
    NUMBER.store(kept.len(), Ordering::Relaxed);
    result
}

/// Returns true if there are copies of any request.
#[inline(always)]
pub(crate) fn are_kept() -> bool {
    NUMBER.load(Ordering::Relaxed) != 0
}

/// Keeps the copies that the operation of a request works on; C's handle of it is `handle`. If the request is
/// complete already, they go back at once: an MPI library may have one handle for all such requests.
pub(crate) fn keep(
    request: c_int,
    handle: Handle,
    copies: impl IntoIterator<Item = Option<Copy>>,
    is_persistent: bool,
) {
    let copies: Vec<Copy> = copies.into_iter().flatten().collect();
    if copies.is_empty() {
        return;
    }
    if !is_persistent && is_complete(handle) {
        copies.iter().for_each(Copy::write);
    } else {
        change(|kept| kept.insert(request, Kept { copies, is_persistent, is_active: !is_persistent }));
    }
}

/// Persistent requests are started: their copies take over what the sections hold.
///
/// # Safety
/// There are `len` requests.
#[cold]
pub(crate) unsafe fn started(requests: *const c_int, len: c_int) {
    // SAFETY: by the caller's promise.
    let requests = unsafe { std::slice::from_raw_parts(requests, usize::try_from(len).unwrap_or(0)) };
    change(|all| {
        for request in requests {
            if let Some(kept) = all.get_mut(request) {
                kept.copies.iter_mut().for_each(Copy::read);
                kept.is_active = true;
            }
        }
    });
}

/// Requests, of which C has made `handles`, may be complete: those that are hand over what they received.
///
/// # Safety
/// There is a request for each handle.
#[cold]
pub(crate) unsafe fn completed(requests: *const c_int, handles: &[Handle]) {
    // SAFETY: by the caller's promise.
    let requests = unsafe { std::slice::from_raw_parts(requests, handles.len()) };
    change(|all| {
        for (request, &handle) in requests.iter().zip(handles) {
            let Some(kept) = all.get_mut(request).filter(|kept| kept.is_active && is_complete(handle)) else {
                continue;
            };
            kept.copies.iter().for_each(Copy::write);
            kept.is_active = false;
            if !kept.is_persistent {
                all.remove(request);
            }
        }
    });
}

/// A request that is complete is null, or, if it is persistent, inactive.
fn is_complete(request: Handle) -> bool {
    if request == MPI_REQUEST_NULL {
        return true;
    }
    let mut flag = 0;
    // SAFETY: there is room for the flag; a status that is null is ignored.
    let code = unsafe { c::PMPI_Request_get_status(request, &raw mut flag, null_mut()) };
    code == MPI_SUCCESS && flag != 0
}

/// The program gives up a request. If its operation is under way, the copy stays, for MPI to work on.
#[cold]
pub(crate) fn freed(request: c_int) {
    if let Some(kept) = change(|all| all.remove(&request)).filter(|kept| kept.is_active) {
        std::mem::forget(kept);
    }
}
