//! Which VNIs carry a communicator's self messages, and when that changes.

use super::Mover;
use super::moves::{SelfMessages, Shard, distribute, gather};
use heddle_platform::atomic::{AtomicU32, AtomicU64, Ordering};

const TOGETHER: u32 = 0;
const SHARDED: u32 = 1;
const PINNED: u32 = 2;

/// Messages are sharded after this number of changes from one sending thread to another.
const TURNS: u32 = 64;

/// The VNIs that carry a communicator's self messages.
#[derive(Debug)]
pub struct Sharding {
    state: AtomicU32,
    /// The number of changes from one sending thread to another, and the last sender: written in the default
    /// VNI's section.
    turns: AtomicU32,
    sender: AtomicU64,
}

/// The VNI for one operation, with the state in which it was chosen.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    sharding: &'a Sharding,
    state: u32,
    vni: u32,
}

impl Sharding {
    /// Messages that stay on the default VNI.
    pub fn pinned() -> Sharding {
        Sharding { state: AtomicU32::new(PINNED), turns: AtomicU32::new(0), sender: AtomicU64::new(0) }
    }

    /// Sets the state of a new communicator: whether its messages may be sharded, provided that [the process
    /// allows it](super::allow_moves).
    pub fn begin(&self, may_move: bool) {
        // Relaxed: no other thread knows the communicator yet.
        let may_move = may_move && super::MOVES.load(Ordering::Relaxed);
        self.state.store(if may_move { TOGETHER } else { PINNED }, Ordering::Relaxed);
    }

    #[inline(always)]
    fn state(&self) -> u32 {
        // Acquire: pairs with the Release in `change`.
        self.state.load(Ordering::Acquire)
    }

    fn change(&self, state: u32) {
        self.state.store(state, Ordering::Release);
    }

    /// Returns true if the messages stay on the default VNI for good.
    #[inline(always)]
    pub fn is_pinned(&self) -> bool {
        self.state() == PINNED
    }

    /// The route of a message whose VNI is `by_tag` while messages are sharded; `None` if they are pinned.
    #[inline(always)]
    pub fn route(&self, default_vni: u32, by_tag: impl FnOnce() -> u32) -> Option<Route<'_>> {
        let state = self.state();
        let vni = match state {
            TOGETHER => default_vni,
            SHARDED => by_tag(),
            _ => return None,
        };
        Some(Route { sharding: self, state, vni })
    }

    /// The route of a message that is on the default VNI now, for good or not; `None`
    /// if messages are sharded.
    #[inline(always)]
    pub fn route_to_default(&self, default_vni: u32) -> Option<Route<'_>> {
        let state = self.state();
        (state != SHARDED).then_some(Route { sharding: self, state, vni: default_vni })
    }

    /// Shards the messages, unless they are sharded or pinned already: those with a key move to the VNI
    /// `vni_of(key)`. Returns true if it has.
    pub fn shard<P: Shard>(
        &self,
        _mover: &Mover,
        shards: &[P],
        messages: SelfMessages,
        vni_of: impl Fn(&P::Key) -> u32 + Sync,
    ) -> bool {
        if self.state() != TOGETHER {
            return false;
        }
        distribute(shards, messages, vni_of, || self.change(SHARDED));
        true
    }

    /// Pins the messages to the default VNI, for good. Returns true if they were not pinned yet.
    pub fn pin<P: Shard>(&self, _mover: &Mover, shards: &[P], messages: SelfMessages) -> bool {
        if self.is_pinned() {
            return false;
        }
        gather(shards, messages, || self.change(PINNED));
        true
    }
}

impl Route<'_> {
    /// The VNI to use.
    pub fn vni(self) -> u32 {
        self.vni
    }

    /// Returns true if the state is still the one in which the route was chosen. Inside of the VNI's critical
    /// section the answer stays the same until the thread leaves it.
    #[inline(always)]
    pub fn is_current(self) -> bool {
        self.sharding.state() == self.state
    }

    /// Returns true if the messages are sharded.
    #[inline(always)]
    pub fn is_sharded(self) -> bool {
        self.state == SHARDED
    }

    /// Records that the calling thread sends. To be called inside of the VNI's critical section.
    #[inline(always)]
    pub fn note_sender(self) {
        if self.state == TOGETHER {
            let (sharding, this) = (self.sharding, heddle_platform::thread::current_id());
            // Relaxed, and a load and a store: one thread at a time writes them.
            if sharding.sender.load(Ordering::Relaxed) != this {
                sharding.sender.store(this, Ordering::Relaxed);
                sharding.turns.store(sharding.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        }
    }

    /// Returns true if threads have taken turns often enough for the messages to be sharded.
    #[inline(always)]
    pub fn should_shard(self) -> bool {
        self.state == TOGETHER && self.sharding.turns.load(Ordering::Relaxed) >= TURNS
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn send(sharding: &Sharding, times: u32) -> bool {
        let route = sharding.route(0, || 1).expect("not pinned");
        (0..times).for_each(|_| route.note_sender());
        route.should_shard()
    }

    #[test]
    fn messages_are_sharded_once_threads_take_turns() {
        let sharding = Sharding::pinned();
        assert!(sharding.route(0, || 1).is_none());
        crate::resharding::allow_moves();
        sharding.begin(true);
        assert!(!send(&sharding, 10 * TURNS), "one thread alone");
        for turn in 0..TURNS / 2 {
            assert!(!send(&sharding, 3), "turn {turn}");
            std::thread::scope(|scope| scope.spawn(|| send(&sharding, 1)).join().expect("the other one"));
        }
        assert!(send(&sharding, 1));
    }
}
