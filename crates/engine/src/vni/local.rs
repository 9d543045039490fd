//! A process that sends to itself: no ring, one copy if the receive is posted.

use super::Core;
use super::receive::{Content, Message, truncated};
use super::send::{SendArgs, fill};
use crate::matching::Key;
use crate::request::{self, RequestId};

/// A message to oneself up to this size is copied if no receive is posted; a larger one waits in its buffer.
const LOCAL_EAGER_LIMIT: usize = 32 << 10;

impl Core {
    /// Sends to this process.
    pub(super) fn send_to_self(
        &mut self,
        args: SendArgs,
        request: impl FnOnce() -> RequestId,
    ) -> Option<RequestId> {
        let key = Key::new(args.context, args.source, args.tag);
        if let Some(receive) = self.matching.match_arrival(&key) {
            self.copy_to_receive(&args.buffer, receive, &key);
            return None;
        }
        let (peer, len) = (args.peer, args.buffer.len());
        if args.synchronous || len > LOCAL_EAGER_LIMIT {
            let id = request();
            fill(id, args);
            self.store_local(key, Message::new(peer, Content::Local(id)));
            return Some(id);
        }
        let message = match args.buffer.contiguous() {
            _ if len == 0 => Message::copy_of(peer, &[]),
            // SAFETY: the buffer is valid for reads of its length until the send completes.
            Some(address) => Message::copy_of(peer, unsafe { std::slice::from_raw_parts(address, len) }),
            None => {
                let mut packed = vec![0; len];
                args.buffer.read(0, packed.as_mut_ptr(), len);
                Message::copy_of(peer, &packed)
            }
        };
        self.store_local(key, message);
        None
    }

    /// Nobody but this thread knows of the message: who sleeps in a probe is told.
    fn store_local(&mut self, key: Key, message: Message) {
        self.matching.store(key, message);
        self.wake_sleepers();
    }

    /// Gives the data of a waiting send of this process to a receive.
    pub(super) fn deliver_local(&mut self, send: RequestId, receive: RequestId, key: &Key) {
        // SAFETY: the send waits in the unexpected set: active on this VNI, whose section we are in.
        let buffer = &unsafe { request::flight(send) }.buffer;
        self.copy_to_receive(buffer, receive, key);
        self.sender_done(send);
    }

    fn copy_to_receive(&mut self, from: &crate::buffer::Buffer, receive: RequestId, key: &Key) {
        // SAFETY: an active request of this VNI, whose section we are in.
        let to = &unsafe { request::flight(receive) }.buffer;
        let (len, room) = (from.len(), to.len());
        from.copy_to(to, len.min(room));
        let error = (len > room).then(|| truncated(key, len as u64, room));
        self.complete_receive(receive, key, len.min(room) as u64, error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::request::RequestKind;
    use crate::vni::Vni;
    use heddle_bootstrap::JobControl;
    use heddle_model::Model;
    use heddle_sync::Scope;
    use heddle_transport::Fabric;
    use std::time::Duration;

    #[test]
    fn who_sleeps_in_a_probe_is_woken() {
        let world = JobControl::create(1).and_then(|job| job.world_of(0)).expect("a job of one");
        let fabric = Fabric::attach(&world, 1).expect("a segment");
        let vni = Vni::new(&fabric, 0, &Model::default(), true);
        let key = Key::new(8, 0, 3);
        let mut bytes = vec![0u8; 2 * LOCAL_EAGER_LIMIT];
        for len in [0, 9, 1000, bytes.len()] {
            let mut ticket = fabric.own_bell().prepare(Scope::Machine);
            // SAFETY: the bytes outlive the operation, which ends in this round.
            let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), len) };
            let args =
                SendArgs { buffer, peer: 0, context: 8, source: 0, tag: 3, synchronous: false, keep: None };
            let send = vni.with(|core| core.send(args, || request::take(0, 0, RequestKind::Send)));
            assert!(ticket.park(Some(Duration::from_secs(20))), "not woken by {len} bytes");
            let receive = request::take(0, 0, RequestKind::Receive);
            // SAFETY: new, and not issued yet; it has no room, so nothing is written.
            unsafe { request::flight(receive) }.buffer = Buffer::empty();
            vni.with(|core| core.receive(receive, key));
            assert!(send.is_none_or(|send| request::consume(send).is_some()));
            assert!(request::consume(receive).is_some());
        }
    }
}
