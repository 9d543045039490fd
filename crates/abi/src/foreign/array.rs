//! Arrays whose elements differ between the ABIs. Up to a length they lie on the stack, so that waiting for a
//! few requests allocates nothing.

use super::constant;
use super::converted_status::is_ignored;
use super::foreign::Foreign;
use super::status::Status;
use super::unset::{UNSET_HANDLE, UNSET_STATUS};
use crate::entry::failed;
use crate::error::{Error, ErrorObject};
use heddle_spec::Status as Ours;
use heddle_spec::constants::MPI_ERR_NO_MEM;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

/// Longer arrays are allocated.
const SHORT: usize = 64;

/// Elements as the standard's ABI has them.
pub(super) struct Array<T> {
    short: [MaybeUninit<T>; SHORT],
    long: Vec<T>,
    len: usize,
    is_there: bool,
}

impl<T: Copy> Array<T> {
    /// Room for an array. It is filled where it lies, since a copy would cost more than a short array.
    #[inline(always)]
    pub(super) fn room() -> Array<T> {
        Array { short: [MaybeUninit::uninit(); SHORT], long: Vec::new(), len: 0, is_there: false }
    }

    /// Fills it with one value. Returns false if there is no memory. It is empty if `len` is negative, of
    /// which the call complains.
    #[inline(always)]
    pub(super) fn fill(&mut self, len: impl Into<i64>, value: T) -> bool {
        self.fill_by(len.into(), |_| value)
    }

    #[inline(always)]
    fn fill_by(&mut self, len: i64, element: impl Fn(usize) -> T) -> bool {
        let len = usize::try_from(len).unwrap_or(0);
        self.is_there = true;
        self.len = len;
        if len <= SHORT {
            for (index, place) in self.short[..len].iter_mut().enumerate() {
                place.write(element(index));
            }
            return true;
        }
        let has_room = self.long.try_reserve(len).is_ok();
        self.long.extend((0..if has_room { len } else { 0 }).map(element));
        has_room
    }

    /// Fills it with the elements of the program's array, converted. Without an address there are none.
    /// Returns false if there is no memory.
    ///
    /// # Safety
    /// The address is null, or the array there has `len` elements.
    #[inline(always)]
    pub(super) unsafe fn fill_from<N: Copy>(
        &mut self,
        at: *const N,
        len: impl Into<i64>,
        convert: impl Fn(N) -> T,
    ) -> bool {
        // SAFETY: the caller's promise.
        at.is_null() || self.fill_by(len.into(), |index| convert(unsafe { *at.wrapping_add(index) }))
    }

    #[inline(always)]
    pub(super) fn elements(&mut self) -> &mut [T] {
        if self.len > SHORT {
            return &mut self.long;
        }
        let short = self.short[..self.len].as_mut_ptr().cast();
        // SAFETY: so many elements were written by `fill_by`.
        unsafe { std::slice::from_raw_parts_mut(short, self.len) }
    }

    /// The address for the call: null where the program's is.
    #[inline(always)]
    pub(super) fn pointer(&mut self, theirs: *const impl Sized) -> *mut T {
        if theirs.is_null() { ptr::null_mut() } else { self.elements().as_mut_ptr() }
    }

    /// The address for the call, if the program has an array.
    pub(super) fn pointer_or_null(&mut self) -> *mut T {
        if self.is_there { self.elements().as_mut_ptr() } else { ptr::null_mut() }
    }
}

/// There is no memory for a converted array.
#[cold]
pub(super) fn no_memory(name: &'static str) -> c_int {
    let error =
        Error::new(MPI_ERR_NO_MEM, "there is no memory for a copy of an array of handles or statuses");
    constant::their_error(failed(name, ErrorObject::Default, error))
}

/// A length that goes in and out through a pointer.
///
/// # Safety
/// The address is null or that of a number.
pub(super) unsafe fn length_at(at: *const c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { at.as_ref() }.copied().unwrap_or(0)
}

/// Hands over handles that a call has read and set. One that named nothing stays.
///
/// # Safety
/// The address is null, or the array there is as long.
pub(super) unsafe fn hand_over<H: Foreign>(array: &mut Array<H>, to: *mut H::Number) {
    for (index, element) in array.elements().iter().enumerate() {
        if element.word() != 0 {
            // SAFETY: the caller's promise; without an address there are no elements.
            unsafe { *to.wrapping_add(index) = element.number() };
        }
    }
}

/// A handle that no call has set.
pub(super) fn unset<H: Foreign>() -> H {
    H::of_word(UNSET_HANDLE)
}

/// Hands over the handles that a call has set.
///
/// # Safety
/// As for [`hand_over`].
pub(super) unsafe fn hand_over_set<H: Foreign>(array: &mut Array<H>, to: *mut H::Number) {
    for (index, element) in array.elements().iter().enumerate() {
        if element.word() != UNSET_HANDLE && !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *to.wrapping_add(index) = element.number() };
        }
    }
}

/// Converts each number in the program's array.
///
/// # Safety
/// The address is null, or the array there has `len` elements.
pub(super) unsafe fn change(at: *mut c_int, len: impl Into<i64>, convert: impl Fn(c_int) -> c_int) {
    let len = if at.is_null() { 0 } else { usize::try_from(len.into()).unwrap_or(0) };
    for index in 0..len {
        // SAFETY: the caller's promise.
        let place = unsafe { &mut *at.wrapping_add(index) };
        *place = convert(*place);
    }
}

/// Makes room for statuses that a call may set, if the program wants them. Returns false if there is no
/// memory.
#[inline(always)]
pub(super) fn fill_statuses(array: &mut Array<Ours>, theirs: *const Status, len: c_int) -> bool {
    is_ignored(theirs) || array.fill(len, UNSET_STATUS)
}

/// Hands over what a call has set.
///
/// # Safety
/// The program's array is as long.
pub(super) unsafe fn hand_over_statuses(array: &mut Array<Ours>, to: *mut Status) {
    for (index, status) in array.elements().iter().enumerate() {
        // SAFETY: the caller's promise; a program that wants no statuses has none.
        unsafe { (*to.wrapping_add(index)).take(status) };
    }
}
