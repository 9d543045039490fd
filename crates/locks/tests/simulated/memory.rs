//! Atomics of the simulated machine. Each is a separate cache line and knows which threads have a copy; an
//! access costs little for a thread that has the copy it needs, and a transfer between two caches otherwise.
//!
//! One thread runs at a time and time is spent before the access, so every access is sequentially consistent:
//! this machine is for time, the model checker for orderings.

use crate::machine::Machine;
use heddle_platform::atomic::{AtomicPtr, AtomicU64, Ordering};
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use std::fmt;
use std::marker::PhantomData;

/// An access to a line in the caller's cache.
const NEAR_NS: u64 = 2;
/// A locked instruction on a line in the caller's cache.
const LOCKED_NS: u64 = 8;
/// An access to a line that comes from another cache.
const FAR_NS: u64 = 60;
/// The order of the accesses behind the simulation, which has decided on it.
const NOW: Ordering = Ordering::SeqCst;

/// The threads that have a copy of the line: a bit a thread. A line that was never written to is in
/// all caches, so that it does not matter which of several untouched lines an address picks: the seed
/// does not choose addresses.
#[derive(Debug)]
struct Line(AtomicU64);

impl Default for Line {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Line {
    fn read(&self) {
        let Some(me) = Machine::thread() else { return };
        let copies = self.0.load(NOW);
        Machine::spend(if copies & (1 << me) != 0 { NEAR_NS } else { FAR_NS });
        self.0.fetch_or(1 << me, NOW);
    }

    fn write(&self, near_ns: u64) {
        let Some(me) = Machine::thread() else { return };
        let copies = self.0.load(NOW);
        Machine::spend(if copies == 1 << me { near_ns } else { FAR_NS });
        self.0.store(1 << me, NOW);
    }
}

/// Values that fit 64 bits.
pub(crate) trait Bits: Copy + fmt::Debug + Send + Sync + 'static {
    fn to_bits(self) -> u64;
    /// Takes the low bits, so that sums wrap as the narrower type's.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! bits {
    ($($value:ty),*) => {$(
        impl Bits for $value {
            fn to_bits(self) -> u64 {
                self as u64
            }
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}
bits!(u32, u64, usize);

/// An integer.
pub(crate) struct Word<V> {
    line: Line,
    bits: AtomicU64,
    _value: PhantomData<V>,
}

impl<V> fmt::Debug for Word<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bits.load(NOW))
    }
}

impl<V> Default for Word<V> {
    fn default() -> Self {
        Self { line: Line::default(), bits: AtomicU64::new(0), _value: PhantomData }
    }
}

impl<V: Bits> Word<V> {
    /// The value, at no cost.
    pub(crate) fn peek(&self) -> V {
        V::from_bits(self.bits.load(NOW))
    }

    /// Stores, at no cost: the thread that runs goes on running.
    pub(crate) fn set(&self, value: V) {
        self.bits.store(value.to_bits(), NOW);
    }

    fn change(&self, change: impl FnOnce(u64) -> u64) -> V {
        self.line.write(LOCKED_NS);
        let before = self.bits.load(NOW);
        self.bits.store(V::from_bits(change(before)).to_bits(), NOW);
        V::from_bits(before)
    }
}

impl<V: Bits> AtomicInteger<V> for Word<V> {
    fn new(value: V) -> Self {
        Self { bits: AtomicU64::new(value.to_bits()), ..Self::default() }
    }

    fn load(&self, _: Ordering) -> V {
        self.line.read();
        self.peek()
    }

    fn store(&self, value: V, _: Ordering) {
        self.line.write(NEAR_NS);
        self.bits.store(value.to_bits(), NOW);
    }

    fn swap(&self, value: V, _: Ordering) -> V {
        self.change(|_| value.to_bits())
    }

    fn compare_exchange(&self, current: V, new: V, _: Ordering, _: Ordering) -> Result<V, V> {
        let expected = current.to_bits();
        let found = self.change(|now| if now == expected { new.to_bits() } else { now });
        if found.to_bits() == expected { Ok(found) } else { Err(found) }
    }

    fn compare_exchange_weak(&self, current: V, new: V, one: Ordering, other: Ordering) -> Result<V, V> {
        self.compare_exchange(current, new, one, other)
    }

    fn fetch_add(&self, value: V, _: Ordering) -> V {
        self.change(|now| now.wrapping_add(value.to_bits()))
    }

    fn fetch_sub(&self, value: V, _: Ordering) -> V {
        self.change(|now| now.wrapping_sub(value.to_bits()))
    }

    fn fetch_or(&self, value: V, _: Ordering) -> V {
        self.change(|now| now | value.to_bits())
    }

    fn fetch_and(&self, value: V, _: Ordering) -> V {
        self.change(|now| now & value.to_bits())
    }
}

/// A pointer.
pub(crate) struct Pointer<T> {
    line: Line,
    value: AtomicPtr<T>,
}

impl<T> fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.value.load(NOW))
    }
}

impl<T> AtomicPointer<T> for Pointer<T> {
    fn new(value: *mut T) -> Self {
        Self { line: Line::default(), value: AtomicPtr::new(value) }
    }

    fn load(&self, _: Ordering) -> *mut T {
        self.line.read();
        self.value.load(NOW)
    }

    fn store(&self, value: *mut T, _: Ordering) {
        self.line.write(NEAR_NS);
        self.value.store(value, NOW);
    }

    fn swap(&self, value: *mut T, _: Ordering) -> *mut T {
        self.line.write(LOCKED_NS);
        self.value.swap(value, NOW)
    }

    fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.line.write(LOCKED_NS);
        self.value.compare_exchange(current, new, NOW, NOW)
    }
}
