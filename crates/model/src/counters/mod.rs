//! Counters of critical sections and messages, always on.
//!
//! Every thread counts in a separate block (`block`): a load, an addition and a store to lines that no
//! other thread writes. A reader sums over the blocks, at any time; sums of a running program are of
//! slightly different moments, those of a stopped one are exact. When a thread ends, its block is added to
//! a sum for ended threads and serves the next thread that begins: threads that come and go by the
//! thousand leave nothing behind.
//!
//! The counts of a critical section lie in separate lines of each block. Entering it without
//! contention is one increment there; no clock is read. Only a thread that has found the critical
//! section taken reads a clock. Entries, contended entries and waiting times are counted by
//! [`Path`](crate::Path).
//!
//! | | counted by |
//! |---|---|
//! | [`Entry`], for each [`Section`] | [`Row`], which critical sections carry with them |
//! | hand-overs, among them | `last_holder`: an entry after that of another thread |
//! | changes of a lock's bias, among them | the lock, whose observer is the [`Row`] |
//! | [`CountedEvent`] | [`count`], at each event |
//!
//! `standing_back` knows the number of threads that wait to issue an operation, which decides whether a poll
//! is made; `cores`, how many cores the threads have.
//!
//! Requests that are complete and not yet freed are not counted here: `heddle-message` finds them in the
//! slots of the requests when a tool asks.
//!
//! **Productive** is an acquisition that creates, completes or frees a request, or does all of that at once
//! (Amer et al., TOPC 2019, section 3.2). On the main path nearly all are, so the counter counts those that
//! are not ([`Entry::Fruitless`]).

mod block;
mod cores;
mod counted;
mod last_holder;
mod registry;
mod row;
mod section;
mod standing_back;
mod totals;

pub use cores::share_cores;
pub use counted::{CountedEvent, Entry};
pub(crate) use last_holder::{HandOver, LockAndRow, Tracked, was_here_last};
pub use row::Row;
pub use section::{MOST_VNIS, Section};
pub(crate) use standing_back::Issuers;
#[cfg(test)]
pub(crate) use standing_back::left_out;
pub use standing_back::{are_more_per_core_than, cores_for_threads, each_thread_has_core};
pub use totals::{SectionTotals, Totals};

use block::Block;

/// Counts `number` of an event, for the calling thread.
#[inline(always)]
pub fn count(event: CountedEvent, number: u64) {
    registry::mine().event(event).add(number);
}

/// The sums over all threads, including those that have ended.
pub fn totals() -> Totals {
    let mut totals = Totals::default();
    registry::for_each(|_, block| totals.add(block));
    totals
}

/// The number of places by which threads are told apart.
pub const PLACES: usize = 64;

/// The counts of all critical sections together, by the places of threads. A thread takes the lowest free
/// place when it counts for the first time, and leaves it when it ends, with its counts: threads that follow
/// each other in a place are counted together, and so are all from the last place on.
pub fn by_place() -> Box<[SectionTotals]> {
    let mut places = vec![SectionTotals::default(); PLACES].into_boxed_slice();
    registry::for_each(|place, block| {
        let mut totals = Totals::default();
        totals.add(block);
        places[place.min(PLACES - 1)] += totals.all_sections();
    });
    places
}

/// The calling thread's place.
pub fn place_here() -> usize {
    registry::place().min(PLACES - 1)
}

/// Reads what the count of hand-overs needs to know of the machine: to be called before several threads enter
/// critical sections, so that none of them has to.
pub fn prepare() {
    heddle_locks::machine::read();
}

/// The number of threads that have counted something, and the number of them that have not ended.
pub fn threads() -> (u64, u64) {
    registry::threads()
}

/// The amount of [`CountedEvent::Work`] that the calling thread has done.
#[inline(always)]
pub fn work_here() -> u64 {
    events_here(CountedEvent::Work)
}

/// The number of an event that the calling thread has counted, and those before it in its place.
#[inline(always)]
pub fn events_here(event: CountedEvent) -> u64 {
    registry::mine().event(event).get()
}

