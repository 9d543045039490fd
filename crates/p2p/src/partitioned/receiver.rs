//! The receiver's side of a partitioned operation.

use super::board::{Board, Division, no_memory};
use super::expected::Place;
use super::far::FarReceiver;
use super::offer::Offer;
use crate::send::world_rank;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_message::request::{self, Attachment, Outcome, RequestId};
use heddle_message::vni::{Advanced, Task};
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::queues::partitions::{Arrivals, Arrived, next_round};
use heddle_transport::SharedMemory;
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, OnceLock};

/// What all threads of the receiver share.
#[derive(Debug)]
pub(super) struct Receiver {
    domain: &'static Domain,
    vni: u32,
    /// The sender's rank, and the tag.
    from: (i32, i32),
    /// The sender is on another machine.
    is_far: bool,
    buffer: Buffer,
    /// The division, as it is accounted for.
    division: Division,
    /// The program's number of partitions.
    partitions: usize,
    /// Gives the sender's offer.
    place: Place,
    /// The sender's side, once it is known.
    link: OnceLock<Result<Link>>,
    round: AtomicU32,
    arrivals: Arrivals,
    error: OnceLock<Error>,
}

/// The sender's side.
#[derive(Debug)]
struct Link {
    /// The sender's world rank.
    peer: usize,
    board: Arc<Board>,
    /// Where data that the sender writes directly go, if not into the buffer.
    bounce: Option<SharedMemory>,
    /// For a sender on another machine: its receives.
    far: Option<FarReceiver>,
}

