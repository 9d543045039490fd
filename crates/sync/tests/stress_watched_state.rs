//! Watched states on real threads, many more than cores: every wait ends, and no watcher is touched after it
//! left.
#![cfg(not(loom))]

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::thread;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WaitPolicy, WatchedState, Watcher};
use std::sync::Mutex;

const FREE: usize = 0;
const PENDING: usize = 1;
const OVER: usize = 2;

const WAITERS: usize = 12;
const COMPLETERS: usize = 4;
const SLOTS: usize = 5;
const ROUNDS: usize = 400;

/// The operations of one waiter; their slots are used again and again.
struct Slots {
    states: [WatchedState; SLOTS],
    outcomes: [AtomicU64; SLOTS],
}

impl Slots {
    fn new() -> Slots {
        Slots {
            states: std::array::from_fn(|_| WatchedState::new(FREE)),
            outcomes: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

/// Takes operations from the common heap in no particular order, and completes them.
fn complete(all: &[Slots], asked: &Mutex<Vec<(usize, usize, u64)>>, left: &AtomicU64, salt: usize) {
    while left.load(Ordering::Relaxed) != 0 {
        let next = {
            let mut asked = asked.lock().expect("not poisoned");
            let index = if asked.is_empty() { 0 } else { salt.wrapping_mul(asked.len() + 7) % asked.len() };
            (index < asked.len()).then(|| asked.swap_remove(index))
        };
        let Some((waiter, slot, value)) = next else {
            thread::yield_now();
            continue;
        };
        all[waiter].outcomes[slot].store(value, Ordering::Relaxed);
        all[waiter].states[slot].end(OVER);
        left.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Issues operations on all slots, and waits for all of them or for one after the other.
fn wait(own: &Slots, policy: &WaitPolicy, mut ask: impl FnMut(usize, u64)) {
    for round in 0..ROUNDS {
        for (slot, state) in own.states.iter().enumerate() {
            state.store(PENDING, Ordering::Relaxed);
            ask(slot, round as u64);
        }
        let mut pending: Vec<usize> = (0..SLOTS).collect();
        while !pending.is_empty() {
            let watcher = if round % 2 == 0 { Watcher::for_all() } else { Watcher::for_first() };
            let set = pending.iter().all(|slot| {
                // SAFETY: unwatched and left below.
                (unsafe { own.states[*slot].watch(PENDING, &watcher) }) == Watch::Set || round % 2 == 0
            });
            if set {
                watcher.counter().wait(policy);
            }
            own.states.iter().for_each(|state| state.unwatch(PENDING, &watcher));
            watcher.leave(policy);
            let before = pending.len();
            pending.retain(|slot| own.states[*slot].load(Ordering::Acquire) != OVER);
            assert!(pending.len() < before, "woken for nothing");
            assert!(round % 2 != 0 || pending.is_empty(), "woken before all were over");
        }
        for (state, outcome) in own.states.iter().zip(&own.outcomes) {
            assert_eq!(outcome.load(Ordering::Relaxed), round as u64);
            state.store(FREE, Ordering::Relaxed);
        }
    }
}

#[test]
fn many_waiters_and_few_completers() {
    for policy in [WaitPolicy::DEFAULT, WaitPolicy::PARK_AT_ONCE] {
        let all: Vec<Slots> = (0..WAITERS).map(|_| Slots::new()).collect();
        let asked = Mutex::new(Vec::new());
        let left = AtomicU64::new((WAITERS * SLOTS * ROUNDS) as u64);
        std::thread::scope(|scope| {
            let (all, asked, left) = (&all, &asked, &left);
            for (waiter, own) in all.iter().enumerate() {
                scope.spawn(move || {
                    wait(own, &policy, |slot, value| {
                        asked.lock().expect("not poisoned").push((waiter, slot, value));
                    });
                });
            }
            for salt in 0..COMPLETERS {
                scope.spawn(move || complete(all, asked, left, salt));
            }
        });
    }
}
