//! A lock of any kind, chosen when it is made.

use super::kind::{LockKind, Order};
use super::recipe::{self, LockSettings, Recipe};
use super::rows::with_rows;
use crate::two_level::TwoLevel;
use heddle_platform::Native;
use heddle_platform::atomic::{AtomicU32, AtomicU64};
use heddle_platform::cell::UnsafeCell;
use heddle_sync::{PriorityLock, RawLock, WaitPolicy};
use std::mem::MaybeUninit;

macro_rules! any_lock {
    ($($kind:ident = $name:literal, $meaning:literal: $lock:ty, $make:ident, $gives_up:ident, $order:ident, $class:ident;)*) => {
        /// A lock chosen when it is made: of one kind, or of two kinds for two classes.
        #[derive(Debug)]
        pub enum AnyLock {
            $(#[doc = concat!("`", $name, "`")] $kind(KeptToken<$lock>),)*
            /// `p-X-Y`
            Pair(KeptToken<Pair>),
        }

        impl AnyLock {
            /// The words about the last holder, which the lock itself does not use.
            #[inline(always)]
            #[must_use]
            pub fn last_holder(&self) -> &LastHolder {
                match self {
                    $(AnyLock::$kind(lock) => &lock.last_holder,)*
                    AnyLock::Pair(lock) => &lock.last_holder,
                }
            }

            /// A free lock.
            #[must_use]
            pub fn new(kind: LockKind, settings: &LockSettings) -> AnyLock {
                match kind {
                    $(LockKind::$kind => AnyLock::$kind(KeptToken::new(recipe::$kind::make(settings))),)*
                }
            }

            /// Waits until the lock is the caller's or the clock has reached `deadline_ns`. If the waiters of
            /// this kind cannot give up, it only tries.
            pub fn acquire_until(&self, deadline_ns: u64) -> Option<()> {
                match self {
                    $(AnyLock::$kind(kept) => kept.keep(match recipe::$kind::UNTIL {
                        Some(until) => until(&kept.lock, deadline_ns)?,
                        None => kept.lock.try_acquire()?,
                    }),)*
                    AnyLock::Pair(lock) => lock.try_acquire(),
                }
            }

            /// The name of the lock's Rust type; for two classes, of that which has the classes' locks
            /// inline.
            #[must_use]
            pub fn type_name(&self) -> String {
                match self {
                    $(AnyLock::$kind(_) => std::any::type_name::<$lock>().to_owned(),)*
                    AnyLock::Pair(KeptToken { lock, .. }) => {
                        let (high, low) = (lock.high().type_name(), lock.low().type_name());
                        format!("heddle_locks::two_level::TwoLevel<{high}, {low}>")
                    }
                }
            }
        }

        // SAFETY: each arm calls one lock, which keeps the promises.
        unsafe impl RawLock for AnyLock {
            type Platform = Native;
            type Token = ();

            #[inline]
            fn acquire(&self) {
                match self {
                    $(AnyLock::$kind(lock) => lock.acquire(),)*
                    AnyLock::Pair(lock) => lock.acquire(),
                }
            }

            #[inline]
            fn try_acquire(&self) -> Option<()> {
                match self {
                    $(AnyLock::$kind(lock) => lock.try_acquire(),)*
                    AnyLock::Pair(lock) => lock.try_acquire(),
                }
            }

            #[inline]
            unsafe fn release(&self, (): ()) {
                match self {
                    // SAFETY: the caller's promise.
                    $(AnyLock::$kind(lock) => unsafe { lock.release(()) },)*
                    // SAFETY: the caller's promise.
                    AnyLock::Pair(lock) => unsafe { lock.release(()) },
                }
            }

            fn has_waiters(&self) -> bool {
                match self {
                    $(AnyLock::$kind(lock) => lock.has_waiters(),)*
                    AnyLock::Pair(lock) => lock.has_waiters(),
                }
            }
        }
    };
}

with_rows!(any_lock);

// SAFETY: both classes keep the promises; a lock of one kind has one class.
unsafe impl PriorityLock for AnyLock {
    #[inline]
    fn acquire_low(&self) {
        match self {
            AnyLock::Pair(pair) => _ = pair.keep(pair.lock.acquire_low()),
            one => one.acquire(),
        }
    }

    #[inline]
    fn try_acquire_low(&self) -> Option<()> {
        match self {
            AnyLock::Pair(pair) => pair.keep(pair.lock.try_acquire_low()?),
            one => one.try_acquire(),
        }
    }
}

/// A lock of two classes, each of any kind.
pub type Pair = TwoLevel<Box<AnyLock>, Box<AnyLock>>;

impl AnyLock {
    /// The two-level lock `p-X-Y`, free: `high` is for the class that goes first, `low` for the class that
    /// stands back. If both are of strict kinds, a running thread does not pass the head of its class.
    #[must_use]
    pub fn pair(high: LockKind, low: LockKind, settings: &LockSettings) -> AnyLock {
        AnyLock::Pair(KeptToken::new(pair_of(high, low, settings)))
    }
}

/// The lock of [`AnyLock::pair`] itself.
#[must_use]
pub fn pair_of(high: LockKind, low: LockKind, settings: &LockSettings) -> Pair {
    let pair = settings_of_pair(high, low, settings);
    let class = pair.of_class();
    let lock = |kind: LockKind| Box::new(AnyLock::new(kind.in_class(), &class));
    TwoLevel::with_low_bound(lock(high), lock(low), pair.policy, pair.low_bound)
}

/// The settings at the word of a pair, and [of its classes](LockSettings::of_class): in a strict order every
/// waiter's turn comes soon, so none goes to sleep early.
fn settings_of_pair(high: LockKind, low: LockKind, settings: &LockSettings) -> LockSettings {
    let is_strict = [high, low].iter().all(|kind| kind.order() == Order::Strict);
    let policy = WaitPolicy { forced_yield_ns: 0, ..settings.policy };
    if is_strict { LockSettings { policy, ..*settings } } else { *settings }
}

/// The thread that held a lock last, and the hardware thread on which it ran: words for those who count
/// hand-overs. Only the holder writes them. They lie beside the token, whose cache line the holder has in
/// any case.
#[derive(Debug, Default)]
pub struct LastHolder {
    /// The thread's identity; 0 if no thread has been noted yet.
    pub thread: AtomicU64,
    /// Its hardware thread.
    pub hardware_thread: AtomicU32,
    /// How often another thread followed.
    pub hand_overs: AtomicU32,
}

/// A lock that stores the token of its holder, so that locks of all kinds can be used alike, and an
/// acquisition's token is small: moving a large one in memory would cost more than the lock. All kinds have
/// one alignment, so that their last holders lie at one offset, and reading it needs no look at the kind.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct KeptToken<L: RawLock> {
    last_holder: LastHolder,
    /// The holder's token.
    token: UnsafeCell<MaybeUninit<L::Token>>,
    lock: L,
}

