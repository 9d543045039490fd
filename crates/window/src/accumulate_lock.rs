//! The accumulate lock of a process, in its window block, and when it is open.
//!
//! While it is [open](SharedBias), elements of 1, 2, 4 and 8 bytes are changed by processor atomics, of many
//! threads at one time. While it is closed, its holder changes them by vector instructions. The first is
//! better for single elements, and where many threads change different ones at one time; the second for many
//! elements at once, which then take a tenth of the time.
//!
//! **When it closes.** Each thread adds up what its accumulates of several elements would have gained by
//! closed locks. After as much as closing costs, it closes the lock at hand: whatever comes then, it has lost
//! no more than twice what was the least possible ("ski rental").
//!
//! **When it opens.** While it is closed, its holders add up what their accumulates gain and lose by that.
//! Single elements lose the way through the lock; a holder that is another one than the last loses the time
//! until the lock is there, and one that has waited loses that time. If they have lost as much as closing
//! costs, it opens. It was closed in vain then, so the next time it takes twice the loss to close it, up to a
//! thousand times; and the first loss again once closing it has gained that much. So a program that does both
//! all the time spends a thousandth of it on changes.

use heddle_model::counters::{self, CountedEvent};
use heddle_platform::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_sync::SharedBias;
use heddle_sync::shared_bias::Alone;

/// Nanoseconds that closing costs: making all threads pass a fence, and looking at their marks.
const CLOSING_NS: i32 = 20_000;
/// The most often that the loss which closes the lock is doubled.
const MOST_DOUBLINGS: u32 = 10;

/// Nanoseconds that it takes until the lock comes from another core: a cache line's way there and back.
const WAY_NS: i32 = 200;

/// The lock, and what it has gained since it was closed. Zeros are valid.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct AccumulateLock {
    bias: SharedBias,
    /// Nanoseconds gained since it was closed; negative if they are lost. The lock's holder writes it.
    balance: AtomicI32,
    /// How often in a row it was closed in vain. The lock's holder writes it.
    doublings: AtomicU32,
    /// The last holder, by what is unique in its process: threads of two processes may be taken for one. The
    /// lock's holder writes it.
    last_holder: AtomicU64,
}

impl AccumulateLock {
    #[inline(always)]
    pub(crate) fn bias(&self) -> &SharedBias {
        &self.bias
    }

    /// The nanoseconds that have to be lost until the lock is closed.
    fn stake(&self) -> u32 {
        (CLOSING_NS as u32) << self.doublings.load(Ordering::Relaxed).min(MOST_DOUBLINGS)
    }

    /// Adds what an accumulate would have gained by a closed lock to what its thread has lost so far. Returns
    /// true if that is enough to close this one, and begins anew then.
    pub(crate) fn is_to_be_closed(&self, lost: &AtomicU32, gain: u32) -> bool {
        let sum = lost.load(Ordering::Relaxed).saturating_add(gain);
        let is_enough = sum >= self.stake();
        lost.store(if is_enough { 0 } else { sum }, Ordering::Relaxed);
        is_enough
    }

    /// Closes it, as its holder.
    pub(crate) fn close(&self, alone: &mut Alone<'_>) {
        counters::count(CountedEvent::AccumulateLockChanged, 1);
        self.balance.store(0, Ordering::Relaxed);
        alone.close();
    }

    /// Gives it back, after its holder has gained so much by its being closed, and opens it if that does not
    /// pay. Returns true if a thread waits for it.
    #[inline(always)]
    pub(crate) fn leave(&self, mut alone: Alone<'_>, gain: i32) -> bool {
        if !alone.is_open() {
            let me = thread::current_id();
            let mut balance = self.balance.load(Ordering::Relaxed).saturating_add(gain);
            if self.last_holder.load(Ordering::Relaxed) != me {
                self.last_holder.store(me, Ordering::Relaxed);
                balance -= WAY_NS;
            }
            self.balance.store(balance, Ordering::Relaxed);
            if balance.unsigned_abs() >= CLOSING_NS as u32 {
                self.judge(&mut alone, balance);
            }
        }
        alone.leave()
    }

    #[cold]
    fn judge(&self, alone: &mut Alone<'_>, balance: i32) {
        if balance <= -CLOSING_NS {
            counters::count(CountedEvent::AccumulateLockChanged, 1);
            let doublings = self.doublings.load(Ordering::Relaxed);
            self.doublings.store((doublings + 1).min(MOST_DOUBLINGS), Ordering::Relaxed);
            alone.open();
        } else if balance >= self.stake() as i32 {
            self.doublings.store(0, Ordering::Relaxed);
            self.balance.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::means::ChangeKind;

    fn alone(lock: &AccumulateLock) -> Alone<'_> {
        lock.bias().try_alone().expect("nobody has it")
    }

    fn closed() -> AccumulateLock {
        let lock = AccumulateLock::default();
        let mut holder = alone(&lock);
        lock.close(&mut holder);
        assert!(holder.have_left(&mut std::iter::empty()));
        drop(holder);
        lock
    }

    /// Single elements until it is open; how many that took.
    fn open_by_single_elements(lock: &AccumulateLock) -> usize {
        let leave = |_| {
            lock.leave(alone(lock), ChangeKind::Computed.gain(1));
            alone(lock).is_open()
        };
        (1..).find(|_| leave(())).expect("it opens")
    }

    /// Accumulates of 128 elements until it has to be closed; how many that took.
    fn close_by_long_ones(lock: &AccumulateLock, lost: &AtomicU32) -> usize {
        let gain = ChangeKind::Computed.gain(128) as u32;
        (1..).find(|_| lock.is_to_be_closed(lost, gain)).expect("it has to be closed")
    }

    #[test]
    fn a_lock_closed_in_vain_closes_later() {
        let (lock, lost) = (AccumulateLock::default(), AtomicU32::new(0));
        let first = close_by_long_ones(&lock, &lost);
        assert!((20..80).contains(&first), "{first}");
        for times in [2, 4, 8] {
            lock.close(&mut alone(&lock));
            let count = open_by_single_elements(&lock);
            assert!((1_000..5_000).contains(&count), "{count}");
            let now = close_by_long_ones(&lock, &lost);
            assert!(now.abs_diff(first * times) <= times, "{now}, and {first} at first");
        }
    }

    #[test]
    fn a_lock_that_has_paid_closes_early_again() {
        let (lock, lost) = (closed(), AtomicU32::new(0));
        open_by_single_elements(&lock);
        let late = close_by_long_ones(&lock, &lost);
        lock.close(&mut alone(&lock));
        (0..2 * late).for_each(|_| {
            lock.leave(alone(&lock), ChangeKind::Computed.gain(128));
        });
        assert!(!alone(&lock).is_open());
        // In debt by less than what it has gained: single elements open it after about as many as ever.
        let count = open_by_single_elements(&lock);
        assert!((1_000..10_000).contains(&count), "{count}");
    }
}
