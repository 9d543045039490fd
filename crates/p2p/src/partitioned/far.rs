//! Partitioned operations between machines: each partition of the sender is a message.
//!
//! ```text
//!   sender                                   receiver
//!     ── offer, with the first tag ──────────▶
//!     ── a message for each partition … ─────▶  a receive for each, in each round
//!     ◀──────────────── the round was taken ──  the sender may begin the round after the next
//! ```
//!
//! The messages travel on a plane of their own, where no two operations of a sender have the same tags. The
//! board of each side has only flags, which the side raises itself; so all other steps are those of a
//! machine's processes.

use super::board::{Board, Division};
use crate::complete::{cancel, wait};
use crate::receive::irecv;
use crate::send::{send_with, world_rank};
use crate::state::is_over;
use heddle_comm::error::Result;
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_message::request::{self, RequestKind};
use heddle_message::vni::SendArgs;
use heddle_platform::allocate::reserve;
use heddle_platform::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Tags of partitions are below it, those of answers above.
const ANSWERS: i32 = 1 << 30;

heddle_platform::per_process! {
    /// The first tag of the next operation.
    static NEXT: AtomicI32 = AtomicI32::new(0);
}

/// Tags for an operation with that many partitions: the first of them. They are used again after 2^30 others.
fn tags_for(partitions: usize) -> i32 {
    // Relaxed: the only requirement is that no two calls get the same tags.
    let taken = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
        let end = i64::from(next) + partitions.max(1) as i64;
        Some(if end < i64::from(ANSWERS) { end as i32 } else { 0 })
    });
    taken.unwrap_or_else(|next| next)
}

/// Sends bytes, which are kept until the message is sent.
fn send(domain: &Domain, comm: &CommRef, peer: usize, tag: i32, mut bytes: Box<[u8]>) -> Result<()> {
    // SAFETY: the boxed bytes do not move, and are kept until the send completes.
    let buffer = unsafe { Buffer::bytes(bytes.as_mut_ptr(), bytes.len()) };
    let (context, source) = (comm.context().id(Plane::Partitions), comm.rank() as i32);
    let args =
        SendArgs { buffer, peer, context, source, tag, synchronous: false, keep: Some(Box::new(bytes)) };
    let vni = comm.context().vni_of(domain.vnis().len(), context, source, tag);
    send_with(domain, comm, vni, args, |vni| request::take_detached(vni, comm.handle(), RequestKind::Send))?;
    Ok(())
}

/// The sender's end.
#[derive(Debug)]
pub(super) struct FarSender {
    domain: &'static Domain,
    comm: KeptComm,
    /// The receiver's world rank, and its rank in the communicator.
    peer: usize,
    dest: i32,
    pub(super) first_tag: i32,
    answer: Mutex<Answer>,
}

/// The answer that is to come: the round that the receiver has taken.
#[derive(Debug)]
struct Answer {
    request: Option<usize>,
    round: Box<[u8; size_of::<u32>()]>,
}

impl FarSender {
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn new(
        domain: &'static Domain,
        comm: &CommRef,
        dest: i32,
        partitions: usize,
    ) -> Result<FarSender> {
        let (peer, first_tag) = (world_rank(comm, dest)?, tags_for(partitions));
        let answer = Mutex::new(Answer { request: None, round: Box::default() });
        let far = FarSender { domain, comm: comm.keep(), peer, dest, first_tag, answer };
        far.expect_answer(&mut far.answer.lock().unwrap_or_else(PoisonError::into_inner))?;
        Ok(far)
    }

