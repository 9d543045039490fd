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
            self.matching.store(key, Message::new(peer, Content::Local(id)));
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
        self.matching.store(key, message);
        None
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
