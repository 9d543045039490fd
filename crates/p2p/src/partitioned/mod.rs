//! Partitioned communication: a message whose parts leave one by one, as threads have them ready (MPI 5.0,
//! chapter 5).
//!
//! A call for a partition takes no lock and enters no critical section. The thread that has a partition ready
//! stores its data where the receiver finds them; so partitions leave at once, in any order, by as many
//! threads as there are. The two sides may divide the message differently.
//!
//! | file | idea |
//! |---|---|
//! | `offer.rs` | how the two sides find each other |
//! | `expected.rs` | in which order: that of the initialisations |
//! | `board.rs` | the memory that they share, and where the data of partitions go |
//! | `sender.rs`, `receiver.rs` | the two sides, and their requests |
//! | `far.rs` | between machines: each partition is a message |
//!
//! The protocol of flags and rounds is [`heddle_sync::queues::partitions`]. A round under way has a task on
//! its VNI on each side: it delivers what was ready before the receiver was, takes what has arrived, and
//! completes the request.

mod board;
mod expected;
mod far;
mod offer;
mod receiver;
mod sender;

use crate::persistent::inactive;
use board::Division;
use heddle_comm::CommRef;
use heddle_comm::error::{Error, Result};
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_message::request::{self, Found, RequestId, RequestKind};
use heddle_model::Refusal;
use heddle_spec::constants as mpi;
use receiver::{Receiver, Receiving};
use sender::{NotReady, Sender, Sending};
use std::sync::Arc;

use crate::receive::check_source;

/// Divides a buffer into partitions.
///
/// # Errors
/// `MPI_ERR_ARG` if their number is negative.
pub fn check_partitions(partitions: i32) -> Result<usize> {
    usize::try_from(partitions).map_err(|_| {
        Error::new(
            mpi::MPI_ERR_ARG,
            format!("the number of partitions is {partitions}, but it may not be negative"),
        )
    })
}

fn division(buffer: &Buffer, partitions: usize) -> Division {
    Division { partitions, bytes: buffer.len().checked_div(partitions).unwrap_or(0) }
}

/// Makes a request that sends a buffer in that many partitions of equal size.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_NO_MEM`.
pub fn psend_init(comm: &CommRef, buffer: Buffer, partitions: usize, dest: i32, tag: i32) -> Result<usize> {
    let domain = domain::current()?;
    let dest = (dest != mpi::MPI_PROC_NULL).then_some(dest);
    let sender = Sender::new(domain, comm, buffer, division(&buffer, partitions), (dest, tag))?;
    let attachment = Box::new(Sending(Arc::new(sender)));
    inactive(comm, comm.vni(), RequestKind::PartitionedSend, buffer, attachment)
}

/// Makes a request that receives a buffer in that many partitions of equal size.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_TAG`, `MPI_ERR_NO_MEM`.
pub fn precv_init(comm: &CommRef, buffer: Buffer, partitions: usize, source: i32, tag: i32) -> Result<usize> {
    if source == mpi::MPI_ANY_SOURCE || tag == mpi::MPI_ANY_TAG {
        let (class, what) = match source {
            mpi::MPI_ANY_SOURCE => (mpi::MPI_ERR_RANK, "MPI_ANY_SOURCE"),
            _ => (mpi::MPI_ERR_TAG, "MPI_ANY_TAG"),
        };
        return Err(Error::new(class, format!("a partitioned receive cannot have {what}")));
    }
    let receiver = if source == mpi::MPI_PROC_NULL {
        None
    } else {
        check_source(comm, source)?;
        let (domain, division) = (domain::current()?, division(&buffer, partitions));
        Some(Arc::new(Receiver::new(domain, comm, buffer, division, (source, tag))?))
    };
    inactive(comm, comm.vni(), RequestKind::PartitionedReceive, buffer, Box::new(Receiving(receiver)))
}

