//! Every lock, with a few processes, in all interleavings.

mod explorer;

use explorer::{Explorer, Presence, Process, Report};
use heddle_rma_locks::{Layout, RmaMcs, RmaRw, SimpleRw, Spin};
use std::future::Future;
use std::pin::Pin;

/// Explores `processes` that visit their critical sections as `visit` does, `rounds` times each.
fn explore<F: Future<Output = ()> + 'static>(
    (processes, words): (usize, usize),
    rounds: u64,
    weak: bool,
    at_end: &dyn Fn(&[Vec<u64>]) -> Option<String>,
    visit: impl Fn(Process) -> F + Clone + 'static,
) -> Report {
    let task = move |process: Process| -> Pin<Box<dyn Future<Output = ()>>> {
        let visit = visit.clone();
        Box::pin(async move {
            for round in 0..rounds {
                process.begin_round(round);
                visit(process.clone()).await;
            }
        })
    };
    Explorer { processes, words, task: &task, at_end, weak }.explore()
}

/// The states of a run without a failure.
fn sound(report: &Report) -> usize {
    assert_eq!(report.failure, None);
    report.states
}

/// No queue has a node, no counter is marked, and as many readers have gone as have come.
fn is_empty(layout: &Layout) -> impl Fn(&[Vec<u64>]) -> Option<String> + use<> {
    let levels = layout.levels();
    move |memory| {
        let tails = memory.iter().flat_map(|words| (0..levels).map(|level| words[3 * level + 2]));
        let counted = |words: &Vec<u64>| words[3 * levels] & !(1 << 62) == words[3 * levels + 1];
        let is_empty = tails.into_iter().all(|tail| tail == 0) && memory.iter().all(counted);
        (!is_empty).then(|| format!("not empty at the end: {memory:?}"))
    }
}

fn mcs(layout: Layout, locality: Vec<u64>, rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, move |process| {
        let lock = RmaMcs::new(layout.clone(), locality.clone());
        async move {
            lock.acquire(&process).await;
            process.visit(Presence::Writes).await;
            lock.release(&process).await;
        }
    })
}

/// Processes below `readers` read, the others write.
fn rw(layout: Layout, locality: Vec<u64>, writers: u64, readers: usize, rounds: u64) -> Report {
    let (size, at_end) = ((layout.processes(), layout.words()), is_empty(&layout));
    explore(size, rounds, true, &at_end, move |process| {
        let lock = RmaRw::new(layout.clone(), locality.clone(), writers);
        async move {
            if heddle_rma_locks::Rma::rank(&process) < readers {
                lock.acquire_read(&process).await;
                process.visit(Presence::Reads).await;
                lock.release_read(&process).await;
            } else {
                lock.acquire_write(&process).await;
                process.visit(Presence::Writes).await;
                lock.release_write(&process).await;
            }
        }
    })
}

#[test]
fn d_mcs() {
    for (processes, rounds) in [(2, 3), (3, 2)] {
        println!("{processes} x {rounds}: {}", sound(&mcs(Layout::flat(processes, 1), vec![], rounds)));
    }
}

#[test]
fn rma_mcs_of_two_levels() {
    for locality in [1, 2] {
        for (elements, rounds) in [(vec![0, 0], 2), (vec![0, 1], 2), (vec![0, 0, 1], 1)] {
            let layout = Layout::new(vec![vec![0; elements.len()], elements], 1);
            println!("{locality}: {}", sound(&mcs(layout, vec![locality], rounds)));
        }
    }
}

#[test]
fn rma_rw_of_one_level() {
    for (processes, readers, rounds) in [(2, 1, 3), (3, 2, 1), (3, 1, 1)] {
        for writers in [1, 2] {
            let report = rw(Layout::flat(processes, processes), vec![], writers, readers, rounds);
            println!("{processes} {readers} {writers}: {}", sound(&report));
        }
    }
}

#[test]
fn spin_locks() {
    let report = explore((3, 1), 2, true, &|_| None, |process| async move {
        let lock = Spin { home: 0, word: 0 };
        lock.acquire(&process).await;
        process.visit(Presence::Writes).await;
        lock.release(&process).await;
    });
    println!("{}", sound(&report));
    let report = explore((3, 1), 1, true, &|_| None, |process| async move {
        let lock = SimpleRw { home: 0, word: 0 };
        if heddle_rma_locks::Rma::rank(&process) == 0 {
            lock.acquire_write(&process).await;
            process.visit(Presence::Writes).await;
            lock.release_write(&process).await;
        } else {
            lock.acquire_read(&process).await;
            process.visit(Presence::Reads).await;
            lock.release_read(&process).await;
        }
    });
    println!("{}", sound(&report));
}
