//! The message kinds of the protocols.
//!
//! | kind | payload | meaning |
//! |---|---|---|
//! | `EAGER` | the data | a message |
//! | `SYNC` | the data; extra: sender's request | a message whose sender waits for its match |
//! | `RTS` | [`Rts`]; from another machine that exposes the data also its key | a message whose data the receiver fetches (ready to send) |
//! | `CTS` | [`Cts`] | answer to `RTS`: send me the data in pieces (clear to send) |
//! | `DATA` | a piece; extra: receiver's request, offset | a piece of it |
//! | `PUSH` | [`Push`] | answer to `RTS`: copy the rear half to my memory, while I fetch the front half |
//! | `PUSHED` | receiver's request, 1 if the copy succeeded, otherwise why not ([`HalfEnd`](super::under_way::HalfEnd)) | the rear half is there |
//! | `WITHDRAW` | sender's request; context, source and tag are the message's | forget the message, if it is not matched |
//! | `WITHDRAWN` | sender's request, 1 if the message was forgotten | answer to `WITHDRAW` |
//! | `FIN` | sender's request | the receiver has everything, or has matched a `SYNC` |
//! | `LOST` | a rank; from this process itself, or from a peer that has lost the rank | the rank is lost (`heddle_transport::LOST`) |
//! | `FETCHED` | receive, sender's request; from this process itself | the data was read from another machine |
//! | `FETCH` | address, length, receiver's request | send me this memory of yours in pieces (`served_copy.rs`) |
//! | `STORE` | a piece; extra: address, sender's request, 1 with the last piece | store it there; answer the last one by `FIN` |
//! | `STAMPED_EAGER` | the stamp, then the data; or the data, and the stamp in extra | a message, one of several VNIs' (`spread`) |
//! | `SPREAD` | 1 if by source as well | from now on my messages are spread over VNIs, by tag |
//! | `GATHER` | | send them on this VNI again |
//! | `GATHERED` | | from now on they are on this VNI again, with stamps |
//! | `UNSTAMPED` | | answer to `GATHERED`: without stamps |
//! | `ASK` | as `SPREAD` | spread your messages |
//! | `HISTORY` | a communicator; the number of an operation, asker | which collective operations have you begun there? (`history`) |
//! | `BEGUN` | context id, that operation or the latest; the latest when a blocking one ended, asker | answer to `HISTORY` |
//! | `DISAGREED` | a communicator | its ranks disagree on its operations |
//!
//! The header of a `CTS`, `PUSH` or `FIN` names the method by which the data is fetched, if there was a
//! choice.
//!
//! A `SYNC` and an `RTS` may have a stamp: as the second word, and in the place of the key.

use crate::matching::Key;
use crate::transfer_method::TransferMethod;
use heddle_transport::{EXTRA_BYTES, Envelope, Header, Incoming};

pub(crate) const EAGER: u8 = 1;
pub(crate) const SYNC: u8 = 2;
pub(crate) const RTS: u8 = 3;
pub(crate) const CTS: u8 = 4;
pub(crate) const DATA: u8 = 5;
pub(crate) const FIN: u8 = 6;
pub(crate) const PUSH: u8 = 7;
pub(crate) const PUSHED: u8 = 8;
pub(crate) const WITHDRAW: u8 = 9;
pub(crate) const WITHDRAWN: u8 = 10;
pub(crate) const FETCHED: u8 = 11;
// 12 is `heddle_transport::LOST`.
pub(crate) const FETCH: u8 = 13;
pub(crate) const STORE: u8 = 14;
pub(crate) const STAMPED_EAGER: u8 = 15;
pub(crate) const SPREAD: u8 = 16;
pub(crate) const GATHER: u8 = 17;
pub(crate) const GATHERED: u8 = 18;
pub(crate) const UNSTAMPED: u8 = 19;
pub(crate) const ASK: u8 = 20;
pub(crate) const HISTORY: u8 = 21;
pub(crate) const BEGUN: u8 = 22;
pub(crate) const DISAGREED: u8 = 23;

/// The bytes of a stamp.
pub(crate) const STAMP_BYTES: usize = size_of::<u64>();

/// The `aux` of a `SYNC` or `RTS` with a stamp.
pub(crate) const STAMPED: u16 = 1;