/// The sender of a started request; `None` if the handle names no such request.
#[inline(always)]
fn sender_of(handle: usize) -> Option<&'static Sender> {
    // SAFETY: `psend_init` alone makes requests of this kind. The program frees the request after its threads
    // have handed over all partitions.
    let sending = unsafe { request::started::<Sending>(handle, RequestKind::PartitionedSend) }?;
    Some(&sending.0)
}

/// Hands over a partition of 8 bytes, if the receiver has a place for it.
///
/// # Errors
/// A refusal, if nothing was done.
#[inline(always)]
pub fn ready_express(partition: i32, handle: usize) -> std::result::Result<(), Refusal> {
    let sender = sender_of(handle).ok_or(Refusal::Unfit)?;
    if sender.ready_at_once(partition) { Ok(()) } else { Err(Refusal::Unfit) }
}

/// Hands over a partition.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle names no partitioned send that was started; `MPI_ERR_ARG` if there is no
/// such partition, or if it was ready before.
pub fn ready(partition: i32, handle: usize) -> Result<()> {
    let sender = started_sender(handle)?;
    sender.ready(partition).map_err(|error| match error {
        NotReady::NoSuchPartition => no_such_partition(partition, sender.partitions),
        NotReady::ReadyBefore => {
            let message = format!("partition {partition} was ready before in this round");
            Error::new(mpi::MPI_ERR_ARG, message)
        }
    })
}

/// Checks that partitions can be handed over, before the first of them is.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle names no partitioned send that was started; `MPI_ERR_ARG` if one of the
/// partitions does not exist.
pub fn check_ready(partitions: &[i32], handle: usize) -> Result<()> {
    let number = started_sender(handle)?.partitions;
    let exists = |partition: i32| usize::try_from(partition).is_ok_and(|partition| partition < number);
    match partitions.iter().find(|partition| !exists(**partition)) {
        Some(partition) => Err(no_such_partition(*partition, number)),
        None => Ok(()),
    }
}

fn started_sender(handle: usize) -> Result<&'static Sender> {
    // A handle that names nothing has an error of its own.
    request::find(handle)?;
    sender_of(handle).ok_or_else(|| {
        let message = "only a partitioned send that was started has partitions that become ready";
        Error::new(mpi::MPI_ERR_REQUEST, message)
    })
}

fn no_such_partition(partition: i32, number: usize) -> Error {
    let message = format!("there is no partition {partition}: {}", numbers(number));
    Error::new(mpi::MPI_ERR_ARG, message)
}

/// Returns true if a partition of a started receive has arrived; also if the handle is null or inactive.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle names no partitioned receive; `MPI_ERR_ARG` if there is no such partition.
pub fn has_arrived(handle: usize, partition: i32) -> Result<bool> {
    // SAFETY: `precv_init` alone makes requests of this kind; the program does not free it during the call.
    let receiving = unsafe { request::started::<Receiving>(handle, RequestKind::PartitionedReceive) };
    let Some(receiving) = receiving else { return nothing_started(handle) };
    let Some(receiver) = &receiving.0 else { return Ok(true) };
    match usize::try_from(partition) {
        Ok(partition) if partition < receiver.partitions() => receiver.has_arrived(partition),
        _ => Err(no_such_partition(partition, receiver.partitions())),
    }
}

/// The answer for a handle that names no started receive.
#[cold]
fn nothing_started(handle: usize) -> Result<bool> {
    match request::find(handle)? {
        Found::Null => Ok(true),
        Found::Slot(id) if is_receive(id) => Ok(true),
        _ => {
            let message = "only a partitioned receive has partitions that arrive";
            Err(Error::new(mpi::MPI_ERR_REQUEST, message))
        }
    }
}

fn is_receive(id: RequestId) -> bool {
    // SAFETY: the field that is read does not change until the request is freed.
    unsafe { request::owner(id) }.kind == RequestKind::PartitionedReceive
}

#[cold]
fn numbers(partitions: usize) -> String {
    match partitions {
        0 => "the operation has none".to_owned(),
        _ => format!("they are numbered from 0 to {}", partitions - 1),
    }
}
