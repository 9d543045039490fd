//! Every lock on real threads, each of which is a process: a counter that only the lock
//! guards loses no increment.

mod memory;

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::thread;
use heddle_rma_locks::{
    AdaptiveRw, Bounds, Fissile, FissileRw, Layout, QueueRw, Reader, Rma, RmaMcs, RmaRw, SimpleRw, Spin, now,
};
use memory::{Memory, Process};

const PROCESSES: usize = 6;
const ROUNDS: usize = 500;

/// A counter that a lock guards.
struct Counter(UnsafeCell<u64>);

// SAFETY: writers hold the lock alone, and readers hold it without writers; this is what the test checks.
unsafe impl Sync for Counter {}

impl Counter {
    fn increment(&self) {
        // SAFETY: the caller holds the lock for writing.
        unsafe { *self.0.get() += 1 };
    }

    fn read(&self) -> u64 {
        // SAFETY: the caller holds the lock.
        unsafe { *self.0.get() }
    }
}

/// Runs `visit` in every process `ROUNDS` times, and returns the counter.
fn run(words: usize, visit: impl Fn(&Process<'_>, &Counter) + Sync) -> u64 {
    let (memory, counter) = (Memory::of(PROCESSES, words), Counter(UnsafeCell::new(0)));
    std::thread::scope(|scope| {
        for rank in 0..PROCESSES {
            let (memory, counter, visit) = (&memory, &counter, &visit);
            scope.spawn(move || (0..ROUNDS).for_each(|_| visit(&Process { rank, memory }, counter)));
        }
    });
    counter.read()
}

fn layouts() -> [Layout; 3] {
    let two = vec![vec![0; PROCESSES], vec![0, 0, 0, 1, 1, 1]];
    let three = vec![vec![0; PROCESSES], vec![0, 0, 0, 0, 1, 1], vec![0, 0, 1, 1, 2, 2]];
    [Layout::flat(PROCESSES, 1), Layout::new(two, 3), Layout::new(three, 2)]
}

#[test]
fn rma_mcs() {
    for layout in layouts() {
        let words = layout.words();
        let lock = RmaMcs::new(layout.clone(), vec![3; layout.levels() - 1]);
        let counted = run(words, |process, counter| {
            now(lock.acquire(process));
            counter.increment();
            now(lock.release(process));
        });
        assert_eq!(counted, (PROCESSES * ROUNDS) as u64);
    }
}

/// Half of the processes read, and see the counter stand still.
#[test]
fn rma_rw() {
    for layout in layouts() {
        let words = layout.words();
        let lock = RmaRw::new(layout.clone(), vec![3; layout.levels() - 1], 2);
        let counted = run(words, |process, counter| {
            if process.rank() % 2 == 0 {
                now(lock.acquire_read(process));
                let before = counter.read();
                thread::yield_now();
                assert_eq!(counter.read(), before);
                now(lock.release_read(process));
            } else {
                now(lock.acquire_write(process));
                counter.increment();
                now(lock.release_write(process));
            }
        });
        assert_eq!(counted, (PROCESSES / 2 * ROUNDS) as u64);
    }
}

/// Half of the processes read. All wait and try by turns, at a lock that changes its setting at every turn of
/// the writers, and at one that measures.
#[test]
fn rma_rw_that_tunes_its_parameters() {
    for layout in layouts() {
        let bounds = Bounds::new(vec![1..=3; layout.levels() - 1], 1..=4);
        let words = AdaptiveRw::words(&layout);
        for lock in [AdaptiveRw::restless(layout.clone(), bounds.clone()), AdaptiveRw::new(layout, bounds)] {
            let (turns, written) = (AtomicU64::new(0), AtomicU64::new(0));
            let counted = run(words, |process, counter| {
                let turn = turns.fetch_add(1, Ordering::Relaxed);
                let waits = turn % 3 != 0;
                if process.rank() % 2 == 0 {
                    let mut reader = Reader::default();
                    if waits {
                        now(lock.acquire_read(process, &mut reader));
                    } else if !now(lock.try_acquire_read(process, &mut reader)) {
                        return;
                    }
                    let before = counter.read();
                    thread::yield_now();
                    assert_eq!(counter.read(), before);
                    now(lock.release_read(process, &reader));
                } else if waits || now(lock.try_acquire_write(process)) {
                    if waits {
                        now(lock.acquire_write(process));
                    }
                    counter.increment();
                    written.fetch_add(1, Ordering::Relaxed);
                    now(lock.release_write(process, turn));
                }
            });
            assert_eq!(counted, written.into_inner());
        }
    }
}

#[test]
fn a_word_before_the_queues() {
    for layout in layouts() {
        for bypasses in [0, 1, 100] {
            let lock = Fissile::new(layout.clone(), vec![3; layout.levels() - 1], bypasses);
            let counted = run(Fissile::words(&layout), |process, counter| {
                now(lock.acquire(process, 4));
                counter.increment();
                now(lock.release(process, 4));
            });
            assert_eq!(counted, (PROCESSES * ROUNDS) as u64);
        }
    }
}

/// Half of the processes read, and see the counter stand still.
#[test]
fn rma_rw_with_a_word_before_its_queues() {
    for layout in layouts() {
        for (bypasses, attempts) in [(0, 16), (1, 16), (100, 1), (100, 16)] {
            let lock = FissileRw::new(layout.clone(), vec![3; layout.levels() - 1], 2, bypasses);
            let lock = lock.with_attempts(attempts);
            let counted = run(FissileRw::words(&layout), |process, counter| {
                if process.rank() % 2 == 0 {
                    now(lock.acquire_read(process));
                    let before = counter.read();
                    thread::yield_now();
                    assert_eq!(counter.read(), before);
                    now(lock.release_read(process));
                } else {
                    now(lock.acquire_write(process, 4));
                    counter.increment();
                    now(lock.release_write(process, 4));
                }
            });
            assert_eq!(counted, (PROCESSES / 2 * ROUNDS) as u64);
        }
    }
}

/// Two thirds of the processes read. Each wait for a while gives up after a few polls, so the lock
/// is reserved now and then.
#[test]
fn queue_rw() {
    for attempts in [0, 2, 100] {
        let lock = QueueRw::new(PROCESSES, attempts);
        let counted = run(QueueRw::words(PROCESSES), |process, counter| {
            if process.rank() % 3 != 0 {
                now(lock.acquire_read(process, 4));
                let before = counter.read();
                thread::yield_now();
                assert_eq!(counter.read(), before);
                now(lock.release_read(process, 4));
            } else {
                now(lock.acquire_write(process, 4));
                counter.increment();
                now(lock.release_write(process, 4));
            }
        });
        assert_eq!(counted, (PROCESSES / 3 * ROUNDS) as u64);
    }
}

#[test]
fn simple_locks() {
    let (spin, rw) = (Spin { home: 0, word: 0 }, SimpleRw { home: 1, word: 0 });
    let counted = run(1, |process, counter| {
        now(spin.acquire(process));
        counter.increment();
        now(spin.release(process));
    });
    assert_eq!(counted, (PROCESSES * ROUNDS) as u64);
    let counted = run(1, |process, counter| {
        if process.rank() == 0 {
            now(rw.acquire_write(process));
            counter.increment();
            now(rw.release_write(process));
        } else {
            now(rw.acquire_read(process));
            assert!(counter.read() <= ROUNDS as u64);
            now(rw.release_read(process));
        }
    });
    assert_eq!(counted, ROUNDS as u64);
}

#[test]
fn a_refused_attempt_changes_nothing() {
    let memory = Memory::of(1, QueueRw::words(1));
    let process = Process { rank: 0, memory: &memory };
    let (spin, rw, queue_rw) = (Spin { home: 0, word: 0 }, SimpleRw { home: 0, word: 0 }, QueueRw::new(1, 1));
    now(spin.acquire(&process));
    assert!(!now(spin.try_acquire(&process)));
    now(spin.release(&process));
    now(rw.acquire_write(&process));
    assert!(!now(rw.try_acquire_read(&process)) && !now(rw.try_acquire_write(&process)));
    now(rw.release_write(&process));
    assert!(now(rw.try_acquire_write(&process)), "no reader is counted");
    now(rw.release_write(&process));
    now(queue_rw.acquire_write(&process, 0));
    assert!(!now(queue_rw.try_acquire_read(&process, 0)) && !now(queue_rw.try_acquire_write(&process, 0)));
    now(queue_rw.release_write(&process, 0));
    assert!(now(queue_rw.try_acquire_write(&process, 0)), "no reader is counted");
    // In order, by the queues alone, and with the word before them.
    for bypasses in [0, 1] {
        let layout = Layout::flat(1, 1);
        let memory = Memory::of(1, Fissile::words(&layout));
        let (process, fissile) =
            (Process { rank: 0, memory: &memory }, Fissile::new(layout, vec![], bypasses));
        now(fissile.acquire(&process, 0));
        assert!(!now(fissile.try_acquire(&process, 0)));
        now(fissile.release(&process, 0));
        assert!(now(fissile.try_acquire(&process, 0)));
        now(fissile.release(&process, 0));
        now(fissile.acquire(&process, 0));
    }
}
