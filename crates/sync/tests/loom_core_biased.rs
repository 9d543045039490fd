//! The lock biased to a core under the model checker: exclusion and order while threads of one core share the
//! bias, while it is given and revoked, and while threads move from core to core inside; no revoker sleeps
//! for ever; and each fault is found. `heddle_platform::core_claim` says how a core is modelled.
#![cfg(loom)]

mod model;

use heddle_platform::model::move_to_core;
use heddle_sync::{CoreBiased, Lock, Mutex, Platform, RawLock, WaitPolicy, mutex};
use loom::sync::Arc;
use loom::thread;
use model::clocked::{self, Clocked};
use model::{Given, explore, with_fault};

type Sum<L> = Lock<CoreBiased<L>, u32>;

/// A lock that is biased to the first core from which it is acquired.
fn biased<L: RawLock>(under: L) -> CoreBiased<L> {
    CoreBiased::with_streak(under, WaitPolicy::PARK_AT_ONCE, 1)
}

fn mutex() -> Mutex {
    Mutex::new(WaitPolicy::PARK_AT_ONCE)
}

fn add<L: RawLock>(sum: &Sum<L>, times: u32) {
    for _ in 0..times {
        *sum.acquire() += 1;
    }
}

/// Adds one with the holder moved from `from` to `to` while it is inside.
fn add_while_moving<L: RawLock>(sum: &Sum<L>, from: usize, to: usize) {
    move_to_core(from);
    let mut held = sum.acquire();
    move_to_core(to);
    *held += 1;
    drop(held);
}

/// This thread makes core 0 the owner and adds `own` more. Each of `others` is the core of another thread,
/// and the number of times that it adds.
fn on_cores<L: RawLock + 'static>(
    under: fn() -> L,
    own: u32,
    others: &'static [(usize, u32)],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Lock::new(biased(under()), 0));
        add(&sum, 1);
        let threads: Vec<_> = others
            .iter()
            .map(|(core, times)| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || {
                    move_to_core(*core);
                    add(&sum, *times);
                })
            })
            .collect();
        add(&sum, own);
        for thread in threads {
            thread.join().expect("adder");
        }
        assert!(!sum.has_waiters());
        assert_eq!(*sum.acquire(), 1 + own + others.iter().map(|(_, times)| times).sum::<u32>());
    }
}

/// No core owns the lock yet; two threads come, and the first makes its core the owner from inside.
fn no_owner_yet(other: usize) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Lock::new(biased(Given::default()), 0));
        let thread = thread::spawn({
            let sum = Arc::clone(&sum);
            move || {
                move_to_core(other);
                add(&sum, 1);
            }
        });
        add(&sum, 1);
        thread.join().expect("adder");
        assert_eq!(*sum.acquire(), 2);
    }
}

/// Threads are moved while they are inside: away from the owner core, and to it.
fn holders_move() {
    move_to_core(0);
    let sum = Arc::new(Lock::new(biased(Given::default()), 0));
    add(&sum, 1);
    let thread = thread::spawn({
        let sum = Arc::clone(&sum);
        move || add_while_moving(&sum, 1, 0)
    });
    add_while_moving(&sum, 0, 1);
    thread.join().expect("adder");
    assert_eq!(*sum.acquire(), 3);
}

/// The other thread, on core `core`, only tries.
fn acquire_and_try<L: RawLock + 'static>(
    lock: fn() -> L,
    core: usize,
    own: u32,
    tries: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        move_to_core(0);
        let sum = Arc::new(Lock::new(lock(), 0));
        *sum.acquire() += 1;
        let other = Arc::clone(&sum);
        let other = thread::spawn(move || {
            move_to_core(core);
            (0..tries)
                .map(|_| {
                    other.try_acquire().map_or(0, |mut sum| {
                        *sum += 1;
                        1
                    })
                })
                .sum::<u32>()
        });
        (0..own).for_each(|_| *sum.acquire() += 1);
        let tried = other.join().expect("trier");
        assert_eq!(*sum.acquire(), 1 + own + tried);
        assert!(sum.try_acquire().is_some(), "a free lock is not refused");
    }
}

