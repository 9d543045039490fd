//! The throttle of a VNI under the model checker: when no thread changes the bytes any more, the flag fits
//! them. And the fault of `faults` is found.
#![cfg(loom)]

use heddle_platform::model::explore;
use heddle_transport::modelled::throttle;
use loom::sync::Arc;
use loom::thread;

/// A model that fails only with a fault of `tests/faults` in the source.
macro_rules! with_fault {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[test]
        #[ignore = "for ci/faults.py, with a fault in the source"]
        fn $name() {
            explore(Some(3), $body);
        }
    };
}

/// The flag goes up above this number of bytes …
const BOUND: usize = 10;
/// … and down at this number.
const LOW: isize = 5;

/// Two threads change the bytes.
fn the_flag_fits(first: &'static [isize], second: &'static [isize]) -> impl Fn() + Sync + Send + 'static {
    move || {
        let throttle = Arc::new(throttle(BOUND));
        let threads = [first, second].map(|changes| {
            let throttle = Arc::clone(&throttle);
            thread::spawn(move || {
                for change in changes {
                    throttle.add(*change);
                }
            })
        });
        for thread in threads {
            thread.join().expect("it ends");
        }
        let bytes: isize = first.iter().chain(second).sum();
        let raised = throttle.is_raised();
        assert!(
            if raised { bytes > LOW } else { bytes <= BOUND as isize },
            "{bytes} bytes, raised: {raised}"
        );
    }
}

#[test]
fn one_thread_stores_and_takes_while_another_stores() {
    explore(None, the_flag_fits(&[8, -8], &[4]));
}

#[test]
fn two_threads_store_more_than_the_bound() {
    explore(None, the_flag_fits(&[8], &[8]));
}

#[test]
fn two_threads_store_and_take_all() {
    explore(Some(4), the_flag_fits(&[8, -8], &[8, -8]));
}

with_fault!(a_flag_that_stays_up_is_found, the_flag_fits(&[8, -8], &[4]));

with_fault!(a_change_without_a_fence_is_found, the_flag_fits(&[8, -8], &[4]));
