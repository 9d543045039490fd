//! [`Rma`] over a window of MPI: the words of all processes of a lock.
//!
//! The window is allocated by MPI and opened once, by `MPI_Win_lock_all`, until the lock is freed. Every
//! access is an accumulate operation on one `MPI_UINT64_T`, so accesses are atomic; a flush completes them.
//!
//! | [`Rma`] | MPI |
//! |---|---|
//! | `put`, `add` | `MPI_Accumulate` with `MPI_REPLACE`, `MPI_SUM`; a local flush, since the operand is on the stack |
//! | `get`, `fetch_add`, `swap` | `MPI_Fetch_and_op` with `MPI_NO_OP`, `MPI_SUM`, `MPI_REPLACE`, and a flush |
//! | `compare_and_swap` | `MPI_Compare_and_swap`, and a flush |
//!
//! The standard lets a library assume that the accumulates on one word at a time have one operation
//! (`accumulate_ops`, whose default is `same_op_no_op`), and has no value that takes the promise back. A lock
//! needs several. Heddle, MPICH and Open MPI keep them atomic.
//!
//! **Errors.** A new window ends the job if an access fails (`MPI_ERRORS_ARE_FATAL`). It stays so: nobody can
//! use a lock whose words are unknown.

use crate::error::Failure;
use crate::mpi::{Comm, Group, Handle, Win, checked, ffi};
use crate::pause::{A_WHILE_NS, Pause};
use heddle_rma_locks::{Rank, Rma, Word};
use heddle_spec::constants::{MPI_MODE_NOCHECK, MPI_NO_OP, MPI_REPLACE, MPI_SUM, MPI_UINT64_T};
use std::ffi::{c_int, c_void};

/// The bytes of a word.
const WORD_BYTES: usize = 8;

/// The words of a lock. Any number of threads may use them at once, if MPI allows threads at all.
#[derive(Debug)]
pub struct Words {
    win: Win,
    rank: Rank,
}

/// Hints: each process has the same number of words, and each access is one word.
fn hints() -> Result<Handle, Failure> {
    let mut info: Handle = 0;
    // SAFETY: stores into a local.
    checked("MPI_Info_create", unsafe { ffi::MPI_Info_create(&raw mut info) })?;
    for (key, value) in
        [(c"same_size", c"true"), (c"same_disp_unit", c"true"), (c"mpi_accumulate_granularity", c"8")]
    {
        // SAFETY: two strings.
        checked("MPI_Info_set", unsafe { ffi::MPI_Info_set(info, key.as_ptr(), value.as_ptr()) })?;
    }
    Ok(info)
}

impl Words {
    /// Makes `count` words at each process, all 0. All processes of the communicator call it.
    pub(crate) fn new(group: &Group, count: usize) -> Result<Words, Failure> {
        let mut info = hints()?;
        let (mut base, mut win) = (std::ptr::null_mut::<u64>(), null_window());
        let bytes = (count * WORD_BYTES) as isize;
        let Group { comm, rank, .. } = *group;
        // SAFETY: stores into two locals.
        let code = unsafe { allocate(bytes, info, comm, &raw mut base, &raw mut win) };
        checked("MPI_Win_allocate", code)?;
        // SAFETY: an object of our own.
        checked("MPI_Info_free", unsafe { ffi::MPI_Info_free(&raw mut info) })?;
        // SAFETY: the window's memory, which no process reaches before the barrier below.
        unsafe { base.write_bytes(0, count) };
        // SAFETY: a window of our own, which is not locked yet; nobody locks it exclusively.
        checked("MPI_Win_lock_all", unsafe { ffi::MPI_Win_lock_all(MPI_MODE_NOCHECK, win) })?;
        // SAFETY: the window is locked. With this the zeros are what other processes see.
        checked("MPI_Win_sync", unsafe { ffi::MPI_Win_sync(win) })?;
        group.barrier()?;
        Ok(Words { win, rank })
    }

