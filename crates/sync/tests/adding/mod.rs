//! Threads that add to a pair of numbers under a lock, from fewer threads than cores to many more.

use heddle_platform::thread;
use heddle_sync::{Lock, RawLock, WaitPolicy};

const THREADS: [u32; 5] = [1, 2, 3, 16, 64];
const ACQUISITIONS: u32 = 40_000;

/// The waiting policies that take different paths: the default, sleeping always, never sleeping, and a
/// reservation at every release while a thread waits.
const POLICIES: [WaitPolicy; 4] = [
    WaitPolicy::DEFAULT,
    WaitPolicy::PARK_AT_ONCE,
    WaitPolicy { park: false, ..WaitPolicy::DEFAULT },
    WaitPolicy { forced_yield_ns: 0, yields: 3, ..WaitPolicy::DEFAULT },
];

/// Two words that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

/// Teams of all sizes, with all ways to wait, add under a lock that `make` makes.
pub(crate) fn add_in_teams<L: RawLock>(make: impl Fn(WaitPolicy) -> L) {
    for policy in POLICIES {
        for threads in THREADS {
            let lock = Lock::new(make(policy), Pair::default());
            // A sleep and a wake-up for every acquisition are dear.
            let total = if policy.yields == 0 { ACQUISITIONS / 8 } else { ACQUISITIONS };
            add_together(&lock, threads, total);
        }
    }
}

/// `threads` threads share `total` acquisitions, some by trying; some hold the lock while others run.
fn add_together<L: RawLock>(lock: &Lock<L, Pair>, threads: u32, total: u32) {
    let share = total / threads;
    let added: u64 = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || (0..share).map(|turn| add_once(lock, thread, turn)).sum::<u64>())
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().expect("adder")).sum()
    });
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    assert!(!lock.has_waiters());
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when all threads are gone");
}

/// Adds one unless a try failed; returns how many were added.
fn add_once<L: RawLock>(lock: &Lock<L, Pair>, thread: u32, turn: u32) -> u64 {
    let mut pair = if (turn + thread).is_multiple_of(5) {
        let Some(pair) = lock.try_acquire() else { return 0 };
        pair
    } else {
        lock.acquire()
    };
    assert_eq!(pair.left, pair.right);
    pair.left += 1;
    if turn.is_multiple_of(257) {
        thread::yield_now();
    }
    pair.right += 1;
    1
}
