//! The sender's side of a partitioned operation.

use super::board::{Board, Division, Slots, data_of};
use super::far::FarSender;
use super::offer;
use crate::send::world_rank;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_message::buffer::{Buffer, zeroed};
use heddle_message::domain::{self, Domain};
use heddle_message::request::{self, Attachment, Outcome, RequestId};
use heddle_message::vni::{Advanced, Task};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::queues::partitions::{Departures, Ready, Together, next_round};
use heddle_transport::single_copy;
use std::ptr::{NonNull, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What all threads of the sender share.
#[derive(Debug)]
pub(super) struct Sender {
    domain: &'static Domain,
    /// The receiver's world rank; `None` for `MPI_PROC_NULL`.
    peer: Option<usize>,
    vni: u32,
    buffer: Buffer,
    board: Arc<Board>,
    /// For a receiver on another machine.
    far: Option<FarSender>,
    /// The division of the message, as it is accounted for; that of the board has no data if the receiver is
    /// on another machine.
    division: Division,
    round: AtomicU32,
    departures: Departures,
    /// Of partitions without data the last one is handed over, as partition 0 of the division.
    together: Option<Together>,
    error: OnceLock<Error>,
    /// The program's number of partitions.
    pub(super) partitions: usize,
    /// For [`ready`](Self::ready): what else it needs of the board.
    slots: Slots,
    /// The set of slots of the round.
    set: AtomicPtr<u8>,
    /// The data, if each partition has 8 bytes, without gaps, and then the number of partitions; else 0.
    words: Words,
    /// 0 in a round in which a partition was deferred, since a partition of a word may be handed over twice
    /// then.
    in_words: AtomicUsize,
    all_in_words: usize,
    wakes: Wakes,
}

/// The bytes of a partition that a load and a store move.
const WORD: usize = 8;

/// The address of the data of partitions that have a word each.
#[derive(Debug, Clone, Copy)]
struct Words(NonNull<[u8; WORD]>);

// SAFETY: the program leaves each partition's data to MPI when it is ready.
unsafe impl Send for Words {}
// SAFETY: the same.
unsafe impl Sync for Words {}

impl Words {
    /// The data, and the number of partitions; 0 if they are no words.
    fn of(buffer: &Buffer, division: Division) -> (Words, usize) {
        let address = buffer.contiguous().filter(|_| division.bytes == WORD);
        match address.and_then(|address| NonNull::new(address.cast())) {
            Some(address) => (Words(address), division.partitions),
            None => (Words(NonNull::dangling()), 0),
        }
    }

    /// # Safety
    /// There is such a partition, and its data are there.
    #[inline(always)]
    unsafe fn of_partition(self, partition: usize) -> [u8; WORD] {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ptr().wrapping_add(partition).read() }
    }
}

heddle_platform::per_process! {
    /// Boards whose sender is gone, and whose receiver has not taken this round yet.
    static LEFT: Mutex<Vec<(Arc<Board>, u32)>> = Mutex::new(Vec::new());
}

/// Frees the boards that their receivers do not need any more.
fn free_boards_left() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain(|(board, round)| board.round_taken() != *round);
}

/// Why a partition cannot be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotReady {
    NoSuchPartition,
    ReadyBefore,
}

