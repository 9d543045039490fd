//! The machine, where a test can see that a thread has come to wait.

use super::{ASLEEP, AWAKE, imagined_place, note_wait, note_yield, yields_are_dear, yields_are_in_vain};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::cell::UnsafeCell;
use heddle_platform::{Native, Platform, Scope};
use std::time::Duration;

/// `Native`, but for a note wherever a thread spins, yields or sleeps, and for the hardware thread on which a
/// test says that a thread runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watched;

// SAFETY: all is `Native`'s.
unsafe impl Platform for Watched {
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
        note_wait(AWAKE);
        Native::spin_hint();
    }
    fn yield_now() {
        note_wait(AWAKE);
        note_yield();
        Native::yield_now();
    }
    fn yield_in_vain() -> bool {
        Self::yield_now();
        yields_are_in_vain()
    }
    fn is_yield_dear() -> bool {
        yields_are_dear()
    }
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
        note_wait(ASLEEP);
        Native::wait(word, expected, timeout, scope)
    }
    fn wake(word: &AtomicU32, count: u32, scope: Scope) {
        Native::wake(word, count, scope);
    }
    fn thread_id() -> u64 {
        Native::thread_id()
    }
    fn hardware_thread() -> usize {
        imagined_place().unwrap_or_else(Native::hardware_thread)
    }
    fn now_ns() -> u64 {
        Native::now_ns()
    }
    fn ticks() -> u64 {
        Native::ticks()
    }
    fn ns_to_ticks(ns: u64) -> u64 {
        Native::ns_to_ticks(ns)
    }
    fn ticks_to_ns(ticks: u64) -> u64 {
        Native::ticks_to_ns(ticks)
    }
}
