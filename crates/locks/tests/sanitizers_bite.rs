//! Faults that ThreadSanitizer has to report; its silence about the stress tests means something only if it
//! reports these. It sees programs with a fault in the locks (`ci/faults.py thread`). Run by
//! `ci/sanitize.sh`.
#![cfg(tsan)]

#[path = "../../sync/tests/racing/mod.rs"]
mod racing;

/// Each ordering that publishes something, weakened.
mod races {
    use crate::racing::{ROUNDS, add, together, with_fault};
    use heddle_locks::abortable_mcs::StrictAbortableMcs;
    use heddle_locks::clh::StrictClh;
    use heddle_locks::hmcs::{StrictHmcs, Tree};
    use heddle_locks::mcs::StrictMcs;
    use heddle_locks::ticket::StrictTicket;
    use heddle_locks::{Biased, CoreBiased, Mcs, TwoLevel};
    use heddle_platform::thread;
    use heddle_sync::{Lock, Mutex, Native, WaitPolicy};

    fn add_in_classes() {
        for _ in 0..ROUNDS {
            let lock = Lock::new(TwoLevel::<Mutex, Mutex>::default(), 0_u64);
            together(|number| {
                let mut sum = if number.is_multiple_of(2) { lock.acquire() } else { lock.acquire_low() };
                *sum += 1;
                if number.is_multiple_of(7) {
                    thread::yield_now();
                }
            });
        }
    }

    with_fault! {
        ticket: add(StrictTicket::<Native>::default);
        mcs: add(StrictMcs::<Native>::default);
        clh: add(StrictClh::<Native>::default);
        abortable_mcs: add(StrictAbortableMcs::<Native>::default);
        admission: add(Mcs::default);
        biased: add(|| {
            Biased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1)
        });
        core_biased: add(|| {
            CoreBiased::with_streak(Mutex::default(), WaitPolicy::DEFAULT, 1)
        });
        hmcs: add(|| StrictHmcs::<Native>::new(&Tree::flat(), WaitPolicy::DEFAULT));
        two_level_filter: add_in_classes();
    }
}
