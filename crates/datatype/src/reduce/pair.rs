//! `MPI_MINLOC` and `MPI_MAXLOC`: a value and an index, as a C compiler lays them out.
//!
//! Value and index are written separately, so a gap between or after them keeps its bytes.

use std::cmp::Ordering;

use super::computation::Kernel;
use super::long_double::LongDouble;
use crate::basic::BasicKind;

/// Decides whether the input's pair is kept, by comparing its value and its index with the other pair's.
pub(super) trait Choice {
    /// Returns true if the input's pair is taken.
    fn takes_input(values: Option<Ordering>, indices: Option<Ordering>) -> bool;
}

/// `MPI_MINLOC`; of equal values the lower index.
pub(super) struct Least;
/// `MPI_MAXLOC`; of equal values the lower index.
pub(super) struct Greatest;
/// `MPI_REPLACE`
pub(super) struct Input;

impl Choice for Least {
    #[inline(always)]
    fn takes_input(values: Option<Ordering>, indices: Option<Ordering>) -> bool {
        match values {
            Some(Ordering::Equal) => indices == Some(Ordering::Less),
            other => other == Some(Ordering::Less),
        }
    }
}

impl Choice for Greatest {
    #[inline(always)]
    fn takes_input(values: Option<Ordering>, indices: Option<Ordering>) -> bool {
        match values {
            Some(Ordering::Equal) => indices == Some(Ordering::Less),
            other => other == Some(Ordering::Greater),
        }
    }
}

impl Choice for Input {
    #[inline(always)]
    fn takes_input(_values: Option<Ordering>, _indices: Option<Ordering>) -> bool {
        true
    }
}

/// A kernel for pairs of `V` at 0 and `I` at `INDEX`, `EXTENT` bytes apart.
unsafe fn locate<V, I, C, const INDEX: usize, const EXTENT: usize>(
    input: *const u8,
    inout: *mut u8,
    count: usize,
) where
    V: Copy + PartialOrd,
    I: Copy + PartialOrd,
    C: Choice,
{
    for element in 0..count {
        let a = input.wrapping_add(element * EXTENT);
        let b = inout.wrapping_add(element * EXTENT);
        let (value_at, index_at) = (b.cast::<V>(), b.wrapping_add(INDEX).cast::<I>());
        // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
        let value = unsafe { a.cast::<V>().read_unaligned() };
        // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
        let index = unsafe { a.wrapping_add(INDEX).cast::<I>().read_unaligned() };
        // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
        let other_value = unsafe { value_at.read_unaligned() };
        // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
        let other_index = unsafe { index_at.read_unaligned() };
        if C::takes_input(value.partial_cmp(&other_value), index.partial_cmp(&other_index)) {
            // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
            unsafe { value_at.write_unaligned(value) };
            // SAFETY: the kernel's caller vouches for `count` elements in both buffers.
            unsafe { index_at.write_unaligned(index) };
        }
    }
}

pub(super) fn kernel<C: Choice>(kind: BasicKind) -> Option<Kernel> {
    match kind {
        BasicKind::F32I32 => Some(locate::<f32, i32, C, 4, 8>),
        BasicKind::F64I32 => Some(locate::<f64, i32, C, 8, 16>),
        BasicKind::I64I32 => Some(locate::<i64, i32, C, 8, 16>),
        BasicKind::I32I32 => Some(locate::<i32, i32, C, 4, 8>),
        BasicKind::I16I32 => Some(locate::<i16, i32, C, 4, 8>),
        BasicKind::F32F32 => Some(locate::<f32, f32, C, 4, 8>),
        BasicKind::F64F64 => Some(locate::<f64, f64, C, 8, 16>),
        BasicKind::LongDoubleI32 if cfg!(target_arch = "x86_64") => {
            Some(locate::<LongDouble, i32, C, 16, 32>)
        }
        _ => None,
    }
}
