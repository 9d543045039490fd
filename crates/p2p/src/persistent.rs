//! Persistent requests: an operation described once and started again and again (MPI 5.0, section 3.9).

use super::buffered;
use super::mode::Mode;
use super::receive::{check_source, reissue};
use super::send::{send_with, world_rank};
use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm, Plane};
use heddle_message::buffer::Buffer;
use heddle_message::domain;
use heddle_message::matching::Key;
use heddle_message::request::{self, Attachment, Outcome, RequestId, RequestKind};
use heddle_message::vni::SendArgs;
use heddle_spec::constants as mpi;

/// The operation to start.
#[derive(Debug)]
enum Template {
    Nothing,
    Send { comm: KeptComm, buffer: Buffer, peer: usize, tag: i32, mode: Mode },
    Receive { comm: KeptComm, buffer: Buffer, source: i32, tag: i32 },
}

impl Attachment for Template {
    fn start(&mut self, id: RequestId) -> Result<()> {
        match self {
            Template::Send { comm, buffer, peer, tag, mode } => {
                let (buffer, keep) = match mode {
                    Mode::Buffered => buffered::stage(comm, *buffer)?,
                    _ => (*buffer, None),
                };
                let args = SendArgs {
                    buffer,
                    peer: *peer,
                    context: comm.context().id(Plane::PointToPoint),
                    source: comm.rank() as i32,
                    tag: *tag,
                    synchronous: *mode == Mode::Synchronous,
                    keep,
                };
                start_send(comm, args, id, *mode == Mode::Buffered)
            }
            Template::Receive { comm, buffer, source, tag } => {
                let domain = domain::current()?;
                let key = Key::new(comm.context().id(Plane::PointToPoint), *source, *tag);
                // The messages may be on another VNI than at the last start.
                let vni = comm.vni_wanted(domain, &key)?;
                request::set_vni(id, vni);
                request::activate(id);
                reissue(domain, comm, vni, id, *buffer, key);
                Ok(())
            }
            Template::Nothing => {
                request::activate(id);
                // SAFETY: an operation with MPI_PROC_NULL is known to its owner only.
                unsafe { request::complete(id, Outcome::proc_null()) };
                Ok(())
            }
        }
    }
}

/// Makes an inactive request with an attachment, which starts its operation.
///
/// # Errors
/// `MPI_ERR_NO_MEM` if there are too many requests.
pub(super) fn inactive(
    comm: &CommRef,
    vni: u32,
    kind: RequestKind,
    buffer: Buffer,
    attachment: Box<dyn Attachment>,
) -> Result<usize> {
    let id = request::take(vni, comm.handle(), kind)?;
    // SAFETY: the request is new, and the caller holds the datatype. From now on the request
    // keeps it, until it is freed.
    unsafe { request::set_buffer(id, buffer) };
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::make_persistent(id, attachment) };
    Ok(request::handle(id))
}

/// Makes a persistent send.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests.
pub fn send_init(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32, mode: Mode) -> Result<usize> {
    let mut vni = comm.vni();
    let template = if dest == mpi::MPI_PROC_NULL {
        Template::Nothing
    } else {
        let context = comm.context().id(Plane::PointToPoint);
        vni = comm.context().vni_of(domain::current()?.vnis().len(), context, comm.rank() as i32, tag);
        let peer = world_rank(comm, dest)?;
        // SAFETY: the request that has the template keeps the communicator.
        let comm = unsafe { comm.kept_by_request() };
        Template::Send { comm, buffer, peer, tag, mode }
    };
    inactive(comm, vni, RequestKind::Send, buffer, Box::new(template))
}

/// Makes a persistent receive.
///
/// # Errors
/// `MPI_ERR_RANK`; `MPI_ERR_NO_MEM` if there are too many requests.
pub fn receive_init(comm: &CommRef, buffer: Buffer, source: i32, tag: i32) -> Result<usize> {
    let mut vni = comm.vni();
    let template = if source == mpi::MPI_PROC_NULL {
        Template::Nothing
    } else {
        check_source(comm, source)?;
        let key = Key::new(comm.context().id(Plane::PointToPoint), source, tag);
        vni = comm.vni_wanted(domain::current()?, &key)?;
        // SAFETY: the request that has the template keeps the communicator.
        let comm = unsafe { comm.kept_by_request() };
        Template::Receive { comm, buffer, source, tag }
    };
    inactive(comm, vni, RequestKind::Receive, buffer, Box::new(template))
}

/// Starts a persistent request.
///
/// # Errors
/// `MPI_ERR_REQUEST` if it is not persistent or active already; `MPI_ERR_BUFFER` for a
/// buffered send without room.
pub fn start(handle: usize) -> Result<()> {
    let Some(id) = request::inactive(handle) else { return Err(not_inactive(handle)) };
    // SAFETY: the request is inactive and so belongs to its owner, the caller.
    match &mut unsafe { request::owner(id) }.attachment {
        Some(attachment) => attachment.start(id),
        None => Err(Error::new(mpi::MPI_ERR_REQUEST, "only a persistent request can be started")),
    }
}

/// Why a handle names no inactive request.
#[cold]
fn not_inactive(handle: usize) -> Error {
    let message = "only an inactive persistent request can be started";
    request::find(handle).err().unwrap_or_else(|| Error::new(mpi::MPI_ERR_REQUEST, message))
}

fn start_send(comm: &CommRef, args: SendArgs, id: RequestId, buffered: bool) -> Result<()> {
    let domain = domain::current()?;
    // The messages may have been on another VNI at the last start.
    let vni = comm.context().vni_of(domain.vnis().len(), args.context, args.source, args.tag);
    request::set_vni(id, vni);
    let handle = comm.handle();
    request::activate(id);
    let is_complete = if buffered {
        // A separate request sends the data, so that this one is complete at once.
        let copied = |vni| request::take_detached(vni, handle, RequestKind::Send);
        if let Err(error) = send_with(domain, comm, vni, args, copied) {
            // The operation was not started.
            request::deactivate(id);
            return Err(error.into());
        }
        true
    } else {
        send_with(domain, comm, vni, args, |_| Ok(id))?.is_none()
    };
    if is_complete {
        // SAFETY: only its owner knows of this request.
        unsafe { request::complete(id, Outcome::empty()) };
    }
    Ok(())
}
