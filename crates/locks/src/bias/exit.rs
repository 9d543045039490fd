//! The way out of a lock that was entered by its bias: the thread inside lowers its flag, and a revoker waits
//! for that.
//!
//! The flag is the lock's: it is 1 while a thread is inside by the bias, or about to be. A revoker holds the
//! inner lock and has taken the bias away, so once it finds the flag down, no thread is inside by the bias.
//!
//! **No lost wake-up.** Every store of 0 to a flag is followed by a ring ([`Doorbell`], invariant 2).

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};
use heddle_sync::doorbell::Doorbell;
use heddle_sync::wait::Waiter;
use heddle_sync::{CachePadded, Next, WaitPolicy};

/// The doorbell of the revoker, and the words that only the revoker writes; see the module above.
#[derive(Debug)]
pub struct Exit<P: Platform> {
    left: CachePadded<Doorbell<P>>,
    revoker: CachePadded<Revoker<P>>,
}

#[derive(Debug)]
struct Revoker<P: Platform> {
    /// 1 while a revoker waits.
    waits: P::AtomicU32,
    policy: WaitPolicy,
}

impl<P: Platform> Exit<P> {
    /// A revoker waits by `policy`.
    pub(crate) fn new(policy: WaitPolicy) -> Self {
        let revoker = Revoker { waits: AtomicInteger::new(0), policy };
        Self { left: CachePadded::new(Doorbell::default()), revoker: CachePadded::new(revoker) }
    }

    /// Lowers the flag of the calling thread. There is a bias, or was, so the platform is asymmetric.
    #[inline(always)]
    pub(crate) fn leave(&self, flag: &P::AtomicU32) {
        // Release: pairs with the Acquire of the revoker, and of the next entry if it is another thread's.
        flag.store(0, Ordering::Release);
        self.left.ring_if_asymmetric();
    }

    /// Waits until the flag is down, and returns true. If `may_wait` is false it returns false while the flag
    /// is up.
    #[inline]
    pub(crate) fn is_left(&self, flag: &P::AtomicU32, may_wait: bool) -> bool {
        // Acquire: pairs with the Release in leave().
        if flag.load(Ordering::Acquire) != 0 {
            if !may_wait {
                return false;
            }
            self.wait(flag);
        }
        true
    }

    #[cold]
    fn wait(&self, flag: &P::AtomicU32) {
        self.revoker.waits.store(1, Ordering::Relaxed);
        let mut waiter = Waiter::<P>::new(&self.revoker.policy, 1);
        while flag.load(Ordering::Acquire) != 0 {
            if waiter.pause() == Next::Park {
                self.left.sleep_until(Scope::Process, || flag.load(Ordering::Acquire) == 0);
            }
        }
        self.revoker.waits.store(0, Ordering::Relaxed);
    }

    /// Returns true if a revoker waits.
    #[inline]
    pub(crate) fn has_waiter(&self) -> bool {
        self.revoker.waits.load(Ordering::Relaxed) != 0
    }
}
