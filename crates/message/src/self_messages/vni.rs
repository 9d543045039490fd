//! Self messages on one VNI, while they may move from one VNI to another.
//!
//! Each operation checks within the critical section that its messages are still on this VNI.

use crate::matching::Key;
use crate::request::{self, OutOfRequests, RequestId};
use crate::vni::core::Core;
use crate::vni::interface::VniState;
use crate::vni::{Message, SendArgs, Vni};
use heddle_model::counters::{CountedEvent, count};
use heddle_model::{Guarded, Path, SectionOf, Whole};
use heddle_objects::resharding::{Moved, Mover, Route, SelfMessages, Shard, Sharding};

impl Vni {
    /// Sends to this process as `send` does. Returns `None` if the self messages are
    /// not where the route says.
    #[inline(always)]
    pub fn send_to_self(
        &self,
        args: &mut SendArgs,
        request: impl Fn(u32) -> Result<RequestId, OutOfRequests> + Send,
        route: Route<'_>,
    ) -> Option<Result<Option<RequestId>, OutOfRequests>> {
        self.whole().with_lock(
            Path::Main,
            #[inline(always)]
            move |core| {
                if !route.is_current() {
                    return None;
                }
                route.note_sender();
                Some(core.send_to_self(args, || request(route.vni()), route.is_sharded()))
            },
        )
    }

    /// Receives from this process. Returns false if the self messages are not where the route says.
    #[inline(always)]
    pub fn receive_from_self(&self, id: RequestId, key: Key, route: Route<'_>) -> bool {
        self.whole().with_lock(
            Path::Main,
            #[inline(always)]
            move |core| {
                let holds = route.is_current();
                if holds {
                    request::set_vni(id, route.vni());
                    core.receive_here(id, key);
                }
                holds
            },
        )
    }

    /// The objects behind the VNI's lock.
    #[inline(always)]
    pub(crate) fn whole(&self) -> &Guarded<Core<Whole>> {
        match &self.state {
            VniState::Whole(state) => state,
            VniState::Parted(_) | VniState::LockFree(_) => unreachable!("their messages stay on their VNI"),
        }
    }
}

/// A VNI behind one lock, for the thread that moves messages.
struct Movable<'a>(&'a Vni);

fn movable(vnis: &[Vni]) -> Vec<Movable<'_>> {
    vnis.iter().map(Movable).collect()
}

/// Shards the self messages over these VNIs, unless they were pinned: see [`Sharding::shard`].
#[cold]
pub(super) fn shard(
    layout: &Sharding,
    vnis: &[Vni],
    messages: SelfMessages,
    vni_of: impl Fn(&Key) -> u32 + Sync,
) {
    if layout.shard(&Mover::wait(), &movable(vnis), messages, vni_of) {
        count(CountedEvent::SelfMessagesSharded, 1);
    }
}

/// Pins the self messages to the default VNI: see [`Sharding::pin`].
#[cold]
pub(super) fn pin(layout: &Sharding, vnis: &[Vni], messages: SelfMessages) {
    if layout.pin(&Mover::wait(), &movable(vnis), messages) {
        count(CountedEvent::SelfMessagesPinned, 1);
    }
}

impl Shard for Movable<'_> {
    type Inside = Core<Whole>;
    type Key = Key;
    type Message = Message;

    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Core<Whole>) -> R + Send) -> R {
        self.0.whole().with_lock(Path::Main, operation)
    }

    fn take_out(core: &mut Core<Whole>, messages: SelfMessages) -> Moved<Key, Message> {
        let is_one = |key: &Key| key.context == messages.context && key.source() == messages.source;
        core.take_out_if(|key, _| is_one(key), |key, _| is_one(key))
    }

    fn post(core: &mut Core<Whole>, key: Key, id: RequestId, _vni: u32) {
        core.post_moved(key, id);
    }

    fn keep(core: &mut Core<Whole>, key: Key, message: Message, stamp: Option<u64>) {
        core.matching_shard(key.context).with(Path::Main, |shard| shard.keep_moved(key, message, stamp));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vni::core::MatchingShard;
    use heddle_bootstrap::JobControl;
    use heddle_model::Model;
    use heddle_transport::Fabric;
    use std::sync::Arc;

    #[test]
    fn messages_that_move_take_their_bytes_along() {
        let messages = SelfMessages { context: 8, source: 0, default_vni: 0 };
        let world = JobControl::create(1).and_then(|job| job.world_of(0)).expect("a job of one");
        let fabric = Fabric::attach(&world, 2).expect("a segment");
        let vni = |index| Vni::new(&fabric, index, &Arc::new(Model::default().sections(true)), 1000);
        let vnis = [vni(0), vni(1)];
        let [from, to] = [Movable(&vnis[0]), Movable(&vnis[1])];
        let throttles = || [&from, &to].map(|vni| vni.enter(|core| core.throttle.is_raised()));
        from.enter(|core| {
            for _ in 0..100 {
                let key = Key::new(messages.context, messages.source, 5);
                let store = |shard: &mut _| MatchingShard::store(shard, key, Message::copy_of(0, &[0; 8]));
                core.matching_shard(messages.context).with(Path::Main, store);
            }
        });
        assert_eq!(throttles(), [true, false]);
        let moved = from.enter(|core| Movable::take_out(core, messages));
        assert_eq!((throttles(), moved.unexpected.len()), ([false; 2], 100));
        to.enter(|core| {
            for (stamp, key, message) in moved.unexpected {
                Movable::keep(core, key, message, Some(stamp));
            }
        });
        assert_eq!(throttles(), [false, true]);
    }
}
