//! What is converted behind a call because its values alone say what they are.

use super::constant;
use super::constants as theirs;
use super::handle::Foreign;
use heddle_platform::atomic::{AtomicI32, Ordering};
use heddle_spec::constants as ours;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// The address of an attribute's value, if there is one.
///
/// # Safety
/// As for [`comm_attribute`].
unsafe fn value_of(code: c_int, value: *mut c_void, flag: *const c_int) -> Option<*mut *const c_int> {
    // SAFETY: the call has succeeded, and so stored both.
    (code == ours::MPI_SUCCESS && unsafe { *flag } != 0).then_some(value.cast())
}

/// The value of a communicator's attribute.
///
/// # Safety
/// The arguments are those of `MPI_Comm_get_attr`, which has returned `code`.
pub(super) unsafe fn comm_attribute(code: c_int, keyval: c_int, value: *mut c_void, flag: *const c_int) {
    static PROC_NULL: c_int = theirs::MPI_PROC_NULL;
    static ANY_SOURCE: c_int = theirs::MPI_ANY_SOURCE;
    static LAST: AtomicI32 = AtomicI32::new(0);
    if !matches!(keyval, theirs::MPI_HOST | theirs::MPI_IO | theirs::MPI_LASTUSEDCODE) {
        return;
    }
    // SAFETY: the caller's promise.
    let Some(at) = (unsafe { value_of(code, value, flag) }) else { return };
    // SAFETY: the values of these attributes are addresses of integers.
    let number = unsafe { **at };
    let to: *const c_int = match (keyval, number) {
        (theirs::MPI_LASTUSEDCODE, code) => {
            LAST.store(constant::their_error(code), Ordering::Relaxed);
            LAST.as_ptr()
        }
        (_, ours::MPI_PROC_NULL) => &raw const PROC_NULL,
        (_, ours::MPI_ANY_SOURCE) => &raw const ANY_SOURCE,
        _ => return,
    };
    // SAFETY: the variable of the program in which the call has stored the address.
    unsafe { *at = to };
}

/// The value of a window's attribute.
///
/// # Safety
/// The arguments are those of `MPI_Win_get_attr`, which has returned `code`.
pub(super) unsafe fn win_attribute(code: c_int, keyval: c_int, value: *mut c_void, flag: *const c_int) {
    static NUMBERS: [c_int; 5] = [0, 1, 2, 3, 4];
    let convert = match keyval {
        theirs::MPI_WIN_CREATE_FLAVOR => theirs::from_WIN_FLAVORS,
        theirs::MPI_WIN_MODEL => theirs::from_WIN_MODELS,
        _ => return,
    };
    // SAFETY: the caller's promise.
    let Some(at) = (unsafe { value_of(code, value, flag) }) else { return };
    // SAFETY: the values of these attributes are addresses of integers.
    let number = convert(unsafe { **at });
    if let Some(number) = NUMBERS.get(number as usize) {
        // SAFETY: the variable of the program in which the call has stored the address.
        unsafe { *at = ptr::from_ref(number) };
    }
}

/// The integers of a datatype's contents: orders and distributions.
///
/// # Safety
/// The arguments are those of `MPI_Type_get_contents`, or of its form with large counts, which has returned
/// `code`.
pub(super) unsafe fn contents(code: c_int, large: bool, datatype: c_int, integers: *mut c_int) {
    if code != ours::MPI_SUCCESS {
        return;
    }
    let mut numbers = [0; 4];
    let [integers_there, addresses, types, combiner] = &mut numbers;
    let datatype = DatatypeHandle::of_number(datatype);
    // SAFETY: variables of ours.
    let told = unsafe {
        crate::entry_points::MPI_Type_get_envelope(datatype, integers_there, addresses, types, combiner)
    };
    if told != ours::MPI_SUCCESS && !large {
        return;
    }
    // SAFETY: the call has stored the integers of this combiner; the first or third says how many dimensions
    // there are.
    unsafe {
        match *combiner {
            ours::MPI_COMBINER_SUBARRAY => {
                let lists = if large { 0 } else { 3 };
                let order = integers.add(1 + lists * *integers as usize);
                *order = theirs::from_ORDERS(*order);
            }
            ours::MPI_COMBINER_DARRAY => {
                let dimensions = *integers.add(2) as usize;
                let distributions = integers.add(3 + if large { 0 } else { dimensions });
                for index in 0..2 * dimensions {
                    let place = distributions.add(index);
                    *place = theirs::from_DISTRIBUTIONS(*place);
                }
                let order = distributions.add(3 * dimensions);
                *order = theirs::from_ORDERS(*order);
            }
            _ => {}
        }
    }
}

/// The library's version says which ABI it shows.
///
/// # Safety
/// The arguments are those of `MPI_Get_library_version`, which has returned `code`.
pub(super) unsafe fn library_version(code: c_int, version: *mut c_char, length: *mut c_int) {
    const SAYS: &[u8] = b", as libmpi.so.12 (MPICH's ABI)\0";
    if code == ours::MPI_SUCCESS {
        // SAFETY: the call has stored both; the program's text has 8,192 bytes.
        unsafe {
            version.add(*length as usize).copy_from(SAYS.as_ptr().cast(), SAYS.len());
            *length += SAYS.len() as c_int - 1;
        }
    }
}

/// This is not the standard's ABI, which programs find out by -1 (MPI 5.0, section 20.2).
///
/// # Safety
/// The arguments are those of `MPI_Abi_get_version`, which has returned `code`.
pub(super) unsafe fn abi_version(code: c_int, major: *mut c_int, minor: *mut c_int) {
    if code == ours::MPI_SUCCESS {
        for number in [major, minor] {
            // SAFETY: the call has stored both.
            unsafe { *number = -1 };
        }
    }
}

/// The address of a buffer that was detached: one of them is no address.
///
/// # Safety
/// The arguments are those of `MPI_Buffer_detach` or its like, which has returned `code`.
pub(super) unsafe fn detached(code: c_int, buffer: *mut c_void) {
    let buffer = buffer.cast::<usize>();
    if code == ours::MPI_SUCCESS && !buffer.is_null() {
        // SAFETY: the call has stored an address there.
        unsafe {
            if *buffer == ours::MPI_BUFFER_AUTOMATIC {
                *buffer = ours::MPI_BUFFER_AUTOMATIC.wrapping_neg();
            }
        }
    }
}
