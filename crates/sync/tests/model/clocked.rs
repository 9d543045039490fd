//! The model's platform with a clock that advances: every reading is one nanosecond, or tick, later than the
//! last. It is an example of a user's own platform.

use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::{Native, Platform, Scope};
use std::cell::Cell;
use std::time::Duration;

// All threads of a model run on the test's own thread.
std::thread_local! {
    static NOW: Cell<u64> = const { Cell::new(1) };
}

/// To be called first in each execution, which has to be the same each time.
pub(crate) fn restart() {
    NOW.set(1);
}

/// What the clock shows, without letting it go on.
pub(crate) fn now() -> u64 {
    NOW.get()
}

fn next() -> u64 {
    NOW.replace(NOW.get() + 1)
}

/// See the [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clocked;

// SAFETY: all but the clock is `Native`'s.
unsafe impl Platform for Clocked {
    type AtomicU32 = AtomicU32;
    type AtomicU64 = AtomicU64;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;
    type Cell<T> = UnsafeCell<T>;

    const REUSES_MEMORY: bool = Native::REUSES_MEMORY;

    fn fence(order: Ordering) {
        Native::fence(order);
    }
    fn light() {
        Native::light();
    }
    fn heavy(scope: Scope) {
        Native::heavy(scope);
    }
    fn is_asymmetric() -> bool {
        Native::is_asymmetric()
    }
    fn has_core_claims() -> bool {
        Native::has_core_claims()
    }
    fn claim_on_core(core: &AtomicU32, flag: &AtomicU32) -> bool {
        Native::claim_on_core(core, flag)
    }
    fn core_barrier(core: u32) {
        Native::core_barrier(core);
    }
    fn spin_hint() {
        Native::spin_hint();
    }
    fn yield_now() {
        Native::yield_now();
    }
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
        Native::wait(word, expected, timeout, scope)
    }
    fn wake(word: &AtomicU32, count: u32, scope: Scope) {
        Native::wake(word, count, scope);
    }
    fn thread_id() -> u64 {
        Native::thread_id()
    }
    fn hardware_thread() -> usize {
        Native::hardware_thread()
    }
    fn now_ns() -> u64 {
        next()
    }
    fn ticks() -> u64 {
        next()
    }
    fn ns_to_ticks(ns: u64) -> u64 {
        ns
    }
    fn ticks_to_ns(ticks: u64) -> u64 {
        ticks
    }
}
