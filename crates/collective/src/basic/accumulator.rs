//! Results that grow from both sides.

use crate::conversation::Conversation;
use crate::data::{Elements, Reduction};

/// On which side of the result so far new operands stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// They come from lower ranks: new OP result.
    Lower,
    /// They come from higher ranks: result OP new.
    Higher,
}

/// A result that grows. It is in one of two buffers; new operands are received into the other, spare one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accumulator<'a> {
    pub(crate) reduction: &'a Reduction<'a>,
    pub(crate) result: Elements<'a>,
    pub(crate) spare: Elements<'a>,
    pub(crate) count: i64,
}

impl Accumulator<'_> {
    /// Combines the spare buffer with the result. The two are swapped if the order of operands requires it.
    pub(crate) fn take(&mut self, talk: &mut Conversation<'_>, side: Side) {
        if side == Side::Lower || self.reduction.commutes() {
            talk.combine(self.reduction, (self.spare, self.result), self.count);
        } else {
            talk.combine(self.reduction, (self.result, self.spare), self.count);
            (self.result, self.spare) = (self.spare, self.result);
        }
    }

    /// Receives operands and combines them with the result.
    pub(crate) fn receive(&mut self, talk: &mut Conversation<'_>, from: usize, side: Side) {
        talk.receive(from, self.spare.buffer(self.count));
        self.take(talk, side);
    }

    /// Combines a range of the spare buffer with the result, for operators that commute.
    pub(crate) fn take_range(&self, talk: &mut Conversation<'_>, first: i64, end: i64) {
        debug_assert!(self.reduction.commutes());
        talk.combine(self.reduction, (self.spare.at(first), self.result.at(first)), end - first);
    }

    /// Sends the result.
    pub(crate) fn send(&self, talk: &mut Conversation<'_>, to: usize) {
        talk.send(to, self.result.buffer(self.count));
    }

    /// Copies the result to its destination, unless it is there already.
    pub(crate) fn deliver(&self, talk: &mut Conversation<'_>, destination: Elements<'_>) {
        if self.result.address() != destination.address() {
            talk.copy(&self.result.buffer(self.count), &destination.buffer(self.count));
        }
    }
}
