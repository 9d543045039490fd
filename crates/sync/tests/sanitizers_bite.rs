//! Faults that ThreadSanitizer or AddressSanitizer has to report; their silence about the stress tests means
//! something only if they report these. ThreadSanitizer sees programs with a fault in the sources
//! (`ci/faults.py thread`), AddressSanitizer nodes that are used wrongly. Run by `ci/sanitize.sh`.
#![cfg(any(tsan, asan))]

#[cfg(tsan)]
mod racing;

#[cfg(asan)]
use std::{env, process::Command};

/// Set in the process that commits the fault of a test.
#[cfg(asan)]
const COMMITS: &str = "HEDDLE_TEST_COMMITS_FAULT";

/// Runs `fault` in a process of its own, this test once more, which the sanitizer must end with a report in
/// these words.
#[cfg(asan)]
fn in_a_process_that_is_reported(test: &str, report: &str, fault: fn()) {
    if env::var_os(COMMITS).is_some() {
        return fault();
    }
    // Test names do not begin with the crate's.
    let (_, test) = test.split_once("::").expect("a path");
    let output = Command::new(env::current_exe().expect("this test's own path"))
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(COMMITS, "1")
        .output()
        .expect("this test can be run again");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{test}: nothing was reported");
    assert!(said.contains(report), "{test}: something else was reported:\n{said}");
}

#[cfg(asan)]
macro_rules! must_be_reported {
    ($($(#[$doc:meta])* $name:ident: $report:expr, $body:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            in_a_process_that_is_reported(concat!(module_path!(), "::", stringify!($name)), $report, || $body);
        }
    )*};
}

/// Each ordering that publishes something, weakened.
#[cfg(tsan)]
mod races {
    use crate::racing::{ROUNDS, TURNS, add, together, with_fault};
    use heddle_platform::atomic::{AtomicBool, Ordering};
    use heddle_platform::thread;
    use heddle_sync::queues::{Bounded, Consumer, Mpsc, Unbounded};
    use heddle_sync::{Lock, Mutex, Native, RawLock, SyncCounter, WaitPolicy};

    fn queue<Q: Mpsc<Item = Box<u64>>>(make: impl Fn() -> Q) {
        (0..ROUNDS).for_each(|_| produce_and_consume(&make()));
    }

    fn produce_and_consume(queue: &impl Mpsc<Item = Box<u64>>) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..TURNS {
                    let mut element = Box::new(number);
                    while let Err(refused) = queue.push(element) {
                        element = refused.into_inner();
                        thread::yield_now();
                    }
                }
            });
            let mut consumer = Consumer::of(queue).expect("the only consumer");
            let mut next = 0;
            while next < TURNS {
                match consumer.pop() {
                    Some(number) => {
                        assert_eq!(*number, next);
                        next += 1;
                    }
                    None => thread::yield_now(),
                }
            }
        });
    }

    with_fault! {
        mutex: add(Mutex::default);
        chain: queue(Unbounded::<_>::new);
        bounded_push: queue(|| Bounded::<_>::new(4));
        bounded_pop: queue(|| Bounded::<_>::new(4));
        counter: {
            // Not asleep: waking a sleeper publishes, too.
            let policy = WaitPolicy { park: false, ..WaitPolicy::DEFAULT };
            let counter = SyncCounter::new(1);
            let result = Lock::new(Given, 0_u64);
            let all_done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    *result.acquire() += 1;
                    counter.signal();
                    // The end of a thread would order its writes.
                    while !all_done.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                });
                counter.wait(&policy);
                assert_eq!(*result.acquire(), 1);
                all_done.store(true, Ordering::Relaxed);
            });
        };
    }

    /// A lock that does nothing: only the counter orders.
    struct Given;

    // SAFETY: none of it is kept, for a test in which something else keeps it or fails to.
    unsafe impl RawLock for Given {
        type Platform = Native;
        type Token = ();

        fn acquire(&self) {}
        fn try_acquire(&self) -> Option<()> {
            Some(())
        }
        unsafe fn release(&self, (): ()) {}
        fn has_waiters(&self) -> bool {
            false
        }
    }
}

/// Queue nodes used when they are gone, and lost ones.
#[cfg(asan)]
mod memory {
    use super::in_a_process_that_is_reported;
    use heddle_sync::{Native, node};
    use std::hint::black_box;

    // The compiler leaves out an allocation that it sees the end of, so the nodes are hidden from it.
    must_be_reported! {
        late_check_at_a_node: "AddressSanitizer: heap-use-after-free", {
            let place = black_box(node::take::<Native, u64>(1));
            // SAFETY: taken above; that it is read afterwards is the fault.
            unsafe { node::give::<Native, u64>(place) };
            // SAFETY: not safe: the node has been given back.
            println!("{}", unsafe { place.read_volatile() });
        };
        a_node_given_back_twice: "AddressSanitizer: attempting double-free", {
            let place = black_box(node::take::<Native, u64>(1));
            // SAFETY: taken above; that it is done twice is the fault.
            unsafe { node::give::<Native, u64>(place) };
            // SAFETY: not safe: the node has been given back already.
            unsafe { node::give::<Native, u64>(place) };
        };
        a_lost_node: "LeakSanitizer: detected memory leaks", {
            let _lost = black_box(node::take::<Native, u64>(1));
        };
    }
}
