//! How data are stored in memory from which another process is going to read them.
//!
//! Usual stores leave the lines in the writer's cache, and the reader takes them from there. Where both cores
//! share a cache nothing is quicker. Where they do not, the reader's cache still has the lines of the last
//! time, and the writer has to take each of them from there first, over the longest way in the machine.
//! Stores past the caches go to memory, from which the reader takes the lines. Writing and then reading, in
//! ns, where a line takes 120 or 510 ns there and back (Zen 2):
//!
//! | | 4 KiB | 8 KiB | 32 KiB | 128 KiB |
//! |---|---|---|---|---|
//! | usual stores, 120 | | 570 | 1,800 | 7,500 |
//! | past the caches, 120 | | 1,200 | 3,700 | 15,000 |
//! | usual stores, 510 | 1,200 | 2,100 | 7,600 | 29,900 |
//! | past the caches, 510 | 600 | 1,000 | 3,400 | 13,400 |
//!
//! A writer can tell by itself: usual stores take it more than twice as long as those past the caches where
//! the reader is far, and less where it is near. So it times some of its copies, and tries the other kind of
//! stores now and then.

use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use heddle_platform::clock::ticks;

/// How data are stored in memory from which another process reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// They stay in the writer's cache.
    Cached,
    /// They go to memory.
    PastCaches,
}

/// Shorter data always go through the caches: the difference is small, and timing them would take as long.
const LEAST: usize = 4 << 10;

/// One copy in so many is timed.
const TIMED: u32 = 16;
/// The last two copies of each so many try the other kind of stores …
const CYCLE: u32 = 256;
/// … and, first of all, two copies after this number of them.
const FIRST_TRIAL: u32 = 30;

/// Which stores are quicker for a writer to the readers of some memory. Any number of threads may use it at
/// once: what they learn may be lost, and is learnt again.
#[derive(Debug, Default)]
pub struct StoreChoice {
    /// How many copies there were.
    copies: AtomicU32,
    is_past_caches: AtomicBool,
    /// For each kind of stores what the last two timed copies took, in ticks per KiB.
    costs: [AtomicU64; 2],
}

impl StoreChoice {
    /// Makes a copy of `len` bytes, which gets to know how to store them.
    #[inline(always)]
    pub fn copy(&self, len: usize, copy: impl FnOnce(Stores)) {
        if len < LEAST { copy(Stores::Cached) } else { self.copy_long(len, copy) }
    }

    #[inline(never)]
    fn copy_long(&self, len: usize, copy: impl FnOnce(Stores)) {
        let (stores, is_timed) = self.next();
        if !is_timed {
            return copy(stores);
        }
        let before = ticks();
        copy(stores);
        let took = ticks().wrapping_sub(before);
        self.learn(stores, (took * 1024 / len as u64).clamp(1, u64::from(u32::MAX)) as u32);
    }

    /// The stores of the next copy, and whether it is to be timed.
    fn next(&self) -> (Stores, bool) {
        // Relaxed, here and below: hints.
        let number = self.copies.load(Ordering::Relaxed);
        self.copies.store(number.wrapping_add(1), Ordering::Relaxed);
        let is_past_caches = self.is_past_caches.load(Ordering::Relaxed);
        let is_trial = number & !1 == FIRST_TRIAL || number % CYCLE >= CYCLE - 2;
        let stores = if is_past_caches == is_trial { Stores::Cached } else { Stores::PastCaches };
        (stores, is_trial || number.is_multiple_of(TIMED))
    }

    /// Notes what a copy took, in ticks per KiB: the lower of the last two counts, since the thread may have
    /// been interrupted in one.
    fn learn(&self, stores: Stores, cost: u32) {
        let costs = &self.costs[stores as usize];
        costs.store(costs.load(Ordering::Relaxed) << 32 | u64::from(cost), Ordering::Relaxed);
        let [cached, past] = [Stores::Cached, Stores::PastCaches].map(|stores| self.cost(stores));
        if past == 0 || cached == 0 {
            return;
        }
        if cached > 2 * past {
            self.is_past_caches.store(true, Ordering::Relaxed);
        } else if 2 * cached < 3 * past {
            self.is_past_caches.store(false, Ordering::Relaxed);
        }
    }

    /// The ticks per KiB of a copy; 0 if they are not known.
    fn cost(&self, stores: Stores) -> u64 {
        let costs = self.costs[stores as usize].load(Ordering::Relaxed);
        (costs >> 32).min(costs & u64::from(u32::MAX))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Makes copies whose costs depend on the stores, as given; returns how many went past the caches.
    fn copies(choice: &StoreChoice, number: u32, costs: [u32; 2]) -> u32 {
        let mut past = 0;
        for _ in 0..number {
            let (stores, is_timed) = choice.next();
            if is_timed {
                choice.learn(stores, costs[stores as usize]);
            }
            past += u32::from(stores == Stores::PastCaches);
        }
        past
    }

    #[test]
    fn stores_go_past_the_caches_while_the_reader_is_far() {
        let (near, far) = ([100, 150], [480, 150]);
        let choice = StoreChoice::default();
        assert_eq!(copies(&choice, FIRST_TRIAL, near), 0);
        assert_eq!(copies(&choice, 10 * CYCLE, near), 22, "the trials");
        assert!(copies(&choice, 10 * CYCLE, far) > 10 * CYCLE - 2 * TIMED - 22);
        assert!(copies(&choice, 10 * CYCLE, near) < 2 * CYCLE);
    }

    #[test]
    fn a_far_reader_is_noticed_at_the_first_trial() {
        let choice = StoreChoice::default();
        assert_eq!(copies(&choice, FIRST_TRIAL + 2, [480, 150]), 2);
        assert_eq!(copies(&choice, 100, [480, 150]), 100);
    }

    #[test]
    fn costs_that_are_nearly_alike_change_nothing() {
        for (usual, past) in [([100, 150], 0), ([480, 150], 200)] {
            let choice = StoreChoice::default();
            copies(&choice, CYCLE - 2, usual);
            assert_eq!(
                copies(&choice, 200, [260, 150]),
                past + u32::from(past == 0) * 2 - u32::from(past != 0) * 2
            );
        }
    }

    #[test]
    fn one_interruption_changes_nothing() {
        let choice = StoreChoice::default();
        copies(&choice, CYCLE, [100, 150]);
        choice.learn(Stores::Cached, 1_000_000);
        assert_eq!(copies(&choice, TIMED, [100, 150]), 0);
    }

    #[test]
    fn short_copies_are_neither_counted_nor_timed() {
        let choice = StoreChoice::default();
        choice.copy(LEAST - 1, |stores| assert_eq!(stores, Stores::Cached));
        assert_eq!(choice.copies.load(Ordering::Relaxed), 0);
        choice.copy(LEAST, |_| ());
        assert_eq!(choice.copies.load(Ordering::Relaxed), 1);
        assert_ne!(choice.costs[0].load(Ordering::Relaxed), 0, "the first one is timed");
    }
}
