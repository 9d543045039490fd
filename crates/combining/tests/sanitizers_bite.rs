//! Faults that ThreadSanitizer has to report; its silence about the stress tests means something only if it
//! reports these. It sees programs with a fault in the sources (`ci/faults.py thread`). Run by
//! `ci/sanitize.sh`.
#![cfg(tsan)]

#[path = "../../sync/tests/racing/mod.rs"]
mod racing;

/// Each ordering that publishes something, weakened.
mod races {
    use crate::racing::{ROUNDS, together, with_fault};
    use heddle_combining::{Combining, Delegated, DsmSynch, LockQueue};
    use heddle_platform::thread;
    use heddle_sync::{Mutex, WaitPolicy};

    fn combine<C: Combining<u64>>(make: impl Fn() -> C) {
        for _ in 0..ROUNDS {
            let sum = make();
            together(|number| {
                let seen = sum.run(|sum| {
                    *sum += 1;
                    if number.is_multiple_of(7) {
                        thread::yield_now();
                    }
                    Box::new(*sum)
                });
                assert!(*seen > 0);
            });
        }
    }

    fn delegate() {
        for _ in 0..ROUNDS {
            let sum = Delegated::new(Box::new(0_u64), 8, WaitPolicy::DEFAULT);
            together(|number| {
                let (seen, _) = sum.run(|sum| {
                    **sum += 1;
                    if number.is_multiple_of(7) {
                        thread::yield_now();
                    }
                    **sum
                });
                assert!(seen > 0);
            });
        }
    }

    with_fault! {
        dsm_synch_leave: combine(DsmSynch::<u64>::default);
        dsm_synch: combine(DsmSynch::<u64>::default);
        request: combine(LockQueue::<Mutex, u64>::default);
        delegated: delegate();
    }
}
