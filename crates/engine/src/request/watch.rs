//! Requests whose completion wakes a thread.
//!
//! While a request is ACTIVE, the thread that waits for it may leave its [`Watcher`] in the place of the state
//! (`heddle_sync::watched_state`); whoever completes the request signals it. That takes an atomic exchange at every completion, so
//! it is done only if the model lets waiters sleep until they are signalled.

use super::pool::{Request, at};
use super::{ACTIVE, COMPLETE, RequestId};
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_sync::Watcher;
use heddle_sync::watched_state::Watch;

/// Whether those who complete requests look for watchers. Written once, before there are requests.
static SIGNAL: AtomicBool = AtomicBool::new(false);

/// From now on requests can be watched.
pub(crate) fn signal_watchers() {
    SIGNAL.store(true, Ordering::Relaxed);
}

/// Whether requests can be watched.
pub(crate) fn are_watchers_signalled() -> bool {
    SIGNAL.load(Ordering::Relaxed)
}

/// The request is complete, and its outcome is written.
#[inline(always)]
pub(super) fn end(request: &Request) {
    if SIGNAL.load(Ordering::Relaxed) {
        request.state.end(COMPLETE);
    } else {
        // Release: pairs with the Acquire in `is_complete`.
        request.state.store(COMPLETE, Ordering::Release);
    }
}

/// Has the watcher signalled when the request completes; only after [`signal_watchers`].
///
/// # Safety
/// The watcher stays where it is until it was taken out by [`unwatch`] and has left.
pub(crate) unsafe fn watch(id: RequestId, watcher: &Watcher) -> Watch {
    debug_assert!(SIGNAL.load(Ordering::Relaxed), "nobody would signal");
    // SAFETY: the caller's promise.
    unsafe { at(id).state.watch(ACTIVE, watcher) }
}

/// Takes the watcher out, if it is still there.
pub(crate) fn unwatch(id: RequestId, watcher: &Watcher) {
    at(id).state.unwatch(ACTIVE, watcher);
}
