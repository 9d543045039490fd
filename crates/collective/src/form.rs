//! The three forms of an operation: blocking, nonblocking, persistent (MPI 5.0, sections 6.12 and 6.13).
//!
//! Several operations of one communicator may be under way at once, and the steps of one are mixed with those
//! of another. So each has a tag of its own: the number of the operation, which all ranks count alike, since
//! they begin operations in the same order. A persistent operation keeps its tag from start to start.

use super::conversation::Conversation;
use super::messages::Messages;
use super::steps::{Recorder, Rest, Schedule};
use heddle_comm::CommRef;
use heddle_comm::error::Result;
use heddle_message::domain;
use heddle_message::request::{self, Attachment, Outcome, RequestId, RequestKind};
use heddle_p2p::ranks_disagree;
use std::sync::PoisonError;

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
pub fn run(comm: &CommRef, describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>) -> Result<()> {
    check_agreement(comm)?;
    let mut messages = Messages::default();
    let mut talk = Conversation::immediate(comm, &mut messages);
    described(&mut talk, describe)?;
    let result = talk.finish();
    comm.context().history().end_blocking();
    result
}

/// Describes an operation, which does not begin in the case of an error.
#[inline(always)]
fn described<'a>(
    talk: &mut Conversation<'a>,
    describe: impl FnOnce(&mut Conversation<'a>) -> Result<()>,
) -> Result<()> {
    describe(talk).inspect_err(|_| talk.forget())
}

/// Begins no operation on a communicator whose ranks are known to disagree.
#[inline(always)]
fn check_agreement(comm: &CommRef) -> Result<()> {
    if comm.context().history().is_disagreed() { Err(ranks_disagree()) } else { Ok(()) }
}

/// Begins an operation; returns the handle of its request, whose outcome has the operation's first error.
///
/// # Errors
/// Those of the description; `MPI_ERR_NO_MEM` if there are too many requests. Then nothing has begun.
pub fn begin(comm: &CommRef, describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>) -> Result<usize> {
    begun(comm, describe, None)
}

/// Does the same as [`begin`], with an attachment, which acts on the outcome and is kept until the request is
/// complete.
///
/// # Errors
/// The same as those of [`begin`].
pub fn begin_with(
    comm: &CommRef,
    describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>,
    attachment: Box<dyn Attachment>,
) -> Result<usize> {
    begun(comm, describe, Some(attachment))
}

fn begun(
    comm: &CommRef,
    describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>,
    attachment: Option<Box<dyn Attachment>>,
) -> Result<usize> {
    check_agreement(comm)?;
    let mut recorder = Recorder::new(false);
    let mut talk = Conversation::recorded(comm, &mut recorder);
    described(&mut talk, describe)?;
    let domain = domain::current()?;
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Collective)?;
    let handle = request::handle(id);
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::owner(id) }.attachment = attachment;
    let mut schedule = talk.into_schedule(tag(NONBLOCKING, comm.operations.next_nonblocking()));
    match schedule.start(domain) {
        Some(outcome) => {
            drop(schedule);
            complete(id, outcome);
        }
        None => Box::new(schedule).become_task(domain, id, None),
    }
    Ok(handle)
}

/// Completes the request of an operation that is over before its call returns.
#[inline(always)]
fn complete(id: RequestId, outcome: Outcome) {
    // SAFETY: the request is active, and only the caller knows of its operation.
    unsafe { request::complete(id, outcome) };
}

/// Makes a persistent request of an operation; returns its handle.
///
/// # Errors
/// The same as those of [`begin`].
pub fn init(comm: &CommRef, describe: impl FnOnce(&mut Conversation<'_>) -> Result<()>) -> Result<usize> {
    check_agreement(comm)?;
    let mut recorder = Recorder::new(true);
    let mut talk = Conversation::recorded(comm, &mut recorder);
    described(&mut talk, describe)?;
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Collective)?;
    let schedule = Box::new(talk.into_schedule(tag(PERSISTENT, comm.operations.next_persistent())));
    let attachment = Box::new(Persistent { schedule: Some(schedule), rest: Rest::default() });
    // SAFETY: the request is new: no other thread knows it.
    unsafe { request::make_persistent(id, attachment) };
    Ok(request::handle(id))
}

/// The attachment of a persistent operation's request. While the request is inactive, it has the schedule in
/// one of two places. An operation that is over before its start returns leaves the schedule where it is, so
/// that it takes no lock.
#[derive(Debug)]
struct Persistent {
    schedule: Option<Box<Schedule>>,
    /// Where a thread that makes progress puts the schedule of an operation that has become a task.
    rest: Rest,
}

impl Attachment for Persistent {
    fn start(&mut self, request: RequestId) -> Result<()> {
        let domain = domain::current()?;
        let schedule = self.schedule.get_or_insert_with(|| take_from(&self.rest));
        request::activate(request);
        if let Some(outcome) = schedule.start(domain) {
            complete(request, outcome);
        } else if let Some(schedule) = self.schedule.take() {
            schedule.become_task(domain, request, Some(self.rest.clone()));
        }
        Ok(())
    }
}

/// Takes the schedule from where it rests after it was a task.
#[cold]
fn take_from(rest: &Rest) -> Box<Schedule> {
    let schedule = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(schedule) = schedule else { unreachable!("a schedule rests before its request is complete") };
    schedule
}