impl Sender {
    /// The sender of a message in partitions, of which the receiver is told.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(super) fn new(
        domain: &'static Domain,
        comm: &CommRef,
        buffer: Buffer,
        division: Division,
        (dest, tag): (Option<i32>, i32),
    ) -> Result<Sender> {
        let peer = dest.map(|dest| world_rank(comm, dest)).transpose()?;
        free_boards_left();
        // To nobody go partitions without data.
        let division = if peer.is_some() { division } else { Division { bytes: 0, ..division } };
        let partitions = division.partitions;
        let together = (division.bytes == 0).then(|| Together::new(partitions));
        let division = division.accounted();
        let is_far = peer.is_some_and(|peer| !domain.fabric().is_local(peer));
        let far = dest.filter(|_| is_far);
        let far = far.map(|dest| FarSender::new(domain, comm, dest, division.partitions)).transpose()?;
        let on_board = if is_far { Division { bytes: 0, ..division } } else { division };
        let board = Arc::new(Board::allocate(domain, on_board)?);
        if on_board.is_in_slots() {
            // Both sets of slots are free.
            board.gate().open(2);
        }
        if let Some(peer) = peer {
            let first_tag = far.as_ref().map_or(0, |far| far.first_tag);
            offer::send(domain, comm, &board, (peer, tag), (division, first_tag))?;
        }
        let slots = board.slots();
        let (words, all_in_words) = Words::of(&buffer, on_board);
        Ok(Sender {
            domain,
            peer,
            vni: comm.vni(),
            buffer,
            board,
            far,
            division,
            round: AtomicU32::new(0),
            departures: Departures::new(division.partitions),
            together,
            error: OnceLock::new(),
            partitions,
            slots,
            set: AtomicPtr::new(slots.set_of(0)),
            words,
            in_words: AtomicUsize::new(all_in_words),
            all_in_words,
            wakes: Wakes { peer: peer.filter(|_| !is_far).unwrap_or(domain.rank()) },
        })
    }

    /// Hands over a partition of a word, if the receiver has a place for it. Returns false if that is not so,
    /// or if anything is wrong; then nothing was done.
    #[inline(always)]
    pub(super) fn ready_at_once(&self, partition: i32) -> bool {
        let (partition, round) = (partition as u32 as usize, self.round.load(Ordering::Relaxed));
        // Relaxed: a thread that reads an older value hands over another partition than the deferred ones.
        if partition >= self.in_words.load(Ordering::Relaxed) {
            return false;
        }
        // Written with the round, before the program's threads are told that the message was started.
        let slot = self.slots.in_set(self.set.load(Ordering::Relaxed), partition);
        // SAFETY: there is such a partition in both sets, and the board exists as long as the sender.
        let flag = &unsafe { &*slot }.flag;
        if flag.is_raised(round) {
            return false;
        }
        // After the last partition another thread may free the sender.
        let wakes = self.wakes;
        // SAFETY: the board exists as long as the sender.
        let gate = unsafe { self.slots.gate() };
        let ready = self.departures.ready_at_once(round, gate, || {
            // SAFETY: there is such a partition, of a word; the program says that its data are there.
            let word = unsafe { self.words.of_partition(partition) };
            // SAFETY: the slot has room for the data, and the gate is open.
            unsafe { data_of(slot).cast::<[u8; WORD]>().write(word) };
            flag.raise(round);
        });
        if ready == Some(Ready::Last) {
            wakes.ring();
        }
        ready.is_some()
    }

    /// Hands over any partition of the round that was started.
    ///
    /// # Errors
    /// Why it cannot be.
    pub(super) fn ready(&self, partition: i32) -> std::result::Result<(), NotReady> {
        let (partition, round) = (partition as u32 as usize, self.round.load(Ordering::Relaxed));
        if partition >= self.partitions {
            return Err(NotReady::NoSuchPartition);
        }
        let Some(together) = &self.together else { return self.hand_over(round, partition) };
        match together.ready(partition, round) {
            None => Err(NotReady::ReadyBefore),
            Some(false) => Ok(()),
            Some(true) => self.hand_over(round, 0),
        }
    }

    /// Hands over a partition of the division.
    fn hand_over(&self, round: u32, partition: usize) -> std::result::Result<(), NotReady> {
        if self.departures.is_deferred(partition, round) || self.board.flag(round, partition).is_raised(round)
        {
            return Err(NotReady::ReadyBefore);
        }
        if !self.board.gate().is_open(round) {
            self.in_words.store(0, Ordering::Relaxed);
        }
        // After the last partition another thread may free the sender.
        let wakes = self.wakes;
        match self.departures.ready(partition, round, self.board.gate(), || self.deliver(round, partition)) {
            Ready::Delivered | Ready::Deferred => {}
            Ready::Last | Ready::Overtaken => wakes.ring(),
            Ready::DeferredBefore => return Err(NotReady::ReadyBefore),
        }
        Ok(())
    }

    /// Stores the data of a partition where the receiver finds them.
    fn deliver(&self, round: u32, partition: usize) {
        if let Some(far) = &self.far {
            self.send_far(far, partition);
        } else if self.board.is_in_slots() {
            // SAFETY: the slot has room for the data.
            unsafe { self.copy_out(partition, self.board.data(round, partition)) };
        } else {
            self.deliver_large(round, partition);
        }
        self.board.flag(round, partition).raise(round);
    }

    fn send_far(&self, far: &FarSender, partition: usize) {
        let sent = zeroed(self.division.bytes).and_then(|mut data| {
            // SAFETY: there is room for the partition.
            unsafe { self.copy_out(partition, data.as_mut_ptr()) };
            far.send(partition, data.into_boxed_slice())
        });
        if let Err(error) = sent {
            self.error.get_or_init(|| error);
        }
    }

    /// Copies the data of a partition.
    ///
    /// # Safety
    /// There is room for them at `to`.
    unsafe fn copy_out(&self, partition: usize, to: *mut u8) {
        let bytes = self.division.bytes;
        // SAFETY: the partition is a part of the buffer; for the rest the caller's promise.
        unsafe { self.buffer.copy_part_out(partition * bytes, to, bytes) };
    }

    fn deliver_large(&self, round: u32, partition: usize) {
        let direct = self.write_directly(partition);
        self.board.set_on_stage(round, partition, !direct);
        if direct {
            return;
        }
        match self.board.make_stage(self.domain) {
            Some(stage) => {
                let place = stage.wrapping_add(partition * self.board.division().bytes);
                // SAFETY: the stage has room for the message.
                unsafe { self.copy_out(partition, place) };
            }
            None => {
                let message =
                    format!("there is no memory for {} bytes to send", self.board.division().total());
                self.error.get_or_init(|| Error::new(mpi::MPI_ERR_NO_MEM, message));
            }
        }
    }

    /// Writes into the receiver's memory. Returns false if the kernel forbids it.
    fn write_directly(&self, partition: usize) -> bool {
        let Some(peer) = self.peer else { return true };
        let bytes = self.board.division().bytes;
        let offset = partition * bytes;
        let (fabric, address) = (self.domain.fabric(), self.board.address() + offset as u64);
        if peer == fabric.rank() {
            // SAFETY: the receiver, of this process, has room for the message there.
            unsafe { self.copy_out(partition, with_exposed_provenance_mut(address as usize)) };
            return true;
        }
        let Some(pid) = fabric.copy_partner(peer) else { return false };
        let mut packed;
        let from = match self.buffer.contiguous() {
            Some(address) => address.wrapping_add(offset),
            None => {
                // Without memory for a copy the data go through the stage, or the operation fails there.
                let Ok(room) = zeroed(bytes) else { return false };
                packed = room;
                // SAFETY: the vector has room for the partition.
                unsafe { self.copy_out(partition, packed.as_mut_ptr()) };
                packed.as_mut_ptr()
            }
        };
        // SAFETY: the partition's data are there, in the program's memory or packed.
        let written = unsafe { single_copy::write(pid, address, from, bytes) };
        if let Err(error) = &written {
            fabric.note_refusal(peer, error);
        }
        written.is_ok()
    }

    /// Opens the gate for the round after the next one that the receiver has taken, if it is on another
    /// machine.
    fn hear_receiver(&self) {
        let Some(far) = &self.far else { return };
        match far.round_taken() {
            Ok(None) => {}
            Ok(Some(round)) => self.board.gate().open(next_round(next_round(round))),
            Err(error) => _ = self.error.get_or_init(|| error),
        }
        if self.error.get().is_some() {
            // The receiver is lost: it will not let partitions come, and they need not wait.
            self.board.gate().open(self.round.load(Ordering::Relaxed));
        }
    }

    /// Delivers what is deferred. Returns true if there was something.
    fn deliver_deferred(&self) -> bool {
        self.hear_receiver();
        let round = self.round.load(Ordering::Relaxed);
        self.departures.deliver_deferred(round, self.board.gate(), |partition| {
            if self.board.flag(round, partition).is_raised(round) {
                return false;
            }
            self.deliver(round, partition);
            true
        })
    }
}

