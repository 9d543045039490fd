//! Remote memory access, as far as the locks need it (paper, Listing 1).

use std::future::Future;

/// A process, from 0.
pub type Rank = usize;

/// A 64-bit word of every process's part of a lock's memory, from 0.
pub type Word = usize;

/// The operations by which a process reaches the words of all processes of a lock. All words are 0 at first.
///
/// **Completion.** [`put`](Self::put) and [`add`](Self::add) may take effect at any time up to the caller's
/// next [`flush`](Self::flush) of that target, also after later operations of the caller. All others have
/// taken effect when they return. Each is atomic.
///
/// The functions return futures so that a checker can stop a process between any two operations. An
/// implementation over real memory blocks inside and returns futures that are ready at once;
/// [`now`](crate::now) runs a lock's function over it.
pub trait Rma {
    /// The calling process.
    fn rank(&self) -> Rank;

    /// Stores `value`.
    fn put(&self, value: u64, target: Rank, word: Word) -> impl Future<Output = ()>;

    /// The word's value.
    fn get(&self, target: Rank, word: Word) -> impl Future<Output = u64>;

    /// Adds `operand`, modulo 2^64 (the paper's Accumulate with SUM).
    fn add(&self, operand: u64, target: Rank, word: Word) -> impl Future<Output = ()>;

    /// Adds `operand`, modulo 2^64, and returns the value before (FAO with SUM).
    fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> impl Future<Output = u64>;

    /// Stores `value` and returns the value before (FAO with REPLACE).
    fn swap(&self, value: u64, target: Rank, word: Word) -> impl Future<Output = u64>;

    /// Stores `value` if the word holds `expected`; returns the value before (CAS).
    fn compare_and_swap(
        &self,
        value: u64,
        expected: u64,
        target: Rank,
        word: Word,
    ) -> impl Future<Output = u64>;

    /// Completes the caller's operations on that target.
    fn flush(&self, target: Rank) -> impl Future<Output = ()>;

    /// Waits until `is_over` accepts the word's value, and returns that: the paper's loops of Get and Flush.
    fn wait_until(
        &self,
        target: Rank,
        word: Word,
        is_over: impl Fn(u64) -> bool,
    ) -> impl Future<Output = u64>;

    /// Does the same, but may give up after a while that the implementation chooses,
    /// and then returns nothing.
    fn wait_a_while(
        &self,
        target: Rank,
        word: Word,
        is_over: impl Fn(u64) -> bool,
    ) -> impl Future<Output = Option<u64>> {
        async move { Some(self.wait_until(target, word, is_over).await) }
    }
}
