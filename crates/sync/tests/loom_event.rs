//! Events under the model checker: no wake-up is lost, and each fence and each step is needed.
#![cfg(loom)]

mod model;

use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_sync::Event;
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

/// A word that threads wait for.
#[derive(Default)]
struct Word {
    value: AtomicU64,
    event: Event,
}

impl Word {
    fn add(&self) {
        self.value.fetch_add(1, Ordering::SeqCst);
        self.event.wake(Scope::Process);
    }

    fn wait_for(&self, wanted: u64) {
        while self.value.load(Ordering::SeqCst) < wanted {
            let ticket = self.event.prepare();
            if self.value.load(Ordering::SeqCst) >= wanted {
                break;
            }
            ticket.sleep(None, Scope::Process);
        }
    }
}

/// One thread waits for as many changes as `changers` make together; so do others, for the first one.
fn all_are_woken(changers: &'static [u64], others: usize) -> impl Fn() + Sync + Send + 'static {
    move || {
        let word = Arc::new(Word::default());
        let changing = changers.iter().map(|changes| {
            let word = Arc::clone(&word);
            thread::spawn(move || (0..*changes).for_each(|_| word.add()))
        });
        let mut threads: Vec<_> = changing.collect();
        threads.extend((0..others).map(|_| {
            let word = Arc::clone(&word);
            thread::spawn(move || word.wait_for(1))
        }));
        word.wait_for(changers.iter().sum());
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    }
}

#[test]
fn no_wake_up_is_lost() {
    explore(None, all_are_woken(&[1], 0));
    explore(Some(3), all_are_woken(&[2], 0));
    explore(Some(2), all_are_woken(&[1, 1], 0));
    explore(Some(2), all_are_woken(&[1], 1));
}

with_fault!(a_lost_wake_up_is_found, all_are_woken(&[1], 0));
with_fault!(a_sleeper_that_is_not_counted_is_found, all_are_woken(&[2], 0));
