//! The computation of a reduction.

/// Computes `inout = in OP inout`; the last argument is the number of elements.
///
/// # Safety
/// The first buffer must be readable and the second also writable for that many elements of the type that
/// the kernel was chosen for, an extent apart, and the two must not overlap. Neither has to be aligned.
pub type Kernel = unsafe fn(*const u8, *mut u8, usize);
