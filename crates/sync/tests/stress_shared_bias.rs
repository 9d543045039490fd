//! The lock that is held together or alone, on real threads: no change is lost, whoever closes and opens it.
#![cfg(not(loom))]

use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::barrier;
use heddle_sync::shared_bias::Alone;
use heddle_sync::{SharedBias, SharedMarks};
use std::time::Duration;

const THREADS: usize = 24;
const CHANGES: u64 = if cfg!(miri) { 20 } else { 3_000 };

/// A number that is changed by atomic instructions, or by plain ones.
#[derive(Default)]
struct Number {
    lock: SharedBias,
    marks: [SharedMarks; 2],
    value: AtomicU64,
}

impl Number {
    fn add_alone(&self, alone: &mut Alone<'_>) {
        if alone.have_left(&mut self.marks.iter()) {
            self.value.store(self.value.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        } else {
            self.value.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn alone(&self) -> Alone<'_> {
        loop {
            if let Some(alone) = self.lock.try_alone() {
                return alone;
            }
            self.lock.say_waiting();
            let ticket = self.lock.event().prepare();
            if let Some(alone) = self.lock.try_alone() {
                return alone;
            }
            // Far longer than anybody has it: a wake-up that is lost makes the test slow, not wrong.
            ticket.sleep(Some(Duration::from_secs(1)), Scope::Machine);
        }
    }

    fn add(&self, process: usize, number: Option<usize>) {
        loop {
            if let Some(number) = number
                && let Some(_together) = self.marks[process].enter_by_own_mark(number, &self.lock)
            {
                self.value.fetch_add(1, Ordering::Relaxed);
                return;
            }
            if let Some(_together) = self.marks[process].enter(number, &self.lock) {
                self.value.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let mut alone = self.alone();
            if !alone.is_open() {
                return self.add_alone(&mut alone);
            }
        }
    }
}

#[test]
fn no_change_is_lost() {
    if !barrier::is_asymmetric() {
        return;
    }
    let number = Number::default();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let number = &number;
            scope.spawn(move || {
                for change in 0..CHANGES {
                    match change % 64 {
                        0 if thread % 4 == 0 => {
                            let mut alone = number.alone();
                            alone.close();
                            number.value.fetch_add(1, Ordering::Relaxed);
                        }
                        32 if thread % 4 == 1 => {
                            let mut alone = number.alone();
                            number.value.fetch_add(1, Ordering::Relaxed);
                            alone.open();
                        }
                        // Some have no number, and one is beyond the last mark.
                        _ => number.add(thread % 2, [Some(thread), None, Some(thread + 1_000)][thread % 3]),
                    }
                }
            });
        }
    });
    assert_eq!(number.value.into_inner(), THREADS as u64 * CHANGES);
}
