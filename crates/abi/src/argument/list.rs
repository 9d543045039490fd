//! Arrays, whose length other arguments tell.

use super::out::null_pointer;
use crate::error::{Error, Result};
use heddle_spec::constants::MPI_ERR_COUNT;
use heddle_spec::handle::RequestHandle;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;

/// An input array. A single value passed by address is an array of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List<'a, T>(*const T, PhantomData<&'a [T]>);

impl<'a, T> List<'a, T> {
    /// # Safety
    ///
    /// `pointer` is null or points to an array, and the length later asked for is at most that of the array.
    pub(crate) unsafe fn new(pointer: *const T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns true if the program passed this address, which may have a meaning of its own.
    pub(crate) fn is_at(&self, address: usize) -> bool {
        self.0.addr() == address
    }

    /// The array, which has `length` elements.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer for an array that is not empty;
    /// `MPI_ERR_COUNT` for a length that no array has.
    pub(crate) fn slice(self, length: usize) -> Result<&'a [T]> {
        if length == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(null_pointer());
        }
        check_size::<T>(length)?;
        // SAFETY: `new` was promised that the array has this length.
        Ok(unsafe { std::slice::from_raw_parts(self.0, length) })
    }

    /// The one element of a value passed by address.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn only(self) -> Result<&'a T> {
        // SAFETY: `new` was promised that a pointer that is not null points to at least one element.
        unsafe { self.0.as_ref() }.ok_or_else(null_pointer)
    }
}

/// An output array, or one for input and output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListOut<'a, T>(*mut T, PhantomData<&'a [T]>);

impl<'a, T> ListOut<'a, T> {
    /// The array of a parameter that this form of the function does not have.
    pub(crate) const ABSENT: Self = Self(ptr::null_mut(), PhantomData);

    /// # Safety
    ///
    /// `pointer` is null or points to an array that no other thread uses until the function returns, and the
    /// length later asked for is at most that of the array.
    pub(crate) unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer, PhantomData)
    }

    /// Returns true if the program passed this address, which may have a meaning of its own.
    pub(crate) fn is_at(&self, address: usize) -> bool {
        self.0.addr() == address
    }

    /// The array, which has `length` elements.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer for an array that is not empty;
    /// `MPI_ERR_COUNT` for a length that no array has.
    pub(crate) fn slice(self, length: usize) -> Result<&'a mut [T]> {
        if length == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(null_pointer());
        }
        check_size::<T>(length)?;
        // SAFETY: `new` was promised that the array has this length and is the function's alone.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, length) })
    }
}

impl<'a> ListOut<'a, RequestHandle> {
    /// An array of requests as the words that `heddle-p2p` works on.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer for an array that is not empty; `MPI_ERR_COUNT` for
    /// a negative length.
    #[inline]
    pub(crate) fn words(self, length: c_int) -> Result<&'a mut [usize]> {
        let handles = self.slice(length_of(length)?)?;
        let words = handles.as_mut_ptr().cast::<usize>();
        // SAFETY: a handle is a word, and the slice of handles is not used any more.
        Ok(unsafe { std::slice::from_raw_parts_mut(words, handles.len()) })
    }
}

impl<'a> List<'a, RequestHandle> {
    /// Does the same as [`ListOut::words`].
    ///
    /// # Errors
    ///
    /// The same as for [`ListOut::words`].
    pub(crate) fn words(self, length: c_int) -> Result<&'a [usize]> {
        let handles = self.slice(length_of(length)?)?;
        // SAFETY: a handle is a word.
        Ok(unsafe { std::slice::from_raw_parts(handles.as_ptr().cast::<usize>(), handles.len()) })
    }
}

/// Checks that memory can have room for an array.
#[inline(always)]
fn check_size<T>(length: usize) -> Result<()> {
    if length <= isize::MAX as usize / size_of::<T>() { Ok(()) } else { Err(too_long(length)) }
}

#[cold]
fn too_long(length: usize) -> Error {
    Error::new(MPI_ERR_COUNT, format!("no memory has room for an array of {length} elements"))
}

/// The length of an array that the program passes.
///
/// # Errors
///
/// `MPI_ERR_COUNT` if it is negative.
#[inline]
pub(crate) fn length_of(length: c_int) -> Result<usize> {
    usize::try_from(length).map_err(|_| {
        Error::new(MPI_ERR_COUNT, format!("the length of an array is {length}, but it may not be negative"))
    })
}
