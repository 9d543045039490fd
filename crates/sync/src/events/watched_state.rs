//! A state that ends, and the one thread that wants to be told.
//!
//! **What it gives.** An operation has a state, which the completing thread changes. A waiting thread can
//! put the address of its [`Watcher`] in place of the state; the completing thread finds it there and
//! signals it: O(1), no list, no lock. A watcher may watch many states at once, for all of them or for the
//! first. It lies on its waiter's stack.
//!
//! **Source.** Dang, Seo, Amer, Balaji: *Advanced thread synchronization for multithreaded MPI
//! implementations*, CCGrid 2017, pages 314-324, link requests and synchronization counters by a field of the
//! request that the critical section's lock guards. Here it is one word that needs no lock, so that a
//! completing thread may hold another lock than the waiter.
//!
//! ```text
//!             watch: CAS                    end: swap
//!   pending ────────────▶ a watcher ─────────────────────▶ over, and the completer signals the watcher
//!      ▲ │                    │
//!      │ └── end: swap ───────┼──────────────────────────▶ over
//!      └──── unwatch: CAS ────┘
//! ```
//!
//! The word holds the number of a state, up to [`MOST_STATE`], or the address of a watcher. The user decides
//! what the states mean, and which of them is watched.
//!
//! **Invariants.**
//!
//! 1. *One watcher.* A watcher comes in by compare-and-swap against the pending state;
//!    a second one is refused.
//! 2. *No end without its signal.* A thread that ends the state swaps, so it takes out a watcher that is
//!    there: each watcher that was let in is either signalled once, or takes itself out; not both.
//! 3. *No watcher is gone too early.* `left` counts the signals that are still to come. A watcher that could
//!    not take itself out will be signalled in a moment, and [`Watcher::leave`] waits for that; a signal's
//!    last access is to `left`.
//! 4. *One first.* Of the threads that complete states of a watcher for the first, one finds `taken` unset,
//!    and that one signals `first`.
//!
//! **Orderings.** `watch` is Release and `end` Acquire, so the completing thread sees the whole watcher.
//! `end` is Release, so a thread that sees the state over, by a load with Acquire or by its signal, sees
//! what the operation brought.
//!
//! **Cost.** An end: an atomic exchange in place of a store. Watching: an atomic addition and a
//! compare-and-swap each.

use crate::events::sync_counter::SyncCounter;
use crate::waiting::wait::WaitPolicy;
use heddle_platform::atomic::Ordering;
use heddle_platform::platform::{AtomicInteger, AtomicPointer};
use heddle_platform::{Native, Platform};
use std::fmt;
use std::ptr;

/// States are numbered from 0 to this number; no watcher has such an address.
pub const MOST_STATE: usize = 63;

/// True if a state can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The watcher will be signalled when the state ends.
    Set,
    /// The state is not the pending one.
    Over,
    /// Another thread watches.
    Taken,
}

/// A state; see the [module](self).
pub struct WatchedState<P: Platform = Native> {
    word: P::AtomicPtr<Watcher<P>>,
}

impl<P: Platform> fmt::Debug for WatchedState<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchedState").field(&self.load(Ordering::Relaxed)).finish()
    }
}

impl<P: Platform> WatchedState<P> {
    /// A state with the number `state`.
    #[must_use]
    pub fn new(state: usize) -> Self {
        Self { word: AtomicPointer::new(ptr::without_provenance_mut(state)) }
    }

