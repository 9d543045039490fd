//! Buffered mode: a send that is complete when its call returns, whatever the receiver does (MPI 5.0, section 3.6).
//!
//! The program attaches a buffer and so says how much may be pending. The data of a buffered send is kept in memory
//! of the library's own, and what is pending is held against the size attached: the sum is what the standard's model
//! promises, without the fragmentation of a ring buffer.

use crate::buffer::Buffer;
use crate::comm::{CommRef, Plane};
use crate::error::{Error, Result};
use crate::process;
use crate::request::{self, RequestId, RequestKind, SEND_DONE};
use heddle_platform::atomic::{AtomicUsize, Ordering};
use heddle_spec::constants as mpi;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer that the program has attached.
#[derive(Debug)]
pub struct Attached {
    /// Its address, to be given back at detach.
    pub address: usize,
    /// Its size in bytes; `None` if the library provides as much as is needed (`MPI_BUFFER_AUTOMATIC`).
    pub size: Option<usize>,
    pending: AtomicUsize,
}

/// Where a buffer is attached to.
#[derive(Debug, Clone, Copy)]
pub enum AttachTo<'a> {
    /// The process, for all communicators without a buffer of their own.
    Process,
    /// One communicator.
    Comm(&'a CommRef),
}

impl Attached {
    /// Takes room for a message, or says how much is pending.
    fn reserve(&self, share: usize) -> std::result::Result<(), usize> {
        let size = self.size.unwrap_or(usize::MAX);
        let with_share = |pending: usize| pending.checked_add(share).filter(|&sum| sum <= size);
        // Acquire: pairs with the Release in `Staged::drop`.
        self.pending.fetch_update(Ordering::Acquire, Ordering::Acquire, with_share).map(drop)
    }
}

static OF_PROCESS: Mutex<Option<Arc<Attached>>> = Mutex::new(None);

impl AttachTo<'_> {
    fn place(&self) -> &Mutex<Option<Arc<Attached>>> {
        match self {
            AttachTo::Process => &OF_PROCESS,
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
    *place = Some(Arc::new(Attached { address, size, pending: AtomicUsize::new(0) }));
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
        let process = process::current()?;
        process.wait_until(0, || attached.pending.load(Ordering::Acquire) == 0);
    }
    Ok(())
}

/// A request that completes when nothing is pending in a buffer.
#[derive(Debug)]
pub(crate) struct Flush {
    pub(crate) request: RequestId,
    attached: Arc<Attached>,
}

impl Flush {
    /// Whether nothing is pending now.
    pub(crate) fn is_over(&self) -> bool {
        self.attached.pending.load(Ordering::Acquire) == 0
    }
}

/// The VNI whose polls look after flushes: buffered sends of a process may be on any.
const FLUSH_VNI: u32 = 0;

/// Starts waiting until all pending buffered sends have left; returns the handle of the request.
///
/// # Errors
/// If MPI is not running.
pub fn iflush_buffer(of: AttachTo<'_>) -> Result<usize> {
    let process = process::current()?;
    let Some(attached) = of.attached() else { return Ok(SEND_DONE) };
    let comm = match of {
        AttachTo::Process => mpi::MPI_COMM_SELF,
        AttachTo::Comm(comm) => comm.handle(),
    };
    let request = request::take(FLUSH_VNI, comm, RequestKind::Generalized);
    let handle = request::handle(request);
    process.vni(FLUSH_VNI).add_flush(Flush { request, attached });
    Ok(handle)
}

/// The library's copy of a buffered send's data. Dropping it frees its share of the attached buffer.
#[derive(Debug)]
struct Staged {
    data: Box<[u8]>,
    share: usize,
    attached: Arc<Attached>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `flush_buffer`.
        self.attached.pending.fetch_sub(self.share, Ordering::Release);
    }
}

/// Copies the data of a buffered send; returns the copy as a buffer and what keeps it.
///
/// # Errors
/// `MPI_ERR_BUFFER` if no buffer is attached or it has no room.
pub(crate) fn stage(comm: &CommRef, buffer: Buffer) -> Result<(Buffer, Option<Box<dyn Any + Send>>)> {
    let attached = AttachTo::Comm(comm).attached().or_else(|| AttachTo::Process.attached());
    let attached = attached.ok_or_else(|| {
        Error::new(mpi::MPI_ERR_BUFFER, "a buffered send needs a buffer: call MPI_Buffer_attach first")
    })?;
    let share = buffer.len() + mpi::MPI_BSEND_OVERHEAD as usize;
    while attached.reserve(share).is_err() {
        // What the peers have received gives its room back as soon as this process sees it: this thread, or another one in
        // between.
        if !process::current()?.look_everywhere() {
            attached.reserve(share).map_err(|pending| no_room(&attached, share, pending))?;
            break;
        }
    }
    let mut data = vec![0; buffer.len()].into_boxed_slice();
    buffer.read(0, data.as_mut_ptr(), buffer.len());
    let mut staged = Box::new(Staged { data, share, attached });
    // SAFETY: the boxed data does not move and is kept until the send completes.
    let copy = unsafe { Buffer::bytes(staged.data.as_mut_ptr(), staged.data.len()) };
    Ok((copy, Some(staged)))
}

#[cold]
fn no_room(attached: &Attached, share: usize, pending: usize) -> Error {
    let message = format!(
        "the attached buffer of {} bytes has no room for {share} more (MPI_BSEND_OVERHEAD included): {pending} are pending",
        attached.size.unwrap_or(usize::MAX)
    );
    Error::new(mpi::MPI_ERR_BUFFER, message)
}

/// Buffered send.
///
/// # Errors
/// `MPI_ERR_BUFFER`, `MPI_ERR_RANK`.
pub fn bsend(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32) -> Result<()> {
    if dest == mpi::MPI_PROC_NULL {
        return Ok(());
    }
    let process = process::current()?;
    super::send::issue(process, comm, Plane::PointToPoint, buffer, dest, tag, super::Mode::Buffered)?;
    Ok(())
}

/// Nonblocking buffered send: complete when it returns.
///
/// # Errors
/// As [`bsend`].
pub fn ibsend(comm: &CommRef, buffer: Buffer, dest: i32, tag: i32) -> Result<usize> {
    bsend(comm, buffer, dest, tag)?;
    Ok(SEND_DONE)
}
