//! HMCS on real threads, from fewer than the cores to many more, on trees of one to four levels: exact sums, waiters that
//! give up, and waiters and holders that do not run for long.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::{Native, Platform, clock, thread};
use heddle_sync::hmcs::{StrictHmcs, Tree};
use heddle_sync::{Hmcs, Lock, RawLock, TimedLock, WaitPolicy};
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
    on_all_trees(8_000, StrictHmcs::<Native>::new);
}

#[test]
fn sums_are_exact_behind_a_word() {
    on_all_trees(20_000, Hmcs::new);
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
        let lock = Hmcs::new(&tree, WaitPolicy::DEFAULT);
        let token = lock.acquire();
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
                let token = lock.acquire();
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
            });
            await_waiter(&lock);
            std::thread::sleep(Duration::from_millis(50));
            assert!(lock.try_acquire().is_none());
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        });
        assert!(Lock::new(lock, ()).try_acquire().is_some());
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

/// A waiter does not run for 50 ms: until the lock is passed to it nobody else is held up; then those who may give up get
/// past it, and when it runs again it has the lock.
#[test]
fn a_waiter_that_does_not_run() {
    let lock = StrictHmcs::<Stopping>::default();
    let begin = Barrier::new(2);
    let token = lock.acquire();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            begin.wait();
            STOPS.set(true);
            let token = lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        });
        begin.wait();
        while !STOPPED.load(Ordering::Acquire) {
            thread::yield_now();
        }
        assert!(lock.has_waiters());
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        let mut given_up = 0;
        while STOPPED.load(Ordering::Acquire) {
            match lock.acquire_until(clock::now_ns() + 100_000) {
                None => given_up += 1,
                Some(token) => {
                    assert!(!STOPPED.load(Ordering::Acquire), "passed a granted waiter by");
                    // SAFETY: acquired above.
                    unsafe { lock.release(token) };
                }
            }
        }
        assert!(given_up > 0);
        let token = lock.acquire();
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    });
}
