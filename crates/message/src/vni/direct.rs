//! A blocking receive that takes its message straight from the ring: without a request, and without matching.
//!
//! It needs the rings and the matching in one critical section, so it exists only under models that guard the
//! VNI as a whole. It acts only if no receive is posted, no unexpected message is stored and no message is
//! queued for sending, and only on a message that is the wanted one and fits into the buffer; all others stay
//! in the ring for the ordinary path. Receives that several threads issue at once have no order (MPI 5.0,
//! section 3.5), so one that is not posted loses nothing.

use super::core::Core;
use super::{trace, wire};
use crate::buffer::Buffer;
use crate::matching::Key;
use heddle_model::{Path, SectionOf, Whole};
use heddle_transport::{Envelope, Incoming, Offered};
use std::cell::Cell;

/// The result of a poll for a direct receive.
#[derive(Debug, Clone, Copy)]
pub enum Direct {
    /// No message is there, or another thread is in the critical section.
    Nothing,
    /// The message was received. The fields are its source and tag, and its number of bytes. Source and tag
    /// stay one number: if they were written separately and read together, the read would wait until both
    /// stores have reached the cache.
    Received(Envelope, usize),
    /// The receive must take the ordinary path.
    Ordinary,
}

impl Core<Whole> {
    /// Polls once for a message that a blocking receive may take from the ring.
    #[inline(always)]
    pub(crate) fn receive_directly(&self, key: Key, buffer: Buffer) -> Direct {
        self.receive_eager::<false>(key, buffer)
    }

    /// Does the same for a message that has a stamp.
    #[inline]
    pub(crate) fn receive_stamped_directly(&self, key: Key, buffer: Buffer) -> Direct {
        self.receive_eager::<true>(key, buffer)
    }

    #[inline(always)]
    fn receive_eager<const STAMPED: bool>(&self, key: Key, buffer: Buffer) -> Direct {
        if !self.is_idle(key.context) {
            return Direct::Ordinary;
        }
        let received = Cell::new((key.envelope, 0));
        let offered = self.arrivals().with(
            Path::Progress,
            #[inline(always)]
            |arrivals| {
                arrivals.inbox.offer(
                    #[inline(always)]
                    |message| {
                        let header = &message.header;
                        let exact = Key { context: header.context, envelope: header.envelope };
                        if STAMPED {
                            let bytes = receive_stamped(message, &key, buffer);
                            received.set((header.envelope, bytes.unwrap_or(0)));
                            return bytes.is_some();
                        }
                        if header.kind != wire::EAGER || !key.wants(&exact) || message.len() > buffer.len() {
                            return false;
                        }
                        buffer.write(0, message.payload());
                        received.set((header.envelope, message.len()));
                        true
                    },
                )
            },
        );
        match offered {
            Offered::Nothing => Direct::Nothing,
            Offered::Refused => Direct::Ordinary,
            Offered::Taken => {
                let (envelope, bytes) = received.get();
                Direct::Received(envelope, bytes)
            }
        }
    }

    /// Returns true if no receive is posted, no message is stored and none is queued here, and no tool wants
    /// to know of matched messages.
    #[inline(always)]
    fn is_idle(&self, context: u64) -> bool {
        self.matching_shard(context).with(Path::Progress, |shard| shard.matching.is_empty())
            && !self.is_backlogged()
            && !self.is_pending()
            && !trace::is_matching_observed()
    }
}

