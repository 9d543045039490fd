//! The ordered locks on real threads, from fewer than the cores to many more: bounded work, exact sums, waiters that
//! give up, and what one thread that does not run does to the others.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::{clock, thread};
use heddle_sync::abortable_mcs::StrictAbortableMcs;
use heddle_sync::clh::StrictClh;
use heddle_sync::ticket::StrictTicket;
use heddle_sync::{
    AbortableMcs, Clh, Fissile, Lock, Mcs, Mutex, Native, RawLock, Ticket, TimedLock, WaitPolicy,
};
use std::sync::Arc;
use std::time::Duration;

const THREADS: [u32; 5] = [1, 2, 3, 16, 64];

/// Waiting policies that take different paths, and how many acquisitions they are good for.
const POLICIES: [(WaitPolicy, u32); 4] = [
    (WaitPolicy::DEFAULT, 4_000),
    (WaitPolicy::PARK_AT_ONCE, 1_000),
    (WaitPolicy { park: false, spin_ns: 100, yields: 0, ..WaitPolicy::DEFAULT }, 4_000),
    (WaitPolicy::STRICT, 4_000),
];

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn add(&mut self, turn: u32) -> u64 {
        assert_eq!(self.left, self.right);
        self.left += 1;
        if turn.is_multiple_of(257) {
            thread::yield_now();
        }
        self.right += 1;
        1
    }
}

/// `threads` threads share `total` turns, each of which does `once` and returns how many were added.
fn add_together<L: RawLock>(
    lock: L,
    threads: u32,
    total: u32,
    once: impl Fn(&Lock<L, Pair>, u32) -> u64 + Sync,
) {
    let lock = Lock::new(lock, Pair::default());
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                let (lock, once) = (&lock, &once);
                scope.spawn(move || (0..total / threads).map(|turn| once(lock, turn + thread)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    assert!(!lock.has_waiters());
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when everybody is gone");
}

fn acquire_or_try<L: RawLock>(lock: &Lock<L, Pair>, turn: u32) -> u64 {
    if turn.is_multiple_of(5) {
        lock.try_acquire().map_or(0, |mut pair| pair.add(turn))
    } else {
        lock.acquire().add(turn)
    }
}

/// Deadlines from "has passed" to "never".
fn acquire_in_time<L: TimedLock>(lock: &Lock<L, Pair>, turn: u32) -> u64 {
    let deadline = match turn % 4 {
        0 => 0,
        1 => clock::now_ns() + 2_000,
        2 => clock::now_ns() + 200_000,
        _ => return lock.acquire().add(turn),
    };
    lock.acquire_until(deadline).map_or(0, |mut pair| pair.add(turn))
}

fn stress<L: RawLock>(make: impl Fn(WaitPolicy) -> L) {
    for (policy, total) in POLICIES {
        for threads in THREADS {
            add_together(make(policy), threads, total, acquire_or_try);
        }
    }
}

fn stress_deadlines<L: TimedLock>(make: impl Fn(WaitPolicy) -> L) {
    for (policy, total) in POLICIES {
        for threads in THREADS {
            add_together(make(policy), threads, total, acquire_in_time);
        }
    }
}

#[test]
fn ticket() {
    stress(Ticket::new);
    stress_deadlines(Ticket::new);
}

#[test]
fn mutex_with_deadlines() {
    stress_deadlines(Mutex::new);
}

#[test]
fn mcs() {
    stress(Mcs::new);
}

#[test]
fn clh() {
    stress(Clh::new);
    stress_deadlines(Clh::new);
}

#[test]
fn abortable_mcs() {
    stress(AbortableMcs::new);
    stress_deadlines(AbortableMcs::new);
    stress_deadlines(|policy| AbortableMcs::with_patience(policy, None));
    stress_deadlines(|policy| AbortableMcs::with_patience(policy, Some(1_000)));
}

#[test]
fn a_word_over_any_lock() {
    stress(|policy| Fissile::over(Mutex::new(policy), policy));
    stress_deadlines(|policy| Fissile::over(Mutex::new(policy), policy));
}

/// A thread that takes the lock again and again, and others that want it once: they get it.
fn nobody_is_kept_out<L: RawLock>(lock: L) {
    let lock = Lock::new(lock, 0_u64);
    let served = AtomicU32::new(0);
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

#[test]
fn nobody_is_kept_out_for_ever() {
    for (policy, _) in POLICIES {
        nobody_is_kept_out(Ticket::new(policy));
        nobody_is_kept_out(Mcs::new(policy));
        nobody_is_kept_out(Clh::new(policy));
        nobody_is_kept_out(AbortableMcs::with_patience(policy, Some(1_000)));
    }
}

/// A holder stays inside while others come with short deadlines again and again: all come back, and it is not
/// the memory that grows (a lock's nodes are in one thread's cache at the end, where the test cannot see them; the leak
/// checker of a sanitizer build can).
fn give_up_again_and_again<L: TimedLock>(lock: L) {
    let token = lock.acquire();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    assert!(lock.acquire_until(clock::now_ns() + 1_000).is_none());
                }
            });
        }
    });
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    let token = lock.acquire_until(u64::MAX).expect("nobody is inside");
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    assert!(!lock.has_waiters());
}