impl Receiver {
    /// The receiver of a message in partitions.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn new(
        domain: &'static Domain,
        comm: &CommRef,
        buffer: Buffer,
        division: Division,
        from: (i32, i32),
    ) -> Result<Receiver> {
        let is_far = !domain.fabric().is_local(world_rank(comm, from.0)?);
        let partitions = division.partitions;
        let division = division.accounted();
        Ok(Receiver {
            domain,
            vni: comm.vni(),
            from,
            is_far,
            buffer,
            division,
            partitions,
            place: Place::new(domain, comm, from)?,
            link: OnceLock::new(),
            round: AtomicU32::new(0),
            arrivals: Arrivals::new(division.partitions),
            error: OnceLock::new(),
        })
    }

    /// Returns true if a partition of the round has arrived. Makes progress if not.
    ///
    /// # Errors
    /// Why the sender's board cannot be used.
    pub(super) fn has_arrived(&self, partition: usize) -> Result<bool> {
        let partition = if self.division.bytes == 0 { 0 } else { partition };
        self.take_messages()?;
        if self.look(partition)? != Arrived::No {
            return Ok(true);
        }
        self.domain.progress_for_test(self.vni);
        self.take_messages()?;
        Ok(self.look(partition)? != Arrived::No)
    }

    /// The number of partitions.
    pub(super) fn partitions(&self) -> usize {
        self.partitions
    }

    /// Notes which messages of a sender on another machine have arrived.
    #[inline(always)]
    fn take_messages(&self) -> Result<()> {
        if self.is_far { self.take_messages_from_afar() } else { Ok(()) }
    }

    #[cold]
    fn take_messages_from_afar(&self) -> Result<()> {
        if let Some(Link { far: Some(far), board, .. }) = self.link()?
            && let Err(error) = far.raise_flags(board, self.round.load(Ordering::Relaxed))
        {
            // Another thread may wait for the whole round, and must see the error, too.
            self.error.get_or_init(|| error);
            self.domain.fabric().wake(self.domain.rank());
        }
        self.error.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Looks for a partition, and takes its data if they are there.
    fn look(&self, partition: usize) -> Result<Arrived> {
        let Some(link) = self.link()? else { return Ok(Arrived::No) };
        let round = self.round.load(Ordering::Relaxed);
        let bytes = self.bytes_of(partition, link);
        let senders = senders_of(&bytes, link.board.division());
        // After the last partition another thread may free the receiver.
        let domain = self.domain;
        let are_there = || senders.clone().all(|sender| link.board.flag(round, sender).is_raised(round));
        let arrived = self.arrivals.look(partition, round, are_there, || {
            if let Err(error) = senders.clone().try_for_each(|sender| self.take(link, round, sender, &bytes))
            {
                self.error.get_or_init(|| error);
            }
        });
        if arrived == Arrived::Last {
            // A thread that sleeps until the operation is over completes it.
            domain.fabric().wake(domain.rank());
        }
        Ok(arrived)
    }

    /// Which bytes of the message are in a partition.
    fn bytes_of(&self, partition: usize, link: &Link) -> Range<usize> {
        let total = link.board.division().total();
        let first = partition * self.division.bytes;
        first.min(total)..(first + self.division.bytes).min(total)
    }

    /// Moves those of the bytes that a partition of the sender has to where they belong.
    fn take(&self, link: &Link, round: u32, sender: usize, bytes: &Range<usize>) -> Result<()> {
        let board = &*link.board;
        let division = board.division();
        let first = sender * division.bytes;
        let part = bytes.start.max(first)..bytes.end.min(first + division.bytes);
        if part.is_empty() {
            return Ok(());
        }
        let from = if board.is_in_slots() {
            board.data(round, sender).wrapping_add(part.start - first)
        } else if board.is_on_stage(round, sender) {
            board.find_stage(self.domain)?.wrapping_add(part.start)
        } else if let Some(bounce) = &link.bounce {
            bounce.as_ptr().wrapping_add(part.start)
        } else {
            return Ok(());
        };
        // SAFETY: the flag is raised, so the sender has written these bytes, and leaves them alone in this
        // round.
        self.buffer.write(part.start, unsafe { std::slice::from_raw_parts(from, part.len()) });
        Ok(())
    }

    /// The sender's side; `None` until its offer has come.
    fn link(&self) -> Result<Option<&Link>> {
        if self.link.get().is_none() {
            self.accept_offer();
        }
        match self.link.get() {
            None => Ok(None),
            Some(Ok(link)) => Ok(Some(link)),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    #[cold]
    fn accept_offer(&self) {
        let link = match self.place.take_offer() {
            Ok(None) => return,
            Ok(Some(offer)) => self.accept(&offer),
            Err(error) => Err(error),
        };
        // One thread gets the offer.
        let _ = self.link.set(link);
    }

    fn accept(&self, offer: &Offer) -> Result<Link> {
        let (peer, board, far) = if self.is_far {
            let (division, first_tag) = offer.division_and_tag();
            let far = FarReceiver::new(self.domain, &self.place.comm, self.from.0, first_tag)?;
            let board = Arc::new(Board::of_flags(self.domain, division)?);
            // Only this process waits for its own answers.
            (self.domain.rank(), board, Some(far))
        } else {
            let (peer, board) = offer.accept(self.domain)?;
            (peer, board, None)
        };
        let mut bounce = None;
        if !board.is_in_slots() {
            let total = board.division().total();
            let address = match self.buffer.contiguous().filter(|_| total <= self.buffer.len()) {
                Some(address) => address,
                None => {
                    let memory =
                        self.domain.fabric().allocate(total).map_err(|error| no_memory(total, &error))?;
                    bounce.insert(memory).as_ptr()
                }
            };
            board.set_address(address.expose_provenance() as u64);
        }
        let link = Link { peer, board, bounce, far };
        self.let_come(&link, self.round.load(Ordering::Relaxed))?;
        Ok(link)
    }

    /// Lets the sender write into the buffer in this round. Where data travel through slots, the sender may
    /// begin a round before the receiver does.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    fn let_come(&self, link: &Link, round: u32) -> Result<()> {
        if let Some(far) = &link.far {
            let to = with_exposed_provenance_mut(link.board.address() as usize);
            // SAFETY: the message fits there, and the buffer belongs to MPI until the round is over.
            return unsafe { far.begin(to, link.board.division()) };
        }
        if !link.board.is_in_slots() {
            link.board.gate().open(round);
            self.domain.fabric().wake(link.peer);
        }
        Ok(())
    }

    /// Ends a round: the sender may use the slots again.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    fn end(&self, link: &Link, round: u32) -> Result<()> {
        if let Some(far) = &link.far {
            return far.end(round);
        }
        link.board.set_round_taken(round);
        if link.board.is_in_slots() {
            link.board.gate().open(next_round(next_round(round)));
        }
        self.domain.fabric().wake(link.peer);
        Ok(())
    }
}

