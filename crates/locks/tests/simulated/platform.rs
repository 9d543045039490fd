//! The simulated machine as a `Platform`.

use crate::machine::Machine;
use crate::memory::{Pointer, Word};
use heddle_platform::atomic::Ordering;
use heddle_platform::cell::UnsafeCell;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope, thread};
use std::ptr;
use std::time::Duration;

const HINT_NS: u64 = 5;
const YIELD_NS: u64 = 400;
const SYSTEM_CALL_NS: u64 = 500;
const MEMBARRIER_NS: u64 = 3_000;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Simulated;

// SAFETY: one thread of a machine runs at a time, handed on under a mutex, so accesses are atomic and in one
// order, which all fences keep; identities are numbers that differ; a sleeper's comparison and falling asleep
// are one turn.
unsafe impl Platform for Simulated {
    type AtomicU32 = Word<u32>;
    type AtomicU64 = Word<u64>;
    type AtomicUsize = Word<usize>;
    type AtomicPtr<T: 'static> = Pointer<T>;
    type Cell<T> = UnsafeCell<T>;

    const REUSES_MEMORY: bool = true;

    fn fence(_: Ordering) {
        Machine::spend(HINT_NS);
    }

    fn light() {}

    fn heavy(_: Scope) {
        Machine::spend(MEMBARRIER_NS);
    }

    fn is_asymmetric() -> bool {
        true
    }

    fn has_core_claims() -> bool {
        true
    }

    fn claim_on_core(core: &Word<u32>, flag: &Word<u32>) -> bool {
        // Time passes before the step, and no other thread runs within it.
        let _ = core.load(Ordering::Acquire);
        if core.peek() as usize != Self::hardware_thread() || flag.peek() != 0 {
            return false;
        }
        flag.set(1);
        true
    }

    fn core_barrier(_: u32) {
        Machine::spend(MEMBARRIER_NS);
    }

    fn spin_hint() {
        Machine::spend(HINT_NS);
    }

    fn yield_now() {
        Machine::spend(YIELD_NS);
    }

    fn wait(word: &Word<u32>, expected: u32, timeout: Option<Duration>, _: Scope) -> bool {
        Machine::spend(SYSTEM_CALL_NS);
        if word.peek() != expected {
            return true;
        }
        let timeout_ns = timeout.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Machine::sleep(ptr::from_ref(word).addr(), timeout_ns)
    }

    fn wake(word: &Word<u32>, count: u32, _: Scope) {
        Machine::spend(SYSTEM_CALL_NS);
        Machine::wake(ptr::from_ref(word).addr(), count);
    }

    fn thread_id() -> u64 {
        // The thread that makes the locks and reads them afterwards comes after all threads of the machine.
        (Machine::thread().unwrap_or(u32::MAX as usize) as u64 + 1) * thread::ID_STEP
    }

    fn hardware_thread() -> usize {
        Machine::thread().unwrap_or(0)
    }

    fn now_ns() -> u64 {
        Machine::now_ns()
    }

    fn ticks() -> u64 {
        Machine::now_ns()
    }

    fn ns_to_ticks(ns: u64) -> u64 {
        ns
    }

    fn ticks_to_ns(ticks: u64) -> u64 {
        ticks
    }
}
