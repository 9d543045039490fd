//! The platform as a type, for code that is to run in more worlds than one.
//!
//! Everything in `heddle-sync`, `heddle-locks` and `heddle-combining` is generic over [`Platform`] with
//! [`Native`](crate::Native) as the default, so the same source runs on the machine, under a model checker
//! and on a simulated machine. The transport and the crates of MPI, which only ever run on the machine or
//! under `loom`, use the modules of this crate directly; `Native` hands out the very same types.

use crate::Scope;
use crate::atomic::Ordering;
use std::fmt;
use std::time::Duration;

/// A world that algorithms run in: its memory, its threads and its time.
///
/// # Safety
///
/// Algorithms rest their `unsafe` code on these promises: atomics are atomic and ordered as `std`'s;
/// [`fence`] orders as `std`'s; [`light`] and [`heavy`] keep the guarantee of [`barrier`](crate::barrier);
/// [`claim_on_core`] and [`core_barrier`] that of [`core_claim`](crate::core_claim); [`thread_id`] differs
/// for all threads that live at the same time and is a multiple of [`ID_STEP`](crate::thread::ID_STEP), not
/// 0; [`wake`](Self::wake) is not missed by a [`wait`](Self::wait) that has compared the word before.
///
/// [`fence`]: Self::fence
/// [`light`]: Self::light
/// [`heavy`]: Self::heavy
/// [`claim_on_core`]: Self::claim_on_core
/// [`core_barrier`]: Self::core_barrier
/// [`thread_id`]: Self::thread_id
pub unsafe trait Platform: Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// An unsigned 32-bit integer, which threads can also sleep on.
    type AtomicU32: AtomicInteger<u32>;
    /// An unsigned 64-bit integer.
    type AtomicU64: AtomicInteger<u64>;
    /// An unsigned integer as wide as a pointer.
    type AtomicUsize: AtomicInteger<usize>;
    /// A pointer.
    type AtomicPtr<T: 'static>: AtomicPointer<T>;
    /// Memory that shared references may change.
    type Cell<T>: MemoryCell<T>;

    /// True if memory may serve for a new object after another died in it, without the platform being told. A
    /// checker that follows each object (loom, AddressSanitizer) says no, and nodes come from the allocator
    /// every time.
    const REUSES_MEMORY: bool;

    /// A fence, as [`std::sync::atomic::fence`].
    fn fence(order: Ordering);
    /// The frequent side of an asymmetric fence; see [`barrier`](crate::barrier).
    fn light();
    /// The same for a handshake whose other side knows by [`is_asymmetric`](Self::is_asymmetric) that its
    /// `heavy` of [`Scope::Process`] reaches the caller: a compiler fence.
    #[inline(always)]
    fn light_if_asymmetric() {
        Self::light();
    }
    /// The rare side of an asymmetric fence; see [`barrier`](crate::barrier).
    fn heavy(scope: Scope);
    /// Returns true if [`light`](Self::light) is (nearly) free.
    fn is_asymmetric() -> bool;

    /// Returns true if [`claim_on_core`](Self::claim_on_core) can succeed here.
    fn has_core_claims() -> bool;
    /// If `core` holds the number of the caller's core and `flag` holds 0, stores 1 in `flag`, as one step of
    /// that core; see [`core_claim`](crate::core_claim).
    fn claim_on_core(core: &Self::AtomicU32, flag: &Self::AtomicU32) -> bool;
    /// Puts an order between the caller and every claim on that core; see [`core_claim`](crate::core_claim).
    fn core_barrier(core: u32);

    /// One turn of a spin loop.
    fn spin_hint();
    /// Lets another thread have this hardware thread.
    fn yield_now();
    /// Does the same as [`yield_now`](Self::yield_now); returns true if no other thread wanted this hardware
    /// thread, as far as that can be told.
    #[inline]
    fn yield_in_vain() -> bool {
        Self::yield_now();
        false
    }
    /// Returns true if a yield would give away much more time than it takes. Then only a thread that
    /// cannot go on should yield.
    #[inline]
    fn is_yield_dear() -> bool {
        false
    }
    /// The number of cores that the threads of this process may use.
    #[inline]
    fn cores() -> usize {
        usize::MAX / 16
    }
    /// Sleeps while `word` holds `expected`, until a [`wake`](Self::wake), the timeout or for no reason.
    /// False when the time ran out.
    fn wait(word: &Self::AtomicU32, expected: u32, timeout: Option<Duration>, scope: Scope) -> bool;
    /// Wakes up to `count` threads that sleep on `word`.
    fn wake(word: &Self::AtomicU32, count: u32, scope: Scope);

    /// A token of the calling thread, not 0; see [`thread::current_id`](crate::thread::current_id).
    fn thread_id() -> u64;
    /// The hardware thread that the caller runs on now, by the system's number; outdated when it arrives.
    fn hardware_thread() -> usize;

    /// Nanoseconds of a clock that does not go back.
    fn now_ns() -> u64;
    /// A cheaper clock for budgets; differences are taken with `wrapping_sub`.
    fn ticks() -> u64;
    /// How many [`ticks`](Self::ticks) go into that many nanoseconds.
    fn ns_to_ticks(ns: u64) -> u64;
    /// How many nanoseconds that many [`ticks`](Self::ticks) last.
    fn ticks_to_ns(ticks: u64) -> u64;
}