/// One thread tries, which may leave the bias half revoked; another acquires.
fn owner_trier_and_another() {
    move_to_core(0);
    let sum = Arc::new(Lock::new(biased(Given::default()), 0));
    add(&sum, 1);
    let (trier, adder) = (Arc::clone(&sum), Arc::clone(&sum));
    let trier = thread::spawn(move || {
        move_to_core(1);
        trier.try_acquire().map_or(0, |mut sum| {
            *sum += 1;
            1
        })
    });
    let adder = thread::spawn(move || {
        move_to_core(0);
        add(&adder, 1);
    });
    add(&sum, 1);
    let tried = trier.join().expect("trier");
    adder.join().expect("adder");
    assert_eq!(*sum.acquire(), 3 + tried);
}

type Timed = CoreBiased<mutex::Mutex<Clocked>>;

/// A lock that is biased after `streak` acquisitions in a row from one core; time passes with
/// each reading of the clock.
fn timed(streak: u32) -> Timed {
    clocked::restart();
    CoreBiased::with_streak(mutex::Mutex::new(WaitPolicy::PARK_AT_ONCE), WaitPolicy::PARK_AT_ONCE, streak)
}

/// Acquires and releases; returns whether the caller had entered by the bias of its core. The acquisition
/// that makes a core the owner counts as one.
fn passes_by_bias(lock: &Timed) -> bool {
    let token = lock.acquire();
    let by_bias = token.is_none();
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    by_bias
}

/// The number of acquisitions after which core `core` becomes the owner, made by another thread on that core.
fn becomes_owner(lock: &Arc<Timed>, core: usize) -> usize {
    let lock = Arc::clone(lock);
    thread::spawn(move || {
        move_to_core(core);
        (1..).find(|_| passes_by_bias(&lock)).expect("in the end")
    })
    .join()
    .expect("owner")
}

#[test]
fn two_threads_of_the_owner_core() {
    explore(None, on_cores(Given::default, 1, &[(0, 1)]));
    explore(Some(3), on_cores(Given::default, 2, &[(0, 2)]));
}

#[test]
fn one_revocation() {
    explore(None, on_cores(Given::default, 1, &[(1, 1)]));
    explore(Some(4), on_cores(Given::default, 2, &[(1, 1)]));
}

#[test]
fn the_bias_moves_to_another_core_and_back() {
    explore(Some(3), on_cores(Given::default, 2, &[(1, 3)]));
}

#[test]
fn three_threads() {
    explore(Some(2), on_cores(Given::default, 1, &[(0, 1), (1, 1)]));
    explore(Some(2), on_cores(Given::default, 1, &[(1, 1), (2, 1)]));
    explore(Some(2), on_cores(Given::default, 1, &[(1, 2), (1, 1)]));
}

#[test]
fn over_the_mutex() {
    explore(Some(3), on_cores(mutex, 2, &[(1, 1)]));
    explore(Some(3), on_cores(mutex, 1, &[(0, 2)]));
    explore(Some(1), on_cores(mutex, 1, &[(0, 1), (1, 2)]));
}

#[test]
fn a_core_becomes_the_owner_while_others_come() {
    explore(None, no_owner_yet(0));
    explore(None, no_owner_yet(1));
}

#[test]
fn holders_are_moved() {
    explore(None, holders_move);
}

#[test]
fn tries() {
    explore(None, acquire_and_try(|| biased(Given::default()), 0, 1, 1));
    explore(None, acquire_and_try(|| biased(Given::default()), 1, 1, 1));
    explore(Some(3), acquire_and_try(|| biased(Given::default()), 1, 2, 2));
    explore(Some(2), acquire_and_try(|| biased(mutex()), 1, 1, 2));
}

#[test]
fn a_try_and_an_acquisition() {
    explore(Some(2), owner_trier_and_another);
}

/// Tries are visits.
struct Visited(Timed);

// SAFETY: the lock's own promises.
unsafe impl RawLock for Visited {
    type Platform = Clocked;
    type Token = <Timed as RawLock>::Token;

    fn acquire(&self) -> Self::Token {
        self.0.acquire()
    }
    fn try_acquire(&self) -> Option<Self::Token> {
        self.0.try_visit()
    }
    unsafe fn release(&self, token: Self::Token) {
        // SAFETY: the caller's promise.
        unsafe { self.0.release(token) };
    }
    fn has_waiters(&self) -> bool {
        self.0.has_waiters()
    }
}

/// The last visits are by the owner core, or find a bias that is old.
#[test]
fn visits() {
    explore(Some(3), acquire_and_try(|| Visited(timed(1)), 0, 1, 3));
    explore(Some(3), acquire_and_try(|| Visited(timed(1)), 1, 1, 4));
}