/// The partitions of the sender that have these bytes: all, if there are no bytes.
fn senders_of(bytes: &Range<usize>, division: Division) -> Range<usize> {
    if bytes.is_empty() {
        return 0..division.partitions;
    }
    bytes.start / division.bytes..bytes.end.div_ceil(division.bytes)
}

/// The attachment of a receiver's request; nothing is received from `MPI_PROC_NULL`.
#[derive(Debug)]
pub(super) struct Receiving(pub(super) Option<Arc<Receiver>>);

impl Attachment for Receiving {
    fn start(&mut self, id: RequestId) -> Result<()> {
        let Some(receiver) = &self.0 else {
            request::activate(id);
            // SAFETY: an operation with MPI_PROC_NULL is known to its owner only.
            unsafe { request::complete(id, Outcome::proc_null()) };
            return Ok(());
        };
        let round = next_round(receiver.round.load(Ordering::Relaxed));
        receiver.round.store(round, Ordering::Relaxed);
        receiver.arrivals.begin();
        if let Some(Ok(link)) = receiver.link.get() {
            receiver.let_come(link, round)?;
        }
        request::activate(id);
        let task = ReceiveRound { receiver: receiver.clone(), id, found: 0, raised: 0 };
        receiver.domain.vni(receiver.vni).add_task(Box::new(task));
        Ok(())
    }
}

/// A round under way: takes partitions as they come, and completes the request.
#[derive(Debug)]
struct ReceiveRound {
    receiver: Arc<Receiver>,
    id: RequestId,
    /// All partitions before this one have arrived.
    found: usize,
    /// All partitions of the sender before this one were delivered.
    raised: usize,
}

impl ReceiveRound {
    /// Goes on as far as possible. Returns true if everything has arrived.
    fn go_on(&mut self) -> Result<bool> {
        let receiver = &*self.receiver;
        receiver.take_messages()?;
        while self.found < receiver.division.partitions && receiver.look(self.found)? != Arrived::No {
            self.found += 1;
        }
        if self.found < receiver.division.partitions {
            return Ok(false);
        }
        let (Some(link), round) = (receiver.link()?, receiver.round.load(Ordering::Relaxed)) else {
            return Ok(false);
        };
        // There may be partitions of which this side has no byte.
        let senders = link.board.division().partitions;
        while self.raised < senders && link.board.flag(round, self.raised).is_raised(round) {
            self.raised += 1;
        }
        if self.raised < senders {
            return Ok(false);
        }
        receiver.end(link, round)?;
        Ok(true)
    }

    fn outcome(&self) -> Outcome {
        let receiver = &*self.receiver;
        let (source, tag) = receiver.from;
        let room = receiver.division.total();
        let sent = match receiver.link.get() {
            Some(Ok(link)) => link.board.division().total(),
            _ => 0,
        };
        let error = receiver.error.get().cloned().or_else(|| (sent > room).then(|| truncated(sent, room)));
        Outcome { source, tag, bytes: sent.min(room) as u64, cancelled: false, error }
    }
}

#[cold]
fn truncated(sent: usize, room: usize) -> Error {
    let message = format!(
        "the partitions of the send have {sent} bytes in all, those of the receive {room}: the rest is lost"
    );
    Error::new(mpi::MPI_ERR_TRUNCATE, message)
}

impl Task for ReceiveRound {
    fn advance(mut self: Box<Self>) -> Advanced<Box<dyn Task>> {
        let before = self.found + self.raised;
        let outcome = match self.go_on() {
            Ok(true) => self.outcome(),
            Ok(false) if self.found + self.raised == before => return Advanced::Waits(self),
            Ok(false) => return Advanced::CameFurther(self),
            Err(error) => Outcome { error: Some(error), ..Outcome::empty() },
        };
        let ReceiveRound { receiver, id, .. } = *self;
        let (domain, vni) = (receiver.domain, receiver.vni);
        drop(receiver);
        domain.vni(vni).complete_task(id, outcome);
        Advanced::Over
    }
}