/// Whom to wake; it outlives the sender.
#[derive(Debug, Clone, Copy)]
struct Wakes {
    /// The receiver's world rank.
    peer: usize,
}

impl Wakes {
    /// After the last delivery wakes whoever sleeps until the operation is over; for a partition that the
    /// gate has overtaken, a thread that delivers it.
    #[cold]
    fn ring(self) {
        let Some(domain) = domain::running() else { return };
        let fabric = domain.fabric();
        fabric.wake(fabric.rank());
        if self.peer != fabric.rank() {
            fabric.wake(self.peer);
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let round = *self.round.get_mut();
        // The receiver of a message to this process shares the board.
        let has_reader = self.far.is_none() && self.peer.is_some_and(|peer| peer != self.domain.rank());
        if has_reader && self.board.round_taken() != round {
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.push((self.board.clone(), round));
        }
    }
}

/// The attachment of a sender's request.
#[derive(Debug)]
pub(super) struct Sending(pub(super) Arc<Sender>);

impl Attachment for Sending {
    fn start(&mut self, id: RequestId) -> Result<()> {
        let sender = &self.0;
        let round = next_round(sender.round.load(Ordering::Relaxed));
        sender.round.store(round, Ordering::Relaxed);
        sender.set.store(sender.slots.set_of(round), Ordering::Relaxed);
        sender.departures.begin();
        sender.in_words.store(sender.all_in_words, Ordering::Relaxed);
        if let Some(together) = &sender.together {
            together.begin();
        }
        if sender.peer.is_none() {
            sender.board.gate().open(round);
        }
        request::activate(id);
        sender.domain.vni(sender.vni).add_task(Box::new(SendRound { sender: sender.clone(), id }));
        Ok(())
    }
}

/// A round under way: delivers what is deferred, and completes the request.
#[derive(Debug)]
struct SendRound {
    sender: Arc<Sender>,
    id: RequestId,
}

impl Task for SendRound {
    fn advance(self: Box<Self>) -> Advanced<Box<dyn Task>> {
        let happened = self.sender.deliver_deferred();
        if !self.sender.departures.are_over() {
            return if happened { Advanced::CameFurther(self) } else { Advanced::Waits(self) };
        }
        let SendRound { sender, id } = *self;
        if happened {
            sender.wakes.ring();
        }
        let outcome = Outcome { error: sender.error.get().cloned(), ..Outcome::empty() };
        let (domain, vni) = (sender.domain, sender.vni);
        drop(sender);
        domain.vni(vni).complete_task(id, outcome);
        Advanced::Over
    }
}
