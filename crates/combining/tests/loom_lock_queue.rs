//! LockQ under the model checker: nothing forgotten, nothing twice, order kept, also with a threshold of 1
//! and without waiting threads; and each fault is found.
//!
//! Quiet comes after one or two fruitless checks here, so every change of mode is explored.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_combining::{Combining, LockQueue};
use heddle_locks::abortable_mcs::StrictAbortableMcs;
use heddle_locks::clh::StrictClh;
use heddle_locks::hmcs::{StrictHmcs, Tree};
use heddle_locks::mcs::StrictMcs;
use heddle_locks::ticket::StrictTicket;
use heddle_locks::{Biased, Fissile, TwoLevel};
use heddle_sync::{Mutex, Native, RawLock, WaitPolicy};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use model::{Given, explore, with_fault};

/// A lock with no fence in it, so that those of LockQ have to do.
#[derive(Debug, Default)]
struct Plain(AtomicU32);

// SAFETY: the compare-and-swap lets one in, and its Acquire pairs with the release's Release.
unsafe impl RawLock for Plain {
    type Platform = Native;
    type Token = ();
    const TRY_IS_EXACT: bool = true;

    fn acquire(&self) {
        while self.try_acquire().is_none() {
            thread::yield_now();
        }
    }

    fn try_acquire(&self) -> Option<()> {
        let free = self.0.load(Ordering::Relaxed) == 0;
        (free && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()).then_some(())
    }

    unsafe fn release(&self, (): ()) {
        self.0.store(0, Ordering::Release);
    }

    fn has_waiters(&self) -> bool {
        false
    }
}

/// What each thread has done so far, in the value; checks order as operations run.
#[derive(Default)]
struct Log {
    next: [u32; 3],
}

impl Log {
    fn note(&mut self, thread: usize, number: u32) {
        assert_eq!(self.next[thread], number, "out of order");
        self.next[thread] += 1;
    }
}

type Queue<L> = LockQueue<L, Log>;

fn new<L: RawLock + Default>(threshold: u32) -> Arc<Queue<L>> {
    Arc::new(LockQueue::new(L::default(), Log::default(), threshold, WaitPolicy::PARK_AT_ONCE))
}

/// How a thread calls for its operations, one letter each: `r`un, `p`ost, run `h`ere.
fn call<L: RawLock>(queue: &Queue<L>, thread: usize, calls: &str) {
    for (number, how) in (0..).zip(calls.chars()) {
        match how {
            'r' => queue.run(|log| log.note(thread, number)),
            'p' => queue.post(move |log| log.note(thread, number)),
            _ => queue.run_here(|log| log.note(thread, number)),
        }
    }
}

/// Threads make the given calls. When all have returned, everything has been run
/// although no thread calls again.
fn calls<L: RawLock + Default + 'static>(
    threshold: u32,
    how: &'static [&'static str],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let done = Arc::new(AtomicU32::new(0));
        let queue = new::<L>(threshold);
        // All in threads of their own: loom does not try all that the model's first thread could do.
        let callers: Vec<_> = (0..how.len())
            .map(|thread| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || call(&queue, thread, how[thread]))
            })
            .collect();
        for caller in callers {
            caller.join().expect("caller");
        }
        // A call would run forgotten operations.
        assert!(queue.is_idle(), "an operation was forgotten");
        let expected: u32 = how.iter().map(|calls| calls.len() as u32).sum();
        let count = Arc::clone(&done);
        queue.run(move |log| count.store(log.next.iter().sum(), Ordering::Relaxed));
        assert_eq!(done.load(Ordering::Relaxed), expected);
    }
}

#[test]
fn two_run() {
    explore(Some(3), calls::<Given>(64, &["r", "r"]));
}

#[test]
fn two_post() {
    explore(Some(3), calls::<Given>(64, &["p", "p"]));
}

#[test]
fn posts_before_a_run() {
    explore(Some(2), calls::<Given>(64, &["pr", "pr"]));
}

#[test]
fn posts_before_a_run_with_a_threshold_of_one() {
    explore(Some(2), calls::<Given>(1, &["ppr", "p"]));
}

#[test]
fn posts_with_a_threshold_of_one() {
    explore(Some(2), calls::<Given>(1, &["pp", "pp"]));
}

#[test]
fn runs_with_a_threshold_of_one() {
    explore(Some(2), calls::<Given>(1, &["rr", "rr"]));
}

#[test]
fn a_run_here_beside_posts() {
    explore(Some(2), calls::<Given>(1, &["h", "pp"]));
}

#[test]
fn three_post() {
    explore(Some(2), calls::<Given>(64, &["p", "p", "p"]));
}

#[test]
fn three_run_with_a_threshold_of_one() {
    explore(Some(1), calls::<Given>(1, &["r", "r", "r"]));
}

#[test]
fn a_poster_a_runner_and_one_that_comes_and_goes() {
    explore(Some(1), calls::<Given>(1, &["rr", "r", "pp"]));
}

#[test]
fn over_a_lock_without_fences() {
    explore(Some(3), calls::<Plain>(64, &["p", "p"]));
}

