//! The free slots of a table: a list that threads push to and pop from without ever waiting for each other
//! (Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986). Slots are never freed, so a
//! late thread may still read one; a counter beside the head makes its exchange fail.

use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};
use heddle_platform::const_fn;

/// Low half: the first free slot, plus one. High half: the number of changes of the list.
#[derive(Debug)]
pub(super) struct FreeList(AtomicU64);

impl FreeList {
    const_fn! {
        pub(super) const fn new() -> FreeList {
            FreeList(AtomicU64::new(0))
        }
    }

    /// An empty list that was changed `changes` times.
    #[cfg(all(test, not(loom)))]
    fn starting_at(changes: u32) -> FreeList {
        FreeList(AtomicU64::new(u64::from(changes) << 32))
    }

    fn after(head: u64, first: u32) -> u64 {
        ((head >> 32) + 1) << 32 | u64::from(first)
    }

    /// Puts a slot in front; `next` is its link.
    pub(super) fn push(&self, index: u32, next: &AtomicU32) {
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            next.store(head as u32, Ordering::Relaxed);
            let put = Self::after(head, index + 1);
            // Release: pairs with the Acquire in `pop`: the thread that takes the slot sees all writes to it.
            match self.0.compare_exchange_weak(head, put, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes the first slot; `next` gives the link of a slot.
    pub(super) fn pop<'a>(&self, next: impl Fn(u32) -> &'a AtomicU32) -> Option<u32> {
        let mut head = self.0.load(Ordering::Acquire);
        loop {
            let index = (head as u32).checked_sub(1)?;
            let behind = next(index).load(Ordering::Relaxed);
            // Acquire: pairs with the Release in `push`, also for the next turn of the loop.
            match self.0.compare_exchange_weak(
                head,
                Self::after(head, behind),
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(index),
                Err(now) => head = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn counts_on_where_its_changes_wrap() {
        let links = [const { AtomicU32::new(0) }; 2];
        let link = |index: u32| &links[index as usize];
        for changes in [u32::MAX - 5, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
            let list = FreeList::starting_at(changes);
            let mut heads = vec![list.0.load(Ordering::Relaxed)];
            let mut changed = || {
                let head = list.0.load(Ordering::Relaxed);
                assert!(!heads.contains(&head), "an exchange for an older head would succeed");
                heads.push(head);
            };
            for _ in 0..3 {
                list.push(0, link(0));
                changed();
                list.push(1, link(1));
                changed();
                assert_eq!(list.pop(link), Some(1));
                changed();
                assert_eq!(list.pop(link), Some(0));
                changed();
                assert_eq!(list.pop(link), None);
            }
        }
    }

    #[test]
    fn every_slot_is_given_to_one_thread_at_a_time() {
        // Its changes wrap soon.
        let list = FreeList::starting_at(u32::MAX - 100);
        let links: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
        let taken: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
        (0..64).for_each(|index| list.push(index, &links[index as usize]));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let index =
                            list.pop(|index| &links[index as usize]).expect("more slots than threads");
                        assert_eq!(taken[index as usize].fetch_add(1, Ordering::Relaxed), 0);
                        taken[index as usize].fetch_sub(1, Ordering::Relaxed);
                        list.push(index, &links[index as usize]);
                    }
                });
            }
        });
        let mut rest: Vec<u32> = std::iter::from_fn(|| list.pop(|index| &links[index as usize])).collect();
        rest.sort_unstable();
        assert_eq!(rest, (0..64).collect::<Vec<_>>());
    }
}
