//! Counters: what happens at the sections and to messages, always on.
//!
//! Every thread counts in a block of its own (`block`): a load, an addition and a store to lines that nobody
//! else writes. A reader sums over the blocks, at any time; sums of a running program are of slightly
//! different moments, those of a stopped one are exact. The block of a thread that ends is added to a sum of
//! those that have ended, and serves the next thread that begins: threads that come and go by the thousand
//! leave nothing behind.
//!
//! A section's counts stand in a line of their own in each block. Entering it without contention is one
//! increment there; no clock is read. Only a thread that has found the section taken reads a clock.
//!
//! | | counted by |
//! |---|---|
//! | [`Entry`], for each [`Section`] | [`Row`], which sections carry with them |
//! | [`Event`] | [`count`], wherever it happens |
//!
//! **Productive** is an acquisition that creates, completes or frees a request, or does all of that at once
//! (Amer et al., TOPC 2019, section 3.2). On the main path nearly all are, so what is counted is those that
//! are not ([`Entry::Fruitless`]).

mod block;
mod counted;
mod registry;
mod row;
mod section;
mod totals;

pub use counted::{Entry, Event};
pub use row::Row;
pub use section::{MOST_VNIS, Section};
pub use totals::{SectionTotals, Totals};

use block::Block;

/// Counts `number` of an event, for the calling thread.
#[inline(always)]
pub fn count(event: Event, number: u64) {
    registry::mine().event(event).add(number);
}

/// The sums over all threads, those that have ended too.
pub fn totals() -> Totals {
    let mut totals = Totals::default();
    registry::for_each(|block| totals.add(block));
    totals
}

/// How many threads have counted something, and how many of them have not ended.
pub fn threads() -> (u64, u64) {
    registry::threads()
}

/// How much [`Event::Work`] the calling thread has done.
#[inline(always)]
pub fn work_here() -> u64 {
    registry::mine().event(Event::Work).get()
}

/// How productive the calling thread's present call has been: any two moments that differ have work between
/// them.
#[inline]
pub(crate) fn work() -> u64 {
    let mine: &Block = registry::mine();
    let of = |event| mine.event(event).get();
    of(Event::Work) + of(Event::RequestTaken) + of(Event::RequestReleased)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Path};
    use std::sync::Barrier;
    use std::thread;

    /// What came to a section while `during` ran. Tests run at once, so each has a section of its own.
    fn counted(section: Section, during: impl FnOnce()) -> impl Fn(Entry) -> u64 {
        let before = totals().section(section);
        during();
        let after = totals().section(section);
        move |entry| after.count(entry) - before.count(entry)
    }

    #[test]
    fn threads_that_come_and_go_leave_their_counts_and_nothing_else() {
        let row = Row::of(Section::Vni(63));
        let blocks_before = registry::blocks();
        let count = counted(Section::Vni(63), || {
            for _ in 0..2000 {
                thread::scope(|scope| {
                    scope.spawn(|| (0..3).for_each(|_| row.entered(Path::Main)));
                });
            }
        });
        assert_eq!(count(Entry::Main), 6000);
        // Other tests have threads, too, but not thousands.
        assert!(registry::blocks() - blocks_before < 100, "{} blocks", registry::blocks());
    }

    #[test]
    fn every_model_counts_each_entry_once() {
        for (number, name) in Model::names().enumerate() {
            let model = Model::named(name).expect("its name");
            let state = model.sections(true).guard_vni(number, 0u64);
            let row = model.sections(true).row(number);
            if model.granularity != crate::Granularity::PerVni {
                continue;
            }
            let count = counted(Section::Vni(number), || {
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            for _ in 0..1000 {
                                state.with(Path::Main, |it| *it += 1);
                                state.look(|_| ());
                                state.with(Path::Progress, |_| row.completed_something());
                            }
                        });
                    }
                });
            });
            assert_eq!(count(Entry::Main), 8000, "{name}");
            assert_eq!(count(Entry::Fruitless), 4000, "{name}");
            assert_eq!((count(Entry::Progress), count(Entry::Productive)), (4000, 4000), "{name}");
            assert!(count(Entry::Contended) <= 12_000, "{name}");
            // Nobody serves these sections, so `offload` has a lock here, too: who waits runs its operation
            // itself.
            let combined = matches!(model.execution, crate::Execution::CSync | crate::Execution::LockQ);
            assert_eq!(count(Entry::ForOthers), if combined { count(Entry::Contended) } else { 0 }, "{name}");
        }
    }

    #[test]
    fn who_finds_a_section_taken_is_counted_and_timed() {
        let model = Model::named("per-vni-mcs").expect("its name");
        let state = model.sections(true).guard_vni(62, ());
        let inside = Barrier::new(2);
        let count = counted(Section::Vni(62), || {
            thread::scope(|scope| {
                scope.spawn(|| {
                    state.with(Path::Main, |()| {
                        inside.wait();
                        // Until the other has been refused and waits, or is about to.
                        inside.wait();
                    });
                });
                inside.wait();
                assert!(state.try_with(Path::Progress, |()| ()).is_none());
                inside.wait();
                state.with(Path::Main, |()| ());
            });
        });
        assert_eq!((count(Entry::Main), count(Entry::Refused)), (2, 1));
        assert_eq!(count(Entry::Contended) == 0, count(Entry::Waited) == 0);
    }

    #[test]
    fn nothing_is_counted_where_there_are_no_sections() {
        let state = Model::default().sections(false).guard_vni(61, ());
        let count = counted(Section::Vni(61), || {
            state.with(Path::Main, |()| ());
            state.look(|()| ());
        });
        assert_eq!((count(Entry::Main), count(Entry::Fruitless)), (0, 0));
    }
}
