//! Messages as they travel through the network: one or more in a packet.
//!
//! ```text
//!  0        8        12       16       20      24
//!  ┌────────┬────────┬────────┬────────┬───────┬────────┬────────┬─────
//!  │ key    │ sender │ credit │ number │ flags │ record │ record │ ...
//!  └────────┴────────┴────────┴────────┴───────┴────────┴────────┴─────
//!                                  0      1       2     4     8         16             24        48
//!                                  ┌──────┬───────┬─────┬─────┬─────────┬──────────────┬─────────┬─────────┐
//!                                  │ kind │ flags │ aux │ len │ context │ source, tag  │ [extra] │ payload │
//!                                  └──────┴───────┴─────┴─────┴─────────┴──────────────┴─────────┴─────────┘
//! ```
//!
//! The key is a number that the receiver has chosen and left with its address, so only processes of its job
//! know it. `credit` is the number of packets of the receiver's that the sender of this one has read since
//! its last packet. The packets from one rank to a VNI of another are numbered: a provider matches packets
//! with receives in order, but may report a long one as complete after a short one behind it. Records begin
//! at multiples of 8 bytes. A packet without records only brings credit. All machines of a job have the same
//! byte order.

use crate::failure::Garbage;
use crate::slot::{EXTRA_BYTES, Envelope, Header, INLINE_BYTES};

/// Bytes in front of the records.
pub(super) const LABEL_BYTES: usize = 24;
/// Bytes in front of a message's extra bytes and payload.
pub(super) const RECORD_BYTES: usize = 24;

/// Where the flags are.
const FLAGS_AT: usize = 20;
/// The sender of the packet throttles its senders.
const THROTTLED: u32 = 1;
/// There is no message in the packet.
const EMPTY: u32 = 2;
/// The sender of the packet leaves the network.
const LEAVES: u32 = 4;
/// A record's flag: it has extra bytes.
const EXTRA: u8 = 1;

/// The fields of a packet that do not belong to its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// The receiver's key.
    pub(super) key: u64,
    /// The sender's rank in the job.
    pub(super) sender: u32,
    /// The packets of the receiver's that the sender has read since its last packet.
    pub(super) credit: u32,
    /// The packet's number among those of the sender that have messages; `None` if this one has none.
    pub(super) number: Option<u32>,
    /// True if the sender throttles those who send to it.
    pub(super) throttled: bool,
    /// True if the sender leaves the network: nothing needs to be heard of it any more.
    pub(super) leaves: bool,
}

/// A message in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) header: Header,
    pub(super) has_extra: bool,
    /// Bytes of the payload.
    pub(super) len: usize,
}

impl Label {
    /// The first bytes of a packet.
    pub(super) fn to_bytes(self) -> [u8; LABEL_BYTES] {
        let mut bytes = [0; LABEL_BYTES];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags =
            flag(self.throttled, THROTTLED) | flag(self.leaves, LEAVES) | flag(self.number.is_none(), EMPTY);
        put(0, &self.key.to_ne_bytes());
        put(8, &self.sender.to_ne_bytes());
        put(12, &self.credit.to_ne_bytes());
        put(16, &self.number.unwrap_or_default().to_ne_bytes());
        put(FLAGS_AT, &flags.to_ne_bytes());
        bytes
    }

    /// Checks a packet for the process that has this key, in a job of that many ranks, and reads its label.
    pub(super) fn read(bytes: &[u8], key: u64, ranks: u32) -> Result<Label, Refused> {
        let Some(label) = bytes.get(..LABEL_BYTES) else { return Err(Refused::Stranger) };
        let word = |at: usize| u32::from_ne_bytes([label[at], label[at + 1], label[at + 2], label[at + 3]]);
        let (sender, flags) = (word(8), word(FLAGS_AT));
        if label[..8] != key.to_ne_bytes() || sender >= ranks {
            return Err(Refused::Stranger);
        }
        let number = (flags & EMPTY == 0).then(|| word(16));
        if number.is_some() {
            let mut at = LABEL_BYTES;
            while at < bytes.len() {
                let record = Record::read(bytes, at).map_err(|what| Refused::Garbage(sender, what))?;
                at = record.end(at);
            }
        }
        let (throttled, leaves) = (flags & THROTTLED != 0, flags & LEAVES != 0);
        Ok(Label { key, sender, credit: word(12), number, throttled, leaves })
    }
}

/// Returns true if there is no message in a packet that this process has written.
pub(super) fn is_empty(packet: &[u8]) -> bool {
    packet[FLAGS_AT] & EMPTY as u8 != 0
}

impl Record {
    /// Where the payload of a record at `at` begins.
    pub(super) const fn payload_at(self, at: usize) -> usize {
        at + RECORD_BYTES + if self.has_extra { EXTRA_BYTES } else { 0 }
    }

