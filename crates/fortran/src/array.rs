//! Arrays whose elements differ between the languages. Up to a length they lie on the stack, so that waiting
//! for a few requests allocates nothing.

use crate::constants::MPI_UNDEFINED;
use std::ffi::c_int;

/// Longer arrays are allocated.
const SHORT: usize = 64;

/// Elements as C has them.
pub(crate) enum Array<T> {
    Short([T; SHORT], usize),
    Long(Vec<T>),
}

impl<T: Copy + Default> Array<T> {
    pub(crate) fn elements(&mut self) -> &mut [T] {
        match self {
            Array::Short(elements, len) => &mut elements[..*len],
            Array::Long(elements) => elements,
        }
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.elements().as_mut_ptr()
    }
}

/// An array of `len` zeros. It is empty if `len` is negative, of which the MPI library complains.
pub(crate) fn zeroed<T: Copy + Default>(len: impl Into<i64>) -> Array<T> {
    let len = usize::try_from(len.into()).unwrap_or(0);
    if len <= SHORT { Array::Short([T::default(); SHORT], len) } else { Array::Long(vec![T::default(); len]) }
}

/// Converts each element of Fortran's array.
///
/// # Safety
/// The array has `len` elements.
pub(crate) unsafe fn to_c<T: Copy + Default>(
    from: *const c_int,
    len: impl Into<i64>,
    convert: impl Fn(c_int) -> T,
) -> Array<T> {
    let mut array = zeroed(len);
    let elements = array.elements();
    // SAFETY: by the caller's promise.
    let from = unsafe { std::slice::from_raw_parts(from, elements.len()) };
    for (element, &from) in elements.iter_mut().zip(from) {
        *element = convert(from);
    }
    array
}

/// Converts each element, and stores it in Fortran's array.
///
/// # Safety
/// Fortran's array is as long.
pub(crate) unsafe fn to_fortran<T: Copy + Default>(
    array: &mut Array<T>,
    to: *mut c_int,
    convert: impl Fn(T) -> c_int,
) {
    let elements = array.elements();
    // SAFETY: by the caller's promise.
    let to = unsafe { std::slice::from_raw_parts_mut(to, elements.len()) };
    for (to, &element) in to.iter_mut().zip(&*elements) {
        *to = convert(element);
    }
}

/// Makes positions in an array begin with 1.
///
/// # Safety
/// There are `len` positions.
pub(crate) unsafe fn count_from_one(positions: *mut c_int, len: c_int) {
    let len = usize::try_from(len).unwrap_or(0);
    // SAFETY: by the caller's promise.
    let positions = unsafe { std::slice::from_raw_parts_mut(positions, len) };
    for position in positions.iter_mut().filter(|position| **position != MPI_UNDEFINED) {
        *position += 1;
    }
}
