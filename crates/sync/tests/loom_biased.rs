//! The biased lock under the model checker: exclusion and order while the bias is given, used, revoked and
//! given to another; no revoker sleeps for ever; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::{Biased, Lock, Mutex, Platform, RawLock, WaitPolicy, mutex};
use loom::sync::Arc;
use loom::thread;
use model::clocked::{self, Clocked};
use model::{Given, explore, with_fault};

type Sum<L> = Lock<Biased<L>, u32>;

/// A lock that is biased to the first thread that acquires it.
fn biased<L: RawLock>(under: L) -> Biased<L> {
    Biased::with_streak(under, WaitPolicy::PARK_AT_ONCE, 1)
}

/// A counter with such a lock.
fn new_sum<L: RawLock + 'static>(under: L) -> Arc<Sum<L>> {
    Arc::new(Lock::new(biased(under), 0))
}

fn add<L: RawLock>(sum: &Sum<L>, times: u32) {
    for _ in 0..times {
        *sum.acquire() += 1;
    }
}

/// This thread owns the bias and adds `own` more; each of `others` is the number of times
/// that another thread comes.
fn owner_and_others<L: RawLock + 'static>(
    under: fn() -> L,
    own: u32,
    others: &'static [u32],
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = new_sum(under());
        add(&sum, 1);
        let threads: Vec<_> = others
            .iter()
            .map(|times| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || add(&sum, *times))
            })
            .collect();
        add(&sum, own);
        for thread in threads {
            thread.join().expect("adder");
        }
        assert_eq!(*sum.acquire(), 1 + own + others.iter().sum::<u32>());
    }
}

/// The other thread only tries; this one owns the bias.
fn owner_and_trier<L: RawLock + 'static>(
    lock: fn() -> L,
    own: u32,
    tries: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = Arc::new(Lock::new(lock(), 0));
        *sum.acquire() += 1;
        let other = Arc::clone(&sum);
        let other = thread::spawn(move || {
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
    }
}

/// One thread tries, which may leave the bias half revoked; another acquires.
fn owner_trier_and_another() {
    let sum = new_sum(Given::default());
    add(&sum, 1);
    let (trier, adder) = (Arc::clone(&sum), Arc::clone(&sum));
    let trier = thread::spawn(move || {
        trier.try_acquire().map_or(0, |mut sum| {
            *sum += 1;
            1
        })
    });
    let adder = thread::spawn(move || add(&adder, 1));
    add(&sum, 1);
    let tried = trier.join().expect("trier");
    adder.join().expect("adder");
    assert_eq!(*sum.acquire(), 3 + tried);
}

type Timed = Biased<mutex::Mutex<Clocked>>;

