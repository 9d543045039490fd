//! The two-level lock under the model checker: exclusion between the classes, priority, no thread forgotten
//! at the filter, waiters that give up; and each fault is found.
#![cfg(loom)]

#[path = "../../sync/tests/model/mod.rs"]
mod model;

use heddle_locks::TwoLevel;
use heddle_sync::{Lock, Mutex, Native, PriorityLock, RawLock, TimedLock, WaitPolicy};
use loom::sync::{Arc, Condvar};
use loom::thread;
use model::{explore, with_fault};

/// A lock from loom's own parts that knows its waiters and lets them give up: correct by construction, few
/// steps.
#[derive(Default)]
struct Counted {
    state: loom::sync::Mutex<State>,
    freed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    held: bool,
    waiters: u32,
}

// SAFETY: `held` is set by one thread at a time under loom's mutex, which also orders.
unsafe impl RawLock for Counted {
    type Platform = Native;
    type Token = ();

    fn acquire(&self) {
        let mut state = self.state.lock().expect("not poisoned");
        state.waiters += 1;
        while state.held {
            state = self.freed.wait(state).expect("not poisoned");
        }
        *state = State { held: true, waiters: state.waiters - 1 };
    }

    fn try_acquire(&self) -> Option<()> {
        let mut state = self.state.lock().expect("not poisoned");
        (!std::mem::replace(&mut state.held, true)).then_some(())
    }

    unsafe fn release(&self, (): ()) {
        self.state.lock().expect("not poisoned").held = false;
        self.freed.notify_one();
    }

    fn has_waiters(&self) -> bool {
        self.state.lock().expect("not poisoned").waiters != 0
    }
}

// SAFETY: a thread that gives up has taken itself off the count.
unsafe impl TimedLock for Counted {
    /// Waits a turn and gives up, whatever the deadline: time stands still in a model.
    fn acquire_until(&self, _: u64) -> Option<()> {
        let mut state = self.state.lock().expect("not poisoned");
        if state.held {
            state.waiters += 1;
            drop(state);
            thread::yield_now();
            state = self.state.lock().expect("not poisoned");
            state.waiters -= 1;
        }
        (!std::mem::replace(&mut state.held, true)).then_some(())
    }
}

type TwoCounted = TwoLevel<Counted, Counted>;
const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

fn two_counted(low_bound: u32) -> Arc<Lock<TwoCounted, u32>> {
    by_policy(POLICY, low_bound)
}

/// A running thread never passes the head of its class.
fn two_strict(low_bound: u32) -> Arc<Lock<TwoCounted, u32>> {
    by_policy(WaitPolicy { forced_yield_ns: 0, ..POLICY }, low_bound)
}

/// A thread of the high class that finds another one inside tries once more before it queues up.
fn two_trying() -> Arc<Lock<TwoCounted, u32>> {
    by_policy(WaitPolicy { first_tries: 1, ..POLICY }, 256)
}

fn by_policy(policy: WaitPolicy, low_bound: u32) -> Arc<Lock<TwoCounted, u32>> {
    let lock = TwoLevel::with_low_bound(Counted::default(), Counted::default(), policy, low_bound);
    Arc::new(Lock::new(lock, 0))
}

/// What a thread does with the lock; each returns how much it added.
#[derive(Clone, Copy)]
enum Use {
    High,
    Low,
    TryHigh,
    TryLow,
    TimedHigh,
    TimedLow,
}
use Use::{High, Low, TimedHigh, TimedLow, TryHigh, TryLow};

fn add(lock: &Lock<TwoCounted, u32>, how: Use) -> u32 {
    match how {
        TimedHigh => lock.acquire_until(0).map_or(0, |mut sum| {
            *sum += 1;
            1
        }),
        TimedLow => lock.raw().acquire_low_until(0).map_or(0, |token| {
            // SAFETY: acquired just now.
            unsafe { lock.raw().release(token) };
            0
        }),
        other => add_guarded(lock, other),
    }
}

