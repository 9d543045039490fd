//! The words of a window's locks, for `heddle-rma-locks`.

use crate::control::{Control, wait, wait_a_while};
use crate::window::Window;
use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_rma_locks::{Rank, Rma, Word};

impl Window {
    /// Waits until the lock of a target is this process's.
    pub(crate) fn acquire(&self, target: Rank, shared: bool) {
        self.lock().acquire(&Words { window: self, target }, target, shared);
    }

    /// Releases the lock of a target.
    pub(crate) fn release_lock(&self, target: Rank, shared: bool) {
        self.lock().release(&Words { window: self, target }, target, shared);
    }
}

/// The words of one target's lock.
struct Words<'a> {
    window: &'a Window,
    target: Rank,
}

impl Words<'_> {
    #[inline(always)]
    fn control(&self, keeper: Rank) -> &Control {
        self.window.control(keeper)
    }

    /// Changes a word by `change`, and wakes the processes that wait for it.
    #[inline(always)]
    fn change<R>(&self, keeper: Rank, word: Word, change: impl FnOnce(&AtomicU64) -> R) -> R {
        let control = self.control(keeper);
        let result = change(control.lock_word(self.target, word));
        control.lock_event(self.target, word).wake(Scope::Machine);
        result
    }
}

/// Every operation is done when its function returns, and is sequentially consistent, so a
/// flush has nothing to do.
impl Rma for Words<'_> {
    #[inline(always)]
    fn rank(&self) -> Rank {
        self.window.rank()
    }

    #[inline(always)]
    async fn put(&self, value: u64, keeper: Rank, word: Word) {
        self.change(keeper, word, |cell| cell.store(value, Ordering::SeqCst));
    }

    #[inline(always)]
    async fn get(&self, keeper: Rank, word: Word) -> u64 {
        self.control(keeper).lock_word(self.target, word).load(Ordering::SeqCst)
    }

    #[inline(always)]
    async fn add(&self, operand: u64, keeper: Rank, word: Word) {
        self.change(keeper, word, |cell| cell.fetch_add(operand, Ordering::SeqCst));
    }

    #[inline(always)]
    async fn fetch_add(&self, operand: u64, keeper: Rank, word: Word) -> u64 {
        self.change(keeper, word, |cell| cell.fetch_add(operand, Ordering::SeqCst))
    }

    #[inline(always)]
    async fn swap(&self, value: u64, keeper: Rank, word: Word) -> u64 {
        self.change(keeper, word, |cell| cell.swap(value, Ordering::SeqCst))
    }

    #[inline(always)]
    async fn compare_and_swap(&self, value: u64, expected: u64, keeper: Rank, word: Word) -> u64 {
        let control = self.control(keeper);
        let cell = control.lock_word(self.target, word);
        match cell.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(before) => {
                control.lock_event(self.target, word).wake(Scope::Machine);
                before
            }
            // Nothing has changed.
            Err(before) => before,
        }
    }

    #[inline(always)]
    async fn flush(&self, _: Rank) {}

    #[inline(always)]
    async fn wait_until(&self, keeper: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> u64 {
        let control = self.control(keeper);
        let cell = control.lock_word(self.target, word);
        let mut value = 0;
        wait(self.window.domain(), control.lock_event(self.target, word), || {
            value = cell.load(Ordering::SeqCst);
            is_over(value)
        });
        value
    }

    #[inline(always)]
    async fn wait_a_while(&self, keeper: Rank, word: Word, is_over: impl Fn(u64) -> bool) -> Option<u64> {
        let control = self.control(keeper);
        let cell = control.lock_word(self.target, word);
        let mut value = 0;
        let accepted = wait_a_while(self.window.domain(), control.lock_event(self.target, word), || {
            value = cell.load(Ordering::SeqCst);
            is_over(value)
        });
        accepted.then_some(value)
    }
}
