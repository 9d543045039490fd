//! What a rank does in a round on the blackboard, as data.

use crate::data::Combiner;
use heddle_blackboard::{BlockTable, Span};
use heddle_message::buffer::Buffer;
use std::mem::forget;
use std::ptr::NonNull;
use std::slice;

/// A step in a round, which [`Rounds`](super::Rounds) carry out. Rounds are counted from the operation's
/// first.
#[derive(Debug)]
pub(crate) enum RoundStep {
    /// Publishes a span of data in a round, for one process or for all, as soon as there is room.
    Publish(u32, Buffer, Span, Option<usize>),
    /// Publishes a block for each process.
    PublishBlocks(u32, KeptBlocks),
    /// Publishes where data or room in one piece are, for one process or for all.
    Expose(u32, Buffer, Option<usize>),
    /// Says that data of so many bytes come to a process in a message.
    Announce(u32, usize, usize),
    /// Waits until one process, or each other one, has finished a round.
    AwaitFinished(u32, Option<usize>),
    /// Waits for published data, and copies them to a span of the buffer; exposed ones fill the whole buffer.
    Fetch(Source, Buffer, Span),
    /// Waits for published blocks, and copies that of this process to a buffer.
    FetchBlock(Source, Buffer),
    /// Waits for published data, and computes with them.
    Fold(Source, Target, Combiner),
    /// Waits for exposed room, and copies data there.
    Deliver(Source, Buffer),
    /// Waits until a process has published.
    See(Source),
    /// Needs nothing more of a round, and waits until this process has finished the earlier ones.
    Finish(u32),
}

/// The data that a process has published in a round, or a part of them; or the room that it has exposed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    /// The number of the round in the operation.
    pub(crate) round: u32,
    pub(crate) rank: usize,
    /// How many bytes the process should have published.
    pub(crate) whole: usize,
    /// Where the part begins.
    pub(crate) offset: usize,
}

/// Two vectors: `result = published OP operands`. They may be one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) operands: *const u8,
    pub(crate) result: *mut u8,
    pub(crate) count: i64,
}

// SAFETY: the vectors belong to the operation until it is over, whichever thread carries it out.
unsafe impl Send for Target {}

/// Blocks that the operation keeps: a step that owned them would have to be dropped, each kind of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptBlocks(NonNull<BlockTable>);

impl KeptBlocks {
    /// # Safety
    /// The blocks stay where they are until the step is over for good.
    pub(crate) unsafe fn new(blocks: &BlockTable) -> KeptBlocks {
        KeptBlocks(NonNull::from(blocks))
    }

    pub(crate) fn blocks(&self) -> &BlockTable {
        // SAFETY: the promise of the caller of `new`.
        unsafe { self.0.as_ref() }
    }
}

// SAFETY: the blocks belong to the operation until it is over, whichever thread carries it out.
unsafe impl Send for KeptBlocks {}

impl RoundStep {
    /// Drops a step that has been carried out. Only one of its kinds owns something, and with this the
    /// compiler sees which kind it is where it was made: no call.
    #[inline(always)]
    pub(crate) fn end(self) {
        match self {
            RoundStep::Fold(_, _, combiner) => drop(combiner),
            nothing_owned => forget(nothing_owned),
        }
    }

    /// Returns true if it waits for those who read earlier rounds, not for those who publish.
    pub(crate) fn awaits_readers(&self) -> bool {
        use RoundStep::{Announce, AwaitFinished, Expose, Finish, Publish, PublishBlocks};
        matches!(
            self,
            Publish(..) | PublishBlocks(..) | Expose(..) | Announce(..) | AwaitFinished(..) | Finish(_)
        )
    }

    /// The data that it waits for, if one process gives them.
    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            RoundStep::Fetch(source, ..)
            | RoundStep::FetchBlock(source, _)
            | RoundStep::Fold(source, ..)
            | RoundStep::Deliver(source, _)
            | RoundStep::See(source) => Some(source),
            _ => None,
        }
    }

    /// The bytes of the data that it publishes, or of which it publishes a part.
    pub(crate) fn published_bytes(&self) -> usize {
        match self {
            RoundStep::Publish(_, data, ..) => data.len(),
            RoundStep::PublishBlocks(_, kept) => kept.blocks().len(),
            _ => 0,
        }
    }

    /// Its buffers, if it has some.
    pub(crate) fn buffers(&self) -> &[Buffer] {
        match self {
            RoundStep::Publish(_, buffer, ..)
            | RoundStep::Expose(_, buffer, _)
            | RoundStep::Fetch(_, buffer, _)
            | RoundStep::FetchBlock(_, buffer)
            | RoundStep::Deliver(_, buffer) => slice::from_ref(buffer),
            RoundStep::PublishBlocks(_, kept) => kept.blocks().blocks(),
            RoundStep::Announce(..)
            | RoundStep::AwaitFinished(..)
            | RoundStep::Fold(..)
            | RoundStep::See(_)
            | RoundStep::Finish(_) => &[],
        }
    }
}