    /// Sends the data of a partition.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn send(&self, partition: usize, data: Box<[u8]>) -> Result<()> {
        send(self.domain, &self.comm, self.peer, self.first_tag + partition as i32, data)
    }

    fn expect_answer(&self, answer: &mut Answer) -> Result<()> {
        // SAFETY: the number is boxed, and read after the receive; `drop` ends a receive that is pending.
        let place = unsafe { Buffer::bytes(answer.round.as_mut_ptr(), answer.round.len()) };
        let request = irecv(&self.comm, Plane::Partitions, place, self.dest, ANSWERS + self.first_tag)?;
        answer.request = Some(request);
        Ok(())
    }

    /// The round that the receiver has taken, if it has said so since the last call.
    ///
    /// # Errors
    /// The answer's.
    pub(super) fn round_taken(&self) -> Result<Option<u32>> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut request) = answer.request.filter(|request| is_over(*request)) else { return Ok(None) };
        answer.request = None;
        wait(&mut request)?.error.map_or(Ok(()), Err)?;
        let round = u32::from_ne_bytes(*answer.round);
        self.expect_answer(&mut answer)?;
        Ok(Some(round))
    }
}

impl Drop for FarSender {
    fn drop(&mut self) {
        let answer = self.answer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut request) = answer.request.take() {
            // There is nobody to tell of an error.
            let _ = cancel(request).and_then(|()| wait(&mut request));
        }
    }
}

/// The receiver's end.
#[derive(Debug)]
pub(super) struct FarReceiver {
    domain: &'static Domain,
    comm: KeptComm,
    /// The sender's world rank, and its rank in the communicator.
    peer: usize,
    source: i32,
    first_tag: i32,
    /// The receives of the sender's partitions in this round, while they are pending.
    pending: Mutex<Vec<Option<usize>>>,
}

impl FarReceiver {
    /// The receiver of a sender of this rank, whose first tag is given.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`.
    pub(super) fn new(
        domain: &'static Domain,
        comm: &KeptComm,
        source: i32,
        first_tag: i32,
    ) -> Result<FarReceiver> {
        let peer = world_rank(comm, source)?;
        let pending = Mutex::default();
        Ok(FarReceiver { domain, comm: comm.clone(), peer, source, first_tag, pending })
    }

    /// Receives all partitions of a round.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`, also if there are too many requests.
    ///
    /// # Safety
    /// There is room for the message at `to`, which nobody uses until the round is over.
    pub(super) unsafe fn begin(&self, to: *mut u8, division: Division) -> Result<()> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.clear();
        reserve(&mut pending, division.partitions)?;
        for partition in 0..division.partitions {
            let place = to.wrapping_add(partition * division.bytes);
            // SAFETY: the caller's promise.
            let buffer = unsafe { Buffer::bytes(place, division.bytes) };
            let tag = self.first_tag + partition as i32;
            pending.push(Some(irecv(&self.comm, Plane::Partitions, buffer, self.source, tag)?));
        }
        Ok(())
    }

    /// Raises the flags of the partitions that have arrived. Does nothing if another thread does it.
    ///
    /// # Errors
    /// A receive's.
    pub(super) fn raise_flags(&self, board: &Board, round: u32) -> Result<()> {
        let Ok(mut pending) = self.pending.try_lock() else { return Ok(()) };
        for (partition, request) in pending.iter_mut().enumerate() {
            let Some(mut over) = request.filter(|request| is_over(*request)) else { continue };
            *request = None;
            wait(&mut over)?.error.map_or(Ok(()), Err)?;
            board.flag(round, partition).raise(round);
        }
        Ok(())
    }

    /// Tells the sender that a round was taken.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    pub(super) fn end(&self, round: u32) -> Result<()> {
        let answer = Box::new(round.to_ne_bytes());
        send(self.domain, &self.comm, self.peer, ANSWERS + self.first_tag, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_operations_are_apart_and_below_those_of_answers() {
        let (first, second) = (tags_for(10), tags_for(0));
        assert!(second >= first + 10 && tags_for(1) > second);
        NEXT.store(ANSWERS - 5, Ordering::Relaxed);
        let last = tags_for(4);
        assert_eq!(last, ANSWERS - 5);
        tags_for(4);
        assert!(tags_for(1) < ANSWERS - 5);
    }
}
