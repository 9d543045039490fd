//! Delegated values under the model checker: nothing forgotten, nothing twice, order kept, also with a limit
//! of 1; and each fault is found.
#![cfg(loom)]

use heddle_combining::Delegated;
use heddle_platform::model::explore;
use heddle_platform::with_fault;
use heddle_sync::WaitPolicy;
use loom::sync::Arc;
use loom::thread;

/// What each thread has done so far; checks order as operations run.
#[derive(Default)]
struct Log {
    next: [u32; 3],
}

impl Log {
    fn note(&mut self, thread: usize, number: u32) {
        assert_eq!(self.next[thread], number, "out of order");
        self.next[thread] += 1;
    }
}

type Value = Delegated<Log>;

/// How a thread calls for its operations, one letter each: `r`un, `p`ost, run or post what is made `l`ater,
/// `s`erve what is left. Whether it has left something.
fn call(value: &Value, thread: usize, calls: &str) {
    let mut number = 0;
    for how in calls.chars() {
        let mine = number;
        let _ = match how {
            'r' => value.run(|log| log.note(thread, mine)).1,
            'p' => value.post(move |log| log.note(thread, mine)),
            'l' => {
                let later = |mine| (move |log: &mut Log| log.note(thread, mine), ());
                value.run_or_post(mine, |log, mine| log.note(thread, mine), later).1
            }
            _ => {
                value.serve_left();
                continue;
            }
        };
        number += 1;
    }
}

/// Threads call as told. When all have returned, everything has been run, or it is known that something is
/// left.
fn calls(limit: u32, how: &'static [&'static str]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let value = Arc::new(Value::new(Log::default(), limit, WaitPolicy::PARK_AT_ONCE));
        // All in threads of their own: loom does not try all that the model's first thread could do.
        let callers: Vec<_> = (0..how.len())
            .map(|thread| {
                let value = Arc::clone(&value);
                thread::spawn(move || call(&value, thread, how[thread]))
            })
            .collect();
        for caller in callers {
            caller.join().expect("caller");
        }
        while value.is_left() {
            assert!(value.serve_left().is_some());
        }
        // A call would run forgotten operations.
        assert!(value.is_idle(), "an operation was forgotten");
        let counts = value.run(|log| log.next).0;
        for (count, how) in counts.iter().zip(how) {
            let called = how.chars().filter(|letter| *letter != 's').count();
            assert_eq!(*count as usize, called, "an operation has not run");
        }
    }
}

#[test]
fn two_post() {
    explore(None, calls(64, &["p", "p"]));
}

#[test]
fn two_run() {
    explore(Some(4), calls(64, &["r", "r"]));
}

#[test]
fn posts_before_a_run() {
    explore(Some(3), calls(64, &["pr", "pr"]));
}

#[test]
fn posts_with_a_limit_of_one() {
    explore(Some(3), calls(1, &["pp", "pl"]));
}

#[test]
fn a_run_among_posts_with_a_limit_of_one() {
    explore(Some(2), calls(1, &["ppr", "pp"]));
}

#[test]
fn the_next_caller_serves_what_is_left() {
    explore(Some(2), calls(1, &["ppp", "sp"]));
}

#[test]
fn three_post() {
    explore(Some(2), calls(1, &["p", "p", "p"]));
}

#[test]
fn three_run() {
    explore(Some(1), calls(64, &["r", "r", "r"]));
}

#[test]
fn two_run_beside_posts() {
    explore(Some(1), calls(1, &["r", "r", "pp"]));
}

/// An operation posts another from inside, while others come.
#[test]
fn posts_from_inside() {
    explore(Some(3), || {
        let value = Arc::new(Value::new(Log::default(), 64, WaitPolicy::PARK_AT_ONCE));
        let (inside, other) = (Arc::clone(&value), Arc::clone(&value));
        let other = thread::spawn(move || call(&other, 1, "p"));
        let first = thread::spawn(move || {
            let again = Arc::clone(&inside);
            let _ = inside.post(move |log| {
                log.note(0, 0);
                let _ = again.post(|log| log.note(0, 1));
            });
        });
        other.join().expect("caller");
        first.join().expect("caller");
        assert!(value.is_idle(), "an operation was forgotten");
        assert_eq!(value.run(|log| log.next).0, [2, 1, 0]);
    });
}

with_fault!(an_unpublished_value_is_found, calls(64, &["r", "r"]));

with_fault!(a_post_that_nobody_runs_is_found, calls(64, &["p", "p"]));

with_fault!(operations_taken_and_not_run_are_found, calls(64, &["p", "p", "p"]));

with_fault!(running_ahead_is_found, calls(1, &["ppr", "p"]));

with_fault!(a_forgotten_rest_is_found, calls(1, &["pp", "pp"]));

with_fault!(an_unseen_sleeper_is_found, calls(64, &["r", "r"]));

with_fault!(a_waking_counted_too_early_is_found, calls(64, &["r", "r"]));

with_fault!(an_unpublished_operation_is_found, calls(64, &["p", "p"]));
