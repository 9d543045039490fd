//! The messages of an operation that are in flight, and the first error.
//!
//! An error does not stop the operation. The first error is kept and reported at the end; the remaining
//! messages are sent and received as usual. So ranks whose counts disagree get an error instead of waiting
//! for each other for ever, and no message is left in flight when the operation ends. Data that a rank only
//! passes on are empty if they did not come to it: the ranks behind it get an error, too.

pub(super) mod tag;

use heddle_blackboard::Blackboard;
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::request::{self, Outcome, SEND_DONE};
use heddle_message::served_copy::ServedCopy;
use heddle_p2p::Mode;
use heddle_platform::allocate::reserve;
use heddle_spec::constants as mpi;
use heddle_transport::CopyDirection;

/// The most messages in flight at once where a rank sends to all or receives from all.
pub(crate) const BATCH: usize = 64;

/// Where the messages of an operation travel. All have one tag: messages of one sender with one tag are
/// received in the order in which they were sent, and all ranks agree on that order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channel<'a> {
    pub(crate) comm: &'a CommRef,
    pub(crate) tag: i32,
}

/// Whom the rank of a message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    /// A process of the communicator; of an intercommunicator, one of the remote group.
    Peers,
    /// A process of an intercommunicator's local group.
    LocalGroup,
}

impl<'a> Channel<'a> {
    /// The channel of a message; `local` is the communicator of an intercommunicator's local group.
    #[inline(always)]
    pub(crate) fn of(comm: &'a CommRef, local: Option<&'a KeptComm>, among: Among, tag: i32) -> Channel<'a> {
        let comm = match (among, local) {
            (Among::LocalGroup, Some(local)) => local,
            _ => comm,
        };
        Channel { comm, tag }
    }
}

/// A message, or one in each direction, with the other process's rank in the channel's communicator.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Message {
    Send(usize, Buffer),
    /// Data that other messages have brought.
    PassOn(usize, Buffer),
    /// It fills the buffer.
    Receive(usize, Buffer),
    /// One that is sent, and one that is received.
    Exchange((usize, Buffer), (usize, Buffer)),
}

impl Message {
    /// The buffers that it reads or fills.
    pub(crate) fn buffers(&self) -> [Option<&Buffer>; 2] {
        match self {
            Message::Send(_, buffer) | Message::PassOn(_, buffer) | Message::Receive(_, buffer) => {
                [Some(buffer), None]
            }
            Message::Exchange((_, data), (_, room)) => [Some(data), Some(room)],
        }
    }
}

/// What a receive is to bring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    from: usize,
    len: usize,
}

/// A message or a copy in flight.
#[derive(Debug)]
struct Pending {
    request: usize,
    /// The other rank.
    peer: usize,
    /// The bytes that a receive is to bring.
    expected: Option<usize>,
}

/// Messages in flight, and the first error of the operation.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    pending: Vec<Pending>,
    error: Option<Error>,
    /// True if data that another rank was to give did not come, or not all of them.
    lacks_data: bool,
    /// A rank may give fewer bytes than expected; they fill the beginning of the room.
    pub(crate) takes_less: bool,
}

