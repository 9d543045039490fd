//! Counts and displacements, which are `int` in one form of a function and 64 bits wide in the other.

use super::list::List;
use super::out::Out;
use crate::error::Result;
use heddle_collective::Numbers;
use heddle_platform::allocate::reserve;
use heddle_spec::constants::MPI_UNDEFINED;
use std::ffi::c_int;

/// An array of counts or displacements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counts<'a> {
    /// From the form with `int`.
    Int(List<'a, c_int>),
    /// From the large form.
    Large(List<'a, i64>),
}

impl<'a> Counts<'a> {
    /// # Safety
    ///
    /// As for [`List::new`].
    pub(crate) unsafe fn int(pointer: *const c_int) -> Self {
        // SAFETY: the caller makes the same promises.
        Self::Int(unsafe { List::new(pointer) })
    }

    /// # Safety
    ///
    /// As for [`List::new`].
    pub(crate) unsafe fn large(pointer: *const i64) -> Self {
        // SAFETY: the caller makes the same promises.
        Self::Large(unsafe { List::new(pointer) })
    }

    /// The array, which has `length` elements.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer for an array that is not empty.
    pub(crate) fn numbers(self, length: usize) -> Result<Numbers<'a>> {
        Ok(match self {
            Self::Int(list) => Numbers::Int(list.slice(length)?),
            Self::Large(list) => Numbers::Large(list.slice(length)?),
        })
    }

    /// A copy of the array, which has `length` elements.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` as above; `MPI_ERR_NO_MEM`.
    pub(crate) fn widened(self, length: usize) -> Result<Vec<i64>> {
        let mut all = Vec::new();
        reserve(&mut all, length)?;
        match self.numbers(length)? {
            Numbers::Int(numbers) => all.extend(numbers.iter().map(|&value| i64::from(value))),
            Numbers::Large(numbers) => all.extend_from_slice(numbers),
        }
        Ok(all)
    }
}

/// The destination of a count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CountOut {
    /// An `int`.
    Int(Out<c_int>),
    /// A wide integer.
    Large(Out<i64>),
    /// None: this form of the function does not have the parameter.
    Absent,
}

impl CountOut {
    /// The count of a parameter that this form of the function does not have.
    pub(crate) const ABSENT: Self = Self::Absent;

    /// # Safety
    ///
    /// As for [`Out::new`].
    pub(crate) unsafe fn int(pointer: *mut c_int) -> Self {
        // SAFETY: the caller makes the same promises.
        Self::Int(unsafe { Out::new(pointer) })
    }

    /// # Safety
    ///
    /// As for [`Out::new`].
    pub(crate) unsafe fn large(pointer: *mut i64) -> Self {
        // SAFETY: the caller makes the same promises.
        Self::Large(unsafe { Out::new(pointer) })
    }

    /// Returns true if this form of the function does not have the parameter.
    pub(crate) fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The count that the program stored.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn get(self) -> Result<i64> {
        match self {
            Self::Int(out) => out.get().map(i64::from),
            Self::Large(out) => out.get(),
            Self::Absent => Ok(0),
        }
    }

    /// Stores a count; one that an `int` cannot hold becomes `MPI_UNDEFINED`.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn set(self, count: i64) -> Result<()> {
        match self {
            Self::Int(out) => out.set(c_int::try_from(count).unwrap_or(MPI_UNDEFINED)),
            Self::Large(out) => out.set(count),
            Self::Absent => Ok(()),
        }
    }

    /// Checks that there is a place for the count, before something is done whose result would be lost.
    ///
    /// # Errors
    ///
    /// `MPI_ERR_ARG` if the program passed a null pointer.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Int(out) => out.variable().map(drop),
            Self::Large(out) => out.variable().map(drop),
            Self::Absent => Ok(()),
        }
    }
}
