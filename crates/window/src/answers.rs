//! Answers of other machines that a thread waits for.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};

/// The answers, one or several, to what a thread has begun.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    left: AtomicU32,
    /// The value of the last one.
    value: AtomicU64,
}

impl Answers {
    /// The number of answers that are not there. Their data is visible to a thread that reads 0.
    pub(crate) fn left(&self) -> u32 {
        self.left.load(Ordering::SeqCst)
    }

    /// The value of the last one, once none is left.
    pub(crate) fn value(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    /// One more is awaited.
    pub(crate) fn await_one(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// One is there, with this value. If it is the last one, the answers may be gone when this returns.
    pub(crate) fn take_one(&self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.left.fetch_sub(1, Ordering::SeqCst);
    }
}