impl Messages {
    /// Makes room for messages that are going to be begun.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn reserve(&mut self, messages: usize) -> Result<()> {
        Ok(reserve(&mut self.pending, messages)?)
    }

    /// Carries a message out: the data that it sends can be overwritten, those that it receives are there.
    #[inline(always)]
    pub(crate) fn carry_out(&mut self, Channel { comm, tag }: Channel<'_>, message: Message) {
        match self.with_data(message) {
            Message::Send(to, data) | Message::PassOn(to, data) => {
                let sent = heddle_p2p::send(comm, Plane::Collective, data, to as i32, tag, Mode::Standard);
                self.note(sent);
            }
            Message::Receive(from, room) => {
                let received = heddle_p2p::recv(comm, Plane::Collective, room, from as i32, tag);
                self.check(received, Expected { from, len: room.len() });
            }
            Message::Exchange((to, data), (from, room)) => {
                let (outgoing, incoming) = ((data, to as i32, tag), (room, from as i32, tag));
                let received = heddle_p2p::sendrecv(comm, Plane::Collective, outgoing, incoming);
                self.check(received, Expected { from, len: room.len() });
            }
        }
    }

    /// Begins a message, which is in flight until all [are complete](Self::are_complete). Inlined, it would
    /// fill a schedule's loop, and its other steps would take longer.
    #[inline(never)]
    pub(crate) fn begin(&mut self, Channel { comm, tag }: Channel<'_>, message: &Message) {
        let message = self.with_data(*message);
        if let Message::Receive(from, room) | Message::Exchange(_, (from, room)) = message {
            match heddle_p2p::irecv(comm, Plane::Collective, room, from as i32, tag) {
                Ok(request) => self.pending.push(Pending { request, peer: from, expected: Some(room.len()) }),
                Err(error) => self.lose(error),
            }
        }
        if let Message::Send(to, data) | Message::Exchange((to, data), _) = message {
            match heddle_p2p::isend(comm, Plane::Collective, data, to as i32, tag, Mode::Standard) {
                Ok(SEND_DONE) => {}
                Ok(request) => self.pending.push(Pending { request, peer: to, expected: None }),
                Err(error) => self.fail(error),
            }
        }
    }

    /// The message, with the data that it brings if it passes some on: none if they did not come.
    #[inline(always)]
    fn with_data(&self, message: Message) -> Message {
        match message {
            Message::PassOn(to, _) if self.lacks_data => Message::Send(to, Buffer::empty()),
            Message::PassOn(to, data) => Message::Send(to, data),
            message => message,
        }
    }

    /// Begins a copy that the process makes whose memory it is; `rank` is its rank in the communicator.
    pub(crate) fn begin_copy(&mut self, blackboard: &Blackboard, rank: usize, copy: ServedCopy) {
        let len = copy.buffer.len();
        let (vni, comm) = blackboard.owner();
        match copy.begin(blackboard.domain(), vni, comm) {
            Ok(id) => {
                let expected = (copy.direction == CopyDirection::Read).then_some(len);
                self.pending.push(Pending { request: request::handle(id), peer: rank, expected });
            }
            Err(error) => self.fail(error),
        }
    }

    /// Returns true if messages or copies may be in flight.
    #[inline(always)]
    pub(crate) fn are_begun(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Waits for all messages in flight.
    pub(crate) fn complete(&mut self, comm: &CommRef) {
        while let Some(mut pending) = self.pending.pop() {
            let outcome = heddle_p2p::wait_in_operation(&mut pending.request, comm, pending.peer);
            self.take(outcome, &pending);
        }
    }

    /// Ends all messages in flight that were not matched, since the ranks disagree.
    #[cold]
    pub(crate) fn abandon(&self) {
        for pending in &self.pending {
            let _ = heddle_p2p::cancel(pending.request);
        }
    }

    /// Returns true if no message is in flight any more.
    pub(crate) fn are_complete(&mut self) -> bool {
        while let Some(mut pending) = self.pending.pop_if(|pending| heddle_p2p::is_over(pending.request)) {
            let outcome = heddle_p2p::wait(&mut pending.request).map(heddle_p2p::unless_in_vain);
            self.take(outcome, &pending);
        }
        self.pending.is_empty()
    }

    /// Takes the outcome of a message.
    fn take(&mut self, outcome: Result<Outcome>, pending: &Pending) {
        match pending.expected {
            Some(len) => self.check(outcome, Expected { from: pending.peer, len }),
            None => self.note(outcome.and_then(|outcome| outcome.error.map_or(Ok(()), Err))),
        }
    }

    /// Copies data within the process, as if `rank` sent it to itself.
    pub(crate) fn copy(&mut self, rank: usize, from: &Buffer, to: &Buffer) {
        from.copy_to(to, from.len().min(to.len()));
        if from.len() != to.len() {
            self.disagree(rank, from.len(), to.len());
        }
    }

    /// The first error, if there was one. No message is in flight.
    pub(crate) fn take_error(&mut self) -> Option<Error> {
        debug_assert!(self.pending.is_empty(), "what was begun must be completed");
        self.lacks_data = false;
        self.error.take()
    }

    fn check(&mut self, received: Result<Outcome>, expected: Expected) {
        match received {
            Ok(Outcome { error: Some(error), .. }) | Err(error) => self.lose(error),
            Ok(outcome) if outcome.bytes as usize != expected.len => {
                self.disagree(expected.from, outcome.bytes as usize, expected.len);
            }
            Ok(_) => {}
        }
    }

    /// Notes that a rank gave another number of bytes than expected.
    #[cold]
    pub(crate) fn disagree(&mut self, from: usize, len: usize, expected: usize) {
        if len > expected || !self.takes_less {
            self.lose(disagreement(from, len, expected));
        }
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fail(error);
        }
    }

    /// Keeps an error, because of which this rank does not have data of another. The loss of a rank does not
    /// count: without data the ranks behind this one would get an error about counts, and they learn of the
    /// loss themselves.
    #[cold]
    pub(crate) fn lose(&mut self, error: Error) {
        self.lacks_data |= error.code() != mpi::MPI_ERR_PROC_ABORTED;
        self.fail(error);
    }

    /// Keeps an error, if it is the first.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// The error for a rank that gave another number of bytes than expected.
#[cold]
pub(crate) fn disagreement(from: usize, len: usize, expected: usize) -> Error {
    let message = format!(
        "rank {from} gave {len} bytes to a collective operation where this rank expects {expected}: the counts and \
         datatypes of all ranks must describe the same amount of data"
    );
    Error::new(if len > expected { mpi::MPI_ERR_TRUNCATE } else { mpi::MPI_ERR_COUNT }, message)
}