/// Copies the data of a message with a stamp to the buffer, if it is the wanted one and fits. Returns its
/// number of bytes.
#[inline]
fn receive_stamped(message: &Incoming, key: &Key, buffer: Buffer) -> Option<usize> {
    let exact = Key { context: message.header.context, envelope: message.header.envelope };
    if message.header.kind != wire::STAMPED_EAGER || !key.wants(&exact) {
        return None;
    }
    let (_, data) = wire::stamped(message)?;
    if data.len() > buffer.len() {
        return None;
    }
    buffer.write(0, data);
    Some(data.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{self, RequestId};
    use crate::vni::Vni;
    use crate::vni::tests::ranks::{self, CONTEXT, ranks};
    use heddle_model::Model;
    use heddle_spec::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG};

    struct Pair {
        sender: Vni,
        receiver: Vni,
    }

    impl Pair {
        fn new() -> Pair {
            let [(_, sender), (_, receiver)] = ranks(&Model::default());
            Pair { sender, receiver }
        }

        fn send(&self, tag: i32, bytes: &mut [u8]) {
            // SAFETY: the bytes outlive the operation, which is complete when this returns.
            let pending = unsafe { ranks::send(&self.sender, 1, 0, tag, bytes) };
            assert_eq!(pending, None, "there is room");
        }

        fn receive(&self, source: i32, tag: i32, to: &mut [u8]) -> Direct {
            // SAFETY: the bytes outlive the call.
            let buffer = unsafe { Buffer::bytes(to.as_mut_ptr(), to.len()) };
            self.receiver.receive_directly(1, Key::new(CONTEXT, source, tag), buffer)
        }

        fn post(&self, tag: i32, to: &mut [u8]) -> RequestId {
            // SAFETY: the bytes outlive the operation.
            unsafe { ranks::receive(&self.receiver, tag, to) }
        }
    }

    /// The source, tag and number of bytes, if the message was received.
    fn is_received(seen: Direct) -> Option<(i32, i32, usize)> {
        match seen {
            Direct::Received(envelope, bytes) => Some((envelope.source(), envelope.tag(), bytes)),
            Direct::Nothing | Direct::Ordinary => None,
        }
    }

    #[test]
    fn takes_the_wanted_message_with_and_without_wildcards() {
        let pair = Pair::new();
        let mut to = [0; 100];
        assert!(matches!(pair.receive(0, 5, &mut to), Direct::Nothing));
        for (source, tag) in [(0, 5), (MPI_ANY_SOURCE, 5), (0, MPI_ANY_TAG), (MPI_ANY_SOURCE, MPI_ANY_TAG)] {
            for len in [0, 8, 40, 100] {
                pair.send(5, &mut vec![len as u8; len]);
                let received = pair.receive(source, tag, &mut to);
                assert_eq!(is_received(received), Some((0, 5, len)));
                assert!(to[..len].iter().all(|byte| *byte == len as u8));
            }
        }
        assert!(matches!(pair.receive(0, 5, &mut to), Direct::Nothing));
    }

    #[test]
    fn leaves_other_messages_to_the_ordinary_path() {
        let pair = Pair::new();
        let mut to = [0; 8];
        pair.send(6, &mut [1; 8]);
        assert!(matches!(pair.receive(0, 5, &mut to), Direct::Ordinary), "another tag");
        assert!(matches!(pair.receive(1, 6, &mut to), Direct::Ordinary), "another source");
        assert!(matches!(pair.receive(0, 6, &mut to[..7]), Direct::Ordinary), "too long");
        assert_eq!(is_received(pair.receive(0, 6, &mut to)), Some((0, 6, 8)), "it is still there");
    }

    #[test]
    fn leaves_the_message_to_receives_posted_before_and_takes_messages_in_order() {
        let pair = Pair::new();
        let (mut first, mut second) = ([0; 8], [0; 8]);
        let posted = pair.post(5, &mut first);
        pair.send(5, &mut [1; 8]);
        assert!(matches!(pair.receive(0, 5, &mut second), Direct::Ordinary));
        assert!(pair.receiver.poll_for_certain());
        assert!(request::is_complete(posted));
        assert_eq!((first, second), ([1; 8], [0; 8]));

        pair.send(5, &mut [2; 8]);
        assert!(pair.receiver.poll_for_certain());
        pair.send(5, &mut [3; 8]);
        assert!(matches!(pair.receive(0, 5, &mut second), Direct::Ordinary));
        let earlier = pair.post(5, &mut first);
        assert!(request::is_complete(earlier));
        assert_eq!(is_received(pair.receive(0, 5, &mut second)), Some((0, 5, 8)));
        assert_eq!((first, second), ([2; 8], [3; 8]));
        assert!([posted, earlier].iter().all(|id| request::consume(*id).is_some()));
    }

    #[test]
    fn a_sender_that_floods_does_not_hide_another() {
        let [(_, receiver), senders @ ..] = ranks::<3>(&Model::default());
        let mut bytes = [0; 8];
        let mut send = |from: usize| {
            // SAFETY: the bytes outlive the operation, which is complete when the call returns.
            let pending = unsafe { ranks::send(&senders[from].1, 0, from as i32 + 1, 5, &mut bytes) };
            assert_eq!(pending, None, "there is room");
        };
        (0..10).for_each(|_| send(0));
        send(1);
        // SAFETY: the bytes outlive the receives.
        let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
        let anybody = Key::new(CONTEXT, MPI_ANY_SOURCE, 5);
        let sources = (0..11).map(|_| match receiver.receive_directly(1, anybody, buffer) {
            Direct::Received(envelope, _) => envelope.source(),
            other => panic!("{other:?}"),
        });
        assert!(sources.take(2).any(|source| source == 2));
    }
}
