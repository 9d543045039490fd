//! Receives and messages that move from one VNI to another.

use super::core::{Core, MatchingShard};
use super::message::Message;
use super::trace;
use crate::matching::Key;
use crate::request::{self, RequestId, Stage};
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf, Whole};
use heddle_objects::resharding::Moved;

impl Core<Whole> {
    /// Takes out receives and messages, and the messages' bytes.
    pub(crate) fn take_out_if(
        &self,
        is_posted: impl Fn(&Key, RequestId) -> bool,
        is_unexpected: impl Fn(&Key, &Message) -> bool,
    ) -> Moved<Key, Message> {
        self.matching_shard(0).with(Path::Main, |shard| {
            let moved = shard.matching.take_out_if(is_posted, is_unexpected);
            let bytes = moved.unexpected.iter().map(|(_, _, message)| message.footprint()).sum();
            shard.bytes.remove(bytes);
            moved
        })
    }

    /// Posts a receive that was posted on another VNI.
    pub(crate) fn post_moved(&self, key: Key, id: RequestId) {
        let place = self.matching_shard(0).with(Path::Main, |shard| shard.matching.post(key, id));
        // SAFETY: a receive that was taken out of a matching shard belongs to the thread that took it, and a
        // posted one belongs to the critical section that this thread is in.
        unsafe { request::in_flight(id) }.stage = Stage::Posted(place);
        request::set_vni(id, self.index as u32);
    }

    /// Matches a message that comes from another VNI, or stores it by `store`. It may have been unexpected
    /// there, and counted.
    pub(crate) fn match_moved(
        &self,
        key: Key,
        message: Message,
        store: impl FnOnce(&mut MatchingShard, Message),
        was_unexpected: bool,
    ) {
        let matched = self.matching_shard(0).with(Path::Progress, |shard| {
            let receive = shard.matching.match_arrival(&key);
            match receive {
                Some(id) => Some((id, message)),
                None => {
                    store(shard, message);
                    None
                }
            }
        });
        if let Some((id, message)) = matched {
            counters::count(CountedEvent::UnexpectedTaken, u64::from(was_unexpected));
            trace::matched(&key, || message.bytes(), was_unexpected);
            self.accept(id, &key, message);
        }
    }
}

impl MatchingShard {
    /// Stores an unexpected message that another VNI has counted.
    pub(crate) fn keep_moved(&mut self, key: Key, message: Message, stamp: Option<u64>) {
        self.bytes.add(message.footprint());
        self.matching.keep(key, message, stamp);
    }
}
