//! Attempts at every lock that has queues, beside processes that wait, in all interleavings.

mod explorer;
mod visits;

use explorer::{Explorer, Places, Presence, Process, Report};
use heddle_rma_locks::{AdaptiveRw, Bounds, Layout, Reader, RmaMcs, RmaRw};
use std::future::Future;
use std::pin::Pin;
use visits::{explore, is_empty, is_empty_but_for_marks, is_long, sound, two_levels};

/// A test for `ci/faults.py`, which runs it with a fault in the source.
macro_rules! with_fault {
    ($name:ident, $report:expr) => {
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            sound(&$report);
        }
    };
}

/// The first `trying` processes try and go away if they are refused, the others wait; those below `readers`
/// read, the others write.
fn try_rw(layout: Layout, locality: Vec<u64>, trying: usize, readers: usize, rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, Places::default(), move |process| {
        let lock = RmaRw::new(layout.clone(), locality.clone(), 1);
        async move {
            let rank = heddle_rma_locks::Rma::rank(&process);
            let is_inside = match (rank < trying, rank < readers) {
                (true, true) => lock.try_acquire_read(&process).await,
                (true, false) => lock.try_acquire_write(&process).await,
                (false, true) => {
                    lock.acquire_read(&process).await;
                    true
                }
                (false, false) => {
                    lock.acquire_write(&process).await;
                    true
                }
            };
            if !is_inside {
                return;
            }
            if rank < readers {
                process.visit(Presence::Reads).await;
                lock.release_read(&process).await;
            } else {
                process.visit(Presence::Writes).await;
                lock.release_write(&process).await;
            }
        }
    })
}

#[test]
fn attempts_to_read_and_write_under_rma_rw() {
    let sizes: &[_] = if is_long() { &[(2, 3), (3, 1), (3, 2)] } else { &[(2, 2), (3, 1)] };
    for &(processes, rounds) in sizes {
        for readers in 0..=processes {
            for trying in 1..=processes {
                for counter_distance in [1, processes] {
                    let layout = Layout::flat(processes, counter_distance);
                    let states = sound(&try_rw(layout, vec![], trying, readers, rounds));
                    println!("{processes} processes, {trying} try, {readers} read: {states} states");
                }
            }
        }
    }
    let states = sound(&try_rw(two_levels(&[0, 0, 1], 3), vec![1], 2, 1, 1));
    println!("two levels: {states} states");
}

/// The first `trying` processes try at a lock that changes its setting at every turn, the others wait; those
/// below `readers` read, the others write.
fn try_adaptive(layout: Layout, trying: usize, readers: usize, rounds: u64) -> Report {
    let (processes, at_end) = (layout.processes(), is_empty_but_for_marks(&layout));
    let size = (processes, AdaptiveRw::words(&layout));
    explore(size, rounds, true, &at_end, Places::default(), move |process| {
        let bounds = Bounds::new(vec![1..=2; layout.levels() - 1], 1..=2);
        let lock = AdaptiveRw::restless(layout.clone(), bounds);
        async move {
            let rank = heddle_rma_locks::Rma::rank(&process);
            let mut reader = Reader::default();
            let is_inside = match (rank < trying, rank < readers) {
                (true, true) => lock.try_acquire_read(&process, &mut reader).await,
                (true, false) => lock.try_acquire_write(&process).await,
                (false, true) => {
                    lock.acquire_read(&process, &mut reader).await;
                    true
                }
                (false, false) => {
                    lock.acquire_write(&process).await;
                    true
                }
            };
            if !is_inside {
                return;
            }
            if rank < readers {
                process.visit(Presence::Reads).await;
                lock.release_read(&process, &reader).await;
            } else {
                process.visit(Presence::Writes).await;
                lock.release_write(&process, 0).await;
            }
        }
    })
}

#[test]
fn attempts_to_read_and_write_under_rma_rw_that_tunes() {
    let sizes: &[_] = if is_long() { &[(2, 3), (3, 1), (3, 2)] } else { &[(2, 2), (3, 1)] };
    for &(processes, rounds) in sizes {
        for readers in 0..=processes {
            for trying in 1..=processes {
                for counter_distance in [1, processes] {
                    let report =
                        try_adaptive(Layout::flat(processes, counter_distance), trying, readers, rounds);
                    println!(
                        "{processes} processes, {trying} try, {readers} read: {} states",
                        sound(&report)
                    );
                }
            }
        }
    }
    println!("two levels: {} states", sound(&try_adaptive(two_levels(&[0, 0, 1], 3), 2, 1, 1)));
}