/// An atomic integer. The methods mean what they mean in [`std::sync::atomic`].
#[allow(missing_docs)]
pub trait AtomicInteger<V>: fmt::Debug + Default + Send + Sync + 'static {
    fn new(value: V) -> Self;
    fn load(&self, order: Ordering) -> V;
    fn store(&self, value: V, order: Ordering);
    fn swap(&self, value: V, order: Ordering) -> V;
    #[allow(clippy::missing_errors_doc)]
    fn compare_exchange(&self, current: V, new: V, success: Ordering, failure: Ordering) -> Result<V, V>;
    #[allow(clippy::missing_errors_doc)]
    fn compare_exchange_weak(&self, current: V, new: V, success: Ordering, failure: Ordering)
    -> Result<V, V>;
    fn fetch_add(&self, value: V, order: Ordering) -> V;
    fn fetch_sub(&self, value: V, order: Ordering) -> V;
    fn fetch_or(&self, value: V, order: Ordering) -> V;
    fn fetch_and(&self, value: V, order: Ordering) -> V;
}

/// An atomic pointer. The methods mean what they mean in [`std::sync::atomic`].
#[allow(missing_docs)]
pub trait AtomicPointer<T>: fmt::Debug + Send + Sync {
    fn new(value: *mut T) -> Self;
    fn load(&self, order: Ordering) -> *mut T;
    fn store(&self, value: *mut T, order: Ordering);
    fn swap(&self, value: *mut T, order: Ordering) -> *mut T;
    #[allow(clippy::missing_errors_doc)]
    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T>;
}

/// Memory that shared references may change; the owner's protocol says which thread may do so, and when.
pub trait MemoryCell<T> {
    /// An access for writing, in progress while it lives.
    type Access: CellAccess<T>;

    /// Wraps a value.
    fn new(value: T) -> Self;
    /// Takes the value out.
    fn into_inner(self) -> T;
    /// Gives `f` a pointer to read through. The pointer must not outlive `f`.
    fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R;
    /// Gives `f` a pointer to write through. The pointer must not outlive `f`.
    fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R;
    /// A pointer for an exclusive access as long as the returned value lives.
    fn access(&self) -> Self::Access;
}

/// See [`MemoryCell::access`].
pub trait CellAccess<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// The cell must be alive, and no other thread may access it while the reference lives.
    #[allow(clippy::mut_from_ref)]
    unsafe fn deref(&self) -> &mut T;
}
