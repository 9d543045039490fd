//! Delivery of self messages: no ring, and one copy if the receive is posted.

use crate::buffer::Buffer;
use crate::matching::Key;
use crate::request::{self, OutOfRequests, RequestId};
use crate::vni::core::Core;
use crate::vni::message::{Content, Message, SendArgs};
use crate::vni::receive::truncated;
use crate::vni::ring_access::Rules;
use crate::vni::send::fill;
use crate::vni::trace;
use heddle_model::counters::{self, CountedEvent};
use heddle_model::{Path, SectionOf};
use heddle_objects::resharding::next_stamp;
use heddle_transport::Throttle;

/// A self message of up to this many bytes is copied if no receive is posted; a larger one stays in the
/// send's buffer. All self messages stay there while the VNI throttles its senders, because unexpected
/// messages take too much memory.
const LOCAL_EAGER_LIMIT: usize = 32 << 10;

impl<S: Rules> Core<S> {
    /// Sends to this process. An unexpected message gets a stamp if the self messages of the communicator are
    /// sharded. If a send needs a request and there is none left, nothing is sent. The function is out of
    /// line, so that sends to other processes stay short.
    #[inline(never)]
    pub(crate) fn send_to_self(
        &self,
        args: &mut SendArgs,
        request: impl FnOnce() -> Result<RequestId, OutOfRequests>,
        stamped: bool,
    ) -> Result<Option<RequestId>, OutOfRequests> {
        let key = Key::new(args.context, args.source, args.tag);
        let throttle = &self.throttle;
        let matched = self.matching_shard(key.context).with_or_leave(
            Path::Main,
            (&mut *args, request),
            |shard, (args, request)| {
                let receive = shard.matching.match_arrival(&key);
                counters::count(CountedEvent::MatchingStep, shard.matching.take_steps());
                receive.map(Matched::Receive).unwrap_or_else(|| {
                    let Ok((message, pending)) = waiting(args, request, throttle) else {
                        return Matched::OutOfRequests;
                    };
                    if stamped {
                        shard.store_stamped(key, message, next_stamp());
                    } else {
                        shard.store(key, message);
                    }
                    Matched::Stored(pending)
                })
            },
            |(args, request)| {
                let (later, matched) = match waiting(args, request, throttle) {
                    Ok((message, pending)) => {
                        (Some(self.match_later(key, message)), Matched::Stored(pending))
                    }
                    Err(OutOfRequests) => (None, Matched::OutOfRequests),
                };
                let later = move |shard: &mut _| {
                    if let Some(later) = later {
                        later(shard);
                    }
                };
                (later, matched)
            },
        );
        match matched {
            Matched::Receive(receive) => {
                // The arguments, and the memory that they keep, live until the copy is done.
                trace::matched(&key, || args.buffer.len() as u64, false);
                self.copy_to_receive(&args.buffer, receive, &key);
                Ok(None)
            }
            Matched::Stored(pending) => {
                // No other thread knows of the message, so a thread that sleeps in a probe must be woken.
                self.wake_sleepers();
                Ok(pending)
            }
            Matched::OutOfRequests => Err(OutOfRequests),
        }
    }

    /// Copies the data of a waiting send of this process to a receive.
    pub(crate) fn deliver_local(&self, send: RequestId, receive: RequestId, key: &Key) {
        // SAFETY: a thread that takes a message out of the unexpected messages has the
        // in-flight state of its send.
        let buffer = unsafe { request::in_flight(send) }.buffer;
        self.copy_to_receive(&buffer, receive, key);
        self.sender_done(send);
    }

    fn copy_to_receive(&self, from: &Buffer, receive: RequestId, key: &Key) {
        // SAFETY: a thread that matches a receive has its in-flight state.
        let to = unsafe { request::in_flight(receive) }.buffer;
        let (len, room) = (from.len(), to.len());
        from.copy_to(&to, len.min(room));
        let error = (len > room).then(|| truncated(key, len as u64, room));
        self.complete_receive(receive, key, len.min(room) as u64, error);
    }
}

/// The result of matching a self message.
enum Matched {
    Receive(RequestId),
    /// The message was stored, and waits for its receive; so does the request of its send, if it has one.
    Stored(Option<RequestId>),
    /// No receive matched and no request is left to keep the message: it is not sent.
    OutOfRequests,
}

/// Makes an unexpected self message, and the request of its send unless the send is complete.
fn waiting(
    args: &mut SendArgs,
    request: impl FnOnce() -> Result<RequestId, OutOfRequests>,
    throttle: &Throttle,
) -> Result<(Message, Option<RequestId>), OutOfRequests> {
    let (peer, len) = (args.peer, args.buffer.len());
    if args.synchronous || len > LOCAL_EAGER_LIMIT || throttle.is_raised() {
        let id = request()?;
        fill(id, SendArgs { keep: args.keep.take(), ..*args });
        return Ok((Message::new(peer, Content::Local(id)), Some(id)));
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
    Ok((message, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::request::RequestKind;
    use crate::vni::Vni;
    use crate::vni::tests::ranks::models;
    use heddle_bootstrap::JobControl;
    use heddle_sync::Scope;
    use heddle_transport::Fabric;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_thread_that_sleeps_in_a_probe_is_woken() {
        let world = JobControl::create(1).and_then(|job| job.world_of(0)).expect("a job of one");
        let fabric = Fabric::attach(&world, 1).expect("a segment");
        for model in models() {
            a_probe_is_woken(&fabric, &Vni::new(&fabric, 0, &Arc::new(model.sections(true)), usize::MAX));
        }
    }

    fn a_probe_is_woken(fabric: &Fabric, vni: &Vni) {
        let key = Key::new(8, 0, 3);
        let mut bytes = vec![0u8; 2 * LOCAL_EAGER_LIMIT];
        for len in [0, 9, 1000, bytes.len()] {
            let ticket = fabric.own_doorbell().prepare(Scope::Machine);
            // SAFETY: the bytes outlive the operation, which ends in this round.
            let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), len) };
            let args =
                SendArgs { buffer, peer: 0, context: 8, source: 0, tag: 3, synchronous: false, keep: None };
            let send = vni.send(args, || request::take(0, 0, RequestKind::Send)).expect("a request");
            assert!(ticket.park(Some(Duration::from_secs(20))), "not woken by {len} bytes");
            let receive = request::take(0, 0, RequestKind::Receive).expect("a request");
            // SAFETY: new, and not issued yet; it has no room, so nothing is written.
            unsafe { request::in_flight(receive) }.buffer = Buffer::empty();
            vni.receive(receive, key);
            assert!(send.is_none_or(|send| request::consume(send).is_some()));
            assert!(request::consume(receive).is_some());
        }
    }
}
