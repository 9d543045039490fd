//! The duties of a holder besides its operation: see the module's table.

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};

/// No thread posts and leaves, and none has waited for long.
const QUIET: u32 = 0;
/// Operations may be posted at any time by threads that leave.
const BUSY: u32 = 1;
/// The holder wants another thread to take over.
const RELIEF: u32 = 2;
/// A thread has waited for long.
const CALLED: u32 = 4;

/// The number of acquisitions that find nothing posted after which the mode first is quiet again. (Small in
/// models, so that they reach it.)
const FIRST_FRUITLESS: u32 = if cfg!(loom) { 1 } else { 64 };
/// The largest number that the doubling reaches.
const MOST_FRUITLESS: u32 = if cfg!(loom) { 2 } else { 1 << 13 };

/// The bits. All changes are read-modify-writes, so each stays in the release sequence of the earlier ones: a
/// thread that clears a bit has seen the posts of all threads that set it.
#[derive(Debug, Default)]
pub(super) struct Mode<P: Platform>(P::AtomicU32);

impl<P: Platform> Mode<P> {
    /// Returns true if holders may ignore the queue.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        self.0.load(Ordering::Relaxed) == QUIET
    }

    /// Returns true if posters shall wait.
    pub(super) fn is_relief_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & RELIEF != 0
    }

    /// Sets or clears `RELIEF`; the caller is the holder.
    pub(super) fn set_relief_wanted(&self, wanted: bool) {
        if wanted != self.is_relief_wanted() {
            if wanted {
                self.0.fetch_or(RELIEF, Ordering::Relaxed);
            } else {
                self.0.fetch_and(!RELIEF, Ordering::Relaxed);
            }
        }
    }

    /// Sets `CALLED`. The caller is a waiter that has posted, or a holder that leaves operations behind.
    pub(super) fn call(&self) {
        // Release: pairs with the Acquire in take_call().
        self.0.fetch_or(CALLED, Ordering::Release);
    }

    /// Clears `CALLED`; returns whether it was set. The caller is the holder, and has not taken
    /// the posted operations yet.
    pub(super) fn take_call(&self) -> bool {
        // Acquire: pairs with the Release in call(); the post came before it.
        self.0.load(Ordering::Relaxed) & CALLED != 0
            && self.0.fetch_and(!CALLED, Ordering::AcqRel) & CALLED != 0
    }

    /// Sets `BUSY`. The caller has posted, passed a fence, and will leave: holders shall check for its post.
    pub(super) fn end_quiet(&self) {
        // Acquire: pairs with the Release in begin_quiet().
        if self.0.load(Ordering::Acquire) & BUSY == 0 {
            self.0.fetch_or(BUSY, Ordering::Release);
            P::heavy(Scope::Process);
        }
    }

    /// Counts a run that found nothing posted, and begins the quiet when it is time. The caller is the
    /// holder. Its second check, by `is_empty`, finds the post of a poster that has missed the change.
    pub(super) fn count_fruitless(&self, patience: &mut Patience, is_empty: impl Fn() -> bool) {
        // Acquire: pairs with the Release of the poster that set BUSY; its post is visible then.
        if self.0.load(Ordering::Acquire) & BUSY == 0 || !patience.ends() {
            return;
        }
        self.0.fetch_and(!BUSY, Ordering::AcqRel);
        P::fence(Ordering::SeqCst);
        // A poster that missed the change has its post seen here (invariant 3).
        if !is_empty() {
            self.0.fetch_or(BUSY, Ordering::Release);
        }
    }
}

/// How long holders go on checking for posts.
pub(super) struct Patience {
    /// The number of holders in a row that found nothing posted, and the number after
    /// which the mode is quiet.
    fruitless: u32,
    needed: u32,
}

impl Patience {
    pub(super) const FIRST: Self = Self { fruitless: 0, needed: FIRST_FRUITLESS };

    /// Starts anew, because something was posted.
    pub(super) fn restart(&mut self) {
        self.fruitless = 0;
    }

    fn ends(&mut self) -> bool {
        self.fruitless += 1;
        if self.fruitless < self.needed {
            return false;
        }
        self.fruitless = 0;
        self.needed = (self.needed * 2).min(MOST_FRUITLESS);
        true
    }
}