/// The ways that every lock with two classes has.
fn add_guarded<L: PriorityLock>(lock: &Lock<L, u32>, how: Use) -> u32 {
    let guard = match how {
        High => Some(lock.acquire()),
        Low => Some(lock.acquire_low()),
        TryHigh => lock.try_acquire(),
        TryLow => lock.try_acquire_low(),
        TimedHigh | TimedLow => unreachable!("not of this trait"),
    };
    guard.map_or(0, |mut sum| {
        *sum += 1;
        1
    })
}

/// Every thread uses the lock in its ways; the sum is what was added.
fn together(
    make: impl Fn() -> Arc<Lock<TwoCounted, u32>> + Sync + Send + 'static,
    threads: &'static [&'static [Use]],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let lock = make();
        let work = |lock: &Lock<TwoCounted, u32>, uses: &[Use]| {
            uses.iter().map(|how| add_guarded(lock, *how)).sum::<u32>()
        };
        let others: Vec<_> = threads[1..]
            .iter()
            .map(|uses| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || work(&lock, uses))
            })
            .collect();
        let mut added = work(&lock, threads[0]);
        for other in others {
            added += other.join().expect("adder");
        }
        assert_eq!(*lock.acquire(), added);
        assert_eq!(*lock.acquire_low(), added);
        assert!(!lock.has_waiters());
    }
}

/// Threads that may give up; afterwards both classes still get in.
fn giving_up(threads: &'static [&'static [Use]]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let lock = two_counted(u32::MAX);
        let others: Vec<_> = threads
            .iter()
            .map(|uses| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || uses.iter().map(|how| add(&lock, *how)).sum::<u32>())
            })
            .collect();
        let added: u32 = others.into_iter().map(|other| other.join().expect("user")).sum();
        *lock.acquire_low() += 1;
        *lock.acquire() += 1;
        assert_eq!(*lock.acquire_low(), added + 2);
    }
}

#[test]
fn one_of_each_class() {
    explore(None, together(|| two_counted(256), &[&[High], &[Low]]));
}

#[test]
fn both_classes_twice() {
    explore(Some(3), together(|| two_counted(256), &[&[High, Low], &[Low, High]]));
}

#[test]
fn two_high_and_a_low() {
    explore(Some(1), together(|| two_counted(256), &[&[High], &[High], &[Low]]));
}

#[test]
fn tries_before_any_queue() {
    explore(Some(3), together(two_trying, &[&[High, High], &[High, Low]]));
    explore(Some(1), together(two_trying, &[&[High], &[High], &[Low]]));
    explore(Some(2), together(two_trying, &[&[TryLow, High], &[High, TryHigh]]));
}

#[test]
fn a_high_and_two_low() {
    explore(Some(1), together(|| two_counted(256), &[&[High], &[Low], &[Low]]));
}

#[test]
fn the_bound_lets_the_low_class_in() {
    explore(Some(3), together(|| two_counted(1), &[&[High, High], &[Low]]));
    explore(Some(1), together(|| two_counted(1), &[&[High], &[High], &[Low]]));
}

#[test]
fn in_a_strict_order() {
    explore(None, together(|| two_strict(256), &[&[High], &[Low]]));
    explore(Some(2), together(|| two_strict(256), &[&[High, High], &[High, Low]]));
    explore(Some(1), together(|| two_strict(1), &[&[High], &[High], &[Low]]));
}

#[test]
fn a_try_succeeds_or_leaves_no_trace() {
    explore(Some(2), together(|| two_counted(256), &[&[TryHigh, TryLow], &[High, Low]]));
    explore(Some(3), together(|| two_counted(256), &[&[TryLow, High], &[TryHigh, Low]]));
}

/// The filter was kept shut for a thread that gave up.
#[test]
fn a_low_thread_gets_past_a_high_one_that_gave_up() {
    explore(Some(2), giving_up(&[&[High], &[TimedHigh, TimedHigh]]));
    explore(Some(1), giving_up(&[&[High], &[TimedHigh], &[Low]]));
}

#[test]
fn low_threads_give_up() {
    explore(Some(2), giving_up(&[&[High, Low], &[TimedLow, TimedHigh]]));
    explore(Some(1), giving_up(&[&[High], &[TimedLow], &[Low]]));
}

