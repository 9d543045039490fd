//! The messages of windows between machines.
//!
//! | kind | context | name | words | payload | answer |
//! |---|---|---|---|---|---|
//! | `Write` | window | origin's window | address | data | `Done` |
//! | `Read` | window | token | address, length | | `Data` |
//! | `Word` | window | token | where it lies, two operands | | `Value` |
//! | `Accumulate` | window | origin's window | address, datatype, length | operands | `Done` |
//! | `Fetch` | window | token | address, datatype, length | operands | `Data` |
//! | `CompareAndSwap` | window | token | address, size | expected, value | `Data` |
//! | `Attached` | window | token | address, length, question | | `Value` |
//! | `Value` | token | | value | | |
//! | `Data` | token | | | data | |
//! | `Done` | origin's window | | count | | |
//! | `Copied`, from the process itself | token | | process | | |
//!
//! The context and the name are numbers of the process that gets the message, or got the request that it
//! answers. The operator of an accumulate, or the operation on a word, is in `aux`.

use crate::remote::Change;
use heddle_transport::{EXTRA_BYTES, Envelope, Header, LONGEST_REQUEST, Request};

/// The longest payload.
pub(super) const LONGEST: usize = 64 << 10;

const _: () = assert!(LONGEST <= LONGEST_REQUEST);

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum PacketKind {
    Write = 1,
    Read,
    Word,
    Accumulate,
    Fetch,
    CompareAndSwap,
    Attached,
    Value,
    Data,
    Done,
    Copied,
}

impl PacketKind {
    const ALL: [PacketKind; 11] = [
        PacketKind::Write,
        PacketKind::Read,
        PacketKind::Word,
        PacketKind::Accumulate,
        PacketKind::Fetch,
        PacketKind::CompareAndSwap,
        PacketKind::Attached,
        PacketKind::Value,
        PacketKind::Data,
        PacketKind::Done,
        PacketKind::Copied,
    ];

    /// The kind with this number.
    pub(super) fn of(number: u8) -> Option<PacketKind> {
        PacketKind::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// A message.
pub(super) fn message(
    kind: PacketKind,
    aux: u16,
    (context, name): (u64, u64),
    words: [u64; 3],
    len: usize,
) -> Request {
    let envelope = Envelope::new((name >> 32) as i32, name as i32);
    Request { header: Header { kind: kind as u8, aux, context, envelope }, words, len }
}

/// The message that arrives from this process itself when long data of a process was copied.
pub(super) fn copied(token: u64, process: u32) -> (Header, [u8; EXTRA_BYTES]) {
    let Request { header, .. } = message(PacketKind::Copied, 0, (token, 0), [0; 3], 0);
    let mut words = [0; EXTRA_BYTES];
    words[..8].copy_from_slice(&u64::from(process).to_ne_bytes());
    (header, words)
}

/// An operation on a word of a window block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WordOperation {
    Load,
    Change(Change),
}

impl WordOperation {
    /// Its number and operands.
    pub(super) fn code(self) -> (u16, [u64; 2]) {
        match self {
            WordOperation::Load => (0, [0; 2]),
            WordOperation::Change(Change::Add(operand)) => (1, [operand, 0]),
            WordOperation::Change(Change::Swap(value)) => (2, [value, 0]),
            WordOperation::Change(Change::CompareAndSwap { expected, value }) => (3, [expected, value]),
        }
    }

    /// The operation that has this number.
    pub(super) fn of(code: u16, [first, second]: [u64; 2]) -> Option<WordOperation> {
        Some(match code {
            0 => WordOperation::Load,
            1 => WordOperation::Change(Change::Add(first)),
            2 => WordOperation::Change(Change::Swap(first)),
            3 => WordOperation::Change(Change::CompareAndSwap { expected: first, value: second }),
            _ => return None,
        })
    }
}
