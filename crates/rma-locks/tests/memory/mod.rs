//! Words in the memory of one process, whose threads stand for processes.

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_rma_locks::{Rank, Rma, Word};

/// The words of all processes.
pub(crate) struct Memory(Vec<Vec<AtomicU64>>);

impl Memory {
    pub(crate) fn of(processes: usize, words: usize) -> Memory {
        let row = || (0..words).map(|_| AtomicU64::new(0)).collect();
        Memory((0..processes).map(|_| row()).collect())
    }
}

/// A process over that memory. Every operation takes effect at once.
pub(crate) struct Process<'a> {
    pub(crate) rank: Rank,
    pub(crate) memory: &'a Memory,
}

impl Process<'_> {
    fn word(&self, target: Rank, word: Word) -> &AtomicU64 {
        &self.memory.0[target][word]
    }
}

impl Rma for Process<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    async fn put(&self, value: u64, target: Rank, word: Word) {
        self.word(target, word).store(value, Ordering::SeqCst);
    }

    async fn get(&self, target: Rank, word: Word) -> u64 {
        self.word(target, word).load(Ordering::SeqCst)
    }

    async fn add(&self, operand: u64, target: Rank, word: Word) {
        self.word(target, word).fetch_add(operand, Ordering::SeqCst);
    }

    async fn fetch_add(&self, operand: u64, target: Rank, word: Word) -> u64 {
        self.word(target, word).fetch_add(operand, Ordering::SeqCst)
    }

    async fn swap(&self, value: u64, target: Rank, word: Word) -> u64 {
        self.word(target, word).swap(value, Ordering::SeqCst)
    }

    async fn compare_and_swap(&self, value: u64, expected: u64, target: Rank, word: Word) -> u64 {
        let result =
            self.word(target, word).compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst);
        result.unwrap_or_else(|before| before)
    }

    async fn flush(&self, _: Rank) {}

    async fn wait_until(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        loop {
            let value = self.word(target, word).load(Ordering::SeqCst);
            if is_over(value) {
                return value;
            }
            thread::yield_now();
        }
    }

    async fn wait_a_while(&self, target: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        for _ in 0..3 {
            let value = self.word(target, word).load(Ordering::SeqCst);
            if is_over(value) {
                return Some(value);
            }
            thread::yield_now();
        }
        None
    }
}
