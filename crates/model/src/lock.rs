//! Any lock of `heddle-sync`, chosen when it is made.

use heddle_platform::cell::UnsafeCell;
use heddle_sync::abortable_mcs::StrictAbortableMcs;
use heddle_sync::clh::StrictClh;
use heddle_sync::hmcs::{StrictHmcs, Tree};
use heddle_sync::mcs::StrictMcs;
use heddle_sync::ticket::StrictTicket;
use heddle_sync::{AbortableMcs, Clh, Hmcs, Mcs, Mutex, Native, RawLock, Ticket, TimedLock, WaitPolicy};
use heddle_topology::{Kind, Topology};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Declares the kinds: name, type, how one is made, and how one gives up at a deadline. A kind whose waiters cannot give
/// up only tries.
macro_rules! kinds {
    ($($kind:ident = $name:literal: $lock:ty, $make:expr, $until:ident;)*) => {
        /// A kind of lock.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LockKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)*
        }

        impl LockKind {
            /// Every kind with its name.
            pub const ALL: &'static [(LockKind, &'static str)] = &[$((LockKind::$kind, $name),)*];
        }

        /// A lock of a kind chosen when it is made.
        #[derive(Debug)]
        pub(crate) enum AnyLock {
            $($kind(KeptToken<$lock>),)*
        }

        impl AnyLock {
            /// A lock whose cohorts, if it has any, pass it on within so many times in a row.
            pub(crate) fn new(kind: LockKind, policy: WaitPolicy, cohort_threshold: u32) -> AnyLock {
                match kind {
                    $(LockKind::$kind => AnyLock::$kind(KeptToken::new($make(policy, cohort_threshold))),)*
                }
            }
        }

        // SAFETY: each arm hands on to one lock, which keeps the promises.
        unsafe impl RawLock for AnyLock {
            type Platform = Native;
            type Token = ();

            #[inline]
            fn acquire(&self) {
                match self {
                    $(AnyLock::$kind(lock) => lock.acquire(),)*
                }
            }

            #[inline]
            fn try_acquire(&self) -> Option<()> {
                match self {
                    $(AnyLock::$kind(lock) => lock.try_acquire(),)*
                }
            }

            #[inline]
            unsafe fn release(&self, (): ()) {
                match self {
                    // SAFETY: the caller's promise.
                    $(AnyLock::$kind(lock) => unsafe { lock.release(()) },)*
                }
            }

            fn has_waiters(&self) -> bool {
                match self {
                    $(AnyLock::$kind(lock) => lock.has_waiters(),)*
                }
            }
        }

        impl AnyLock {
            /// Waits until the lock is the caller's or the clock has reached `deadline_ns`.
            pub(crate) fn acquire_until(&self, deadline_ns: u64) -> Option<()> {
                match self {
                    $(AnyLock::$kind(lock) => lock.keep($until(&lock.lock, deadline_ns)?),)*
                }
            }
        }
    };
}

/// A lock that keeps the token of its holder itself, so that locks of any kind can be used alike, and a section's token
/// is small: large ones that are moved about in memory would cost more than the lock.
#[derive(Debug)]
pub(crate) struct KeptToken<L: RawLock> {
    lock: L,
    /// The holder's.
    token: UnsafeCell<MaybeUninit<L::Token>>,
}

// SAFETY: the token is touched by the holder only, and tokens go with the threads' acquisitions: each is made and
// taken by one thread.
unsafe impl<L: RawLock> Sync for KeptToken<L> {}
// SAFETY: a lock that moves is not held.
unsafe impl<L: RawLock> Send for KeptToken<L> {}

impl<L: RawLock> KeptToken<L> {
    fn new(lock: L) -> KeptToken<L> {
        KeptToken { lock, token: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// The caller has acquired the lock.
    #[inline]
    fn keep(&self, token: L::Token) -> Option<()> {
        // SAFETY: the caller holds the lock.
        unsafe { (*self.token.get()).write(token) };
        Some(())
    }
}

// SAFETY: those of the lock.
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

kinds! {
    Mutex = "mutex": Mutex, alone(Mutex::new), timed;
    Ticket = "ticket": Ticket, alone(Ticket::new), tried;
    Mcs = "mcs": Mcs, alone(Mcs::new), tried;
    Clh = "clh": Clh, alone(Clh::new), timed;
    AbortableMcs = "abortable-mcs": AbortableMcs, alone(AbortableMcs::new), timed;
    Hmcs = "hmcs": Hmcs, in_tree(Hmcs::new), timed;
    StrictTicket = "strict-ticket": StrictTicket<Native>, alone(StrictTicket::new), tried;
    StrictMcs = "strict-mcs": StrictMcs<Native>, alone(StrictMcs::new), tried;
    StrictClh = "strict-clh": StrictClh<Native>, alone(StrictClh::new), timed;
    StrictAbortableMcs = "strict-abortable-mcs": StrictAbortableMcs<Native>, alone(StrictAbortableMcs::new), timed;
    StrictHmcs = "strict-hmcs": StrictHmcs<Native>, in_tree(StrictHmcs::new), timed;
}

/// Makes a lock without cohorts.
fn alone<L>(new: impl FnOnce(WaitPolicy) -> L) -> impl FnOnce(WaitPolicy, u32) -> L {
    |policy, _| new(policy)
}

/// Makes a lock whose cohorts are this machine's.
fn in_tree<L>(new: impl FnOnce(&Tree, WaitPolicy) -> L) -> impl FnOnce(WaitPolicy, u32) -> L {
    |policy, threshold| new(&tree().clone().with_thresholds(&[threshold]), policy)
}

impl LockKind {
    /// The kind's name.
    pub fn name(self) -> &'static str {
        LockKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("?", |(_, name)| name)
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<LockKind> {
        LockKind::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

fn timed<L: TimedLock>(lock: &L, deadline_ns: u64) -> Option<L::Token> {
    lock.acquire_until(deadline_ns)
}

fn tried<L: RawLock>(lock: &L, _deadline_ns: u64) -> Option<L::Token> {
    lock.try_acquire()
}

/// This machine as HMCS's tree, or one of which nothing is known.
fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| match Topology::of_machine() {
        Ok(topology) => Tree::from_places(topology.places(Kind::Core)),
        Err(_) => Tree::flat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cohorts_have_the_threshold_that_was_chosen() {
        let lock = in_tree(Hmcs::new)(WaitPolicy::DEFAULT, 3);
        assert_eq!(lock.tree(), &tree().clone().with_thresholds(&[3]));
        assert_ne!(lock.tree(), tree());
    }
}