#[test]
fn over_a_lock_without_fences_with_a_threshold_of_one() {
    explore(Some(2), calls::<Plain>(1, &["pp", "pp"]));
}

#[test]
fn over_the_mutex() {
    explore(Some(2), calls::<Mutex>(64, &["pr", "r"]));
}

#[test]
fn over_the_mutex_with_a_threshold_of_one() {
    explore(Some(2), calls::<Mutex>(1, &["p", "pr"]));
}

/// An operation posts another from inside, while others come.
#[test]
fn posts_from_inside() {
    explore(Some(2), || {
        let queue = new::<Given>(64);
        let (inside, other) = (Arc::clone(&queue), Arc::clone(&queue));
        let other = thread::spawn(move || call(&other, 1, "p"));
        queue.post(move |log| {
            log.note(0, 0);
            inside.post(|log| log.note(0, 1));
        });
        other.join().expect("caller");
        assert!(queue.is_idle(), "an operation was forgotten");
        queue.run(|log| assert_eq!(log.next, [2, 1, 0]));
    });
}

/// Two post while a third one tries and goes away: whatever the lock's tries do to each other, nothing is
/// forgotten.
fn posts_beside_a_try<L: RawLock + 'static>(make: fn() -> L) -> impl Fn() + Sync + Send + 'static {
    move || {
        let queue = Arc::new(LockQueue::new(make(), Log::default(), 64, WaitPolicy::PARK_AT_ONCE));
        let callers: Vec<_> = (0..3)
            .map(|thread| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || match thread {
                    2 => _ = queue.try_run(|_| ()).is_ok(),
                    _ => call(&queue, thread, "p"),
                })
            })
            .collect();
        for caller in callers {
            caller.join().expect("caller");
        }
        assert!(queue.is_idle(), "an operation was forgotten");
        queue.run(|log| assert_eq!(log.next, [1, 1, 0]));
    }
}

const PARK: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

macro_rules! over {
    ($($lock:ident, $preemptions:literal: $make:expr;)*) => {
        $(#[test]
        fn $lock() {
            explore(Some($preemptions), posts_beside_a_try($make));
        })*
    };
}

over! {
    over_mutex_beside_a_try, 1: || Mutex::new(PARK);
    over_ticket_beside_a_try, 1: || StrictTicket::<Native>::new(PARK);
    over_mcs_beside_a_try, 1: || StrictMcs::<Native>::new(PARK);
    over_clh_beside_a_try, 1: || StrictClh::<Native>::new(PARK);
    over_abortable_mcs_beside_a_try, 1: || StrictAbortableMcs::<Native>::new(PARK);
    over_hmcs_beside_a_try, 0: || StrictHmcs::<Native>::new(&Tree::flat(), PARK);
    over_fissile_beside_a_try, 1: || Fissile::over(Given::default(), PARK);
    over_biased_beside_a_try, 1: || Biased::new(Given::default(), PARK);
    over_two_levels_beside_a_try, 1: || TwoLevel::new(Given::default(), Given::default(), PARK);
}

#[test]
fn a_try_runs_or_leaves_no_trace() {
    explore(Some(3), || {
        let queue = new::<Given>(64);
        let other = Arc::clone(&queue);
        let other = thread::spawn(move || other.try_run(|log| log.note(1, 0)).is_ok());
        call(&queue, 0, "p");
        let tried = other.join().expect("trier");
        queue.run(|log| assert_eq!(log.next, [1, u32::from(tried), 0]));
    });
}

with_fault!(running_ahead_is_found, calls::<Given>(1, &["p", "ppp"]));

with_fault!(leaving_at_once_is_found, calls::<Given>(64, &["p", "p"]));

with_fault!(a_post_without_its_fence_is_found, calls::<Plain>(64, &["pp", "pp"]));

with_fault!(an_end_of_quiet_without_its_fence_is_found, calls::<Plain>(64, &["p", "p"]));

with_fault!(a_holder_that_does_not_check_again_is_found, calls::<Given>(64, &["p", "p"]));

with_fault!(a_release_without_its_fence_is_found, calls::<Plain>(64, &["pp", "pp"]));

with_fault!(a_quiet_release_without_its_fence_is_found, calls::<Plain>(64, &["p", "p"]));

with_fault!(quiet_without_a_check_is_found, calls::<Plain>(64, &["pp", "pp"]));

with_fault!(stopping_at_the_threshold_is_found, calls::<Given>(1, &["pp", "pp"]));

with_fault!(a_waiter_that_does_not_call_is_found, calls::<Plain>(64, &["r", "r"]));

with_fault!(a_sleep_without_a_last_check_is_found, calls::<Plain>(64, &["r", "r"]));

with_fault!(a_sleep_without_its_fence_is_found, calls::<Plain>(64, &["r", "r"]));

with_fault!(trust_in_an_inexact_try_is_found, posts_beside_a_try(|| StrictClh::<Native>::new(PARK)));

/// A releaser finds the post of a poster that has not ended the quiet yet.
const LEFT_ALONE: &[&str] = &["r", "r", "p"];

with_fault!(going_round_in_circles_is_found, calls::<Given>(64, LEFT_ALONE));
