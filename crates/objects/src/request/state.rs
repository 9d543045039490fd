//! The state word of a request: how a thread completes it, claims it, and is signalled.
//!
//! While a request is ACTIVE, a waiting thread may put the address of its [`Watcher`] into the state word
//! (`heddle_sync::watched_state`); the thread that completes the request signals it. That takes an atomic
//! exchange at every completion, so it happens only if the model lets waiters sleep until they are signalled.

use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::statics;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WatchedState, Watcher};

const FREE: usize = 0;
const ACTIVE: usize = 1;
const COMPLETE: usize = 2;
const INACTIVE: usize = 3;
/// Complete, and a thread is taking its outcome.
const CLAIMED: usize = 4;

statics! {
    /// True if completions look for watchers. Written once, before there are requests.
    static SIGNAL: AtomicBool = AtomicBool::new(false);
}

/// Lets requests be watched from now on. To be called before requests are made.
pub fn signal_watchers() {
    SIGNAL.store(true, Ordering::Relaxed);
}

/// Returns true if requests can be watched.
pub fn are_watchers_signalled() -> bool {
    SIGNAL.load(Ordering::Relaxed)
}

/// A state word; `heddle-message`'s module `request` draws the states.
#[derive(Debug)]
pub struct StateWord(WatchedState);

impl Default for StateWord {
    fn default() -> StateWord {
        StateWord::new()
    }
}

impl StateWord {
    /// The state of a free slot.
    pub fn new() -> StateWord {
        StateWord(WatchedState::new(FREE))
    }

    /// Returns true if the slot is free.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FREE
    }

    /// Makes the slot free.
    #[inline(always)]
    pub fn set_free(&self) {
        self.0.store(FREE, Ordering::Relaxed);
    }

    /// Makes the request active: its operation is under way.
    #[inline(always)]
    pub fn activate(&self) {
        self.0.store(ACTIVE, Ordering::Relaxed);
    }

    /// Returns true if an operation is under way: the word is ACTIVE, or the address of a watcher.
    pub fn is_active(&self) -> bool {
        !matches!(self.0.load(Ordering::Acquire), FREE | COMPLETE | INACTIVE | CLAIMED)
    }

    /// The request waits to be started from now on.
    pub fn deactivate(&self) {
        self.0.store(INACTIVE, Ordering::Relaxed);
    }

    /// Returns true if the request waits to be started.
    #[inline(always)]
    pub fn is_inactive(&self) -> bool {
        self.0.load(Ordering::Acquire) == INACTIVE
    }

    /// Completes the request, whose outcome the caller has written.
    #[inline(always)]
    pub fn end(&self) {
        if SIGNAL.load(Ordering::Relaxed) {
            self.0.end(COMPLETE);
        } else {
            // Release: pairs with the Acquire in `is_complete`.
            self.0.store(COMPLETE, Ordering::Release);
        }
    }

    /// Returns true if the request is complete; then its outcome is visible to the caller.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.0.load(Ordering::Acquire) == COMPLETE
    }

    /// Returns true if the request was complete and not claimed at the moment of the call. The outcome is not
    /// visible to the caller by that.
    pub fn awaits_its_owner(&self) -> bool {
        self.0.load(Ordering::Relaxed) == COMPLETE
    }

    /// Claims a complete request for the calling thread, which is the only one that may. False if it is not
    /// complete.
    #[inline(always)]
    pub fn claim(&self) -> bool {
        let complete = self.is_complete();
        if complete {
            self.set_claimed();
        }
        complete
    }

    /// Claims a request that the calling thread has found complete, and that it alone may claim.
    #[inline(always)]
    pub fn set_claimed(&self) {
        self.0.store(CLAIMED, Ordering::Relaxed);
    }

    /// Claims a complete request for the calling thread, where other threads may claim it with this function,
    /// too: one of them gets it. `is_it` then says whether the slot still has the request that the caller
    /// means.
    #[inline(always)]
    pub fn claim_alone(&self, is_it: impl FnOnce() -> bool) -> bool {
        if !self.0.change(COMPLETE, CLAIMED) {
            return false;
        }
        if is_it() {
            return true;
        }
        // The slot has another request by now. The thread that waits for that one sees it complete a moment
        // later, or has claimed it in the meantime. In the latter case it is not given back: the slot may be
        // free by now.
        self.0.change(CLAIMED, COMPLETE);
        false
    }

    /// Arranges that the watcher is signalled when the request completes; only after [`signal_watchers`].
    ///
    /// # Safety
    /// The watcher stays alive and in place until [`unwatch`](Self::unwatch) has returned and every signal
    /// has arrived.
    pub unsafe fn watch(&self, watcher: &Watcher) -> Watch {
        debug_assert!(are_watchers_signalled(), "no thread would signal");
        // SAFETY: the caller promises that the watcher stays in place.
        unsafe { self.0.watch(ACTIVE, watcher) }
    }

    /// Takes the watcher out, if it is still there.
    pub fn unwatch(&self, watcher: &Watcher) {
        self.0.unwatch(ACTIVE, watcher);
    }
}