/// With the locks that ship.
#[test]
fn over_mutexes() {
    explore(Some(2), || {
        let lock = TwoLevel::new(Mutex::new(POLICY), Mutex::new(POLICY), POLICY);
        let lock: Arc<Lock<TwoLevel<Mutex, Mutex>, u32>> = Arc::new(Lock::new(lock, 0));
        let other = Arc::clone(&lock);
        let other = thread::spawn(move || add_guarded(&other, Low) + add_guarded(&other, High));
        add_guarded(&*lock, High);
        add_guarded(&*lock, Low);
        other.join().expect("adder");
        assert_eq!(*lock.acquire(), 4);
    });
}

/// A high-priority thread is there: whatever the low class finds, it does not come before it.
fn a_low_thread_stands_back() {
    let lock = two_counted(u32::MAX);
    let first = lock.acquire();
    let other = Arc::clone(&lock);
    let other = thread::spawn(move || *other.acquire() += 1);
    while !lock.has_waiters() {
        thread::yield_now();
    }
    drop(first);
    if let Some(sum) = lock.try_acquire_low() {
        assert_eq!(*sum, 1, "{OUT_OF_TURN}");
    }
    other.join().expect("adder");
}

const OUT_OF_TURN: &str = "the low class came before the high one";

#[test]
fn the_low_class_stands_back() {
    explore(Some(3), a_low_thread_stands_back);
}

/// A waiting thread gets the word that was owed to a low-priority thread that gave up.
fn a_creditor_gives_up() {
    let lock = two_counted(1);
    let first = lock.acquire();
    let other = Arc::clone(&lock);
    let high = thread::spawn(move || add(&other, High));
    while !lock.has_waiters() {
        thread::yield_now();
    }
    let other = Arc::clone(&lock);
    let low = thread::spawn(move || add(&other, TimedLow));
    thread::yield_now();
    drop(first);
    assert_eq!((high.join().expect("adder"), low.join().expect("user")), (1, 0));
    assert_eq!(*lock.acquire(), 1);
}

/// The head of the high class says that another one is coming, which then gives up.
fn the_thread_behind_the_head_gives_up() {
    let lock = two_counted(u32::MAX);
    let first = lock.acquire();
    let other = Arc::clone(&lock);
    let head = thread::spawn(move || add(&other, High));
    while !lock.has_waiters() {
        thread::yield_now();
    }
    let other = Arc::clone(&lock);
    let behind = thread::spawn(move || add(&other, TimedHigh));
    thread::yield_now();
    drop(first);
    let added = head.join().expect("adder") + behind.join().expect("user");
    *lock.acquire_low() += 1;
    assert_eq!(*lock.acquire_low(), added + 1);
}

#[test]
fn the_low_class_enters_when_nobody_comes() {
    explore(Some(2), the_thread_behind_the_head_gives_up);
}

#[test]
fn the_others_get_what_is_owed_to_a_thread_that_gave_up() {
    explore(Some(1), a_creditor_gives_up);
}

with_fault!(
    a_thread_that_is_said_to_come_and_does_not_is_found,
    together(|| two_counted(256), &[&[High], &[High], &[Low]])
);

with_fault!(a_filter_that_publishes_nothing_is_found, together(|| two_counted(256), &[&[High], &[Low]]));

with_fault!(a_head_without_its_fence_is_found, together(|| two_counted(256), &[&[High], &[Low]]));

with_fault!(a_head_that_does_not_check_again_is_found, together(|| two_counted(256), &[&[High], &[Low]]));

with_fault!(a_holder_without_its_fence_is_found, together(|| two_counted(256), &[&[High], &[Low]]));

with_fault!(a_thread_that_gives_up_in_silence_is_found, the_thread_behind_the_head_gives_up);

with_fault!(
    a_debt_that_its_creditor_does_not_know_of_is_found,
    together(|| two_counted(1), &[&[High], &[Low]])
);

with_fault!(a_debt_to_nobody_is_found, a_creditor_gives_up);

with_fault!(a_low_thread_that_gives_up_in_silence_is_found, a_creditor_gives_up);

with_fault!(a_low_thread_that_pushes_ahead_is_found, a_low_thread_stands_back);
