//! Wait marks under the model checker: no wake-up is lost, and each fence and each order of steps is needed.
#![cfg(loom)]

mod model;

use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_sync::{ParkingSpot, WaitMarks};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

/// A word that threads wait for, with the places of two of them.
#[derive(Default)]
struct Word {
    value: AtomicU64,
    marks: WaitMarks,
    spots: [ParkingSpot; 2],
}

impl Word {
    fn change(&self, to: u64) {
        self.value.swap(to, Ordering::SeqCst);
        self.marks.wake(Scope::Process, || self.spots.iter());
    }

    fn wait_for(&self, wanted: u64, sleeper: usize) {
        while self.value.load(Ordering::SeqCst) < wanted {
            let ticket = self.spots[sleeper].prepare(&self.marks, sleeper);
            if self.value.load(Ordering::SeqCst) >= wanted {
                break;
            }
            ticket.park(None, Scope::Process);
        }
    }
}

fn one_sleeper() {
    let word = Arc::new(Word::default());
    let changer = Arc::clone(&word);
    let changer = thread::spawn(move || changer.change(1));
    word.wait_for(1, 0);
    word.marks.clear(0);
    changer.join().expect("the changer");
}

fn one_sleeper_and_two_changes() {
    let word = Arc::new(Word::default());
    let changer = Arc::clone(&word);
    let changer = thread::spawn(move || {
        changer.change(1);
        changer.change(2);
    });
    word.wait_for(2, 1);
    changer.join().expect("the changer");
}

fn two_sleepers() {
    let word = Arc::new(Word::default());
    let others: Vec<_> = [0, 1]
        .map(|sleeper| {
            let word = Arc::clone(&word);
            thread::spawn(move || word.wait_for(1, sleeper))
        })
        .into();
    word.change(1);
    others.into_iter().for_each(|other| other.join().expect("a sleeper"));
}

#[test]
fn no_wake_up_is_lost() {
    explore(None, one_sleeper);
    explore(Some(3), one_sleeper_and_two_changes);
    explore(Some(2), two_sleepers);
}

with_fault!(a_lost_wake_up_is_found, one_sleeper);