#[test]
fn who_gives_up_comes_again() {
    give_up_again_and_again(Mutex::default());
    give_up_again_and_again(Ticket::default());
    give_up_again_and_again(Clh::default());
    give_up_again_and_again(AbortableMcs::default());
    give_up_again_and_again(StrictTicket::<Native>::default());
    give_up_again_and_again(StrictClh::<Native>::default());
    give_up_again_and_again(StrictAbortableMcs::<Native>::default());
}

/// How a thread is kept from running while it waits: it comes to this platform's spin hint or yield.
mod halting {
    use super::{Duration, Ordering, thread};
    use heddle_platform::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
    use heddle_platform::cell::UnsafeCell;
    use heddle_platform::{Native, Platform, Scope};
    use std::cell::RefCell;
    use std::sync::Arc;

    /// A thread's stop.
    #[derive(Default)]
    pub(super) struct Stop {
        pub(super) stopped: AtomicBool,
        pub(super) go_on: AtomicBool,
    }

    thread_local! {
        /// The calling thread stops at its next turn of waiting.
        pub(super) static STOP: RefCell<Option<Arc<Stop>>> = const { RefCell::new(None) };
    }

    /// `Native`, but for a thread that stops while it waits.
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Halting;

    fn stop_here() {
        if let Some(stop) = STOP.take() {
            stop.stopped.store(true, Ordering::Release);
            while !stop.go_on.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }
    }

    // SAFETY: all is `Native`'s; spinning and yielding may take as long as they like.
    unsafe impl Platform for Halting {
        type AtomicU32 = AtomicU32;
        type AtomicU64 = AtomicU64;
        type AtomicUsize = AtomicUsize;
        type AtomicPtr<T: 'static> = AtomicPtr<T>;
        type Cell<T> = UnsafeCell<T>;

        const REUSES_MEMORY: bool = Native::REUSES_MEMORY;

        fn fence(order: Ordering) {
            Native::fence(order);
        }
        fn light() {
            Native::light();
        }
        fn heavy(scope: Scope) {
            Native::heavy(scope);
        }
        fn is_asymmetric() -> bool {
            Native::is_asymmetric()
        }
        fn spin_hint() {
            stop_here();
            Native::spin_hint();
        }
        fn yield_now() {
            stop_here();
            Native::yield_now();
        }
        fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
            Native::wait(word, expected, timeout, scope)
        }
        fn wake(word: &AtomicU32, count: u32, scope: Scope) {
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
}

/// Runs `others` while a waiter of `lock` does not run and its turn has come, for 50 ms at least.
fn with_a_stopped_waiter<L: RawLock<Platform = halting::Halting>>(lock: &L, others: impl FnOnce()) {
    let stop = Arc::new(halting::Stop::default());
    let token = lock.acquire();
    std::thread::scope(|scope| {
        let stops = Arc::clone(&stop);
        let stopped = scope.spawn(|| {
            halting::STOP.set(Some(stops));
            let token = lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        });
        while !stop.stopped.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let since = clock::now_ns();
        while clock::now_ns() - since < 50_000_000 {
            thread::yield_now();
        }
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        others();
        assert!(!stopped.is_finished());
        stop.go_on.store(true, Ordering::Release);
    });
    let token = lock.try_acquire().expect("the stopped one has been inside, too");
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
}

/// Were the lock handed to the stopped one, the others would never return.
#[test]
fn the_abortable_form_gets_past_a_waiter_that_does_not_run() {
    let lock = StrictAbortableMcs::default();
    with_a_stopped_waiter(&lock, || {
        for _ in 0..1_000 {
            let token = lock.acquire();
            // SAFETY: acquired above.
            unsafe { lock.release(token) };
        }
    });
}

/// A strict queue waits for the one whose turn it is; those behind it that have a deadline get away.
#[test]
fn a_deadline_gets_away_from_behind_a_waiter_that_does_not_run() {
    let lock = StrictClh::default();
    with_a_stopped_waiter(&lock, || {
        for _ in 0..10 {
            assert!(lock.acquire_until(clock::now_ns() + 100_000).is_none());
            assert!(lock.try_acquire().is_none());
        }
    });
}

/// The head does not run: before its turn comes and also afterwards, when the lock has been reserved for it, it goes on
/// for who comes anew, in any lock with a word.
#[test]
fn a_head_that_does_not_run_is_overtaken() {
    fn goes_on<L: RawLock<Platform = halting::Halting>>(lock: &L, until_ns: u64) {
        with_a_stopped_waiter(lock, || {
            let since = clock::now_ns();
            let mut turns = 0;
            while turns < 1_000 || clock::now_ns() - since < until_ns {
                let token = lock.acquire();
                // SAFETY: acquired above.
                unsafe { lock.release(token) };
                turns += 1;
            }
        });
    }
    let for_ever = WaitPolicy { forced_yield_ns: u64::MAX >> 20, ..WaitPolicy::DEFAULT };
    goes_on(&heddle_sync::mcs::Mcs::new(for_ever), 0);
    // Long enough for the reservation to be made, to be taken back, and to be made again.
    goes_on(&heddle_sync::mcs::Mcs::default(), 50_000_000);
    goes_on(&heddle_sync::clh::Clh::default(), 50_000_000);
    goes_on(&heddle_sync::ticket::Ticket::default(), 50_000_000);
    goes_on(&heddle_sync::hmcs::Hmcs::default(), 50_000_000);
    let awake = WaitPolicy { park: false, ..WaitPolicy::DEFAULT };
    goes_on(&heddle_sync::abortable_mcs::AbortableMcs::new(awake), 50_000_000);
}