/// A measure of the work of the calling thread's present call: if two results differ,
/// work was done between them.
#[inline]
pub(crate) fn work() -> u64 {
    let mine: &Block = registry::mine();
    let of = |event| mine.event(event).get();
    of(CountedEvent::Work) + of(CountedEvent::RequestTaken) + of(CountedEvent::RequestReleased)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Path};
    use heddle_platform::clock;
    use std::sync::Barrier;
    use std::thread;

    /// The counts of a critical section while `during` ran. Tests run at once, so each uses a different one.
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
            if !model.granularity.is_by_vni() {
                continue;
            }
            let count = counted(Section::Vni(number), || {
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            for _ in 0..1000 {
                                state.with(Path::Main, |it| *it += 1);
                                state.poll(|_| ());
                                state.with(Path::Progress, |_| row.completed_something());
                            }
                        });
                    }
                });
            });
            assert_eq!(count(Entry::Main), 8000, "{name}");
            assert_eq!(count(Entry::Fruitless), 4000, "{name}");
            assert_eq!((count(Entry::Progress), count(Entry::Productive)), (4000, 4000), "{name}");
            let contended = count(Entry::ContendedMain) + count(Entry::ContendedProgress);
            assert!(contended <= 12_000, "{name}");
            // There are no offload threads here, so `offload` has a lock, too: a waiting thread
            // runs its operation itself.
            let combined = matches!(
                model.execution,
                crate::Execution::CSync | crate::Execution::DsmSynch | crate::Execution::LockQ
            );
            assert_eq!(count(Entry::ForOthers), if combined { contended } else { 0 }, "{name}");
        }
    }

    #[test]
    fn a_thread_that_finds_a_section_taken_is_counted_and_timed_on_its_path() {
        for (number, path, other) in [(61, Path::Main, Path::Progress), (62, Path::Progress, Path::Main)] {
            let model = Model::named("per-vni-mcs").expect("its name");
            let state = model.sections(true).guard_vni(number, ());
            let inside = Barrier::new(2);
            let count = counted(Section::Vni(number), || {
                thread::scope(|scope| {
                    scope.spawn(|| {
                        state.with(Path::Main, |()| {
                            inside.wait();
                            // This returns when the other thread has been refused.
                            inside.wait();
                            while !state.has_waiters() {
                                thread::yield_now();
                            }
                        });
                    });
                    inside.wait();
                    assert!(state.try_with(path, |()| ()).is_none());
                    inside.wait();
                    state.with(path, |()| ());
                });
            });
            assert_eq!((count(Entry::Main) + count(Entry::Progress), count(Entry::Refused)), (2, 1));
            assert_eq!((count(Entry::contended(path)), count(Entry::contended(other))), (1, 0));
            assert!(count(Entry::waited(path)) > 0);
            assert_eq!(count(Entry::waited(other)), 0);
        }
    }

    #[test]
    fn every_model_counts_each_hand_over_once() {
        // Fewer entries in a row than the shortest streak that earns a bias, so a bias to a core is not seen.
        const TURNS: u64 = 5;
        for name in Model::names() {
            let model = Model::named(name).expect("its name");
            if !model.granularity.is_by_vni() {
                continue;
            }
            let state = model.sections(true).guard_vni(59, 0u64);
            let turn = Barrier::new(2);
            let enter_by_turns = |first: bool| {
                for _ in 0..TURNS {
                    if !first {
                        turn.wait();
                    }
                    state.with(Path::Main, |it| *it += 1);
                    assert!(state.try_with(Path::Progress, |it| *it += 1).is_some(), "{name}");
                    turn.wait();
                    if first {
                        turn.wait();
                    }
                }
            };
            let before = totals().section(Section::Vni(59)).handovers();
            thread::scope(|scope| {
                scope.spawn(|| enter_by_turns(false));
                enter_by_turns(true);
            });
            let handovers = totals().section(Section::Vni(59)).handovers() - before;
            assert_eq!(handovers, 2 * TURNS - 1, "{name}");
        }
    }

    #[test]
    fn polls_in_a_row_are_counted_together_and_the_last_one_may_be_productive() {
        let sections = Model::default().sections(true);
        let state = sections.guard_vni(58, ());
        let count = counted(Section::Vni(58), || {
            state.count_polls(3, true);
            state.count_polls(2, false);
        });
        assert_eq!((count(Entry::Progress), count(Entry::Productive), count(Entry::Main)), (5, 1, 0));
        // Within the critical section of the call they are work.
        let global = Model { granularity: crate::Granularity::Global, ..Model::default() };
        let within_call = global.sections(true).guard_vni(58, ());
        let before = work_here();
        within_call.count_polls(2, false);
        assert_eq!(work_here(), before);
        within_call.count_polls(3, true);
        assert_eq!(work_here(), before + 1);
    }

    /// Enters once when it is dropped.
    struct EntersAtTheEnd(Row);

    impl Drop for EntersAtTheEnd {
        fn drop(&mut self) {
            self.0.entered(Path::Main);
        }
    }

    thread_local! {
        static LAST: std::cell::OnceCell<EntersAtTheEnd> = const { std::cell::OnceCell::new() };
    }

    #[test]
    fn a_thread_that_counts_while_it_ends_is_counted() {
        let row = Row::of(Section::Vni(57));
        let count = counted(Section::Vni(57), || {
            let enter_and_end = move || {
                // Threads drop first what they have made last, so the block has gone by then.
                LAST.with(|last| _ = last.set(EntersAtTheEnd(row)));
                row.entered(Path::Main);
            };
            // Joined, since a scope does not wait for what a thread drops.
            thread::spawn(enter_and_end).join().expect("it ends");
        });
        assert_eq!(count(Entry::Main), 2);
    }

    /// One combined operation in 64 is timed, and stands for all of them.
    #[test]
    fn the_time_that_combined_operations_wait_is_that_of_all() {
        let state = Model::named("csync").expect("its name").sections(true).guard_vni(56, 0u64);
        // A thread that loses its core waits in vain, or is run late.
        assert!((0..100).any(|_| is_timed_for_all(&state)));
    }

    /// Enters 64 times, the last time while another thread is inside for a while. Returns true if this thread
    /// had to wait, and if the time counted is more than the time that it took.
    fn is_timed_for_all(state: &crate::Guarded<u64>) -> bool {
        const HELD_NS: u64 = 2_000_000;
        let waited = || totals().section(Section::Vni(56)).waited_ns();
        let (inside, before) = (Barrier::new(2), waited());
        (1..64).for_each(|_| state.with(Path::Main, |it| *it += 1));
        let took = thread::scope(|scope| {
            scope.spawn(|| {
                state.with(Path::Progress, |_| {
                    inside.wait();
                    let since = clock::now_ns();
                    while clock::now_ns() - since < HELD_NS {
                        thread::yield_now();
                    }
                });
            });
            inside.wait();
            let since = clock::now_ns();
            state.with(Path::Main, |it| *it += 1);
            clock::now_ns() - since
        });
        waited() - before > took
    }

    #[test]
    fn nothing_is_counted_where_there_are_no_sections() {
        let state = Model::default().sections(false).guard_vni(60, ());
        let count = counted(Section::Vni(60), || {
            state.with(Path::Main, |()| ());
            state.poll(|()| ());
        });
        assert_eq!((count(Entry::Main), count(Entry::Fruitless)), (0, 0));
    }
}
