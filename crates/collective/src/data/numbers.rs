//! Counts and displacements as the program passes them.

use std::ffi::c_int;

/// Counts or displacements, which are `int` in one form of a function and 64 bits wide in the other.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// From the form with `int`.
    Int(&'a [c_int]),
    /// From the large form.
    Large(&'a [i64]),
}

impl Numbers<'_> {
    #[inline(always)]
    pub(super) fn at(self, index: usize) -> i64 {
        match self {
            Numbers::Int(all) => i64::from(all[index]),
            Numbers::Large(all) => all[index],
        }
    }

    /// How many there are.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        match self {
            Numbers::Int(all) => all.len(),
            Numbers::Large(all) => all.len(),
        }
    }
}
