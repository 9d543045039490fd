//! What a reduction is done with.

/// Computes `inout = in OP inout` on as many elements as the last argument says.
///
/// # Safety
/// The first buffer must be readable and the second also writable for that many elements of the type that
/// the kernel was chosen for, an extent apart, and the two must not overlap. Neither has to be aligned.
pub type Kernel = unsafe fn(*const u8, *mut u8, usize);
