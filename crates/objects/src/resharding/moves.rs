//! Moving posted receives and unexpected messages from VNI to VNI, inside of their critical sections.

use heddle_platform::atomic::{AtomicBool, AtomicU64, Ordering};
use heddle_platform::{clock, statics};

statics! {
    static STAMPS: AtomicU64 = AtomicU64::new(0);
    /// True if stamps are read from the clock. Written once, before there are communicators.
    static BY_CLOCK: AtomicBool = AtomicBool::new(false);
}

/// Has stamps read from [`clock::ticks_in_order`], on which all cores agree: a counter of all threads goes
/// from core to core with each message. To be called before communicators are made.
pub fn stamp_by_clock() {
    BY_CLOCK.store(true, Ordering::Relaxed);
}

/// A stamp greater than that of every message that was stored before this one was sent. Any thread may call
/// this.
#[inline]
pub fn next_stamp() -> u64 {
    if BY_CLOCK.load(Ordering::Relaxed) {
        return clock::ticks_in_order();
    }
    // Relaxed: if one send comes before another thread's, something else has ordered the two.
    STAMPS.fetch_add(1, Ordering::Relaxed)
}

/// Names the self messages of one communicator.
#[derive(Debug, Clone, Copy)]
pub struct SelfMessages {
    /// The context id.
    pub context: u64,
    /// The process's rank in the communicator.
    pub source: i32,
    /// The communicator's default VNI.
    pub default_vni: u32,
}

/// Receives and messages taken out of a VNI, each in their order. No receive has a wildcard.
#[derive(Debug)]
pub struct Moved<K, M> {
    /// Posted receives with their requests.
    pub posted: Vec<(K, u32)>,
    /// Unexpected messages with their stamps, or with other numbers that order those of one VNI.
    pub unexpected: Vec<(u64, K, M)>,
}

/// A VNI as this module sees it: messages move from it and to it.
pub trait Shard: Sync {
    /// The state that the VNI's critical section guards.
    type Inside;
    /// The key by which a message and a receive match.
    type Key: Send + Sync;
    /// An unexpected message.
    type Message: Send;

    /// Runs an operation inside of the VNI's critical section.
    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Self::Inside) -> R + Send) -> R;

    /// Takes out these self messages, and the receives posted for them.
    fn take_out(inside: &mut Self::Inside, messages: SelfMessages) -> Moved<Self::Key, Self::Message>;

    /// Posts a receive on this VNI, whose number is `vni`.
    fn post(inside: &mut Self::Inside, key: Self::Key, request: u32, vni: u32);

    /// Stores a message that no posted receive matches.
    fn keep(inside: &mut Self::Inside, key: Self::Key, message: Self::Message, stamp: Option<u64>);
}

/// Moves messages and receives from the default VNI to the VNIs of their keys, then calls `done`, all inside
/// of the default VNI's critical section.
pub(super) fn distribute<P: Shard>(
    shards: &[P],
    messages: SelfMessages,
    vni_of: impl Fn(&P::Key) -> u32 + Sync,
    done: impl FnOnce() + Send,
) {
    shards[messages.default_vni as usize].enter(|default_vni| {
        let Moved { posted, unexpected } = P::take_out(default_vni, messages);
        for (key, request) in posted {
            let vni = vni_of(&key);
            inside_of(shards, vni, messages, default_vni, |inside| P::post(inside, key, request, vni));
        }
        for (_, key, message) in unexpected {
            let (vni, stamp) = (vni_of(&key), Some(next_stamp()));
            inside_of(shards, vni, messages, default_vni, |inside| P::keep(inside, key, message, stamp));
        }
        done();
    });
}

/// Calls `begin`, then moves messages and receives back to the default VNI, all inside of its critical
/// section.
pub(super) fn gather<P: Shard>(shards: &[P], messages: SelfMessages, begin: impl FnOnce() + Send) {
    shards[messages.default_vni as usize].enter(|default_vni| {
        begin();
        let (mut posted, mut unexpected) = (Vec::new(), Vec::new());
        for vni in 0..shards.len() as u32 {
            let moved = inside_of(shards, vni, messages, default_vni, |inside| P::take_out(inside, messages));
            posted.extend(moved.posted);
            unexpected.extend(moved.unexpected);
        }
        // Stable: the messages of one VNI are in order already.
        unexpected.sort_by_key(|(stamp, ..)| *stamp);
        for (key, request) in posted {
            P::post(default_vni, key, request, messages.default_vni);
        }
        for (_, key, message) in unexpected {
            P::keep(default_vni, key, message, None);
        }
    });
}

/// Runs an operation inside of a VNI's critical section. The caller is inside of the default VNI's already.
fn inside_of<P: Shard, R: Send>(
    shards: &[P],
    vni: u32,
    messages: SelfMessages,
    default_vni: &mut P::Inside,
    operation: impl FnOnce(&mut P::Inside) -> R + Send,
) -> R {
    if vni == messages.default_vni { operation(default_vni) } else { shards[vni as usize].enter(operation) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_later_stamp_is_greater_also_by_the_clock() {
        let grow = || {
            let stamps: Vec<u64> = (0..1_000).map(|_| next_stamp()).collect();
            assert!(stamps.is_sorted_by(|earlier, later| earlier < later));
        };
        grow();
        stamp_by_clock();
        grow();
    }
}
