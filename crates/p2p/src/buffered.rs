//! Buffered mode: a send that is complete when its call returns, independently of the
//! receiver (MPI 5.0, section 3.6).
//!
//! The program attaches a buffer, whose size limits the data that may be pending. The library keeps the data
//! of a buffered send in its own memory, and compares the sum of the pending sends with the attached size.
//! That sum is what the standard's model promises, without the fragmentation of a ring buffer.

use heddle_comm::CommRef;
use heddle_comm::attached_buffer::Attached;
use heddle_comm::error::{Error, Result};
use heddle_comm::session::Session;
use heddle_message::buffer::{Buffer, zeroed};
use heddle_message::domain;
use heddle_message::request::{self, Outcome, RequestId, RequestKind, SEND_DONE};
use heddle_message::vni::{SendArgs, Sequel};
use heddle_platform::atomic::Ordering;
use heddle_spec::constants as mpi;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// The object to which a buffer is attached.
#[derive(Debug, Clone, Copy)]
pub enum AttachTo<'a> {
    /// The process, for all communicators that have no buffer, and whose session has none.
    Process,
    /// One session, for its communicators that have no buffer.
    Session(&'a Session),
    /// One communicator.
    Comm(&'a CommRef),
}

heddle_platform::per_process! {
    static OF_PROCESS: Mutex<Option<Arc<Attached>>> = Mutex::new(None);
}

impl AttachTo<'_> {
    fn place(&self) -> &Mutex<Option<Arc<Attached>>> {
        match self {
            AttachTo::Process => &OF_PROCESS,
            AttachTo::Session(session) => &session.bsend_buffer,
            AttachTo::Comm(comm) => &comm.bsend_buffer,
        }
    }

    fn attached(&self) -> Option<Arc<Attached>> {
        self.place().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Attaches a buffer.
///
/// # Errors
/// `MPI_ERR_BUFFER` if one is attached already.
pub fn attach_buffer(to: AttachTo<'_>, address: usize, size: Option<usize>) -> Result<()> {
    let mut place = to.place().lock().unwrap_or_else(PoisonError::into_inner);
    if place.is_some() {
        let message = "a buffer is attached already: detach it first";
        return Err(Error::new(mpi::MPI_ERR_BUFFER, message));
    }
    *place = Some(Arc::new(Attached::new(address, size)));
    Ok(())
}

/// Waits until all pending buffered sends have left, and detaches the buffer.
///
/// # Errors
/// `MPI_ERR_BUFFER` if none is attached.
pub fn detach_buffer(from: AttachTo<'_>) -> Result<Arc<Attached>> {
    flush_buffer(from)?;
    let taken = from.place().lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.ok_or_else(|| Error::new(mpi::MPI_ERR_BUFFER, "no buffer is attached"))
}

/// Waits until all pending buffered sends have left.
///
/// # Errors
/// If MPI is not running.
pub fn flush_buffer(of: AttachTo<'_>) -> Result<()> {
    if let Some(attached) = of.attached() {
        let domain = domain::current()?;
        domain.wait_until(0, || attached.pending.load(Ordering::Acquire) == 0);
    }
    Ok(())
}

/// A request that completes when nothing is pending in a buffer.
#[derive(Debug)]
struct Flush {
    request: RequestId,
    attached: Arc<Attached>,
}

impl Sequel for Flush {
    fn is_due(&self) -> bool {
        self.attached.pending.load(Ordering::Acquire) == 0
    }

    fn run(self: Box<Self>, _: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)> {
        Some((self.request, Outcome::empty()))
    }
}

/// The VNI whose polls complete flushes; the buffered sends of a process or session may be on any.
const FLUSH_VNI: u32 = 0;

/// Starts waiting until all pending buffered sends have left; returns the handle of the request.
///
/// # Errors
/// If MPI is not running.
pub fn iflush_buffer(of: AttachTo<'_>) -> Result<usize> {
    let domain = domain::current()?;
    let Some(attached) = of.attached() else { return Ok(SEND_DONE) };
    let comm = match of {
        AttachTo::Process | AttachTo::Session(_) => mpi::MPI_COMM_SELF,
        AttachTo::Comm(comm) => comm.handle(),
    };
    let request = request::take(FLUSH_VNI, comm, RequestKind::Generalized)?;
    let handle = request::handle(request);
    domain.vni(FLUSH_VNI).follow(Box::new(Flush { request, attached }));
    Ok(handle)
}

/// The library's copy of a buffered send's data. Dropping it frees its share of the attached buffer.
#[derive(Debug)]
struct Staged {
    data: Vec<u8>,
    share: usize,
    attached: Arc<Attached>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `flush_buffer`.
        self.attached.pending.fetch_sub(self.share, Ordering::Release);
    }
}

/// What a message takes of an attached buffer beside its data: what programs of MPICH's ABI, where
/// `MPI_BSEND_OVERHEAD` is the least, make room for.
const OVERHEAD: usize = 96;

/// Copies the data of a buffered send; returns the copy as a buffer and what keeps it.
///
/// # Errors
/// `MPI_ERR_BUFFER` if no buffer is attached or it has no room; `MPI_ERR_NO_MEM`.
pub(crate) fn stage(comm: &CommRef, buffer: Buffer) -> Result<(Buffer, Option<Box<dyn Any + Send>>)> {
    let of_session = || comm.session().and_then(|session| AttachTo::Session(session).attached());
    let attached =
        AttachTo::Comm(comm).attached().or_else(of_session).or_else(|| AttachTo::Process.attached());
    let attached = attached.ok_or_else(|| {
        Error::new(mpi::MPI_ERR_BUFFER, "a buffered send needs a buffer: call MPI_Buffer_attach first")
    })?;
    let share = buffer.len() + OVERHEAD;
    while attached.reserve(share).is_err() {
        // Data that the peers have received frees its room as soon as a thread of this process polls: this
        // one, or another one in between.
        if !domain::current()?.poll_everywhere() {
            attached.reserve(share).map_err(|pending| no_room(&attached, share, pending))?;
            break;
        }
    }
    // Dropped where there is no memory for the data, it gives the room back.
    let mut staged = Box::new(Staged { data: Vec::new(), share, attached });
    staged.data = zeroed(buffer.len())?;
    buffer.copy_out(&mut staged.data);
    // SAFETY: the boxed data does not move and is kept until the send completes.
    let copy = unsafe { Buffer::bytes(staged.data.as_mut_ptr(), staged.data.len()) };
    Ok((copy, Some(staged)))
}

#[cold]
fn no_room(attached: &Attached, share: usize, pending: usize) -> Error {
    let message = format!(
        "the attached buffer of {} bytes has no room for {share} more (with {OVERHEAD} of overhead): {pending} are pending",
        attached.size.unwrap_or(usize::MAX)
    );
    Error::new(mpi::MPI_ERR_BUFFER, message)
}