#[test]
fn a_visitor_leaves_a_young_bias_alone_and_interrupts_no_streak() {
    explore(None, || {
        move_to_core(0);
        let lock = Arc::new(timed(2));
        assert!(!passes_by_bias(&lock));
        let visit = |lock: &Arc<Timed>| {
            let visitor = Arc::clone(lock);
            thread::spawn(move || {
                move_to_core(1);
                let visits = (1..).find_map(|visit| Some((visit, visitor.try_visit()?)));
                let (visits, token) = visits.expect("in the end");
                // SAFETY: acquired above.
                unsafe { visitor.release(token) };
                visits
            })
        };
        assert_eq!(visit(&lock).join().expect("visitor"), 1, "there is no bias yet");
        assert!(passes_by_bias(&lock) && passes_by_bias(&lock));
        assert!(visit(&lock).join().expect("visitor") > 1);
        assert!(!passes_by_bias(&lock));
    });
}

#[test]
fn a_bias_that_was_worth_it_comes_back_sooner() {
    explore(None, || {
        move_to_core(0);
        let lock = Arc::new(timed(2));
        assert_eq!(becomes_owner(&lock, 1), 2);
        assert!(!passes_by_bias(&lock), "revoked young");
        assert_eq!(becomes_owner(&lock, 1), 4);
        (0..4).for_each(|_| _ = Clocked::ticks());
        assert!(!passes_by_bias(&lock), "revoked old");
        assert_eq!(becomes_owner(&lock, 1), 2);
    });
}

/// The threads of one core are one user: together they make the core the owner, and all
/// of them enter by its bias.
#[test]
fn the_threads_of_a_core_have_one_streak() {
    explore(None, || {
        move_to_core(0);
        let lock = Arc::new(timed(4));
        for round in 0..4 {
            assert_eq!(passes_by_bias(&lock), round >= 2, "round {round}");
            let neighbour = Arc::clone(&lock);
            let passes = thread::spawn(move || {
                move_to_core(0);
                passes_by_bias(&neighbour)
            });
            assert_eq!(passes.join().expect("neighbour"), round >= 1, "round {round}");
        }
    });
}

#[test]
fn a_try_leaves_no_waiter_behind() {
    explore(None, || {
        move_to_core(0);
        let lock = Arc::new(biased(Given::default()));
        let token = lock.acquire();
        let other = Arc::clone(&lock);
        let other = thread::spawn(move || {
            move_to_core(1);
            other.try_acquire().is_some()
        });
        let has_entered = other.join().expect("trier");
        assert!(!has_entered && !lock.has_waiters(), "a thread that only tried does not wait");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    });
}

/// A holder that tries again fails, by the bias and through L.
fn a_holder_tries_again(streak: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let lock = Lock::new(CoreBiased::with_streak(Given::default(), WaitPolicy::PARK_AT_ONCE, streak), 0);
        *lock.acquire() += 1;
        let held = lock.acquire();
        assert!(lock.try_acquire().is_none(), "two guards");
        drop(held);
        assert_eq!(*lock.acquire(), 1);
    }
}

#[test]
fn a_holder_does_not_enter_twice() {
    explore(None, a_holder_tries_again(1));
    explore(None, a_holder_tries_again(100));
}

with_fault!(a_missing_barrier_is_found, on_cores(Given::default, 1, &[(1, 1)]));

with_fault!(a_relaxed_release_is_found_by_a_revoker, on_cores(Given::default, 1, &[(1, 1)]));

with_fault!(a_relaxed_release_is_found_by_a_neighbour, on_cores(Given::default, 1, &[(0, 1)]));

with_fault!(a_relaxed_owner_is_found, no_owner_yet(0));

with_fault!(an_owner_made_from_outside_is_found, no_owner_yet(0));

with_fault!(a_silent_release_is_found, on_cores(Given::default, 1, &[(1, 1)]));

with_fault!(an_impatient_revoker_is_found, on_cores(Given::default, 1, &[(1, 1)]));

with_fault!(a_try_that_forgets_the_holder_is_found, acquire_and_try(|| biased(Given::default()), 1, 1, 1));

with_fault!(a_barrier_for_another_core_is_found, on_cores(Given::default, 1, &[(1, 1)]));
