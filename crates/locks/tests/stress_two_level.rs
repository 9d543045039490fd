//! The two-level lock on real threads, from fewer than the cores to many more.
#![cfg(not(loom))]

use heddle_locks::abortable_mcs::StrictAbortableMcs;
use heddle_locks::clh::StrictClh;
use heddle_locks::kinds::{LockKind, LockSettings, pair_of};
use heddle_locks::mcs::StrictMcs;
use heddle_locks::{AbortableMcs, Biased, Clh, Mcs, Ticket, TwoLevel};
use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::clock;
use heddle_platform::thread;
use heddle_sync::{Lock, Mutex, Native, PriorityLock, RawLock, TimedLock, WaitPolicy};

const THREADS: [u32; 5] = [1, 2, 3, 16, 64];
const ACQUISITIONS: u32 = 40_000;
const POLICIES: [WaitPolicy; 3] =
    [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE, WaitPolicy { park: false, ..WaitPolicy::DEFAULT }];

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

/// A low acquisition for two of three, tries now and then, and holders that let others run.
fn add_once<L: PriorityLock>(lock: &Lock<L, Pair>, thread: u32, turn: u32) -> u64 {
    let low = !(turn + thread).is_multiple_of(3);
    let guard = match ((turn ^ thread).is_multiple_of(5), low) {
        (true, true) => lock.try_acquire_low(),
        (true, false) => lock.try_acquire(),
        (false, true) => Some(lock.acquire_low()),
        (false, false) => Some(lock.acquire()),
    };
    let Some(mut pair) = guard else { return 0 };
    assert_eq!(pair.left, pair.right);
    pair.left += 1;
    if turn.is_multiple_of(257) {
        thread::yield_now();
    }
    pair.right += 1;
    1
}

