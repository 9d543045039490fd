//! Threads that race, if a fault is in the source. ThreadSanitizer has to report it then.

// Every test file includes this one and uses its share of it.
#![allow(dead_code)]

use heddle_platform::thread;
use heddle_sync::{Lock, RawLock};

/// Tests in which ThreadSanitizer reports a race only with a fault of `tests/faults` in the source: for
/// `ci/faults.py`.
macro_rules! with_fault {
    ($($name:ident: $body:expr;)*) => {$(
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            $body
        }
    )*};
}
pub(crate) use with_fault;

const THREADS: u64 = 4;
/// How many turns each thread has.
pub(crate) const TURNS: u64 = 4_000;
/// A race needs the right moment; the first report ends the process.
pub(crate) const ROUNDS: usize = 20;

/// Threads that take their turns at once; each turn is told a number.
pub(crate) fn together(turn: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let turn = &turn;
            scope.spawn(move || (0..TURNS).for_each(|number| turn(thread + number)));
        }
    });
}

/// Threads that add under a lock.
pub(crate) fn add<L: RawLock>(make: impl Fn() -> L) {
    for _ in 0..ROUNDS {
        let lock = Lock::new(make(), 0_u64);
        together(|number| {
            let mut sum = lock.acquire();
            *sum += 1;
            if number.is_multiple_of(7) {
                // Somebody comes to wait.
                thread::yield_now();
            }
        });
    }
}
