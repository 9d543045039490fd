//! How many critical sections a second a lock gives, with a core for each thread: to threads that issue
//! operations, and to as many threads that issue and that wait.

use crate::machine::{self, Machine};
use crate::memory::Word;
use crate::platform::Simulated;
use heddle_locks::mcs::{Mcs, StrictMcs};
use heddle_locks::{Biased, TwoLevel};
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::platform::AtomicInteger;
use heddle_sync::mutex::Mutex;
use heddle_sync::wait::Waiter;
use heddle_sync::{RawLock, WaitPolicy};

const POLICY: WaitPolicy = WaitPolicy::DEFAULT;
/// Four turns of a lock, so that the queue has come round.
const END_NS: u64 = 200_000;
const SEEDS: [u64; 3] = [1, 2, 3];

type Pair = TwoLevel<StrictMcs<Simulated>, StrictMcs<Simulated>>;

/// As `HEDDLE_ARBITRATION=p-mcs-mcs` makes it.
fn pair() -> Pair {
    let class = || StrictMcs::new(POLICY.apart());
    TwoLevel::new(class(), class(), POLICY)
}

/// Critical sections of the issuing threads in a microsecond. `poll` enters for a waiting thread, or does
/// not.
fn rate<L: RawLock<Platform = Simulated>>(
    make: impl Fn() -> L,
    (issuing, waiting): (usize, usize),
    poll: impl Fn(&L) -> Option<L::Token> + Sync,
) -> f64 {
    let issued = AtomicU64::new(0);
    for seed in SEEDS {
        let lock = make();
        let (sent, arrived) = (Word::<u64>::default(), Word::<u64>::default());
        machine::run(seed, issuing + waiting, |number| {
            if number < issuing {
                issued.fetch_add(issue(&lock, &sent), Ordering::Relaxed);
            } else {
                wait(&lock, &arrived, &poll);
            }
        });
    }
    issued.load(Ordering::Relaxed) as f64 * 1e3 / (END_NS as f64 * SEEDS.len() as f64)
}

/// Issues operations until the end of time; returns their number.
fn issue<L: RawLock>(lock: &L, sent: &Word<u64>) -> u64 {
    let mut issued = 0;
    while Machine::now_ns() < END_NS {
        let token = lock.acquire();
        sent.store(1, Ordering::Relaxed);
        Machine::spend(20);
        // SAFETY: this thread acquired it above, which gave this token.
        unsafe { lock.release(token) };
        issued += 1;
        Machine::spend(30);
    }
    issued
}

/// Polls as a thread that waits for messages does: one poll in four finds something, after the others it
/// pauses.
fn wait<L: RawLock<Platform = Simulated>>(
    lock: &L,
    arrived: &Word<u64>,
    poll: impl Fn(&L) -> Option<L::Token>,
) {
    let mut waiter = Waiter::<Simulated>::new(&WaitPolicy { park: false, ..POLICY }, 2);
    let mut polls = 0_u64;
    while Machine::now_ns() < END_NS {
        let entered = poll(lock);
        let is_inside = entered.is_some();
        if let Some(token) = entered {
            let _ = arrived.load(Ordering::Relaxed);
            Machine::spend(20);
            // SAFETY: this thread acquired it in `poll`, which gave this token.
            unsafe { lock.release(token) };
            polls += 1;
        }
        if is_inside && polls.is_multiple_of(4) {
            waiter.reset();
        } else {
            let _ = waiter.pause();
        }
    }
}

/// With the waiting threads in the class that stands back.
fn rate_of_pair(threads: (usize, usize)) -> f64 {
    rate(pair, threads, |lock| Some(lock.acquire_low()))
}

/// The best of the locks with one class, whose waiting threads try them.
fn best_rate_of_one_class(threads: (usize, usize)) -> f64 {
    let mutex = rate(|| Mutex::<Simulated>::new(POLICY), threads, Mutex::try_acquire);
    let mcs = rate(|| Mcs::<Simulated>::new(POLICY), threads, Mcs::try_acquire);
    mutex.max(mcs)
}

#[track_caller]
fn assert_at_least(part: f64, rate: f64, of: f64, what: impl std::fmt::Debug) {
    assert!(rate >= part * of, "{what:?}: {rate:.2}, {:.2} of {of:.2}", rate / of);
}

#[test]
fn a_pair_is_as_fast_as_the_best_lock_of_one_class_where_threads_issue() {
    // The releases check two heads, not one, which costs a pair a twentieth.
    for issuing in [1, 2, 4, 8, 16] {
        let threads = (issuing, 0);
        assert_at_least(0.93, rate_of_pair(threads), best_rate_of_one_class(threads), threads);
    }
    // Behind a bias a thread alone checks none.
    let alone = best_rate_of_one_class((1, 0));
    let biased = rate(|| Biased::new(pair(), POLICY), (1, 0), |lock| lock.try_acquire());
    assert_at_least(0.99, biased, alone, "alone, with a bias");
}

#[test]
fn a_pair_is_as_fast_as_the_best_lock_of_one_class_where_threads_issue_and_wait() {
    for each in [1, 2, 4, 8, 16] {
        let threads = (each, each);
        assert_at_least(0.95, rate_of_pair(threads), best_rate_of_one_class(threads), threads);
    }
}

/// Threads that find a queue join it, and leave the word to the thread inside.
#[test]
fn a_pair_gives_many_issuing_threads_as_much_as_a_few() {
    let few = rate_of_pair((4, 0));
    for many in [8, 16] {
        assert_at_least(0.95, rate_of_pair((many, 0)), few, many);
    }
}
