//! The state of a request: who completes it, who claims it, and who is told.
//!
//! While a request is ACTIVE, the thread that waits for it may leave its [`Watcher`] in the place of the state
//! (`heddle_sync::watched_state`); whoever completes the request signals it. That takes an atomic exchange at every completion, so
//! it is done only if the model lets waiters sleep until they are signalled.

use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_platform::statics;
use heddle_sync::watched_state::Watch;
use heddle_sync::{WatchedState, Watcher};

const FREE: usize = 0;
const ACTIVE: usize = 1;
const COMPLETE: usize = 2;
const INACTIVE: usize = 3;
/// Complete, and its outcome is being taken.
const CLAIMED: usize = 4;

statics! {
    /// Whether those who complete requests look for watchers. Written once, before there are requests.
    static SIGNAL: AtomicBool = AtomicBool::new(false);
}

/// From now on requests can be watched.
pub fn signal_watchers() {
    SIGNAL.store(true, Ordering::Relaxed);
}

/// Whether requests can be watched.
pub fn are_watchers_signalled() -> bool {
    SIGNAL.load(Ordering::Relaxed)
}

/// See the drawing in the documentation of `request`.
#[derive(Debug)]
pub struct State(WatchedState);

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

impl State {
    /// That of a free slot.
    pub fn new() -> State {
        State(WatchedState::new(FREE))
    }

    /// Whether the slot is free.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) == FREE
    }

    /// The slot is free from now on.
    #[inline(always)]
    pub fn set_free(&self) {
        self.0.store(FREE, Ordering::Relaxed);
    }

    /// The request is under way from now on.
    #[inline(always)]
    pub fn activate(&self) {
        self.0.store(ACTIVE, Ordering::Relaxed);
    }

    /// Whether an operation is under way: ACTIVE, or a watcher in its place.
    pub fn is_active(&self) -> bool {
        !matches!(self.0.load(Ordering::Acquire), FREE | COMPLETE | INACTIVE | CLAIMED)
    }

    /// The request waits to be started from now on.
    pub fn deactivate(&self) {
        self.0.store(INACTIVE, Ordering::Relaxed);
    }

    /// Whether the request waits to be started.
    #[inline(always)]
    pub fn is_inactive(&self) -> bool {
        self.0.load(Ordering::Acquire) == INACTIVE
    }

    /// The request is complete, and its outcome is written.
    #[inline(always)]
    pub fn end(&self) {
        if SIGNAL.load(Ordering::Relaxed) {
            self.0.end(COMPLETE);
        } else {
            // Release: pairs with the Acquire in `is_complete`.
            let order = if planted(Fault::RequestRelaxedEnd) { Ordering::Relaxed } else { Ordering::Release };
            self.0.store(COMPLETE, order);
        }
    }

    /// Whether the request is complete; then its outcome is visible to the caller.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.0.load(Ordering::Acquire) == COMPLETE
    }

    /// Claims a complete request for the calling thread: see [`claim`](super::claim).
    #[inline(always)]
    pub fn claim(&self) -> bool {
        let complete = self.is_complete();
        if complete {
            self.0.store(CLAIMED, Ordering::Relaxed);
        }
        complete
    }

    /// Claims a complete request for the calling thread, alone among those that do so by this way. Then `is_it` says whether
    /// it is the request that was meant.
    pub fn claim_alone(&self, is_it: impl FnOnce() -> bool) -> bool {
        if planted(Fault::RequestClaimedByAll) {
            return self.claim();
        }
        if !self.0.change(COMPLETE, CLAIMED) {
            return false;
        }
        if is_it() || planted(Fault::RequestOfAnyLife) {
            return true;
        }
        // Another operation's: whoever waits for it sees it complete a moment later, or has seen it complete before and claimed
        // it all the same. Then it is not given back: the slot may be free by now.
        if planted(Fault::RequestGivenBackBlindly) {
            self.0.store(COMPLETE, Ordering::Release);
        } else {
            self.0.change(CLAIMED, COMPLETE);
        }
        false
    }

    /// Has the watcher signalled when the request completes; only after [`signal_watchers`].
    ///
    /// # Safety
    /// The watcher stays where it is until it was taken out by [`unwatch`](Self::unwatch) and has left.
    pub unsafe fn watch(&self, watcher: &Watcher) -> Watch {
        debug_assert!(are_watchers_signalled(), "nobody would signal");
        // SAFETY: the caller's promise.
        unsafe { self.0.watch(ACTIVE, watcher) }
    }

    /// Takes the watcher out, if it is still there.
    pub fn unwatch(&self, watcher: &Watcher) {
        self.0.unwatch(ACTIVE, watcher);
    }
}
