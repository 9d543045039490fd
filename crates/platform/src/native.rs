//! The world that this build runs in: the machine, or `loom`'s model of one.

use crate::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use crate::cell::{MutPtr, UnsafeCell};
use crate::platform::{AtomicInteger, AtomicPointer, CellAccess, MemoryCell, Platform};
use crate::{Scope, barrier, clock, core_claim, futex, hint, thread};
use std::time::Duration;

/// The machine itself. Every method is a call, mostly inlined to an instruction, of this crate's modules.
#[cfg(not(loom))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Hardware;

/// The machine as `loom` models it.
#[cfg(loom)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Loom;

/// The platform of this build.
#[cfg(not(loom))]
pub type Native = Hardware;
/// The platform of this build.
#[cfg(loom)]
pub type Native = Loom;

// SAFETY: `std`'s and `loom`'s atomics and fences are what the contract names; for the rest see the modules.
unsafe impl Platform for Native {
    type AtomicU32 = AtomicU32;
    type AtomicU64 = AtomicU64;
    type AtomicUsize = AtomicUsize;
    type AtomicPtr<T: 'static> = AtomicPtr<T>;
    type Cell<T> = UnsafeCell<T>;

    const REUSES_MEMORY: bool = cfg!(not(any(loom, asan)));

    #[inline(always)]
    fn fence(order: Ordering) {
        fence(order);
    }

    #[inline(always)]
    fn light() {
        barrier::light();
    }

    #[inline(always)]
    fn light_if_asymmetric() {
        barrier::light_if_asymmetric();
    }

    fn heavy(scope: Scope) {
        barrier::heavy(scope);
    }

    fn is_asymmetric() -> bool {
        barrier::is_asymmetric()
    }

    fn has_core_claims() -> bool {
        core_claim::is_supported()
    }

    #[inline(always)]
    fn claim_on_core(core: &AtomicU32, flag: &AtomicU32) -> bool {
        core_claim::claim(core, flag)
    }

    fn core_barrier(core: u32) {
        core_claim::barrier(core);
    }

    #[inline(always)]
    fn spin_hint() {
        hint::spin_loop();
    }

    #[inline]
    fn yield_now() {
        thread::yield_now();
    }

    fn yield_in_vain() -> bool {
        thread::yield_in_vain()
    }

    #[inline]
    fn cores() -> usize {
        thread::cores()
    }

    #[inline(always)]
    fn is_yield_dear() -> bool {
        thread::is_yield_dear()
    }

    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool {
        futex::wait(word, expected, timeout, scope)
    }

    fn wake(word: &AtomicU32, count: u32, scope: Scope) {
        futex::wake(word, count, scope);
    }

    #[inline(always)]
    fn thread_id() -> u64 {
        thread::current_id()
    }

    #[inline]
    fn hardware_thread() -> usize {
        thread::hardware_thread()
    }

    fn now_ns() -> u64 {
        clock::now_ns()
    }

    #[inline(always)]
    fn ticks() -> u64 {
        clock::ticks()
    }

    #[inline]
    fn ns_to_ticks(ns: u64) -> u64 {
        clock::ns_to_ticks(ns)
    }

    fn ticks_to_ns(ticks: u64) -> u64 {
        clock::ticks_to_ns(ticks)
    }
}

macro_rules! atomic_integer {
    ($atomic:ty, $value:ty) => {
        impl AtomicInteger<$value> for $atomic {
            #[inline(always)]
            fn new(value: $value) -> Self {
                <$atomic>::new(value)
            }
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                <$atomic>::load(self, order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <$atomic>::store(self, value, order);
            }
            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::swap(self, value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$atomic>::compare_exchange(self, current, new, success, failure)
            }
            #[inline(always)]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$atomic>::compare_exchange_weak(self, current, new, success, failure)
            }
            #[inline(always)]
            fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_add(self, value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_sub(self, value, order)
            }
            #[inline(always)]
            fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_or(self, value, order)
            }
            #[inline(always)]
            fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::fetch_and(self, value, order)
            }
        }
    };
}

atomic_integer!(AtomicU32, u32);
atomic_integer!(AtomicU64, u64);
atomic_integer!(AtomicUsize, usize);

impl<T> AtomicPointer<T> for AtomicPtr<T> {
    #[inline(always)]
    fn new(value: *mut T) -> Self {
        AtomicPtr::new(value)
    }

    #[inline(always)]
    fn load(&self, order: Ordering) -> *mut T {
        AtomicPtr::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: *mut T, order: Ordering) {
        AtomicPtr::store(self, value, order);
    }

    #[inline(always)]
    fn swap(&self, value: *mut T, order: Ordering) -> *mut T {
        AtomicPtr::swap(self, value, order)
    }

    #[inline(always)]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        AtomicPtr::compare_exchange(self, current, new, success, failure)
    }
}

impl<T> MemoryCell<T> for UnsafeCell<T> {
    type Access = MutPtr<T>;

    #[inline(always)]
    fn new(value: T) -> Self {
        UnsafeCell::new(value)
    }

    #[inline(always)]
    fn into_inner(self) -> T {
        UnsafeCell::into_inner(self)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        UnsafeCell::with(self, f)
    }

    #[inline(always)]
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        UnsafeCell::with_mut(self, f)
    }

    #[inline(always)]
    fn access(&self) -> MutPtr<T> {
        self.get_mut()
    }
}

impl<T> CellAccess<T> for MutPtr<T> {
    #[inline(always)]
    unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller's promise is the same.
        unsafe { MutPtr::deref(self) }
    }
}
