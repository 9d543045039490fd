//! The biased lock under the model checker: exclusion and order while the bias is given, used, revoked and given to
//! another; no revoker sleeps for ever; and each fault is found.
#![cfg(loom)]

mod model;

use heddle_sync::fault::Fault;
use heddle_sync::{Biased, Lock, Mutex, RawLock, WaitPolicy};
use loom::sync::Arc;
use loom::thread;
use model::{DEADLOCK, Given, RACE, explore, must_fail};

type Sum<L> = Lock<Biased<L>, u32>;

/// A counter whose lock is biased to whoever acquires it first.
fn new_sum<L: RawLock + 'static>(under: L) -> Arc<Sum<L>> {
    Arc::new(Lock::new(Biased::with_streak(under, WaitPolicy::PARK_AT_ONCE, 1), 0))
}

fn add<L: RawLock>(sum: &Sum<L>, times: u32) {
    for _ in 0..times {
        *sum.acquire() += 1;
    }
}

/// This thread owns the bias and adds `own` more; each of `others` comes as often as it says.
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
    under: fn() -> L,
    own: u32,
    tries: u32,
) -> impl Fn() + Sync + Send + 'static {
    move || {
        let sum = new_sum(under());
        add(&sum, 1);
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
        add(&sum, own);
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

/// The other needs two acquisitions in a row to become owner; the first owner's late store must not hit its flag.
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
    explore(None, owner_and_trier(Given::default, 1, 1));
    explore(Some(3), owner_and_trier(Given::default, 2, 2));
    explore(Some(2), owner_and_trier(mutex, 1, 2));
}

#[test]
fn a_try_and_an_acquisition() {
    explore(Some(3), owner_trier_and_another);
}

#[test]
fn a_thread_that_ended_keeps_nobody_out() {
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
        assert!(!entered && !lock.has_waiters(), "who only tried does not wait");
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

must_fail!(
    an_owner_that_enters_twice_is_found,
    Some(Fault::BiasedTwiceInside),
    "currently writing to cell",
    an_owner_tries_again(1)
);

must_fail!(
    a_missing_second_look_is_found,
    Some(Fault::BiasedWithoutSecondLook),
    RACE,
    owner_and_others(Given::default, 1, &[1])
);

must_fail!(
    a_missing_heavy_fence_is_found,
    Some(Fault::BiasedWithoutHeavy),
    RACE,
    owner_and_others(Given::default, 1, &[1])
);

must_fail!(
    a_relaxed_release_is_found,
    Some(Fault::BiasedRelaxedRelease),
    RACE,
    owner_and_others(Given::default, 1, &[1])
);

must_fail!(
    a_shared_seat_is_found,
    Some(Fault::BiasedSharedSeat),
    RACE,
    owner_and_others(Given::default, 1, &[3, 1])
);

must_fail!(
    a_silent_retreat_is_found,
    Some(Fault::BiasedSilentRetreat),
    DEADLOCK,
    owner_and_others(Given::default, 1, &[1])
);

must_fail!(
    a_try_that_forgets_the_owner_is_found,
    Some(Fault::BiasedForgetfulTry),
    RACE,
    owner_and_trier(Given::default, 1, 1)
);
