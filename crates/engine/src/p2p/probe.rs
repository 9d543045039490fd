//! Looking at messages before they are received, and taking them out of matching (MPI 5.0, section 3.8).

use super::receive::check_source;
use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::{Error, Result};
use crate::matching::Key;
use crate::object_table::{Kind, Table};
use crate::process;
use crate::request::{self, Outcome, RequestKind};
use crate::vni::Message;
use heddle_spec::constants as mpi;
use std::sync::{Mutex, PoisonError};

/// A message taken out of matching, which only its handle can receive.
#[derive(Debug)]
struct MessageObject {
    /// Behind a mutex as two threads may hold the handle; only one gets the message.
    content: Mutex<Option<(Key, Message)>>,
    comm: CommRef,
}

// SAFETY: the message names requests of its VNI, which are touched only inside that VNI's section.
unsafe impl Send for MessageObject {}
// SAFETY: as above; the content is behind a mutex.
unsafe impl Sync for MessageObject {}

/// All matched messages.
static MESSAGES: Table<MessageObject> = Table::new(Kind::Message);

/// The handle of a live matched message with this index, for `MPI_Message_fromint`.
pub fn message_of_index(index: u32) -> Option<usize> {
    MESSAGES.handle_of_index(index)
}

/// The communicator that a live matched message belongs to.
pub(crate) fn comm_of_message(message: usize) -> Option<CommRef> {
    MESSAGES.get(message).map(|object| object.comm.clone())
}

fn seen(key: &Key, bytes: u64) -> Outcome {
    Outcome { source: key.source(), tag: key.tag(), bytes, cancelled: false, error: None }
}

/// Says whether a message could be received now, and what it is.
///
/// # Errors
/// `MPI_ERR_RANK`.
pub fn iprobe(comm: &CommRef, source: i32, tag: i32) -> Result<Option<Outcome>> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(Some(Outcome::proc_null()));
    }
    check_source(comm, source)?;
    let process = process::current()?;
    let key = Key::new(comm.context(Plane::PointToPoint), source, tag);
    let vni = process.vni(comm.vni());
    let look =
        || vni.with(|core| core.matching.peek(&key).map(|(exact, message)| seen(&exact, message.len())));
    match look() {
        Some(found) => Ok(Some(found)),
        None => {
            process.progress_for_test(comm.vni());
            Ok(look())
        }
    }
}

/// Waits for a message and says what it is.
///
/// # Errors
/// `MPI_ERR_RANK`.
pub fn probe(comm: &CommRef, source: i32, tag: i32) -> Result<Outcome> {
    wait_for(comm, || iprobe(comm, source, tag))
}

/// Takes a message out of matching, if there is one: its handle and what it is.
///
/// # Errors
/// `MPI_ERR_RANK`.
pub fn improbe(comm: &CommRef, source: i32, tag: i32) -> Result<Option<(usize, Outcome)>> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(Some((mpi::MPI_MESSAGE_NO_PROC, Outcome::proc_null())));
    }
    check_source(comm, source)?;
    let process = process::current()?;
    let key = Key::new(comm.context(Plane::PointToPoint), source, tag);
    let vni = process.vni(comm.vni());
    let take = || {
        vni.with(|core| {
            core.matching.take(&key).map(|(exact, message)| (seen(&exact, message.len()), exact, message))
        })
    };
    let taken = match take() {
        None => {
            process.progress_for_test(comm.vni());
            take()
        }
        found => found,
    };
    Ok(taken.map(|(outcome, exact, message)| {
        let object = MessageObject { content: Mutex::new(Some((exact, message))), comm: comm.clone() };
        (MESSAGES.insert(object), outcome)
    }))
}

/// Waits for a message and takes it out of matching.
///
/// # Errors
/// `MPI_ERR_RANK`.
pub fn mprobe(comm: &CommRef, source: i32, tag: i32) -> Result<(usize, Outcome)> {
    wait_for(comm, || improbe(comm, source, tag))
}

fn wait_for<T>(comm: &CommRef, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let process = process::current()?;
    let mut result = attempt();
    process.wait_until(comm.vni(), || {
        if matches!(result, Ok(None)) {
            result = attempt();
        }
        !matches!(result, Ok(None))
    });
    match result {
        Ok(Some(found)) => Ok(found),
        Ok(None) => unreachable!("the wait ends with a result"),
        Err(error) => Err(error),
    }
}

/// Receives a matched message; returns the handle of the request.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle is not that of a message not yet received.
pub fn imrecv(message: usize, buffer: Buffer) -> Result<usize> {
    if message == mpi::MPI_MESSAGE_NO_PROC {
        let process = process::current()?;
        return Ok(super::receive::completed(&CommRef::own(process), Outcome::proc_null()));
    }
    let bad = || {
        Error::new(mpi::MPI_ERR_REQUEST, format!("{message:#x} is not a message that waits to be received"))
    };
    let object = MESSAGES.remove(message).ok_or_else(bad)?;
    let taken = object.content.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (key, content) = taken.ok_or_else(bad)?;
    let process = process::current()?;
    let vni = object.comm.vni();
    let id = request::take(vni, object.comm.handle(), RequestKind::Receive);
    object.comm.linger_if_freed();
    process.vni(vni).with(|core| core.receive_matched(id, buffer, &key, content));
    Ok(request::handle(id))
}

/// Receives a matched message.
///
/// # Errors
/// As [`imrecv`].
pub fn mrecv(message: usize, buffer: Buffer) -> Result<Outcome> {
    let mut request = imrecv(message, buffer)?;
    super::wait(&mut request)
}
