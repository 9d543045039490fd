//! The messages of one collective operation.
//!
//! An error does not stop the operation. The first error is kept and reported at the end; the remaining
//! messages are sent and received as usual. So ranks whose counts disagree get an error instead of waiting
//! for each other for ever, and no message is left in flight when the operation returns.

use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::request::Outcome;
use heddle_p2p::Mode;
use heddle_spec::constants as mpi;

/// A collective operation talking to the other ranks. All its messages have one tag: messages of one sender
/// with one tag are received in the order in which they were sent, and all ranks agree on that order.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    comm: &'a CommRef,
    tag: i32,
    error: Option<Error>,
    /// Requests in flight; for receives also the expected length and the sender.
    pending: Vec<(usize, Option<Expected>)>,
}

#[derive(Debug, Clone, Copy)]
struct Expected {
    from: usize,
    len: usize,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(comm: &'a CommRef, tag: i32) -> Conversation<'a> {
        Conversation { comm, tag, error: None, pending: Vec::new() }
    }

    pub(super) fn rank(&self) -> usize {
        self.comm.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.comm.size()
    }

    /// Sends a message.
    pub(super) fn send(&mut self, to: usize, data: Buffer) {
        let sent = heddle_p2p::send(self.comm, Plane::Collective, data, to as i32, self.tag, Mode::Standard);
        self.note(sent);
    }

    /// Receives a message that fills a buffer.
    pub(super) fn receive(&mut self, from: usize, room: Buffer) {
        let expected = Expected { from, len: room.len() };
        let received = heddle_p2p::recv(self.comm, Plane::Collective, room, from as i32, self.tag);
        self.check(received, expected);
    }

    /// Sends one message and receives another.
    pub(super) fn exchange(&mut self, (to, data): (usize, Buffer), (from, room): (usize, Buffer)) {
        let expected = Expected { from, len: room.len() };
        let outgoing = (data, to as i32, self.tag);
        let incoming = (room, from as i32, self.tag);
        let received = heddle_p2p::sendrecv(self.comm, Plane::Collective, outgoing, incoming);
        self.check(received, expected);
    }

    /// Begins to send a message; [`Conversation::complete`] waits for it.
    pub(super) fn begin_send(&mut self, to: usize, data: Buffer) {
        match heddle_p2p::isend(self.comm, Plane::Collective, data, to as i32, self.tag, Mode::Standard) {
            Ok(request) => self.pending.push((request, None)),
            Err(error) => self.fail(error),
        }
    }

    /// Begins to receive a message that fills a buffer; [`Conversation::complete`] waits for it.
    pub(super) fn begin_receive(&mut self, from: usize, room: Buffer) {
        let expected = Expected { from, len: room.len() };
        match heddle_p2p::irecv(self.comm, Plane::Collective, room, from as i32, self.tag) {
            Ok(request) => self.pending.push((request, Some(expected))),
            Err(error) => self.fail(error),
        }
    }

    /// Waits for all operations that were begun.
    pub(super) fn complete(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        for (request, expected) in &mut pending {
            let outcome = heddle_p2p::wait(request);
            match expected {
                Some(expected) => self.check(outcome, *expected),
                None => self.note(outcome.and_then(|outcome| outcome.error.map_or(Ok(()), Err))),
            }
        }
        pending.clear();
        self.pending = pending;
    }

    /// Copies data within the process, as if the rank sent it to itself.
    pub(super) fn copy(&mut self, from: &Buffer, to: &Buffer) {
        from.copy_to(to, from.len().min(to.len()));
        if from.len() != to.len() {
            self.fail(disagreement(self.rank(), from.len(), to.len()));
        }
    }

    /// The result of the operation: the first error, if there was one.
    pub(super) fn finish(self) -> Result<()> {
        debug_assert!(self.pending.is_empty(), "what was begun must be completed");
        self.error.map_or(Ok(()), Err)
    }

    fn check(&mut self, received: Result<Outcome>, expected: Expected) {
        match received {
            Ok(Outcome { error: Some(error), .. }) | Err(error) => self.fail(error),
            Ok(outcome) if outcome.bytes as usize != expected.len => {
                self.fail(disagreement(expected.from, outcome.bytes as usize, expected.len));
            }
            Ok(_) => {}
        }
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

#[cold]
fn disagreement(from: usize, len: usize, expected: usize) -> Error {
    let message = format!(
        "rank {from} gave {len} bytes to a collective operation where this rank expects {expected}: the counts and \
         datatypes of all ranks must describe the same amount of data"
    );
    Error::new(if len > expected { mpi::MPI_ERR_TRUNCATE } else { mpi::MPI_ERR_COUNT }, message)
}
