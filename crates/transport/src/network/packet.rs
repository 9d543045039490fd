//! A message as it travels through the network.
//!
//! ```text
//!  0        8        12       16     17      18     20            24        32             40        64
//!  ┌────────┬────────┬────────┬──────┬───────┬──────┬─────────────┬─────────┬──────────────┬─────────┬────
//!  │ key    │ sender │ credit │ kind │ flags │ aux  │ number      │ context │ source, tag  │ [extra] │ payload
//!  └────────┴────────┴────────┴──────┴───────┴──────┴─────────────┴─────────┴──────────────┴─────────┴────
//! ```
//!
//! The key is a number that the receiver has chosen and left with its address, so only processes of its job
//! know it. `credit` is the number of messages of the receiver's that the sender of the packet has read since
//! its last packet. The messages from one rank to a VNI of another are numbered: a provider matches packets
//! with receives in order, but may report a long one as complete after a short one behind it. All machines of
//! a job have the same byte order.

use crate::failure::Garbage;
use crate::slot::{EXTRA_BYTES, Envelope, Header, INLINE_BYTES};

/// Bytes in front of extra bytes and payload.
pub(super) const HEADER_BYTES: usize = 40;

/// Where the flags are.
const FLAGS_AT: usize = 17;
/// The packet has extra bytes.
const EXTRA: u8 = 1;
/// The sender of the packet throttles its senders.
const THROTTLED: u8 = 2;
/// There is no message in the packet.
const EMPTY: u8 = 4;
/// The sender of the packet leaves the network.
const LEAVES: u8 = 8;

/// The fields of a packet that do not belong to its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// The receiver's key.
    pub(super) key: u64,
    /// The sender's rank in the job.
    pub(super) sender: u32,
    /// The messages of the receiver's that the sender has read since its last packet.
    pub(super) credit: u32,
    /// True if the sender throttles those who send to it.
    pub(super) throttled: bool,
    /// True if the sender leaves the network: nothing needs to be heard of it any more.
    pub(super) leaves: bool,
}

/// The message of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) header: Header,
    pub(super) has_extra: bool,
    /// Its number among the messages of the sender.
    pub(super) number: u32,
}

/// A packet, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) label: Label,
    /// The message; none in a packet that only brings credit.
    pub(super) message: Option<Form>,
}

/// The number of bytes in front of the payload.
pub(super) const fn payload_offset(has_extra: bool) -> usize {
    HEADER_BYTES + if has_extra { EXTRA_BYTES } else { 0 }
}

/// Returns true if there is no message in a packet that this process has written.
pub(super) fn is_empty(packet: &[u8]) -> bool {
    packet[FLAGS_AT] & EMPTY != 0
}

/// The first bytes of a packet.
pub(super) fn header_bytes(label: &Label, message: Option<&Form>) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &label.key.to_ne_bytes());
    put(8, &label.sender.to_ne_bytes());
    put(12, &label.credit.to_ne_bytes());
    let mut flags = if label.throttled { THROTTLED } else { 0 } | if label.leaves { LEAVES } else { 0 };
    match message {
        None => flags |= EMPTY,
        Some(Form { header, has_extra, number }) => {
            flags |= if *has_extra { EXTRA } else { 0 };
            put(16, &[header.kind]);
            put(18, &header.aux.to_ne_bytes());
            put(20, &number.to_ne_bytes());
            put(24, &header.context.to_ne_bytes());
            put(32, &header.envelope.bits().to_ne_bytes());
        }
    }
    put(FLAGS_AT, &[flags]);
    bytes
}

/// A packet that is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It comes from a process that does not know this one's key.
    Stranger,
    /// It comes from a rank of the job, and no rank writes such a packet.
    Garbage(u32, Garbage),
}

impl Packet {
    /// Reads a packet for the process that has this key, in a job of that many ranks.
    pub(super) fn read(bytes: &[u8], key: u64, ranks: u32) -> Result<Packet, Refused> {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        if bytes.len() < HEADER_BYTES || word(0) != key {
            return Err(Refused::Stranger);
        }
        let (ends, about) = (word(8).to_ne_bytes(), word(16).to_ne_bytes());
        let half = |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (sender, credit) = (half(&ends[..4]), half(&ends[4..]));
        if sender >= ranks {
            return Err(Refused::Stranger);
        }
        let (kind, flags, aux) = (about[0], about[1], u16::from_ne_bytes([about[2], about[3]]));
        let (throttled, leaves) = (flags & THROTTLED != 0, flags & LEAVES != 0);
        let label = Label { key, sender, credit, throttled, leaves };
        if flags & EMPTY != 0 {
            return Ok(Packet { label, message: None });
        }
        let has_extra = flags & EXTRA != 0;
        let len = bytes.len() - HEADER_BYTES;
        if if has_extra { len < EXTRA_BYTES } else { len > INLINE_BYTES } {
            return Err(Refused::Garbage(sender, Garbage::Form { kind, len }));
        }
        let envelope = Envelope::new((word(32) >> 32) as u32 as i32, word(32) as u32 as i32);
        let header = Header { kind, aux, context: word(24), envelope };
        let number = half(&about[4..]);
        Ok(Packet { label, message: Some(Form { header, has_extra, number }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LABEL: Label = Label { key: 7, sender: 2, credit: 9, throttled: true, leaves: false };
    const FORM: Form = Form {
        header: Header { kind: 3, aux: 515, context: 1 << 40, envelope: Envelope::new(-2, 77) },
        has_extra: false,
        number: u32::MAX,
    };

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        for message in [None, Some(FORM), Some(Form { has_extra: true, ..FORM })] {
            for label in [LABEL, Label { throttled: false, leaves: true, ..LABEL }] {
                let mut bytes = header_bytes(&label, message.as_ref()).to_vec();
                bytes.resize(HEADER_BYTES + EXTRA_BYTES, 0);
                assert_eq!(Packet::read(&bytes, 7, 3), Ok(Packet { label, message }));
            }
        }
    }

    #[test]
    fn strangers_are_told_from_ranks_that_write_garbage() {
        let mut bytes = header_bytes(&LABEL, Some(&FORM)).to_vec();
        assert_eq!(Packet::read(&bytes, 8, 3), Err(Refused::Stranger));
        assert_eq!(Packet::read(&bytes, 7, 2), Err(Refused::Stranger));
        assert_eq!(Packet::read(&bytes[..39], 7, 3), Err(Refused::Stranger));
        bytes.resize(HEADER_BYTES + INLINE_BYTES + 1, 0);
        assert!(matches!(Packet::read(&bytes, 7, 3), Err(Refused::Garbage(2, _))));
        let form = Form { has_extra: true, ..FORM };
        let bytes = header_bytes(&LABEL, Some(&form));
        assert!(matches!(Packet::read(&bytes, 7, 3), Err(Refused::Garbage(2, _))));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), key: u64) {
            let _ = Packet::read(&bytes, key, 4);
            let mut bytes = bytes;
            if bytes.len() >= 8 {
                bytes[..8].copy_from_slice(&key.to_ne_bytes());
                let _ = Packet::read(&bytes, key, 4);
            }
        }
    }
}
