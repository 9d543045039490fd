//! Combining under random schedules, against a sequential model: the same sources on another platform, with
//! more threads and steps than loom can explore.
#![cfg(not(any(loom, asan, tsan)))]

#[path = "../../sync/tests/shuttle_world/mod.rs"]
mod shuttle_world;

use heddle_combining::dsm_synch::DsmSynch;
use heddle_combining::offload::Offload;
use heddle_combining::{Combining, LockQueue};
use heddle_sync::mutex::Mutex;
use heddle_sync::{Lock, WaitPolicy};
use shuttle::rand::Rng;
use shuttle::thread;
use shuttle_world::Shuttle;
use std::collections::VecDeque;
use std::sync::Arc;

const SCHEDULES: usize = 200;
const THREADS: usize = 5;
const CALLS: usize = 6;
const ONE_YIELD: WaitPolicy = WaitPolicy { yields: 1, ..WaitPolicy::PARK_AT_ONCE };

/// What a call did, as the value saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Enqueued(usize),
    Dequeued(Option<usize>),
}

/// A FIFO queue, and everything that was done to it: by which thread, as which of its calls.
#[derive(Default)]
struct History {
    fifo: VecDeque<usize>,
    done: Vec<(usize, usize, Done)>,
}

impl History {
    fn enqueue(&mut self, thread: usize, call: usize) {
        let value = thread * CALLS + call;
        self.fifo.push_back(value);
        self.done.push((thread, call, Done::Enqueued(value)));
    }

    fn dequeue(&mut self, thread: usize, call: usize) -> Option<usize> {
        let value = self.fifo.pop_front();
        self.done.push((thread, call, Done::Dequeued(value)));
        value
    }

    /// Replays the operations on a model, and checks each thread's order and results.
    fn check(&self, told: &[Vec<(usize, Option<usize>)>]) {
        let mut model = VecDeque::new();
        let mut next = [0; THREADS];
        let mut dequeued = vec![Vec::new(); THREADS];
        for (thread, call, done) in &self.done {
            assert_eq!(next[*thread], *call, "a thread's calls out of order");
            next[*thread] += 1;
            match done {
                Done::Enqueued(value) => model.push_back(*value),
                Done::Dequeued(value) => {
                    assert_eq!(*value, model.pop_front(), "not what the model has");
                    dequeued[*thread].push((*call, *value));
                }
            }
        }
        assert_eq!(next, [CALLS; THREADS], "a call was lost");
        assert_eq!(dequeued, told, "a result went to another thread");
    }
}

/// Calls at random; returns the results of the dequeues.
fn call(history: &impl Combining<History>, thread: usize) -> Vec<(usize, Option<usize>)> {
    let mut told = Vec::new();
    for call in 0..CALLS {
        match shuttle::rand::thread_rng().gen_range(0..5) {
            0 | 1 => history.post(move |history| history.enqueue(thread, call)),
            2 => history.run(|history| history.enqueue(thread, call)),
            3 => told.push((call, history.run(|history| history.dequeue(thread, call)))),
            _ => {
                let tried = history.try_run(move |history: &mut History| history.dequeue(thread, call));
                told.push((call, tried.unwrap_or_else(|operation| history.run(operation))));
            }
        }
    }
    told
}

fn call_together<C: Combining<History> + 'static>(history: &Arc<C>) {
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let history = Arc::clone(history);
            thread::spawn(move || call(&*history, thread))
        })
        .collect();
    let told: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("caller")).collect();
    // Earlier posts are done before this, even those of another thread.
    history.run(|history| history.check(&told));
}

fn check<C: Combining<History> + 'static>(make: impl Fn() -> C + Send + Sync + 'static) {
    let make = Arc::new(make);
    let random = Arc::clone(&make);
    shuttle::check_random(move || call_together(&Arc::new(random())), SCHEDULES);
    // Schedules with few, well placed preemptions.
    shuttle::check_pct(move || call_together(&Arc::new(make())), SCHEDULES, 3);
}

#[test]
fn lock() {
    check(|| Lock::new(Mutex::<Shuttle>::new(ONE_YIELD), History::default()));
}

#[test]
fn dsm_synch() {
    for limit in [1, 3, 64] {
        check(move || DsmSynch::<History, Shuttle>::new(History::default(), limit, ONE_YIELD));
        check(move || DsmSynch::<History, Shuttle>::always_queued(History::default(), limit, ONE_YIELD));
    }
}

#[test]
fn lock_queue() {
    for threshold in [1, 3, 64] {
        for policy in [WaitPolicy::PARK_AT_ONCE, WaitPolicy { yields: 40, ..ONE_YIELD }] {
            check(move || {
                LockQueue::new(Mutex::<Shuttle>::new(policy), History::default(), threshold, policy)
            });
        }
    }
}

#[test]
fn offload() {
    let served = || {
        let offload = Arc::new(Offload::<History, Shuttle>::new(History::default(), ONE_YIELD));
        let server = Arc::clone(&offload);
        let server = thread::spawn(move || assert!(server.serve(|_| false)));
        call_together(&offload);
        offload.close();
        server.join().expect("server");
    };
    shuttle::check_random(served, SCHEDULES);
    shuttle::check_pct(served, SCHEDULES, 3);
}

/// A failure prints its seed, and `SHUTTLE_RANDOM_SEED` brings it again: the same seed gives the same
/// history, since nothing in these worlds depends on addresses, time or chance of its own.
#[test]
fn a_seed_gives_the_same_history_again() {
    let histories = |seed| {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let body = move || {
            let queue = LockQueue::new(Mutex::<Shuttle>::new(ONE_YIELD), History::default(), 3, ONE_YIELD);
            let queue = Arc::new(queue);
            call_together(&queue);
            notes.lock().expect("not poisoned").push(queue.run(|history| history.done.clone()));
        };
        shuttle::check_random_with_seed(body, seed, 1);
        Arc::try_unwrap(seen).expect("all have ended").into_inner().expect("not poisoned")
    };
    for seed in 0..10 {
        assert_eq!(histories(seed), histories(seed));
    }
    assert_ne!(histories(1), histories(2));
}