/// Ready to send: the place of the data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rts {
    /// The number of bytes of data.
    pub len: u64,
    /// Address in the sender's memory, as this machine's receivers or the network's remote reads count; 0 on
    /// this machine if the data does not lie in one piece.
    pub address: u64,
    /// The key by which the network reads the data; `None` if it cannot.
    pub key: Option<u64>,
    /// The sender's request.
    pub(crate) request: u32,
}

/// The bytes of an `RTS` with a key.
pub(crate) const EXPOSED_RTS_BYTES: usize = EXTRA_BYTES + size_of::<u64>();

/// Clear to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cts {
    /// The sender's request.
    pub sender: u32,
    /// The receiver's request.
    pub receiver: u32,
    /// The number of bytes that the receiver has room for.
    pub wanted: u64,
}

/// Asks the sender to copy the rear half itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push {
    /// The sender's request.
    pub sender: u32,
    /// The receiver's request.
    pub receiver: u32,
    /// Address of the whole message in the receiver's memory.
    pub(crate) address: u64,
}

/// Three words: they fit into a control message and into the extra bytes of a bulk message.
pub(crate) type Words = [u64; EXTRA_BYTES / 8];

pub(crate) fn to_bytes(words: Words) -> [u8; EXTRA_BYTES] {
    let mut bytes = [0; EXTRA_BYTES];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

/// The stamp and the data of a `STAMPED_EAGER`, if it has its form.
#[inline]
pub(crate) fn stamped(message: &Incoming) -> Option<(u64, &[u8])> {
    if message.has_extra() {
        let [stamp, ..] = from_bytes(&message.extra());
        return Some((stamp, message.payload()));
    }
    let (stamp, data) = message.payload().split_first_chunk()?;
    Some((u64::from_ne_bytes(*stamp), data))
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Words {
    let mut words = [0; EXTRA_BYTES / 8];
    for (word, from) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(from);
        *word = u64::from_ne_bytes(eight);
    }
    words
}

impl Rts {
    pub(crate) fn to_bytes(self) -> [u8; EXTRA_BYTES] {
        to_bytes([self.len, self.address, u64::from(self.request)])
    }

    /// The words with the key.
    pub(crate) fn with_key(self, key: u64) -> [u8; EXPOSED_RTS_BYTES] {
        let mut bytes = [0; EXPOSED_RTS_BYTES];
        bytes[..EXTRA_BYTES].copy_from_slice(&self.to_bytes());
        bytes[EXTRA_BYTES..].copy_from_slice(&key.to_ne_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Rts {
        let [len, address, request] = from_bytes(bytes);
        let key = bytes.get(EXTRA_BYTES..).and_then(|key| key.try_into().ok()).map(u64::from_ne_bytes);
        Rts { len, address, key, request: request as u32 }
    }
}

impl Cts {
    pub(crate) fn to_bytes(self) -> [u8; EXTRA_BYTES] {
        to_bytes([u64::from(self.sender), u64::from(self.receiver), self.wanted])
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Cts {
        let [sender, receiver, wanted] = from_bytes(bytes);
        Cts { sender: sender as u32, receiver: receiver as u32, wanted }
    }
}

impl Push {
    pub(crate) fn to_bytes(self) -> [u8; EXTRA_BYTES] {
        to_bytes([u64::from(self.sender), u64::from(self.receiver), self.address])
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Push {
        let [sender, receiver, address] = from_bytes(bytes);
        Push { sender: sender as u32, receiver: receiver as u32, address }
    }
}

/// Returns the header of the request to forget a message.
pub(crate) fn withdrawal(key: &Key) -> Header {
    Header { kind: WITHDRAW, aux: 0, context: key.context, envelope: key.envelope }
}

/// Returns the header of a message that belongs to the protocol and is not matched.
pub(crate) fn control(kind: u8) -> Header {
    Header { kind, aux: 0, context: 0, envelope: Envelope::new(0, 0) }
}

/// Returns the header of a receiver's answer to a send, which says by what method the data is fetched, if
/// there was a choice.
pub(crate) fn answer(kind: u8, method: Option<TransferMethod>) -> Header {
    Header { aux: method.map_or(0, TransferMethod::to_wire), ..control(kind) }
}
