//! HMCS on real threads, from fewer than the cores to many more, on trees of one to four levels: exact sums,
//! waiters that give up.
#![cfg(not(loom))]

use heddle_locks::Hmcs;
use heddle_locks::hmcs::{StrictHmcs, Tree};
use heddle_platform::{Native, clock, thread};
use heddle_sync::{Lock, TimedLock, WaitPolicy};

const THREADS: [u32; 4] = [1, 2, 16, 64];

const POLICIES: [WaitPolicy; 4] = [
    WaitPolicy::DEFAULT,
    WaitPolicy::PARK_AT_ONCE,
    WaitPolicy { park: false, ..WaitPolicy::DEFAULT },
    // A reservation at every second release while a thread waits.
    WaitPolicy { forced_yield_ns: 0, yields: 3, ..WaitPolicy::DEFAULT },
];

/// Trees of one to four levels for the hardware threads 0 and 1; on a small machine no thread runs on the
/// others, on a large one some do.
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
    assert!(!lock.has_waiters(), "no thread is left");
    let pair = lock.acquire();
    assert_eq!((pair.left, pair.right), (added, added));
    drop(pair);
    assert!(lock.try_acquire().is_some(), "free when all threads are gone");
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
