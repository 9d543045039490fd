//! HMCS on real threads, from fewer than the cores to many more, on trees of one to four levels: exact sums, waiters that
//! give up, and waiters and holders that do not run for long.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::{Native, Platform, clock, thread};
use heddle_sync::hmcs::{Hmcs, Queue, Tree};
use heddle_sync::{Lock, RawLock, TimedLock, WaitPolicy};
use std::sync::Barrier;
use std::time::Duration;

const THREADS: [u32; 4] = [1, 2, 16, 64];

const POLICIES: [WaitPolicy; 4] = [
    WaitPolicy::DEFAULT,
    WaitPolicy::PARK_AT_ONCE,
    WaitPolicy { park: false, ..WaitPolicy::DEFAULT },
    // A reservation at every second release that somebody waits for.
    WaitPolicy { forced_yield_ns: 0, yields: 3, ..WaitPolicy::DEFAULT },
];

/// Trees of one to four levels for the hardware threads 0 and 1; what lies on the others is found by no thread of a
/// small machine, and by some of a large one.
fn trees() -> [Tree; 5] {
    let one_pass = |tree: Tree| tree.with_thresholds(&[1]);
    [
        Tree::flat(),
        Tree::balanced(&[2], 1),
        one_pass(Tree::from_places([(0, [0, 0]), (1, [0, 1]), (2, [1, 0])])),
        Tree::from_places([(0, [0, 0]), (1, [1, 0]), (2, [1, 1]), (3, [0, 1])]).with_thresholds(&[2, 3]),
        one_pass(Tree::balanced(&[2, 2, 2], 1)),
    ]
}

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn add_one(&mut self, is_interrupted: bool) {
        assert_eq!(self.left, self.right);
        self.left += 1;
        if is_interrupted {
            thread::yield_now();
        }
        self.right += 1;
    }
}

/// `threads` threads share `total` acquisitions: some wait, some try, some give up at once or after a while.
fn add_together<L: TimedLock<Platform = Native>>(lock: L, threads: u32, total: u32) {
    let lock = Lock::new(lock, Pair::default());
    let add_once = |thread: u32, turn: u32| -> u64 {
        let guard = match (turn + thread) % 7 {
            0 => lock.try_acquire(),
            1 => lock.acquire_until(clock::now_ns()),
            2 => lock.acquire_until(clock::now_ns() + 2_000),
            3 => lock.acquire_until(clock::now_ns() + 200_000),
            _ => Some(lock.acquire()),
        };
        guard.map_or(0, |mut pair| {
            pair.add_one(turn.is_multiple_of(257));
            1
        })
    };
    let add_once = &add_once;
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || (0..total / threads).map(|turn| add_once(thread, turn)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    assert!(added > 0);
    assert!(!lock.has_waiters(), "nobody is left");
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when everybody is gone");
}

fn on_all_trees<L: TimedLock<Platform = Native>>(total: u32, lock: impl Fn(&Tree, WaitPolicy) -> L) {
    for tree in trees() {
        for policy in POLICIES {
            for threads in THREADS {
                // A sleep and a wake-up for every acquisition are dear.
                let total = if policy.yields == 0 { total / 8 } else { total };
                add_together(lock(&tree, policy), threads, total);
            }
        }
    }
}

#[test]
fn sums_are_exact() {
    on_all_trees(20_000, Hmcs::<Native>::new);
}

#[test]
fn sums_are_exact_in_the_queue_alone() {
    on_all_trees(4_000, Queue::<Native>::new);
}

/// A thread that takes the lock again and again, and some that want it once: they get it.
#[test]
fn nobody_is_kept_out_for_ever() {
    for tree in trees() {
        let lock = Lock::new(Hmcs::<Native>::new(&tree, WaitPolicy::DEFAULT), 0_u64);
        let served = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    *lock.acquire() += 1;
                    served.fetch_add(1, Ordering::Relaxed);
                });
            }
            // No timing: the loop ends only when all have been let in.
            while served.load(Ordering::Relaxed) < 8 {
                *lock.acquire() += 1;
            }
        });
    }
}

