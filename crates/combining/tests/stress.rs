//! Combining on real threads, from fewer than the cores to many more: bounded work, exact sums,
//! order kept.
#![cfg(not(loom))]

use heddle_combining::{Combining, DsmSynch, LockQueue, OffloadThread};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_sync::{Lock, Mutex, WaitPolicy};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

const THREADS: [u64; 5] = [1, 2, 3, 16, 64];
const OPERATIONS: u64 = 20_000;

const POLICIES: [WaitPolicy; 3] =
    [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE, WaitPolicy { park: false, ..WaitPolicy::DEFAULT }];

/// What the operations work on: how many each thread has had done, and two sums that only an operation sees
/// differ.
struct Book {
    done: Vec<u64>,
    left: u64,
    right: u64,
}

impl Book {
    fn new(threads: u64) -> Self {
        Self { done: vec![0; threads as usize], left: 0, right: 0 }
    }

    fn note(&mut self, thread: u64, number: u64) {
        assert_eq!(self.left, self.right, "two operations at once");
        self.left += 1;
        let done = &mut self.done[thread as usize];
        assert_eq!(*done, number, "out of order");
        *done += 1;
        if number.is_multiple_of(1_021) {
            thread::yield_now();
        }
        self.right += 1;
    }
}

/// Threads run, post and try, in an order of their own, and at the end everything was done once.
fn note_together(book: &impl Combining<Book>, threads: u64, total: u64) {
    let failures = Arc::new(AtomicU64::new(0));
    let posted: u64 = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..threads)
            .map(|thread| {
                let failures = &failures;
                scope.spawn(move || {
                    (0..total / threads).for_each(|number| call(book, thread, number, failures));
                    // All posts of this thread are done before its last run.
                    let total = total / threads;
                    book.run(|book| assert_eq!(book.done[thread as usize], total));
                    total
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("caller")).sum()
    });
    assert_eq!(book.run(|book| (book.left, book.right)), (posted, posted));
    assert_eq!(failures.load(Ordering::Relaxed), 0, "a posted operation was out of order");
}

fn call(book: &impl Combining<Book>, thread: u64, number: u64, failures: &Arc<AtomicU64>) {
    match (thread + number) % 7 {
        0 | 1 => book.run(|book| book.note(thread, number)),
        2 => book.run_here(|book| book.note(thread, number)),
        3 => {
            if let Err(operation) = book.try_run(|book: &mut Book| book.note(thread, number)) {
                book.run(operation);
            }
        }
        _ => {
            // Its panic would end with it.
            let failures = Arc::clone(failures);
            book.post(move |book| {
                if panic::catch_unwind(AssertUnwindSafe(|| book.note(thread, number))).is_err() {
                    failures.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }
}

fn for_all<C: Combining<Book>>(make: impl Fn(Book, WaitPolicy) -> C) {
    for policy in POLICIES {
        for threads in THREADS {
            // A sleep and a wake-up for every operation are dear.
            let total = if policy.yields == 0 { OPERATIONS / 8 } else { OPERATIONS };
            note_together(&make(Book::new(threads), policy), threads, total);
        }
    }
}

#[test]
fn lock() {
    for_all(|book, policy| Lock::new(Mutex::new(policy), book));
}

#[test]
fn dsm_synch() {
    for_all(|book, policy| DsmSynch::<Book>::new(book, 64, policy));
    for_all(|book, policy| DsmSynch::<Book>::new(book, 1, policy));
    for_all(|book, policy| DsmSynch::<Book>::always_queued(book, 64, policy));
    for_all(|book, policy| DsmSynch::<Book>::always_queued(book, 1, policy));
}

#[test]
fn lock_queue() {
    for_all(|book, policy| LockQueue::new(Mutex::new(policy), book, 64, policy));
}

#[test]
fn lock_queue_with_a_threshold_of_one() {
    for_all(|book, policy| LockQueue::new(Mutex::new(policy), book, 1, policy));
}

#[test]
fn offload() {
    for_all(|book, policy| OffloadThread::start(book, "offload", policy).expect("a thread"));
}

/// Posts without waiting threads are run although no thread calls again.
#[test]
fn posts_leave_by_themselves() {
    for threads in THREADS {
        let queue = LockQueue::new(Mutex::default(), (), 4, WaitPolicy::DEFAULT);
        let done = Arc::new(AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..OPERATIONS / threads {
                        let done = Arc::clone(&done);
                        queue.post(move |()| {
                            done.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(done.load(Ordering::Relaxed), OPERATIONS / threads * threads);
        assert!(queue.is_idle());
    }
}

/// Dropping an offload runs posted operations, also when an operation owns the last handle.
#[test]
fn an_offload_ends_well() {
    let done = Arc::new(AtomicU64::new(0));
    for _ in 0..50 {
        let offload = OffloadThread::start((), "offload", WaitPolicy::PARK_AT_ONCE).expect("a thread");
        for _ in 0..200 {
            let done = Arc::clone(&done);
            offload.post(move |()| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    }
    assert_eq!(done.load(Ordering::Relaxed), 50 * 200);

    let offload = Arc::new(OffloadThread::start((), "offload", WaitPolicy::DEFAULT).expect("a thread"));
    let (itself, counter) = (Arc::clone(&offload), Arc::clone(&done));
    offload.post(move |()| {
        drop(itself);
        counter.fetch_add(1, Ordering::Relaxed);
    });
    drop(offload);
    while done.load(Ordering::Relaxed) < 50 * 200 + 1 {
        thread::yield_now();
    }
}

/// Operations that post others from inside, more than the queue holds before posters wait.
#[test]
fn operations_post_operations() {
    fn check(queue: &Arc<impl Combining<u64> + 'static>) {
        let inside = Arc::clone(queue);
        queue.run(move |_| {
            for _ in 0..500 {
                inside.post(|sum| *sum += 1);
            }
        });
        assert_eq!(queue.run(|sum| *sum), 500);
    }
    check(&Arc::new(LockQueue::<Mutex, u64>::default()));
    check(&Arc::new(OffloadThread::start(0, "offload", WaitPolicy::DEFAULT).expect("a thread")));
}

/// A panic reaches the waiting thread, ends with an operation that has none, and harms no other.
#[test]
fn panics_stay_with_their_operation() {
    fn check(sum: &impl Combining<u64>) {
        panic::set_hook(Box::new(|_| {}));
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                scope.spawn(move || {
                    for number in 0..500_u64 {
                        let bad = (thread + number).is_multiple_of(3);
                        let add = move |sum: &mut u64| {
                            assert!(!bad, "as asked for");
                            *sum += 1;
                        };
                        if number.is_multiple_of(2) {
                            sum.post(add);
                        } else {
                            let outcome = panic::catch_unwind(AssertUnwindSafe(|| sum.run(add)));
                            assert_eq!(outcome.is_err(), bad);
                        }
                    }
                });
            }
        });
        let good = (0..4_u64).flat_map(|t| (0..500_u64).map(move |n| t + n)).filter(|s| s % 3 != 0).count();
        assert_eq!(sum.run(|sum| *sum), good as u64);
    }
    check(&Lock::<Mutex, u64>::default());
    check(&DsmSynch::<u64>::default());
    check(&LockQueue::<Mutex, u64>::default());
    check(&LockQueue::new(Mutex::default(), 0, 1, WaitPolicy::DEFAULT));
    check(&OffloadThread::start(0, "offload", WaitPolicy::DEFAULT).expect("a thread"));
    drop(panic::take_hook());
}