    /// Frees the window. All processes call it, and none uses the words any more.
    pub(crate) fn free(self) -> Result<(), Failure> {
        let mut win = self.win;
        // SAFETY: a window of our own, locked by new().
        checked("MPI_Win_unlock_all", unsafe { ffi::MPI_Win_unlock_all(win) })?;
        // SAFETY: a window of our own, without an epoch.
        checked("MPI_Win_free", unsafe { ffi::MPI_Win_free(&raw mut win) })
    }

    fn accumulate(&self, op: Handle, operand: u64, target: Rank, word: Word) {
        let from = (&raw const operand).cast::<c_void>();
        let (to, at) = (target as c_int, word as isize);
        // SAFETY: one value, which stays in place until the local flush.
        let code =
            unsafe { ffi::MPI_Accumulate(from, 1, MPI_UINT64_T, to, at, 1, MPI_UINT64_T, op, self.win) };
        done("MPI_Accumulate", code);
        // SAFETY: the window is locked.
        done("MPI_Win_flush_local", unsafe { ffi::MPI_Win_flush_local(to, self.win) });
    }

    fn fetch(&self, op: Handle, operand: u64, target: Rank, word: Word) -> u64 {
        let mut before = 0_u64;
        let (from, result) = ((&raw const operand).cast::<c_void>(), (&raw mut before).cast::<c_void>());
        let (to, at) = (target as c_int, word as isize);
        // SAFETY: two values, which stay in place until the flush.
        let code = unsafe { ffi::MPI_Fetch_and_op(from, result, MPI_UINT64_T, to, at, op, self.win) };
        done("MPI_Fetch_and_op", code);
        self.complete(target);
        before
    }

    fn complete(&self, target: Rank) {
        // SAFETY: the window is locked.
        done("MPI_Win_flush", unsafe { ffi::MPI_Win_flush(target as c_int, self.win) });
    }
}

/// No window yet.
fn null_window() -> Win {
    // SAFETY: Win is a transparent pointer, for which null is a value.
    unsafe { std::mem::zeroed() }
}

/// `MPI_Win_allocate` with words as units.
///
/// # Safety
///
/// `base` and `win` may be written.
unsafe fn allocate(bytes: isize, info: Handle, comm: Comm, base: *mut *mut u64, win: *mut Win) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { ffi::MPI_Win_allocate(bytes, WORD_BYTES as c_int, info, comm, base, win) }
}

/// Ends the process if an access failed and MPI has not done so.
fn done(call: &str, code: c_int) {
    if let Err(failure) = checked(call, code) {
        panic!("a word of a lock cannot be reached: {}", failure.words);
    }
}

impl Rma for Words {
    fn rank(&self) -> Rank {
        self.rank
    }

    async fn put(&self, value: u64, target: Rank, word: Word) {
        self.accumulate(MPI_REPLACE, value, target, word);
    }

    async fn get(&self, target: Rank, word: Word) -> u64 {
        self.fetch(MPI_NO_OP, 0, target, word)
    }

    async fn add(&self, operand: u64, target: Rank, word: Word) {
        self.accumulate(MPI_SUM, operand, target, word);
    }

    async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
        self.fetch(MPI_SUM, operand, target, word)
    }

    async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
        self.fetch(MPI_REPLACE, value, target, word)
    }

    async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
        let mut before = 0_u64;
        let (from, compare) = ((&raw const value).cast::<c_void>(), (&raw const expected).cast::<c_void>());
        let result = (&raw mut before).cast::<c_void>();
        let (to, at) = (target as c_int, word as isize);
        // SAFETY: three values, which stay in place until the flush.
        let code =
            unsafe { ffi::MPI_Compare_and_swap(from, compare, result, MPI_UINT64_T, to, at, self.win) };
        done("MPI_Compare_and_swap", code);
        self.complete(target);
        before
    }

    async fn flush(&self, target: Rank) {
        self.complete(target);
    }

    async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        let mut pause = Pause::new();
        loop {
            let value = self.get(target, word).await;
            if is_over(value) {
                return value;
            }
            pause.pass();
        }
    }

    async fn wait_a_while(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let mut pause = Pause::new();
        loop {
            let value = self.get(target, word).await;
            if is_over(value) {
                return Some(value);
            }
            if pause.lasted_ns() >= A_WHILE_NS {
                return None;
            }
            pause.pass();
        }
    }
}
