//! Where a communicator's messages of the process to itself are, and when that changes.

use super::Mover;
use super::moves::{Own, Place, gather, spread};
use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};

const TOGETHER: u32 = 0;
const SPREAD: u32 = 1;
const SETTLED: u32 = 2;

/// They are spread when so often another thread has sent than before.
const TURNS: u32 = 64;

/// Where the messages are.
#[derive(Debug)]
pub struct Layout {
    state: AtomicU32,
    /// How often another thread has sent than before, and which one was last: written in the home's section.
    turns: AtomicU32,
    sender: AtomicU64,
}

/// Where an operation finds them, as long as that holds.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    layout: &'a Layout,
    state: u32,
    vni: u32,
}

impl Layout {
    /// Of messages that stay at home.
    pub fn settled() -> Layout {
        Layout { state: AtomicU32::new(SETTLED), turns: AtomicU32::new(0), sender: AtomicU64::new(0) }
    }

    /// Says that nobody has used the messages yet, and whether they may leave their home, as far as any may in this process.
    pub fn begin(&self, may_move: bool) {
        // Relaxed: nobody else knows the communicator.
        let may_move = may_move && super::MOVES.load(Ordering::Relaxed);
        self.state.store(if may_move { TOGETHER } else { SETTLED }, Ordering::Relaxed);
    }

    #[inline(always)]
    fn state(&self) -> u32 {
        // Acquire: pairs with the Release in `change`.
        self.state.load(Ordering::Acquire)
    }

    fn change(&self, state: u32) {
        self.state.store(state, Ordering::Release);
    }

    /// Whether they stay at home.
    #[inline(always)]
    pub fn is_settled(&self) -> bool {
        self.state() == SETTLED
    }

    /// Where a message is to be sent or received whose VNI is `by_tag` if they are spread; `None` if they stay at home.
    #[inline(always)]
    pub fn route(&self, home: u32, by_tag: impl FnOnce() -> u32) -> Option<Route<'_>> {
        let state = self.state();
        let vni = match state {
            TOGETHER => home,
            SPREAD => by_tag(),
            _ => return None,
        };
        Some(Route { layout: self, state, vni })
    }

    /// Spreads them, if they still may be, so that what has a key is on the VNI `vni_of` it.
    pub fn spread<P: Place>(
        &self,
        _mover: &Mover,
        places: &[P],
        own: Own,
        vni_of: impl Fn(&P::Key) -> u32 + Sync,
    ) {
        if self.state() != TOGETHER {
            return;
        }
        if planted(Fault::SpreadBeforeMoved) {
            self.change(SPREAD);
        }
        spread(places, own, vni_of, || self.change(SPREAD));
    }

    /// From now on they are at home, for good.
    pub fn settle<P: Place>(&self, _mover: &Mover, places: &[P], own: Own) {
        if self.is_settled() {
            return;
        }
        let late = planted(Fault::SettledOnceMoved);
        gather(places, own, || {
            if !late {
                self.change(SETTLED)
            }
        });
        if late {
            self.change(SETTLED);
        }
    }
}

impl Route<'_> {
    /// The VNI to use.
    pub fn vni(self) -> u32 {
        self.vni
    }

    /// Whether it holds still. What the answer is inside of the VNI's section, it stays until that is left.
    #[inline(always)]
    pub fn holds(self) -> bool {
        self.layout.state() == self.state || planted(Fault::RouteNotLookedAtAgain)
    }

    /// Whether the messages are spread over VNIs.
    #[inline(always)]
    pub fn is_spread(self) -> bool {
        self.state == SPREAD
    }

    /// Inside of the VNI's section: this thread sends.
    #[inline(always)]
    pub fn note_sender(self) {
        if self.state == TOGETHER {
            let (layout, this) = (self.layout, heddle_platform::thread::current_id());
            // Relaxed, and a load and a store: one thread at a time writes them.
            if layout.sender.load(Ordering::Relaxed) != this {
                layout.sender.store(this, Ordering::Relaxed);
                layout.turns.store(layout.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        }
    }

    /// Whether so many threads have taken turns that the messages are to be spread.
    #[inline(always)]
    pub fn is_crowded(self) -> bool {
        self.state == TOGETHER && self.layout.turns.load(Ordering::Relaxed) >= TURNS
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn send(layout: &Layout, times: u32) -> bool {
        let route = layout.route(0, || 1).expect("not settled");
        (0..times).for_each(|_| route.note_sender());
        route.is_crowded()
    }

    #[test]
    fn a_layout_is_crowded_once_threads_take_turns() {
        let layout = Layout::settled();
        assert!(layout.route(0, || 1).is_none());
        crate::resharding::allow_moves();
        layout.begin(true);
        assert!(!send(&layout, 10 * TURNS), "one thread alone");
        for turn in 0..TURNS / 2 {
            assert!(!send(&layout, 3), "turn {turn}");
            std::thread::scope(|scope| scope.spawn(|| send(&layout, 1)).join().expect("the other one"));
        }
        assert!(send(&layout, 1));
    }
}