    /// The state's number; a number above [`MOST_STATE`] while it is pending and a thread watches.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> usize {
        self.word.load(order).addr()
    }

    /// Changes the state. If a thread may watch it, use [`end`](Self::end) instead.
    #[inline(always)]
    pub fn store(&self, state: usize, order: Ordering) {
        debug_assert!(state <= MOST_STATE);
        self.word.store(ptr::without_provenance_mut(state), order);
    }

    /// Changes one state into another, unless another thread was quicker. For the pending state use
    /// [`end`](Self::end) instead.
    #[inline]
    pub fn change(&self, from: usize, to: usize) -> bool {
        let [from, to] = [from, to].map(ptr::without_provenance_mut);
        // Acquire: pairs with the Release in end().
        self.word.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends the pending state and signals its watcher. The state may be used anew as soon as it has changed.
    #[inline]
    pub fn end(&self, state: usize) {
        debug_assert!(state <= MOST_STATE);
        let over = ptr::without_provenance_mut(state);
        // Release: what the operation brought. Acquire: pairs with the Release in watch().
        let before = self.word.swap(over, Ordering::AcqRel);
        if before.addr() > MOST_STATE {
            Self::signal(before);
        }
    }

    #[cold]
    fn signal(watcher: *const Watcher<P>) {
        // SAFETY: a watcher that was let in and did not take itself out stays until this signal (invariants 2
        // and 3).
        unsafe { &*watcher }.signal();
    }

    /// Has `watcher` signalled when the state, now `pending`, ends.
    ///
    /// # Safety
    ///
    /// The watcher does not move, and is not dropped, before [`unwatch`](Self::unwatch) and then
    /// [`Watcher::leave`].
    pub unsafe fn watch(&self, pending: usize, watcher: &Watcher<P>) -> Watch {
        watcher.left.expect(1);
        let from = ptr::without_provenance_mut(pending);
        // Release: pairs with the Acquire in end(). Acquire: a thread that finds the state
        // over sees what came of it.
        match self.word.compare_exchange(from, watcher.address(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => Watch::Set,
            Err(found) => {
                watcher.left.signal();
                if found.addr() > MOST_STATE { Watch::Taken } else { Watch::Over }
            }
        }
    }

    /// Takes `watcher` out, and makes the state `pending` again. It has no effect if
    /// the watcher is not there.
    pub fn unwatch(&self, pending: usize, watcher: &Watcher<P>) {
        let back = ptr::without_provenance_mut(pending);
        // Relaxed: it carries nothing.
        let out =
            self.word.compare_exchange(watcher.address(), back, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if out {
            watcher.left.signal();
        }
    }
}

/// The record that a waiting thread leaves in the states that it watches.
#[derive(Debug)]
pub struct Watcher<P: Platform = Native> {
    /// The signals that are still to come.
    left: SyncCounter<P>,
    /// Only for the first: the one event, and whether it has come.
    first: SyncCounter<P>,
    taken: P::AtomicU32,
    for_first: bool,
}

impl<P: Platform> Watcher<P> {
    /// A watcher for all states that it will watch.
    #[must_use]
    pub fn for_all() -> Self {
        Self::new(false)
    }

    /// A watcher for the first of the states that it will watch.
    #[must_use]
    pub fn for_first() -> Self {
        Self::new(true)
    }

    fn new(for_first: bool) -> Self {
        Self {
            left: SyncCounter::new(0),
            first: SyncCounter::new(u32::from(for_first)),
            taken: P::AtomicU32::new(0),
            for_first,
        }
    }

    /// The counter on which the thread waits: done when all watched states are over, or the first one.
    #[must_use]
    pub fn counter(&self) -> &SyncCounter<P> {
        if self.for_first { &self.first } else { &self.left }
    }

    /// Expects one more [signal](Self::signal), which does not come from a state. The waiter calls it.
    pub fn expect(&self) {
        self.left.expect(1);
    }

    /// Signals that something watched is over. The watcher may be gone afterwards.
    pub fn signal(&self) {
        // Relaxed: the first's signal orders, and `left`'s after it.
        if self.for_first && self.taken.swap(1, Ordering::Relaxed) == 0 {
            self.first.signal();
        }
        self.left.signal();
    }

    /// Withdraws a signal that was [expected](Self::expect) and does not come. The waiter calls it
    /// while it does not sleep.
    pub fn excuse(&self) {
        self.left.signal();
    }

    /// Waits for the signals that are under way: no state is watched any more, or each will end in a moment.
    pub fn leave(&self, policy: &WaitPolicy) {
        self.left.wait(policy);
    }

    fn address(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PENDING: usize = 1;
    const OVER: usize = 2;

    #[test]
    fn a_watcher_is_told_once_and_alone() {
        let state = WatchedState::<Native>::new(PENDING);
        let (one, other) = (Watcher::for_all(), Watcher::for_all());
        // SAFETY: all on this stack frame, and unwatched below.
        assert_eq!(unsafe { state.watch(PENDING, &one) }, Watch::Set);
        // SAFETY: on this stack frame, and unwatched below.
        assert_eq!(unsafe { state.watch(PENDING, &other) }, Watch::Taken);
        assert!(state.load(Ordering::Relaxed) > MOST_STATE);
        state.unwatch(PENDING, &other);
        assert!(!one.counter().is_done() && other.counter().is_done());
        state.end(OVER);
        assert!(one.counter().is_done());
        assert_eq!(state.load(Ordering::Relaxed), OVER);
        // SAFETY: on this stack frame, and unwatched below.
        assert_eq!(unsafe { state.watch(PENDING, &other) }, Watch::Over);
        state.unwatch(PENDING, &one);
        assert_eq!(state.load(Ordering::Relaxed), OVER, "a watcher that is not there takes nothing out");
        one.leave(&WaitPolicy::DEFAULT);
        other.leave(&WaitPolicy::DEFAULT);
    }

    #[test]
    fn a_watcher_for_the_first_leaves_the_others() {
        let states = [PENDING; 3].map(WatchedState::<Native>::new);
        let watcher = Watcher::for_first();
        for state in &states {
            // SAFETY: on this stack frame, and unwatched below.
            assert_eq!(unsafe { state.watch(PENDING, &watcher) }, Watch::Set);
        }
        assert!(!watcher.counter().is_done());
        states[1].end(OVER);
        assert!(watcher.counter().is_done());
        states[2].end(OVER);
        states.iter().for_each(|state| state.unwatch(PENDING, &watcher));
        watcher.leave(&WaitPolicy::DEFAULT);
        assert_eq!(states.map(|state| state.load(Ordering::Relaxed)), [PENDING, OVER, OVER]);
    }
}
