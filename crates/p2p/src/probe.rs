//! Probes and matched probes (MPI 5.0, section 3.8).

use super::awaited::Arrival;
use super::receive::check_source;
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain::{self, Domain};
use heddle_message::losses::error_of_probe;
use heddle_message::matching::Key;
use heddle_message::request::{self, Outcome, RequestKind};
use heddle_message::vni::Message;
use heddle_objects::table::{ObjectKind, Table};
use heddle_spec::constants as mpi;
use std::sync::{Mutex, PoisonError};

/// A message taken out of matching, which only its handle can receive.
#[derive(Debug)]
struct MessageObject {
    /// The message is behind a mutex, since two threads may have the handle; only one gets the message.
    content: Mutex<Option<(Key, Message)>>,
    comm: KeptComm,
}

// SAFETY: a message that was taken out of matching has the in-flight state of the
// request that it names, if any.
unsafe impl Send for MessageObject {}
// SAFETY: the content is behind a mutex, so one thread at a time touches the message and the
// in-flight state that it has.
unsafe impl Sync for MessageObject {}

/// All matched messages.
static MESSAGES: Table<MessageObject> = Table::new(ObjectKind::Message);

/// The handle of a live matched message with this index, for `MPI_Message_fromint`.
pub fn message_of_index(index: u32) -> Option<usize> {
    MESSAGES.handle_of_index(index)
}

/// The communicator that a live matched message belongs to.
pub fn comm_of_message(message: usize) -> Option<KeptComm> {
    MESSAGES.get(message).map(|object| object.comm.clone())
}

fn seen(key: &Key, bytes: u64) -> Outcome {
    Outcome { source: key.source(), tag: key.tag(), bytes, cancelled: false, error: None }
}

/// The VNI and key of a probe.
struct Probe {
    domain: &'static Domain,
    vni: u32,
    key: Key,
    /// The communicator's handle.
    comm: usize,
}

impl Probe {
    fn new(comm: &CommRef, source: i32, tag: i32) -> Result<Probe> {
        check_source(comm, source)?;
        let key = Key::new(comm.context().id(Plane::PointToPoint), source, tag);
        let domain = domain::current()?;
        if comm.context().wants_self_messages(&key) {
            comm.context().pin_self_messages(domain);
        }
        let vni = comm.vni_wanted(domain, &key)?;
        domain.vni(vni).gather_for_probe(key.context);
        Ok(Probe { domain, vni, key, comm: comm.handle() })
    }

    fn peek(&self) -> Option<Outcome> {
        self.domain.vni(self.vni).peek(self.key).map(|(exact, bytes)| seen(&exact, bytes))
    }

    fn take(&self) -> Option<(Outcome, Key, Message)> {
        let taken = self.domain.vni(self.vni).take(self.key);
        taken.map(|(exact, message)| (seen(&exact, message.bytes()), exact, message))
    }

    /// Why the message will not come: its sender is lost.
    fn error(&self) -> Option<Error> {
        error_of_probe(self.domain.fabric(), self.comm, &self.key)
    }

    /// Checks for the message; if there is none, makes progress and checks again.
    ///
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED`.
    fn try_once<T>(&self, find: impl Fn(&Probe) -> Option<T>) -> Result<Option<T>> {
        let found = find(self).or_else(|| {
            self.domain.progress_for_test(self.vni);
            find(self)
        });
        match found {
            None => self.error().map_or(Ok(None), Err),
            found => Ok(found),
        }
    }

    /// Waits for the message.
    ///
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED`.
    fn wait<T>(&self, find: impl Fn(&Probe) -> Option<T>) -> Result<T> {
        let mut found = None;
        let find = || {
            found = found.take().or_else(|| find(self).map(Ok)).or_else(|| self.error().map(Err));
            found.is_some()
        };
        let Probe { domain, vni, key, .. } = *self;
        domain.wait_for(vni, &mut Arrival { domain, vni, key, find });
        match found {
            Some(found) => found,
            None => unreachable!("the wait ends with a message"),
        }
    }
}

/// Gives a message that was taken out of matching a handle for the program.
fn message_object(comm: &CommRef, (outcome, exact, message): (Outcome, Key, Message)) -> (usize, Outcome) {
    let object = MessageObject { content: Mutex::new(Some((exact, message))), comm: comm.keep() };
    (MESSAGES.insert(object), outcome)
}

/// Returns the envelope of the message that a receive with these arguments would take now, if there is one.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_PROC_ABORTED`.
pub fn iprobe(comm: &CommRef, source: i32, tag: i32) -> Result<Option<Outcome>> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(Some(Outcome::proc_null()));
    }
    Probe::new(comm, source, tag)?.try_once(Probe::peek)
}

/// Waits for a message and returns its envelope.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_PROC_ABORTED`.
pub fn probe(comm: &CommRef, source: i32, tag: i32) -> Result<Outcome> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(Outcome::proc_null());
    }
    Probe::new(comm, source, tag)?.wait(Probe::peek)
}

/// Removes a message from matching, if there is one; returns its handle and its envelope.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_PROC_ABORTED`.
pub fn improbe(comm: &CommRef, source: i32, tag: i32) -> Result<Option<(usize, Outcome)>> {
    if source == mpi::MPI_PROC_NULL {
        return Ok(Some((mpi::MPI_MESSAGE_NO_PROC, Outcome::proc_null())));
    }
    let taken = Probe::new(comm, source, tag)?.try_once(Probe::take)?;
    Ok(taken.map(|taken| message_object(comm, taken)))
}

/// Waits for a message and takes it out of matching.
///
/// # Errors
/// `MPI_ERR_RANK`, `MPI_ERR_PROC_ABORTED`.
pub fn mprobe(comm: &CommRef, source: i32, tag: i32) -> Result<(usize, Outcome)> {
    if source == mpi::MPI_PROC_NULL {
        return Ok((mpi::MPI_MESSAGE_NO_PROC, Outcome::proc_null()));
    }
    Ok(message_object(comm, Probe::new(comm, source, tag)?.wait(Probe::take)?))
}

/// Receives a matched message; returns the handle of the request.
///
/// # Errors
/// `MPI_ERR_REQUEST` if the handle is not that of a message not yet received; `MPI_ERR_NO_MEM` if
/// there are too many requests.
pub fn imrecv(message: usize, buffer: Buffer) -> Result<usize> {
    if message == mpi::MPI_MESSAGE_NO_PROC {
        return super::receive::completed(&CommRef::creations()?, Outcome::proc_null());
    }
    let bad = || {
        Error::new(mpi::MPI_ERR_REQUEST, format!("{message:#x} is not a message that waits to be received"))
    };
    let domain = domain::current()?;
    let object = MESSAGES.get(message).ok_or_else(bad)?;
    let mut stored = object.content.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((key, _)) = &*stored else { return Err(bad()) };
    let vni = object.comm.context().vni_of(domain.vnis().len(), key.context, key.source(), key.tag());
    // The request is taken first: if none is left, the program still has the message.
    let id = request::take(vni, object.comm.handle(), RequestKind::Receive)?;
    let Some((key, content)) = stored.take() else { unreachable!("it was there") };
    drop(stored);
    MESSAGES.remove(message);
    domain.vni(vni).receive_matched(id, buffer, key, content);
    Ok(request::handle(id))
}

/// Receives a matched message.
///
/// # Errors
/// The same as those of [`imrecv`].
pub fn mrecv(message: usize, buffer: Buffer) -> Result<Outcome> {
    let mut request = imrecv(message, buffer)?;
    super::wait(&mut request)
}
