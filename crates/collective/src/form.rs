//! The three forms of an operation: blocking, nonblocking, persistent (MPI 5.0, sections 6.12 and 6.13).
//!
//! Several operations of one communicator may be under way at once, and the steps of one are mixed with those
//! of another. So each has a tag of its own: the number of the operation, which all ranks count alike, since
//! they begin operations in the same order. A persistent operation keeps its tag from start to start.

use super::conversation::Conversation;
use super::schedule::Rest;
use heddle_comm::CommRef;
use heddle_comm::error::Result;
use heddle_message::request::{self, Attachment, RequestId, RequestKind};
use std::sync::{Arc, Mutex, PoisonError};

/// The tags of nonblocking operations begin here, far behind those of blocking ones and of creations.
const NONBLOCKING: i32 = 0x2000_0000;
const PERSISTENT: i32 = 0x4000_0000;
/// The number of an operation, from which its tag is made.
const NUMBER: u32 = 0x1fff_ffff;

fn tag(kind: i32, number: u32) -> i32 {
    kind | (number & NUMBER) as i32
}

/// Runs an operation, which `describe` describes.
///
/// # Errors
/// Those of the description; the first error of the operation.
pub fn run<'a>(comm: &'a CommRef, describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>) -> Result<()> {
    let mut talk = Conversation::immediate(comm);
    describe(&mut talk)?;
    talk.finish()
}

/// Begins an operation; returns the handle of its request, whose outcome has the operation's first error.
///
/// # Errors
/// Those of the description; `MPI_ERR_NO_MEM` if there are too many requests. Then nothing has begun.
pub fn begin<'a>(
    comm: &'a CommRef,
    describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>,
) -> Result<usize> {
    begun(comm, describe, None)
}

/// Does the same as [`begin`], with an attachment, which acts on the outcome and is kept until the request is
/// complete.
///
/// # Errors
/// The same as those of [`begin`].
pub fn begin_with<'a>(
    comm: &'a CommRef,
    describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>,
    attachment: Box<dyn Attachment>,
) -> Result<usize> {
    begun(comm, describe, Some(attachment))
}

fn begun<'a>(
    comm: &'a CommRef,
    describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>,
    attachment: Option<Box<dyn Attachment>>,
) -> Result<usize> {
    let mut talk = Conversation::recorded(comm, false);
    describe(&mut talk)?;
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Collective)?;
    let handle = request::handle(id);
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::owner(id) }.attachment = attachment;
    let schedule = Box::new(talk.into_schedule(tag(NONBLOCKING, comm.operations.next_nonblocking())));
    schedule.start(id, None).inspect_err(|_| request::release(id))?;
    Ok(handle)
}

/// Makes a persistent request of an operation; returns its handle.
///
/// # Errors
/// The same as those of [`begin`].
pub fn init<'a>(
    comm: &'a CommRef,
    describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>,
) -> Result<usize> {
    let mut talk = Conversation::recorded(comm, true);
    describe(&mut talk)?;
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Collective)?;
    let schedule = Box::new(talk.into_schedule(tag(PERSISTENT, comm.operations.next_persistent())));
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::owner(id) }.attachment =
        Some(Box::new(Persistent { rest: Arc::new(Mutex::new(Some(schedule))) }));
    request::deactivate(id);
    Ok(request::handle(id))
}

/// The attachment of a persistent operation's request.
#[derive(Debug)]
struct Persistent {
    /// Has the schedule while the request is inactive.
    rest: Rest,
}

impl Attachment for Persistent {
    fn persistent(&self) -> bool {
        true
    }

    fn start(&mut self, request: RequestId) -> Result<()> {
        let schedule = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(schedule) = schedule else {
            unreachable!("a schedule rests before its request is complete")
        };
        request::activate(request);
        schedule.start(request, Some(self.rest.clone()))
    }
}