fn add_together<L: PriorityLock>(lock: &Lock<L, Pair>, threads: u32, total: u32) {
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                scope
                    .spawn(move || (0..total / threads).map(|turn| add_once(lock, thread, turn)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(!lock.has_waiters());
    assert!(lock.try_acquire_low().is_some(), "free when all threads are gone");
    assert!(lock.try_acquire().is_some(), "free when all threads are gone");
}

#[test]
fn both_classes_over_mutexes() {
    for policy in POLICIES {
        for threads in THREADS {
            for bound in [1, 256, u32::MAX] {
                let lock = TwoLevel::with_low_bound(Mutex::new(policy), Mutex::new(policy), policy, bound);
                let total = if policy.yields == 0 { ACQUISITIONS / 8 } else { ACQUISITIONS };
                add_together(&Lock::new(lock, Pair::default()), threads, total);
            }
        }
    }
}

/// Any two locks, also a two-level one in itself and a biased one.
#[test]
fn other_locks_below() {
    type Inner = TwoLevel<Mutex, Biased<Mutex>>;
    for threads in THREADS {
        let lock: Lock<TwoLevel<Inner, Inner>, Pair> = Lock::default();
        add_together(&lock, threads, ACQUISITIONS / 2);
    }
}

/// The queue locks, whose `has_waiters` the filter rests on.
#[test]
fn queue_locks_below() {
    fn over<H: RawLock + Default, L: RawLock<Platform = H::Platform> + Default>() {
        for threads in THREADS {
            let lock: Lock<TwoLevel<H, L>, Pair> = Lock::default();
            add_together(&lock, threads, ACQUISITIONS / 8);
        }
    }
    over::<StrictMcs<Native>, StrictMcs<Native>>();
    over::<Mcs, Mcs>();
    over::<Clh, Ticket>();
    over::<StrictMcs<Native>, Mcs>();
    over::<AbortableMcs, StrictClh<Native>>();
}

/// Threads of both classes that give up after some microseconds, and come again; and one of each that never
/// does.
#[test]
fn waiters_that_give_up() {
    fn over<H: TimedLock + Default, L: TimedLock<Platform = H::Platform> + Default>() {
        for threads in [2_u32, 3, 16, 64] {
            let lock: TwoLevel<H, L> = TwoLevel::default();
            let inside = AtomicU64::new(0);
            let enter = |token| {
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two inside");
                thread::yield_now();
                inside.fetch_sub(1, Ordering::Relaxed);
                // SAFETY: the caller acquired it just now.
                unsafe { lock.release(token) };
            };
            std::thread::scope(|scope| {
                for number in 0..threads {
                    let (lock, enter) = (&lock, &enter);
                    scope.spawn(move || {
                        for turn in 0..3_000 / threads {
                            let deadline_ns = clock::now_ns() + u64::from((turn + number) % 7) * 2_000;
                            let token = match (number, turn % 2) {
                                (0, _) => Some(lock.acquire_high()),
                                (1, _) => Some(lock.acquire_low()),
                                (_, 0) => lock.acquire_high_until(deadline_ns),
                                _ => lock.acquire_low_until(deadline_ns),
                            };
                            if let Some(token) = token {
                                enter(token);
                            }
                        }
                    });
                }
            });
            enter(lock.acquire_low());
            enter(lock.acquire_high());
            assert!(!lock.has_waiters());
        }
    }
    over::<Mutex, Mutex>();
    over::<StrictAbortableMcs<Native>, StrictAbortableMcs<Native>>();
    over::<AbortableMcs, AbortableMcs>();
    over::<StrictAbortableMcs<Native>, Clh>();
    over::<AbortableMcs, StrictClh<Native>>();
    over::<Clh, AbortableMcs>();
}

/// High-priority threads of which one is inside until the next waits: strict priority would starve the low
/// class. Each of its entries is owed to the bound.
#[test]
fn the_bound_ends_starvation() {
    const BOUND: u32 = 16;
    const LOW: u64 = 50;
    // One that sleeps does not compete, and the low class needs no bound to pass it.
    let policy = WaitPolicy { park: false, ..WaitPolicy::DEFAULT };
    let lock = TwoLevel::with_low_bound(Mutex::new(policy), Mutex::new(policy), policy, BOUND);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // One inside, one at the filter at most, one that waits behind them.
        for _ in 0..3 {
            scope.spawn(|| {
                let mut token = Some(lock.acquire_high());
                while let Some(held) = token {
                    while !lock.high().has_waiters() && !done.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                    // SAFETY: acquired above or below.
                    unsafe { lock.release(held) };
                    token = (!done.load(Ordering::Relaxed)).then(|| lock.acquire_high());
                }
            });
        }
        while !lock.high().has_waiters() {
            thread::yield_now();
        }
        for _ in 0..LOW {
            let token = lock.acquire_low();
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!((lock.bound_reached(), lock.rescues()), (LOW, 0));
}

/// While a low-priority thread waits at the filter, at most the bound's number of sections passes it.
#[test]
fn the_bound_holds() {
    const BOUND: u32 = 5;
    let policy = WaitPolicy::PARK_AT_ONCE;
    let lock = TwoLevel::with_low_bound(Mutex::new(policy), Mutex::new(policy), policy, BOUND);
    let sections = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let first = lock.acquire_high();
        let low = scope.spawn(|| {
            let token = lock.acquire_low();
            let seen = sections.load(Ordering::Relaxed);
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
            seen
        });
        // It is the only other thread so far, so it is at the filter when there is a waiter.
        while !lock.has_waiters() {
            thread::yield_now();
        }
        let high: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let token = lock.acquire_high();
                    sections.fetch_add(1, Ordering::Relaxed);
                    // SAFETY: acquired above.
                    unsafe { lock.release(token) };
                })
            })
            .collect();
        while !lock.high().has_waiters() {
            thread::yield_now();
        }
        // SAFETY: acquired above.
        unsafe { lock.release(first) };
        let seen = low.join().expect("low");
        high.into_iter().for_each(|high| high.join().expect("high"));
        assert!(seen < u64::from(BOUND), "{seen} sections passed");
        assert_eq!(sections.load(Ordering::Relaxed), 8);
    });
}

/// Returns true if a thread that leaves the lock gets in again before the thread that waits for it.
fn comes_again(kind: LockKind) -> bool {
    let lock = pair_of(kind, kind, &LockSettings::default());
    let let_go = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let first = lock.acquire_high();
        scope.spawn(|| {
            let token = lock.acquire_high();
            while !let_go.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        });
        while !lock.has_waiters() {
            std::hint::spin_loop();
        }
        // SAFETY: acquired above.
        unsafe { lock.release(first) };
        let again = lock.try_acquire_high();
        let came = again.is_some();
        if let Some(token) = again {
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        }
        let_go.store(true, Ordering::Relaxed);
        came
    })
}

/// A pair keeps a strict order if both kinds do; otherwise a running thread may come again for a while.
#[test]
fn a_pair_of_strict_kinds_is_not_overtaken() {
    assert!(!(0..200).any(|_| comes_again(LockKind::StrictMcs)));
    assert!((0..2_000).any(|_| comes_again(LockKind::Mcs)), "not overtaken once");
}
