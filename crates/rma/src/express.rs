//! The express path of one-sided operations: equal predefined datatypes on both sides,
//! memory that is mapped here.
//!
//! It serves a window that the calling thread used last. It checks all arguments. If it cannot serve a call,
//! or finds an error, it changes nothing; the caller takes the general path, which reports the error. It
//! enters no critical section.

use crate::object::WinRef;
use heddle_message::buffer::{Buffer, can_hold_data, is_countable};
use heddle_model::Refusal;
use heddle_window::atomics::{PlainOperation, Width};
use heddle_window::{ChangeKind, Means, Target, Window};

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
        let fits = is_countable(self.count) && len != 0 && can_hold_data(self.address);
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

/// Data of so many bytes are stored past the caches. That is quicker if origin and target together do not fit
/// into a cache that the cores share.
const LONG: usize = 8 << 20;

/// # Safety
/// `len` bytes are valid at both addresses.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    if len == 8 {
        // SAFETY: 8 bytes are valid at both addresses.
        let word = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: 8 bytes are valid at both addresses.
        unsafe { to.cast::<u64>().write_unaligned(word) };
    } else if len < LONG {
        // SAFETY: the caller's promise. Origin and target may be one place, if a process puts to itself.
        unsafe { to.copy_from(from, len) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { copy_long(from, to, len) };
    }
}

/// Copies past the caches.
///
/// # Safety
/// `len` bytes are valid at both addresses.
#[cold]
unsafe fn copy_long(from: *const u8, to: *mut u8, len: usize) {
    if from == to.cast_const() {
        return;
    }
    // SAFETY: the caller's promise; it is only read.
    let from = unsafe { Buffer::bytes(from.cast_mut(), len) };
    // SAFETY: the caller's promise.
    let to = unsafe { Buffer::bytes(to, len) };
    from.copy_to(&to, len);
}

/// Integers of 4 or 8 bytes in a target's memory, as the program names them.
#[derive(Debug, Clone, Copy)]
pub struct PlainIntegers {
    /// Rank of the target.
    pub rank: i32,
    /// Displacement in the target's memory.
    pub disp: i64,
    /// How many.
    pub count: i64,
    /// Handle of their datatype.
    pub datatype: usize,
    /// Handle of the window.
    pub win: usize,
}

impl PlainIntegers {
    /// `MPI_Fetch_and_op` with `MPI_SUM` or `MPI_REPLACE`.
    ///
    /// # Errors
    /// A refusal; then it has done nothing. One that is `Busy` says that it may succeed
    /// [in turn](Self::fetch_and_op_in_turn).
    ///
    /// # Safety
    /// The memory that the arguments describe is valid, if they are valid at all.
    #[inline(always)]
    pub unsafe fn fetch_and_op(self, op: usize, origin: *const u8, result: *mut u8) -> Express {
        let operation = PlainOperation::new(op).ok_or(Refusal::Unfit)?;
        self.change_one(
            [origin, result],
            #[inline(always)]
            // SAFETY: the caller vouches for the origin and the result, `change_one` for the target.
            |far, width| unsafe { operation.fetch(Means::Atomics, width, far, origin, result) },
        )
    }

    /// `MPI_Accumulate` with `MPI_SUM` or `MPI_REPLACE`, of one operand of the same datatype.
    ///
    /// # Errors
    /// A refusal; then it has done nothing.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid, if they are valid at all.
    #[inline(always)]
    pub unsafe fn accumulate(self, op: usize, origin: *const u8) -> Express {
        let operation = PlainOperation::new(op).ok_or(Refusal::Unfit)?;
        if self.count != 1 {
            return Err(Refusal::Busy);
        }
        self.change_one(
            [origin, origin],
            #[inline(always)]
            // SAFETY: the caller vouches for the origin, `change_one` for the target.
            |far, width| unsafe { operation.apply(Means::Atomics, width, far, origin, 1) },
        )
    }

    /// `MPI_Compare_and_swap`.
    ///
    /// # Errors
    /// A refusal; then it has done nothing.
    ///
    /// # Safety
    /// The memory that the arguments describe is valid, if they are valid at all.
    #[inline(always)]
    pub unsafe fn compare_and_swap(self, value: *const u8, expected: *const u8, result: *mut u8) -> Express {
        if !can_hold_data(expected) {
            return Err(Refusal::Unfit);
        }
        self.change_one(
            [value, result],
            #[inline(always)]
            // SAFETY: the caller vouches for its three integers, `change_one` for the target.
            |far, width| unsafe { width.compare_and_swap(Means::Atomics, far, expected, value, result) },
        )
    }