/// A lock that is biased after `streak` acquisitions in a row; time passes with each reading of the clock.
fn timed(streak: u32) -> Timed {
    clocked::restart();
    Biased::with_streak(mutex::Mutex::new(WaitPolicy::PARK_AT_ONCE), WaitPolicy::PARK_AT_ONCE, streak)
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

/// Acquires and releases; returns whether the bias was the caller's.
fn passes_by_bias(lock: &Timed) -> bool {
    let token = lock.acquire();
    // SAFETY: acquired above.
    unsafe { lock.release(token) };
    token.is_none()
}

/// The number of acquisitions after which another thread becomes the owner; the thread ends as the owner.
fn becomes_owner(lock: &Arc<Timed>) -> usize {
    let lock = Arc::clone(lock);
    thread::spawn(move || (1..).find(|_| passes_by_bias(&lock)).expect("in the end") - 1)
        .join()
        .expect("owner")
}

fn mutex() -> Mutex {
    Mutex::new(WaitPolicy::PARK_AT_ONCE)
}

#[test]
fn one_revocation() {
    explore(None, owner_and_others(Given::default, 1, &[1]));
}

#[test]
fn the_owner_comes_back() {
    explore(None, owner_and_others(Given::default, 2, &[1]));
}

/// The other needs two acquisitions in a row to become owner; the first owner's late store must not hit its
/// flag.
#[test]
fn the_bias_moves_to_the_other() {
    explore(Some(5), owner_and_others(Given::default, 2, &[3]));
}

#[test]
fn three_threads() {
    explore(Some(3), owner_and_others(Given::default, 1, &[1, 1]));
}

#[test]
fn three_threads_and_two_moves() {
    explore(Some(2), owner_and_others(Given::default, 2, &[3, 2]));
}

#[test]
fn over_the_mutex() {
    explore(Some(4), owner_and_others(mutex, 2, &[1]));
}

#[test]
fn over_the_mutex_with_three_threads() {
    explore(Some(2), owner_and_others(mutex, 1, &[3, 1]));
}

#[test]
fn tries() {
    explore(None, owner_and_trier(|| biased(Given::default()), 1, 1));
    explore(Some(3), owner_and_trier(|| biased(Given::default()), 2, 2));
    explore(Some(2), owner_and_trier(|| biased(mutex()), 1, 2));
}

/// The first visits find a bias that is young.
#[test]
fn visits() {
    explore(Some(3), owner_and_trier(|| Visited(timed(1)), 1, 4));
    explore(Some(2), owner_and_trier(|| Visited(timed(1)), 2, 5));
}

#[test]
fn a_visitor_leaves_a_young_bias_alone_and_interrupts_no_streak() {
    explore(None, || {
        let lock = Arc::new(timed(2));
        assert!(!passes_by_bias(&lock));
        let visitor = Arc::clone(&lock);
        thread::spawn(move || {
            let token = visitor.try_visit().expect("there is no bias yet");
            // SAFETY: acquired above.
            unsafe { visitor.release(token) };
        })
        .join()
        .expect("visitor");
        assert!(!passes_by_bias(&lock) && passes_by_bias(&lock));
        let visitor = Arc::clone(&lock);
        let visits = thread::spawn(move || {
            let visits = (1..).find_map(|visit| Some((visit, visitor.try_visit()?)));
            let (visits, token) = visits.expect("in the end");
            // SAFETY: acquired above.
            unsafe { visitor.release(token) };
            visits
        });
        assert!(visits.join().expect("visitor") > 1);
        assert!(!passes_by_bias(&lock));
    });
}

#[test]
fn a_bias_that_was_worth_it_comes_back_sooner() {
    explore(None, || {
        let lock = Arc::new(timed(2));
        assert_eq!(becomes_owner(&lock), 2);
        assert!(!passes_by_bias(&lock), "revoked young");
        assert_eq!(becomes_owner(&lock), 4);
        (0..4).for_each(|_| _ = Clocked::ticks());
        assert!(!passes_by_bias(&lock), "revoked old");
        assert_eq!(becomes_owner(&lock), 2);
    });
}

#[test]
fn a_try_and_an_acquisition() {
    explore(Some(3), owner_trier_and_another);
}

#[test]
fn a_thread_that_ended_keeps_no_other_out() {
    explore(None, || {
        let sum = new_sum(Given::default());
        let owner = Arc::clone(&sum);
        thread::spawn(move || add(&owner, 2)).join().expect("owner");
        add(&sum, 2);
        assert_eq!(*sum.acquire(), 4);
    });
}

#[test]
fn a_try_leaves_no_waiter_behind() {
    explore(None, || {
        let lock = Arc::new(Biased::with_streak(Given::default(), WaitPolicy::PARK_AT_ONCE, 1));
        let token = lock.acquire();
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        assert!(!lock.has_waiters());
        let token = lock.acquire();
        let other = Arc::clone(&lock);
        let other = thread::spawn(move || other.try_acquire().is_some());
        let entered = other.join().expect("trier");
        assert!(!entered && !lock.has_waiters(), "a thread that only tried does not wait");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    });
}

/// A holder that tries again fails, by its bias and through L.
fn an_owner_tries_again(streak: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let lock =
            Arc::new(Lock::new(Biased::with_streak(Given::default(), WaitPolicy::PARK_AT_ONCE, streak), 0));
        let owner = thread::spawn({
            let lock = Arc::clone(&lock);
            move || {
                *lock.acquire() += 1;
                let held = lock.acquire();
                assert!(lock.try_acquire().is_none(), "two guards");
                drop(held);
            }
        });
        owner.join().expect("owner");
        assert_eq!(*lock.acquire(), 1);
    }
}

#[test]
fn an_owner_does_not_enter_twice() {
    explore(None, an_owner_tries_again(1));
    explore(None, an_owner_tries_again(100));
}

with_fault!(an_owner_that_enters_twice_is_found, an_owner_tries_again(1));

with_fault!(a_missing_second_check_is_found, owner_and_others(Given::default, 1, &[1]));

with_fault!(a_missing_heavy_fence_is_found, owner_and_others(Given::default, 1, &[1]));

with_fault!(a_relaxed_release_is_found, owner_and_others(Given::default, 1, &[1]));

with_fault!(a_shared_seat_is_found, owner_and_others(Given::default, 1, &[3, 1]));

with_fault!(a_silent_retreat_is_found, owner_and_others(Given::default, 1, &[1]));

with_fault!(a_try_that_forgets_the_owner_is_found, owner_and_trier(|| biased(Given::default()), 1, 1));
