//! A world of random schedules: the platform on shuttle's threads and atomics.
//!
//! shuttle switches threads at every access and treats all orders as sequentially consistent, so
//! it finds faults in the order of steps, over many more threads and steps than loom can; loom
//! checks the memory orders.

// Every test file includes this one and uses its share of it.
#![allow(dead_code)]

use heddle_platform::atomic::Ordering;
use heddle_platform::cell::{MutPtr, UnsafeCell};
use heddle_platform::platform::{AtomicInteger, AtomicPointer, MemoryCell, Platform};
use heddle_platform::{Scope, thread as native_thread};
use shuttle::sync::atomic as imp;
use shuttle::sync::{Condvar, Mutex};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The platform.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shuttle;

macro_rules! integer {
    ($name:ident, $value:ty) => {
        #[derive(Debug, Default)]
        pub(crate) struct $name(imp::$name);

        impl AtomicInteger<$value> for $name {
            fn new(value: $value) -> Self {
                Self(imp::$name::new(value))
            }
            fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }
            fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }
            fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.swap(value, order)
            }
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure)
            }
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange_weak(current, new, success, failure)
            }
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_add(value, order)
            }
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_sub(value, order)
            }
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_or(value, order)
            }
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.fetch_and(value, order)
            }
        }
    };
}

integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);

pub(crate) struct AtomicPtr<T>(imp::AtomicPtr<T>);

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicPtr").finish_non_exhaustive()
    }
}

impl<T: 'static> AtomicPointer<T> for AtomicPtr<T> {
    fn new(value: *mut T) -> Self {
        Self(imp::AtomicPtr::new(value))
    }
    fn load(&self, order: Ordering) -> *mut T {
        self.0.load(order)
    }
    fn store(&self, value: *mut T, order: Ordering) {
        self.0.store(value, order);
    }
    fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        self.0.swap(value, order)
    }
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// A cell without checks: shuttle does not follow it.
#[derive(Debug)]
pub(crate) struct Cell<T>(UnsafeCell<T>);

impl<T> MemoryCell<T> for Cell<T> {
    type Access = MutPtr<T>;

    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    fn into_inner(self) -> T {
        self.0.into_inner()
    }
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.0.with(f)
    }
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(f)
    }
    fn access(&self) -> MutPtr<T> {
        self.0.get_mut()
    }
}

shuttle::lazy_static! {
    /// The sleepers, by the address of their word.
    static ref SLEEPERS: Mutex<HashMap<usize, Arc<Condvar>>> = Mutex::new(HashMap::new());
}

// SAFETY: shuttle's threads run one at a time and switch at its own atomics, so these are atomic and ordered;
// fences need do nothing; a wait compares under the lock that a wake takes.
unsafe impl Platform for Shuttle {
    type AtomicU32 = AtomicU32;
    type AtomicU64 = AtomicU64;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;
    type Cell<T> = Cell<T>;

    const REUSES_MEMORY: bool = true;

    fn fence(_: Ordering) {}
    fn light() {}
    fn heavy(_: Scope) {}
    fn is_asymmetric() -> bool {
        true
    }
    // shuttle switches threads at every access, so two accesses are no step.
    fn has_core_claims() -> bool {
        false
    }
    fn claim_on_core(_: &AtomicU32, _: &AtomicU32) -> bool {
        false
    }
    fn core_barrier(_: u32) {}

    fn spin_hint() {
        shuttle::hint::spin_loop();
    }
    fn yield_now() {
        shuttle::thread::yield_now();
    }

    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, _: Scope) -> bool {
        if timeout.is_some() {
            shuttle::thread::yield_now();
            return false;
        }
        let mut table = SLEEPERS.lock().expect("not poisoned");
        if word.0.load(Ordering::SeqCst) == expected {
            let queue = Arc::clone(table.entry(std::ptr::from_ref(word).addr()).or_default());
            drop(queue.wait(table));
        }
        true
    }

    fn wake(word: &AtomicU32, count: u32, _: Scope) {
        let table = SLEEPERS.lock().expect("not poisoned");
        if let Some(queue) = table.get(&std::ptr::from_ref(word).addr()) {
            if count == 1 {
                queue.notify_one();
            } else {
                queue.notify_all();
            }
        }
    }

    fn thread_id() -> u64 {
        let number: usize = shuttle::current::me().into();
        (number as u64 + 1) * native_thread::ID_STEP
    }

    fn hardware_thread() -> usize {
        shuttle::current::me().into()
    }

    // Time stands still, and every budget is spent at once.
    fn now_ns() -> u64 {
        0
    }
    fn ticks() -> u64 {
        0
    }
    fn ns_to_ticks(_: u64) -> u64 {
        0
    }
    fn ticks_to_ns(_: u64) -> u64 {
        0
    }
}