    /// Does what [`fetch_and_op`](Self::fetch_and_op) does, also where the target's lock is closed.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    pub unsafe fn fetch_and_op_in_turn(self, op: usize, origin: *const u8, result: *mut u8) -> Express {
        let operation = PlainOperation::new(op).ok_or(Refusal::Unfit)?;
        self.change([origin, result], operation.kind(true), |means, far, width| {
            // SAFETY: the caller vouches for the origin and the result, `change` for the target.
            unsafe { operation.fetch(means, width, far, origin, result) }
        })
    }

    /// Does what [`accumulate`](Self::accumulate) does, also with several operands, and where the target's
    /// lock is closed.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    pub unsafe fn accumulate_in_turn(self, op: usize, origin: *const u8) -> Express {
        let operation = PlainOperation::new(op).ok_or(Refusal::Unfit)?;
        self.change([origin, origin], operation.kind(false), |means, far, width| {
            // SAFETY: the caller vouches for the origin, `change` for the target.
            unsafe { operation.apply(means, width, far, origin, self.count as usize) }
        })
    }

    /// Does what [`compare_and_swap`](Self::compare_and_swap) does, also where the target's lock is closed.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    pub unsafe fn compare_and_swap_in_turn(
        self,
        value: *const u8,
        expected: *const u8,
        result: *mut u8,
    ) -> Express {
        if !can_hold_data(expected) {
            return Err(Refusal::Unfit);
        }
        self.change([value, result], ChangeKind::Computed, |means, far, width| {
            // SAFETY: the caller vouches for its three integers, `change` for the target.
            unsafe { width.compare_and_swap(means, far, expected, value, result) }
        })
    }

    /// Passes the address of one integer and its width to `change`, which changes it by a processor atomic.
    /// To do so it takes no more than a mark that the thread has already.
    #[inline(always)]
    fn change_one(self, here: [*const u8; 2], change: impl Fn(*mut u8, Width)) -> Express {
        self.within(
            here,
            #[inline(always)]
            |_, target, far, width| {
                let is_changed = target.change_one(
                    #[inline(always)]
                    || change(far, width),
                );
                if is_changed { Ok(()) } else { Err(Refusal::Busy) }
            },
        )
    }

    /// Passes the address of the integers and their width to `change`, if nobody has to be waited for.
    #[inline(always)]
    fn change(
        self,
        here: [*const u8; 2],
        kind: ChangeKind,
        change: impl FnOnce(Means, *mut u8, Width),
    ) -> Express {
        self.within(
            here,
            #[inline(always)]
            |window, target, far, width| {
                let elements = self.count as usize;
                let is_changed = window.change_at_once(
                    target,
                    kind,
                    (elements, elements * width.bytes()),
                    #[inline(always)]
                    |means| change(means, far, width),
                );
                if is_changed { Ok(()) } else { Err(Refusal::Unfit) }
            },
        )
    }

    /// Passes the address of the integers and their width to `operate`, if they are aligned and mapped.
    /// `here` are addresses of the program's.
    #[inline(always)]
    fn within(
        self,
        here: [*const u8; 2],
        operate: impl FnOnce(&Window, &Target, *mut u8, Width) -> Express,
    ) -> Express {
        let width = Width::of(self.datatype).ok_or(Refusal::Unfit)?;
        let counts = self.count != 0 && is_countable(self.count);
        if !counts || !can_hold_data(here[0]) || !can_hold_data(here[1]) {
            return Err(Refusal::Unfit);
        }
        with_window(
            self.win,
            #[inline(always)]
            |window| {
                let target = window.peek(self.rank).ok_or(Refusal::Unfit)?;
                let len = self.count as usize * width.bytes();
                let far = target.at_once(self.disp, len).ok_or(Refusal::Unfit)?;
                if width.is_aligned(far) { operate(window, target, far, width) } else { Err(Refusal::Unfit) }
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
            let target = window.peek(rank).ok_or(Refusal::Unfit)?;
            // Operations on memory that is mapped are complete; others may be under way.
            if !target.is_locked() || target.base().is_null() {
                return Err(Refusal::Unfit);
            }
            window.sync();
            Ok(())
        },
    )
}
