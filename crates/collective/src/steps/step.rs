//! What a rank does in one step of an operation, as data: carried out at once, or recorded.

use crate::blackboard::RoundStep;
use crate::data::Combiner;
use crate::messages::{Among, Channel, Message, Messages};
use heddle_comm::error::Error;
use heddle_message::buffer::Buffer;

/// A step. What distinguishes the three kinds is how they wait. The kind has a byte of its own: to find it in
/// those of the steps within takes a schedule's loop several instructions.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum Step {
    /// It waits for nothing.
    Prompt(Prompt),
    /// It waits for all messages that were begun.
    Complete,
    /// It waits for other processes at the blackboard.
    InRound(RoundStep),
}

/// A step that waits for nothing.
#[derive(Debug)]
pub(crate) enum Prompt {
    /// Begins a message.
    Begin(Among, Message),
    /// Copies data within the process, as if the rank sent them to itself.
    Copy(Buffer, Buffer),
    /// Computes with the process's own vectors.
    Combine(Operands, Combiner),
    /// Gives the operation an error, with which it goes on.
    Fail(Error),
}

/// Two vectors: `inout = input OP inout`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands {
    pub(crate) input: *mut u8,
    pub(crate) inout: *mut u8,
    pub(crate) count: i64,
}

// SAFETY: the vectors belong to the operation until it is over, whichever thread carries it out.
unsafe impl Send for Operands {}

impl Prompt {
    /// Carries the step out.
    #[inline(always)]
    pub(crate) fn carry_out<'c>(&self, channel: impl Fn(Among) -> Channel<'c>, messages: &mut Messages) {
        match self {
            Prompt::Begin(among, message) => messages.begin(channel(*among), message),
            Prompt::Copy(from, to) => messages.copy(channel(Among::Peers).comm.rank(), from, to),
            Prompt::Combine(Operands { input, inout, count }, combiner) => {
                // SAFETY: the vectors were elements when the step was made, and the operation has them until
                // it is over; they do not overlap.
                unsafe { combiner.apply(*input, *inout, *count) };
            }
            Prompt::Fail(error) => messages.fail(error.clone()),
        }
    }
}

impl Step {
    /// The buffers that it reads or writes.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let (pair, others): ([Option<&Buffer>; 2], &[Buffer]) = match self {
            Step::Prompt(Prompt::Begin(_, message)) => (message.buffers(), &[]),
            Step::Prompt(Prompt::Copy(from, to)) => ([Some(from), Some(to)], &[]),
            Step::InRound(step) => ([None; 2], step.buffers()),
            Step::Prompt(Prompt::Combine(..) | Prompt::Fail(_)) | Step::Complete => ([None; 2], &[]),
        };
        pair.into_iter().flatten().chain(others)
    }
}
