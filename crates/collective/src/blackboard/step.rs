//! What a rank does in a round on the blackboard, as data.

use crate::data::Combiner;
use heddle_blackboard::Span;
use heddle_message::buffer::Buffer;

/// A step in a round, which [`Rounds`](super::Rounds) carry out. Rounds are counted from the operation's
/// first.
#[derive(Debug)]
pub(crate) enum RoundStep {
    /// Publishes a span of data in a round, for one process or for all, as soon as there is room.
    Publish(u32, Buffer, Span, Option<usize>),
    /// Publishes where data or room in one piece are, for one process or for all.
    Expose(u32, Buffer, Option<usize>),
    /// Waits until one process, or each other one, has finished a round.
    AwaitFinished(u32, Option<usize>),
    /// Waits for published data, and copies them to a span of the buffer; exposed ones fill the whole buffer.
    Fetch(Source, Buffer, Span),
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

impl RoundStep {
    /// Returns true if it waits for those who read earlier rounds, not for those who publish.
    pub(crate) fn awaits_readers(&self) -> bool {
        use RoundStep::{AwaitFinished, Expose, Finish, Publish};
        matches!(self, Publish(..) | Expose(..) | AwaitFinished(..) | Finish(_))
    }

    /// Its buffer, if it has one.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        match self {
            RoundStep::Publish(_, buffer, ..)
            | RoundStep::Expose(_, buffer, _)
            | RoundStep::Fetch(_, buffer, _)
            | RoundStep::Deliver(_, buffer) => Some(buffer),
            RoundStep::AwaitFinished(..) | RoundStep::Fold(..) | RoundStep::See(_) | RoundStep::Finish(_) => {
                None
            }
        }
    }
}
