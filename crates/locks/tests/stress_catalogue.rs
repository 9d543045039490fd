//! What every lock of the catalogue keeps, on real threads: a lock that gets a row there is tested here by
//! itself.
#![cfg(not(loom))]

use heddle_locks::kinds::{LockName, LockSettings, Recipe, Visitor};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::thread;
use heddle_sync::{RawLock, WaitPolicy};

const TURNS: u64 = 500;

/// How many threads, and how they wait.
const TEAMS: [(usize, WaitPolicy); 4] = [
    (2, WaitPolicy::DEFAULT),
    (16, WaitPolicy::DEFAULT),
    (5, WaitPolicy::PARK_AT_ONCE),
    (3, WaitPolicy::STRICT),
];

/// Two numbers that only a holder may see differ.
#[derive(Default)]
struct Pair {
    left: u64,
    right: u64,
}

impl Pair {
    fn add(&mut self, turn: u64) {
        assert_eq!(self.left, self.right);
        self.left += 1;
        if turn.is_multiple_of(97) {
            thread::yield_now();
        }
        self.right += 1;
    }
}

/// A lock, and the value that it guards.
struct Guarded<L> {
    lock: L,
    pair: UnsafeCell<Pair>,
}

// SAFETY: the pair is touched by the lock's holder only.
unsafe impl<L: Sync> Sync for Guarded<L> {}

/// Threads that enter in every form that the lock has.
struct AddTogether(usize, LockSettings);

impl Visitor for AddTogether {
    type Output = ();

    fn visit<R: Recipe>(self) {
        let AddTogether(threads, settings) = self;
        let guarded = Guarded { lock: R::make(&settings), pair: UnsafeCell::new(Pair::default()) };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..TURNS).for_each(|turn| enter_and_add::<R>(&guarded, turn)));
            }
        });
        assert!(!guarded.lock.has_waiters());
        let pair = guarded.pair.into_inner();
        assert_eq!((pair.left, pair.right), (TURNS * threads as u64, TURNS * threads as u64));
    }
}

fn enter_and_add<R: Recipe>(guarded: &Guarded<R::Lock>, turn: u64) {
    let lock = &guarded.lock;
    let token = match (turn % 5, R::LOW, R::UNTIL) {
        (1, ..) => lock.try_acquire(),
        (2, Some(low), _) => Some((low.acquire)(lock)),
        (3, Some(low), _) => (low.try_acquire)(lock),
        // A deadline that is over: the attempt ends at once if a thread is inside.
        (4, _, Some(until)) => until(lock, 1),
        _ => None,
    };
    let token = token.unwrap_or_else(|| lock.acquire());
    // SAFETY: this thread holds the lock.
    guarded.pair.with_mut(|pair| unsafe { (*pair).add(turn) });
    // SAFETY: acquired above, by this thread.
    unsafe { lock.release(token) };
}

/// While one thread holds it, no other gets it.
struct KeepOthersOut;

impl Visitor for KeepOthersOut {
    type Output = ();

    fn visit<R: Recipe>(self) {
        let lock = R::make(&LockSettings::default());
        let token = lock.acquire();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(lock.try_acquire().is_none());
                assert!(R::UNTIL.is_none_or(|until| until(&lock, 1).is_none()));
                assert!(R::LOW.is_none_or(|low| (low.try_acquire)(&lock).is_none()));
            });
        });
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
        let token = lock.try_acquire().expect("released");
        // SAFETY: acquired above.
        unsafe { lock.release(token) };
    }
}

#[test]
fn sums_are_exact() {
    for name in LockName::all() {
        for (threads, policy) in TEAMS {
            name.visit(AddTogether(threads, LockSettings { policy, ..LockSettings::default() }));
        }
    }
}

#[test]
fn a_holder_keeps_others_out() {
    LockName::all().for_each(|name| name.visit(KeepOthersOut));
}