/// Waits until `lock` has somebody who waits.
fn await_waiter(lock: &impl RawLock) {
    while !lock.has_waiters() {
        thread::yield_now();
    }
}

/// The holder does not run for 50 ms: who may give up does, and is free to come again; who may not waits.
#[test]
fn a_holder_that_does_not_run() {
    for tree in trees() {
        let lock = Hmcs::<Native>::new(&tree, WaitPolicy::DEFAULT);
        lock.acquire();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let deadline = clock::now_ns() + 5_000_000;
                    assert!(lock.acquire_until(deadline).is_none());
                    assert!(clock::now_ns() >= deadline, "not before its time");
                });
            }
        });
        assert!(!lock.has_waiters(), "they are gone");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.acquire();
                // SAFETY: acquired above.
                unsafe { lock.release(()) };
            });
            await_waiter(&lock);
            std::thread::sleep(Duration::from_millis(50));
            assert!(lock.try_acquire().is_none());
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
        });
        assert!(lock.try_acquire().is_some());
    }
}

/// A platform whose threads stop for 50 ms where a waiter of this test is told to: at its first turn of waiting.
#[derive(Clone, Copy, Debug, Default)]
struct Stopping;

static STOPPED: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    static STOPS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

// SAFETY: all is the machine's; turns of waiting may take any time.
unsafe impl Platform for Stopping {
    type AtomicU32 = <Native as Platform>::AtomicU32;
    type AtomicU64 = <Native as Platform>::AtomicU64;
    type AtomicUsize = <Native as Platform>::AtomicUsize;
    type AtomicPtr<T: 'static> = <Native as Platform>::AtomicPtr<T>;
    type Cell<T> = <Native as Platform>::Cell<T>;

    const REUSES_MEMORY: bool = Native::REUSES_MEMORY;

    fn fence(order: Ordering) {
        Native::fence(order);
    }
    fn light() {
        Native::light();
    }
    fn heavy(scope: heddle_sync::Scope) {
        Native::heavy(scope);
    }
    fn is_asymmetric() -> bool {
        Native::is_asymmetric()
    }
    fn spin_hint() {
        if STOPS.replace(false) {
            STOPPED.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(50));
            STOPPED.store(false, Ordering::Release);
        }
        Native::spin_hint();
    }
    fn yield_now() {
        Native::yield_now();
    }
    fn wait(
        word: &Self::AtomicU32,
        expected: u32,
        timeout: Option<Duration>,
        scope: heddle_sync::Scope,
    ) -> bool {
        Native::wait(word, expected, timeout, scope)
    }
    fn wake(word: &Self::AtomicU32, count: u32, scope: heddle_sync::Scope) {
        Native::wake(word, count, scope);
    }
    fn thread_id() -> u64 {
        Native::thread_id()
    }
    fn hardware_thread() -> usize {
        Native::hardware_thread()
    }
    fn now_ns() -> u64 {
        Native::now_ns()
    }
    fn ticks() -> u64 {
        Native::ticks()
    }
    fn ns_to_ticks(ns: u64) -> u64 {
        Native::ns_to_ticks(ns)
    }
    fn ticks_to_ns(ticks: u64) -> u64 {
        Native::ticks_to_ns(ticks)
    }
}

/// The next in the queue does not run for 50 ms: others enter all the same, and when it runs again it gets its turn.
#[test]
fn a_next_that_does_not_run() {
    let lock = Hmcs::<Stopping>::default();
    let begin = Barrier::new(2);
    let mut entries = 0_u64;
    lock.acquire();
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| {
            begin.wait();
            STOPS.set(true);
            lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
        });
        begin.wait();
        while !STOPPED.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert!(lock.has_waiters());
        // SAFETY: acquired above.
        unsafe { lock.release(()) };
        while STOPPED.load(Ordering::Acquire) {
            lock.acquire();
            entries += 1;
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
        }
        while !stopped.is_finished() {
            lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(()) };
        }
    });
    assert!(entries > 1, "the holder was kept out by a waiter that did not run");
}