// SAFETY: only the holder touches the token, and the thread that makes a token by its
// acquisition also takes it.
unsafe impl<L: RawLock> Sync for KeptToken<L> {}
// SAFETY: a lock that moves is not held.
unsafe impl<L: RawLock> Send for KeptToken<L> {}

impl<L: RawLock> KeptToken<L> {
    fn new(lock: L) -> KeptToken<L> {
        let token = UnsafeCell::new(MaybeUninit::uninit());
        KeptToken { lock, token, last_holder: LastHolder::default() }
    }

    /// Stores the token of the caller, which has acquired the lock.
    #[inline]
    fn keep(&self, token: L::Token) -> Option<()> {
        // SAFETY: the caller holds the lock.
        unsafe { (*self.token.get()).write(token) };
        Some(())
    }
}

// SAFETY: the inner lock keeps the promises.
unsafe impl<L: RawLock> RawLock for KeptToken<L> {
    type Platform = L::Platform;
    type Token = ();

    #[inline]
    fn acquire(&self) {
        self.keep(self.lock.acquire());
    }

    #[inline]
    fn try_acquire(&self) -> Option<()> {
        self.keep(self.lock.try_acquire()?)
    }

    #[inline]
    unsafe fn release(&self, (): ()) {
        // SAFETY: the caller holds the lock.
        let token = unsafe { &*self.token.get() };
        // SAFETY: written by `keep` when the caller acquired the lock, and taken once.
        let token = unsafe { token.assume_init_read() };
        // SAFETY: the caller's promise.
        unsafe { self.lock.release(token) };
    }

    fn has_waiters(&self) -> bool {
        self.lock.has_waiters()
    }
}

#[cfg(test)]
mod tests {
    use super::{LockKind, LockSettings, settings_of_pair};

    #[test]
    fn waiters_behind_the_heads_of_a_strict_pair_wait_like_those_of_one_strict_lock() {
        let settings = LockSettings::default();
        let yields = |high, low| settings_of_pair(high, low, &settings).of_class().policy.yields;
        assert_eq!(yields(LockKind::StrictMcs, LockKind::StrictHmcs), settings.policy.yields);
        assert!(yields(LockKind::StrictMcs, LockKind::Mcs) < settings.policy.yields);
    }
}
