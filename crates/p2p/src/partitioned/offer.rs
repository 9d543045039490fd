//! How the two sides of a partitioned operation find each other.
//!
//! The sender's initialisation sends one message, which says where its board is; the receivers' receive
//! them in their order (`expected.rs`). The messages travel on a plane of their own with the program's
//! tag, so operations match in the order of their initialisations, and with no other messages (MPI 5.0,
//! section 5.2.1).

use super::board::{Board, Division};
use crate::send::send_with;
use heddle_comm::error::Result;
use heddle_comm::{CommRef, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_message::request::{self, RequestKind};
use heddle_message::vni::SendArgs;
use heddle_transport::SharedRange;
use std::ptr::with_exposed_provenance;
use std::sync::Arc;

/// The message.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offer {
    /// The sender's world rank.
    peer: u64,
    partitions: u64,
    bytes: u64,
    /// Where the board is in the job's memory.
    offset: u64,
    len: u64,
    /// For a receiver in the same process: a counted reference to the board itself.
    board: u64,
    /// For a receiver on another machine: the first tag of the messages.
    first_tag: u64,
}

/// Tells a receiver, by its world rank, of a board; one on another machine of the first tag of the messages,
/// and of the true division, since that of the board is without data.
///
/// # Errors
/// `MPI_ERR_NO_MEM` if there are too many requests.
pub(super) fn send(
    domain: &Domain,
    comm: &CommRef,
    board: &Arc<Board>,
    (peer, tag): (usize, i32),
    (division, first_tag): (Division, i32),
) -> Result<()> {
    let range = board.range();
    let mut offer = Box::new(Offer {
        peer: domain.rank() as u64,
        partitions: division.partitions as u64,
        bytes: division.bytes as u64,
        offset: range.map_or(0, |range| range.offset),
        len: range.map_or(0, |range| range.len),
        board: 0,
        first_tag: first_tag as u64,
    });
    if peer == domain.rank() {
        offer.board = Arc::into_raw(board.clone()).expose_provenance() as u64;
    }
    let reference = offer.board;
    // SAFETY: the boxed offer does not move, and is kept until the send completes.
    let buffer = unsafe { Buffer::bytes((&raw mut *offer).cast(), size_of::<Offer>()) };
    let (context, source) = (comm.context().id(Plane::Partitioned), comm.rank() as i32);
    let args = SendArgs { buffer, peer, context, source, tag, synchronous: false, keep: Some(offer) };
    let vni = comm.context().vni_of(domain.vnis().len(), context, source, tag);
    let taken = |vni| request::take_detached(vni, comm.handle(), RequestKind::Send);
    send_with(domain, comm, vni, args, taken).inspect_err(|_| {
        if reference != 0 {
            // SAFETY: the reference was made above, and nobody has seen it.
            drop(unsafe { Arc::from_raw(with_exposed_provenance::<Board>(reference as usize)) });
        }
    })?;
    Ok(())
}

impl Offer {
    /// A buffer over the offer, for the receive.
    ///
    /// # Safety
    /// The offer stays where it is, and is not read, until the receive is over.
    pub(super) unsafe fn buffer(&mut self) -> Buffer {
        // SAFETY: the caller's promise.
        unsafe { Buffer::bytes(std::ptr::from_mut(self).cast(), size_of::<Offer>()) }
    }

    /// How a sender on another machine has divided the message, and the first tag of its messages.
    pub(super) fn division_and_tag(&self) -> (Division, i32) {
        let division = Division { partitions: self.partitions as usize, bytes: self.bytes as usize };
        (division, self.first_tag as i32)
    }

    /// The sender's world rank, and its board. Called once, since a board of this process is counted.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if the board cannot be mapped.
    pub(super) fn accept(&self, domain: &Domain) -> Result<(usize, Arc<Board>)> {
        let peer = self.peer as usize;
        if self.board != 0 {
            // SAFETY: the sender, a thread of this process, has counted this reference for the receiver.
            return Ok((peer, unsafe { Arc::from_raw(with_exposed_provenance(self.board as usize)) }));
        }
        let division = Division { partitions: self.partitions as usize, bytes: self.bytes as usize };
        let range = SharedRange { offset: self.offset, len: self.len };
        Ok((peer, Arc::new(Board::map(domain, division, range)?)))
    }

    /// Drops an offer that nobody accepts. Called once, instead of [`accept`](Self::accept).
    pub(super) fn let_go(&self) {
        if self.board != 0 {
            // SAFETY: the sender, a thread of this process, has counted this reference for the receiver.
            drop(unsafe { Arc::<Board>::from_raw(with_exposed_provenance(self.board as usize)) });
        }
    }
}
