//! What holders have to do besides their own operation: see the module's table.

use heddle_platform::atomic::Ordering;
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Platform, Scope};

/// Nobody posts and leaves, and nobody has waited for long.
const QUIET: u32 = 0;
/// Operations may be posted at any time by threads that leave.
const BUSY: u32 = 1;
/// The holder wants to be relieved.
const RELIEF: u32 = 2;
/// Somebody has waited for long.
const CALLED: u32 = 4;

/// Acquisitions that find nothing posted, after which it first is quiet again. (Small in models, to be
/// reached.)
const FIRST_FRUITLESS: u32 = if cfg!(loom) { 1 } else { 64 };
/// The most that the doubling makes of it.
const MOST_FRUITLESS: u32 = if cfg!(loom) { 2 } else { 1 << 13 };

/// The bits. All changes are read-modify-writes, so each stays in the release sequence of the earlier ones:
/// who takes a bit away has seen the posts of all who set it.
#[derive(Debug, Default)]
pub(super) struct Mode<P: Platform>(P::AtomicU32);

impl<P: Platform> Mode<P> {
    /// Whether holders may ignore the queue.
    #[inline(always)]
    pub(super) fn is_quiet(&self) -> bool {
        self.0.load(Ordering::Relaxed) == QUIET
    }

    /// Whether posters are to wait.
    pub(super) fn is_relief_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & RELIEF != 0
    }

    /// As the holder.
    pub(super) fn set_relief_wanted(&self, wanted: bool) {
        if wanted != self.is_relief_wanted() {
            if wanted {
                self.0.fetch_or(RELIEF, Ordering::Relaxed);
            } else {
                self.0.fetch_and(!RELIEF, Ordering::Relaxed);
            }
        }
    }

    /// As a waiter that has posted, or a holder that leaves something behind.
    pub(super) fn call(&self) {
        // Release: pairs with the Acquire in take_call().
        self.0.fetch_or(CALLED, Ordering::Release);
    }

    /// As the holder, before it takes what is posted: whether somebody has called.
    pub(super) fn take_call(&self) -> bool {
        // Acquire: pairs with the Release in call(); the post came before it.
        self.0.load(Ordering::Relaxed) & CALLED != 0
            && self.0.fetch_and(!CALLED, Ordering::AcqRel) & CALLED != 0
    }

    /// As a poster that has posted, passed a fence, and will leave: holders are to look for it.
    pub(super) fn end_quiet(&self) {
        // Acquire: pairs with the Release in begin_quiet().
        if self.0.load(Ordering::Acquire) & BUSY == 0 {
            self.0.fetch_or(BUSY, Ordering::Release);
            P::heavy(Scope::Process);
        }
    }

    /// As the holder that found nothing posted: begins the quiet when it is time, which the caller's second
    /// look at `is_empty` makes good if a poster has missed it.
    pub(super) fn count_fruitless(&self, patience: &mut Patience, is_empty: impl Fn() -> bool) {
        // Acquire: pairs with the Release of the poster who made it BUSY; its post is visible then.
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

/// How long holders go on looking for posts.
pub(super) struct Patience {
    /// How many holders in a row found nothing posted, and how many it takes to be quiet.
    fruitless: u32,
    needed: u32,
}

impl Patience {
    pub(super) const FIRST: Self = Self { fruitless: 0, needed: FIRST_FRUITLESS };

    /// Something was posted.
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