/// Process 0 reads once; process 1 writes, tries to write, and writes again.
fn attempt_between_two_writers(counter_distance: usize) -> Report {
    let layout = Layout::flat(2, counter_distance);
    let (size, at_end) = ((2, layout.words()), is_empty(&layout));
    let task = move |process: Process| -> Pin<Box<dyn Future<Output = ()>>> {
        let lock = RmaRw::new(layout.clone(), vec![], 1);
        Box::pin(async move {
            if heddle_rma_locks::Rma::rank(&process) == 0 {
                lock.acquire_read(&process).await;
                process.visit(Presence::Reads).await;
                return lock.release_read(&process).await;
            }
            for round in 0..3 {
                process.begin_round(round);
                if round != 1 {
                    lock.acquire_write(&process).await;
                } else if !lock.try_acquire_write(&process).await {
                    continue;
                }
                process.visit(Presence::Writes).await;
                lock.release_write(&process).await;
            }
        })
    };
    let (processes, words) = size;
    let places = Places::default();
    Explorer { processes, words, task: &task, at_end: &at_end, weak: true, places }.explore()
}

#[test]
fn an_attempt_between_two_writers() {
    for counter_distance in [1, 2] {
        println!("{} states", sound(&attempt_between_two_writers(counter_distance)));
    }
}

/// The same under the lock that changes its setting at every turn: the attempt begins and ends a turn with
/// one counter less.
fn adaptive_attempt_between_two_writers() -> Report {
    let layout = Layout::flat(2, 1);
    let (words, at_end) = (AdaptiveRw::words(&layout), is_empty_but_for_marks(&layout));
    let task = move |process: Process| -> Pin<Box<dyn Future<Output = ()>>> {
        let lock = AdaptiveRw::restless(layout.clone(), Bounds::new(vec![], 1..=2));
        Box::pin(async move {
            if heddle_rma_locks::Rma::rank(&process) == 0 {
                let mut reader = Reader::default();
                lock.acquire_read(&process, &mut reader).await;
                process.visit(Presence::Reads).await;
                return lock.release_read(&process, &reader).await;
            }
            for round in 0..3 {
                process.begin_round(round);
                if round != 1 {
                    lock.acquire_write(&process).await;
                } else if !lock.try_acquire_write(&process).await {
                    continue;
                }
                process.visit(Presence::Writes).await;
                lock.release_write(&process, 0).await;
            }
        })
    };
    let places = Places::default();
    Explorer { processes: 2, words, task: &task, at_end: &at_end, weak: true, places }.explore()
}

#[test]
fn an_attempt_between_two_writers_under_rma_rw_that_tunes() {
    println!("{} states", sound(&adaptive_attempt_between_two_writers()));
}

/// The first process tries, the others wait.
fn try_mcs(layout: Layout, locality: Vec<u64>, rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, Places::default(), move |process| {
        let lock = RmaMcs::new(layout.clone(), locality.clone());
        async move {
            if heddle_rma_locks::Rma::rank(&process) != 0 {
                lock.acquire(&process).await;
            } else if !lock.try_acquire(&process).await {
                return;
            }
            process.visit(Presence::Writes).await;
            lock.release(&process).await;
        }
    })
}

#[test]
fn attempts_in_the_queues() {
    println!("{} states", sound(&try_mcs(Layout::flat(3, 1), vec![], 2)));
    for elements in [[0, 0, 1], [0, 1, 1]] {
        println!("{elements:?}: {} states", sound(&try_mcs(two_levels(&elements, 1), vec![1], 1)));
    }
}

with_fault!(a_late_word_of_an_attempt_is_found, try_mcs(Layout::flat(2, 1), vec![], 2));
with_fault!(readers_of_a_refused_writer_are_let_in, try_rw(Layout::flat(3, 1), vec![], 3, 2, 1));
with_fault!(an_attempt_beside_readers_is_found, attempt_between_two_writers(2));
with_fault!(an_adaptive_attempt_beside_readers_is_found, try_adaptive(Layout::flat(2, 2), 2, 1, 2));
with_fault!(marks_of_a_refused_attempt_are_found, try_adaptive(Layout::flat(3, 1), 3, 2, 1));
with_fault!(an_attempt_at_a_closed_counter_is_found, try_adaptive(Layout::flat(3, 1), 2, 2, 2));
with_fault!(a_turn_that_is_not_noted_is_found, adaptive_attempt_between_two_writers());
