//! Conversions behind a call whose values alone say what they are.

use super::constants as theirs;
use super::foreign::{Foreign, Number};
use super::{VERSION_SAYS, constant};
use crate::argument::ListOut;
use crate::entry::running;
use heddle_comm::datatype;
use heddle_datatype::Combiner;
use heddle_platform::atomic::{AtomicI32, Ordering};
use heddle_spec::constants as ours;
use heddle_spec::handle::DatatypeHandle;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// A program's variable in which the address of an attribute's value was stored, and the number there, which
/// such a value points to.
///
/// # Safety
/// The arguments are those of `MPI_Comm_get_attr` or its like for an attribute that is a number; the call has
/// returned `code`.
unsafe fn number_of<'a>(
    code: c_int,
    value: *mut c_void,
    flag: *const c_int,
) -> Option<(&'a mut *const c_int, c_int)> {
    if code != ours::MPI_SUCCESS {
        return None;
    }
    // SAFETY: the call has succeeded, and so stored whether there is a value.
    if unsafe { *flag } == 0 {
        return None;
    }
    // SAFETY: it has stored the value's address here.
    let at = unsafe { &mut *value.cast::<*const c_int>() };
    // SAFETY: the value is the address of a number.
    let number = unsafe { **at };
    Some((at, number))
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
    // SAFETY: the caller's promise; these attributes are numbers.
    let Some((at, number)) = (unsafe { number_of(code, value, flag) }) else { return };
    match (keyval, number) {
        (theirs::MPI_LASTUSEDCODE, code) => {
            LAST.store(constant::their_error(code), Ordering::Relaxed);
            *at = LAST.as_ptr();
        }
        (_, ours::MPI_PROC_NULL) => *at = &raw const PROC_NULL,
        (_, ours::MPI_ANY_SOURCE) => *at = &raw const ANY_SOURCE,
        _ => {}
    }
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
    // SAFETY: the caller's promise; these attributes are numbers.
    let Some((at, number)) = (unsafe { number_of(code, value, flag) }) else { return };
    if let Some(number) = NUMBERS.get(convert(number) as usize) {
        *at = ptr::from_ref(number);
    }
}

/// The integers of a datatype's contents: orders and distributions.
///
/// # Safety
/// The arguments are those of `MPI_Type_get_contents`, or of its form with large counts, which has returned
/// `code`.
pub(super) unsafe fn contents(
    code: c_int,
    large: bool,
    datatype: Number<DatatypeHandle>,
    integers: *mut c_int,
) {
    // SAFETY: the caller's promise.
    let integers = unsafe { ListOut::new(integers) };
    if code == ours::MPI_SUCCESS {
        // The call has succeeded, so this cannot fail.
        let _ = running(|| {
            let datatype = datatype::from_handle(DatatypeHandle::of_number(datatype).0)?;
            let contents = datatype.contents();
            convert_contents(contents.combiner, large, integers.slice(contents.integers.len())?);
            Ok(())
        });
    }
}

fn convert_contents(combiner: Combiner, large: bool, integers: &mut [c_int]) {
    match combiner {
        Combiner::Subarray => {
            if let Some(order) = integers.last_mut() {
                *order = theirs::from_ORDERS(*order);
            }
        }
        Combiner::Darray => {
            let dimensions = integers[2] as usize;
            let begin = if large { 3 } else { 3 + dimensions };
            for place in &mut integers[begin..begin + 2 * dimensions] {
                *place = theirs::from_DISTRIBUTIONS(*place);
            }
            if let Some(order) = integers.last_mut() {
                *order = theirs::from_ORDERS(*order);
            }
        }
        _ => {}
    }
}

/// The library's version says which ABI it shows.
///
/// # Safety
/// The arguments are those of `MPI_Get_library_version`, which has returned `code`.
pub(super) unsafe fn library_version(code: c_int, version: *mut c_char, length: *mut c_int) {
    if code == ours::MPI_SUCCESS {
        // SAFETY: the call has stored the length.
        let length = unsafe { &mut *length };
        let end = version.wrapping_add(*length as usize);
        // SAFETY: the program's text has 256 bytes or more, and the version a hundred.
        unsafe { end.copy_from(VERSION_SAYS.as_ptr().cast(), VERSION_SAYS.len()) };
        *length += VERSION_SAYS.len() as c_int - 1;
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