    /// Where the next record begins.
    pub(super) const fn end(self, at: usize) -> usize {
        (self.payload_at(at) + self.len).next_multiple_of(8)
    }

    /// Its first bytes.
    pub(super) fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(0, &[self.header.kind, if self.has_extra { EXTRA } else { 0 }]);
        put(2, &self.header.aux.to_ne_bytes());
        put(4, &(self.len as u32).to_ne_bytes());
        put(8, &self.header.context.to_ne_bytes());
        put(16, &self.header.envelope.bits().to_ne_bytes());
        bytes
    }

    /// The record of a packet at `at`.
    ///
    /// # Errors
    /// If no rank writes such a record.
    pub(super) fn read(packet: &[u8], at: usize) -> Result<Record, Garbage> {
        let garbage = |kind| Garbage::Form { kind, len: packet.len() };
        let bytes = packet.get(at..at + RECORD_BYTES).ok_or(garbage(0))?;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        let envelope = Envelope::new((word(16) >> 32) as u32 as i32, word(16) as u32 as i32);
        let (kind, aux) = (bytes[0], u16::from_ne_bytes([bytes[2], bytes[3]]));
        let len = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
        let header = Header { kind, aux, context: word(8), envelope };
        let record = Record { header, has_extra: bytes[1] & EXTRA != 0, len };
        let fits = record.payload_at(at) + len <= packet.len() && (record.has_extra || len <= INLINE_BYTES);
        if fits { Ok(record) } else { Err(garbage(kind)) }
    }
}

/// A packet that is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It comes from a process that does not know this one's key.
    Stranger,
    /// It comes from a rank of the job, and no rank writes such a packet.
    Garbage(u32, Garbage),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LABEL: Label =
        Label { key: 7, sender: 2, credit: 9, number: Some(u32::MAX), throttled: true, leaves: false };
    const RECORD: Record = Record {
        header: Header { kind: 3, aux: 515, context: 1 << 40, envelope: Envelope::new(-2, 77) },
        has_extra: false,
        len: 5,
    };

    /// A packet with these records, whose payloads are zeros.
    fn packet(label: Label, records: &[Record]) -> Vec<u8> {
        let mut bytes = label.to_bytes().to_vec();
        for record in records {
            let at = bytes.len();
            bytes.extend(record.to_bytes());
            bytes.resize(record.end(at), 0);
        }
        bytes
    }

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        let records = [RECORD, Record { has_extra: true, len: 1000, ..RECORD }, Record { len: 0, ..RECORD }];
        for label in [LABEL, Label { throttled: false, leaves: true, ..LABEL }] {
            let bytes = packet(label, &records);
            assert_eq!(Label::read(&bytes, 7, 3), Ok(label));
            let mut at = LABEL_BYTES;
            for record in records {
                assert_eq!(Record::read(&bytes, at), Ok(record));
                at = record.end(at);
            }
            assert_eq!(at, bytes.len());
        }
        let empty = Label { number: None, ..LABEL };
        let bytes = packet(empty, &[]);
        assert!(is_empty(&bytes) && !is_empty(&packet(LABEL, &[RECORD])));
        assert_eq!(Label::read(&bytes, 7, 3), Ok(empty));
    }

    #[test]
    fn strangers_are_told_from_ranks_that_write_garbage() {
        let bytes = packet(LABEL, &[RECORD]);
        assert_eq!(Label::read(&bytes, 8, 3), Err(Refused::Stranger));
        assert_eq!(Label::read(&bytes, 7, 2), Err(Refused::Stranger));
        assert_eq!(Label::read(&bytes[..23], 7, 3), Err(Refused::Stranger));
        for wrong in [
            Record { len: INLINE_BYTES + 1, ..RECORD },
            Record { has_extra: true, len: usize::from(u16::MAX), ..RECORD },
        ] {
            let mut bytes = packet(LABEL, &[RECORD, wrong]);
            bytes.truncate(LABEL_BYTES + 2 * RECORD_BYTES + 80);
            assert!(matches!(Label::read(&bytes, 7, 3), Err(Refused::Garbage(2, _))));
        }
        let cut = &packet(LABEL, &[RECORD, RECORD])[..LABEL_BYTES + RECORD_BYTES + 20];
        assert!(matches!(Label::read(cut, 7, 3), Err(Refused::Garbage(2, _))));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), key: u64) {
            let _ = Label::read(&bytes, key, 4);
            let mut bytes = bytes;
            if bytes.len() >= 8 {
                bytes[..8].copy_from_slice(&key.to_ne_bytes());
                let _ = Label::read(&bytes, key, 4);
            }
        }
    }
}
