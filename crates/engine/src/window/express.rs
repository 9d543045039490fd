//! The express path of one-sided operations: equal predefined datatypes on both sides,
//! memory that is mapped here.
//!
//! It serves a window that the calling thread used last. It checks all arguments. If it cannot serve a call,
//! or finds an error, it changes nothing; the caller takes the general path, which reports the error. It
//! enters no critical section.

use super::object::WinRef;
use heddle_model::Refusal;
use heddle_window::{Window, atomics};

/// No data lies below this address.
const LOWEST_ADDRESS: usize = 4096;

/// The most elements of an operation; their bytes are counted in 64 bits without an overflow.
const MOST_ELEMENTS: u64 = 1 << 40;

/// The result of the express path.
type Express = Result<(), Refusal>;

/// Passes the window of a handle to `operation`, if [`WinRef::peek`] finds it.
#[inline(always)]
fn with_window(handle: usize, operation: impl FnOnce(&Window) -> Express) -> Express {
    WinRef::peek(handle, operation).unwrap_or(Err(Refusal::Unfit))
}

/// A put or get, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct PlainCopy {
    /// The origin's data.
    pub address: *mut u8,
    /// Its number of elements.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
    /// Rank of the target.
    pub rank: i32,
    /// Displacement in the target's memory.
    pub disp: i64,
    /// The number of elements there.
    pub far_count: i64,
    /// Handle of their datatype.
    pub far_datatype: usize,
    /// Handle of the window.
    pub win: usize,
}

impl PlainCopy {
    /// Copies to the target.
    ///
    /// # Errors
    /// A refusal; then it has done nothing.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for reads, if they are valid at all.
    #[inline(always)]
    pub unsafe fn put(self) -> Express {
        // SAFETY: the caller vouches for the origin, `within` for the target.
        self.within(|far, len| unsafe { copy(self.address, far, len) })
    }

    /// Copies from the target.
    ///
    /// # Errors
    /// A refusal; then it has done nothing.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid for writes, if they are valid at all.
    #[inline(always)]
    pub unsafe fn get(self) -> Express {
        // SAFETY: the caller vouches for the origin, `within` for the target.
        self.within(|far, len| unsafe { copy(far, self.address, len) })
    }

    /// Passes the address of the target's data, and its length in bytes, to `copy`.
    #[inline(always)]
    fn within(self, copy: impl FnOnce(*mut u8, usize)) -> Express {
        let len = heddle_datatype::plain_bytes(self.datatype).wrapping_mul(self.count as usize);
        let equal = self.datatype == self.far_datatype && self.count == self.far_count;
        // As a `u64`, a negative count is a large one.
        let fits = (self.count as u64) < MOST_ELEMENTS && len != 0 && self.address.addr() >= LOWEST_ADDRESS;
        if !equal || !fits {
            return Err(Refusal::Unfit);
        }
        with_window(
            self.win,
            #[inline(always)]
            |window| {
                let target = window.peek(self.rank).ok_or(Refusal::Unfit)?;
                copy(target.at_once(self.disp, len).ok_or(Refusal::Unfit)?, len);
                Ok(())
            },
        )
    }
}

/// # Safety
/// `len` bytes are valid at both addresses.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    if len == 8 {
        // SAFETY: 8 bytes are valid at both addresses.
        let word = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: 8 bytes are valid at both addresses.
        unsafe { to.cast::<u64>().write_unaligned(word) };
    } else {
        // SAFETY: the caller's promise. Origin and target may be one place, if a process puts to itself.
        unsafe { to.copy_from(from, len) };
    }
}

/// `MPI_Fetch_and_op` of an integer of 4 or 8 bytes, as the program gives it.
#[derive(Debug, Clone, Copy)]
pub struct PlainAtomic {
    /// The operand.
    pub origin: *const u8,
    /// Where the value before goes.
    pub result: *mut u8,
    /// Handle of the datatype.
    pub datatype: usize,
    /// Rank of the target.
    pub rank: i32,
    /// Displacement in the target's memory.
    pub disp: i64,
    /// Handle of the operator.
    pub op: usize,
    /// Handle of the window.
    pub win: usize,
}

impl PlainAtomic {
    /// Adds the operand, if the operator is `MPI_SUM`, or stores it, if it is `MPI_REPLACE`.
    ///
    /// # Errors
    /// A refusal; then it has done nothing.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid, if they are valid at all.
    #[inline(always)]
    pub unsafe fn fetch_and_op(self) -> Express {
        let kind = atomics::PlainOperation::new(self.op, self.datatype).ok_or(Refusal::Unfit)?;
        if self.origin.addr() < LOWEST_ADDRESS || self.result.addr() < LOWEST_ADDRESS {
            return Err(Refusal::Unfit);
        }
        with_window(
            self.win,
            #[inline(always)]
            |window| {
                let target = window.peek(self.rank).ok_or(Refusal::Unfit)?;
                let far = target.at_once(self.disp, kind.size()).ok_or(Refusal::Unfit)?;
                // SAFETY: the caller vouches for the origin and the result, `at_once` for the target.
                let done = target.is_shared() && unsafe { kind.apply(far, self.origin, self.result) };
                if done { Ok(()) } else { Err(Refusal::Unfit) }
            },
        )
    }
}

/// `MPI_Win_flush`, with a lock held.
///
/// # Errors
/// A refusal; then it has done nothing.
#[inline(always)]
pub fn flush_express(rank: i32, win: usize) -> Express {
    with_window(
        win,
        #[inline(always)]
        |window| {
            if !window.peek(rank).ok_or(Refusal::Unfit)?.is_locked() {
                return Err(Refusal::Unfit);
            }
            window.sync();
            Ok(())
        },
    )
}
