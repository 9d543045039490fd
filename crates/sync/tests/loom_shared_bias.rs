//! The lock that is held together or alone, under the model checker: whoever may change words by plain
//! instructions is alone, sees what was done before, and each fence and each step is needed.
#![cfg(loom)]

mod model;

use heddle_platform::Scope;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::shared_bias::Alone;
use heddle_sync::{SharedBias, SharedMarks};
use loom::sync::Arc;
use loom::thread;
use model::{explore, with_fault};

/// A number that is changed by atomic instructions or by plain ones, of two processes.
#[derive(Default)]
struct Number {
    lock: SharedBias,
    marks: [SharedMarks; 2],
    value: AtomicU32,
    /// Written by those that change the number by plain instructions, read by the others: the model checker
    /// finds both at one time.
    plain: UnsafeCell<()>,
}

impl Number {
    fn add_by_atomics(&self) {
        self.plain.with(|_| self.value.fetch_add(1, Ordering::Relaxed));
    }

    fn add_alone(&self, alone: &mut Alone<'_>) {
        if !alone.have_left(&mut self.marks.iter()) {
            return self.add_by_atomics();
        }
        self.plain.with_mut(|_| {
            let value = self.value.load(Ordering::Relaxed);
            self.value.store(value + 1, Ordering::Relaxed);
        });
    }

    /// Takes the lock alone, and sleeps if it has to wait.
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
            ticket.sleep(None, Scope::Machine);
        }
    }

    /// Adds one as the thread of a number, or of none, in a process, whichever way is right.
    fn add(&self, process: usize, number: Option<usize>) {
        loop {
            if let Some(number) = number
                && let Some(_together) = self.marks[process].enter_by_own_mark(number, &self.lock)
            {
                return self.add_by_atomics();
            }
            if let Some(_together) = self.marks[process].enter(number, &self.lock) {
                return self.add_by_atomics();
            }
            let mut alone = self.alone();
            if !alone.is_open() {
                return self.add_alone(&mut alone);
            }
        }
    }

    /// Closes the lock, and adds one.
    fn close_and_add(&self) {
        let mut alone = self.alone();
        alone.close();
        self.add_alone(&mut alone);
    }

    /// Adds one, and opens the lock.
    fn add_and_open(&self) {
        let mut alone = self.alone();
        self.add_alone(&mut alone);
        alone.open();
    }
}

/// The work of one thread.
type Work = fn(&Number);

/// Each of some threads does its work, and this one another; together they add `sum`.
fn work(others: &'static [Work], own: Work, sum: u32) -> impl Fn() + Sync + Send + 'static {
    move || {
        let number = Arc::new(Number::default());
        let threads: Vec<_> = others
            .iter()
            .map(|work| {
                let number = Arc::clone(&number);
                thread::spawn(move || work(&number))
            })
            .collect();
        own(&number);
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        assert_eq!(number.value.load(Ordering::Relaxed), sum, "a change was lost");
    }
}

const ADD: Work = |number| number.add(0, Some(0));
const ADD_TWICE: Work = |number| (0..2).for_each(|_| number.add(0, Some(0)));
const ADD_WITHOUT_MARK: Work = |number| number.add(0, None);
const ADD_ELSEWHERE: Work = |number| number.add(1, Some(0));
const CLOSE: Work = Number::close_and_add;
const CLOSE_AND_GO_ON: Work = |number| {
    number.close_and_add();
    number.add(1, Some(0));
};
const CLOSE_AND_OPEN: Work = |number| {
    number.close_and_add();
    number.add_and_open();
};

#[test]
fn no_change_is_lost() {
    explore(None, work(&[ADD], CLOSE, 2));
    explore(Some(3), work(&[ADD_TWICE], CLOSE, 3));
    explore(Some(3), work(&[ADD], CLOSE_AND_GO_ON, 3));
}

#[test]
fn threads_without_a_mark_are_seen() {
    explore(None, work(&[ADD_WITHOUT_MARK], CLOSE, 2));
    explore(Some(2), work(&[ADD, ADD_WITHOUT_MARK], CLOSE, 3));
}

#[test]
fn threads_of_two_processes_are_seen() {
    explore(Some(2), work(&[ADD, ADD_ELSEWHERE], CLOSE, 3));
}

#[test]
fn it_opens_again() {
    explore(Some(3), work(&[ADD_TWICE], CLOSE_AND_OPEN, 4));
}

#[test]
fn two_close_it() {
    explore(Some(2), work(&[CLOSE], CLOSE_AND_OPEN, 3));
}

with_fault!(a_mark_without_a_fence_is_found, work(&[ADD], CLOSE, 2));
with_fault!(closing_without_a_fence_is_found, work(&[ADD], CLOSE, 2));
with_fault!(a_holder_that_does_not_look_is_found, work(&[ADD], CLOSE, 2));
with_fault!(a_relaxed_mark_is_found, work(&[ADD], CLOSE, 2));
with_fault!(a_relaxed_state_is_found, work(&[ADD_TWICE], CLOSE_AND_OPEN, 4));
with_fault!(a_mark_that_is_not_looked_at_is_found, work(&[ADD], CLOSE, 2));
with_fault!(a_count_that_is_not_looked_at_is_found, work(&[ADD_WITHOUT_MARK], CLOSE, 2));
