//! The two-level lock under random schedules of more threads than loom can explore: the same sources on
//! another platform.
#![cfg(not(any(loom, asan, tsan)))]

#[path = "../../sync/tests/shuttle_world/mod.rs"]
mod shuttle_world;

use heddle_locks::TwoLevel;
use heddle_locks::counted::{Counted, Near};
use heddle_sync::mutex::Mutex;
use heddle_sync::{Lock, WaitPolicy};
use shuttle::thread;
use shuttle_world::Shuttle;
use std::sync::Arc;

const SCHEDULES: usize = 300;
const POLICY: WaitPolicy = WaitPolicy::PARK_AT_ONCE;

#[test]
fn two_level() {
    shuttle::check_random(
        || {
            let mutex = || Mutex::<Shuttle>::new(POLICY);
            let raw = TwoLevel::with_low_bound(mutex(), mutex(), POLICY, 2);
            let raw = Counted::new(raw, |_: usize, _: usize| Near::Machine);
            let lock = Arc::new(Lock::new(raw, 0_u32));
            let adders: Vec<_> = (0..5)
                .map(|adder| {
                    let lock = Arc::clone(&lock);
                    thread::spawn(move || {
                        for turn in 0..3 {
                            let mut sum =
                                if (adder + turn) % 2 == 0 { lock.acquire() } else { lock.acquire_low() };
                            *sum += 1;
                        }
                    })
                })
                .collect();
            adders.into_iter().for_each(|adder| adder.join().expect("adder"));
            assert_eq!(*lock.acquire(), 15);
            let counts = lock.raw().statistics();
            assert_eq!((counts.acquisitions, counts.held.count()), (16, 16));
        },
        SCHEDULES,
    );
}
