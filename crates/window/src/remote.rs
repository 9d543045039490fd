//! What a window needs of a transport.
//!
//! Everything that a window does to another process goes through [`Remote`], by the process's rank in the
//! window: copies from and to its memory, atomic operations on the words of its window block, and their
//! completion. Epochs, locks, accumulates and checks stand above and know no transport. Memory that is
//! mapped here is the exception: a put of 8 bytes is a store, at the address that
//! [`Target`](crate::Target) has.
//!
//! `machine.rs` implements it for the processes of one machine. There every operation is complete when its
//! function returns. With a transport where that is not so, an operation is complete after
//! [`complete`](Remote::complete) or [`complete_at`](Remote::complete_at); every flush, unlock and end of an
//! epoch calls one of them.

use crate::answers::Answers;
use crate::geometry::{Geometry, WordAt};
use heddle_transport::single_copy::Piece;
use std::io;

/// An atomic operation on a word.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Add(u64),
    Swap(u64),
    CompareAndSwap { expected: u64, value: u64 },
}

/// Access to the processes of a window. All functions may be called by any thread.
pub(crate) trait Remote: std::fmt::Debug + Send + Sync {
    /// Where the words lie in each process's block.
    fn geometry(&self) -> &Geometry;

    /// Returns true if [`read`](Self::read) and [`write`](Self::write) reach a process's memory.
    fn reaches(&self, rank: usize) -> bool;

    /// Begins to copy `len` bytes at `address` in a process's own address space to `here`.
    ///
    /// # Errors
    /// That of the system, if the memory cannot be read.
    ///
    /// # Safety
    /// `here` has room for the bytes, which nobody else uses until the reads are [finished](Self::finish),
    /// and those at `address` belong to the process's part of the window.
    unsafe fn read(
        &self,
        rank: usize,
        address: u64,
        here: *mut u8,
        len: usize,
        reads: &Answers,
    ) -> io::Result<()>;

    /// Begins to copy runs of a process's memory, one behind the other, to `here`.
    ///
    /// # Errors
    /// The same as for [`read`](Self::read); some of the runs may be copied then.
    ///
    /// # Safety
    /// That of [`read`](Self::read), for every run.
    unsafe fn read_runs(&self, rank: usize, runs: &[Piece], here: *mut u8, reads: &Answers)
    -> io::Result<()>;

    /// Waits until the data of reads from a process is there.
    fn finish(&self, rank: usize, reads: &Answers);

    /// Copies `len` bytes at `here` to `address` in a process's own address space.
    ///
    /// # Errors
    /// That of the system, if the memory cannot be written.
    ///
    /// # Safety
    /// The bytes at `here` are valid, and those at `address` belong to the process's part of the window.
    unsafe fn write(&self, rank: usize, address: u64, here: *const u8, len: usize) -> io::Result<()>;

    /// Copies bytes from `here` on to runs of a process's memory, one behind the other.
    ///
    /// # Errors
    /// The same as for [`write`](Self::write); some of the runs may be copied then.
    ///
    /// # Safety
    /// That of [`write`](Self::write), for every run.
    unsafe fn write_runs(&self, rank: usize, runs: &[Piece], here: *const u8) -> io::Result<()>;

    /// The value of a word. What its writer did before is visible then.
    fn load(&self, rank: usize, word: WordAt) -> u64;

    /// Stores a value in a word. What this thread did before is visible to a thread that then loads it.
    fn store(&self, rank: usize, word: WordAt, value: u64);

    /// Changes a word and returns its value before. Stores and changes are sequentially consistent.
    fn change(&self, rank: usize, word: WordAt, change: Change) -> u64;

    /// Wakes the threads that [wait](Self::wait) for a word, after a change.
    fn announce(&self, rank: usize, word: WordAt);

    /// Waits until `is_over` accepts a word's value. It is not called again after that, and so may have an
    /// effect.
    fn wait(&self, rank: usize, word: WordAt, is_over: impl FnMut(u64) -> bool);

    /// Does the same, but gives up after a while. Returns whether `is_over` has accepted the value.
    fn wait_a_while(&self, rank: usize, word: WordAt, is_over: impl FnMut(u64) -> bool) -> bool;

    /// Wakes a process's threads that wait for messages, after a change of a word that they look at.
    fn wake(&self, rank: usize);

    /// Completes everything that this thread has begun, at the other processes too.
    fn complete(&self);

    /// Completes everything that this thread has begun on a process, and waits for no other one.
    fn complete_at(&self, rank: usize);
}
