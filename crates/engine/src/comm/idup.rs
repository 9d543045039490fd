//! Nonblocking duplicates.
//!
//! The leader sends the context to everybody and is done; the others receive it into memory that their request keeps.
//! The new communicator's handle exists at once; the communicator learns its context when the request's outcome is
//! taken or looked at, and until then the program must not use it.

use super::context::tag;
use super::{Comm, CommRef, Plane, dup};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::info::Entries;
use crate::matching::Key;
use crate::object_table::Ref;
use crate::p2p::reissue;
use crate::process::{self, Process};
use crate::request::{self, Attachment, Outcome, RequestKind};
use crate::vni::SendArgs;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::any::Any;
use std::sync::Arc;

/// The context of a communicator that does not know its context. No leader gives it away.
const UNKNOWN: u64 = u64::MAX << 3;

/// What the request of a duplication keeps.
#[derive(Debug)]
struct Pending {
    new: Ref<Comm>,
    /// Where the context arrives.
    context: Arc<AtomicU64>,
    vnis: usize,
}

impl Attachment for Pending {
    fn finish(&mut self, outcome: &mut Outcome) {
        self.look(outcome);
    }

    /// Who sees that the duplication is complete may use the communicator.
    fn look(&mut self, outcome: &mut Outcome) {
        if outcome.error.is_none() {
            self.new.set_context(self.context.load(Ordering::Relaxed), self.vnis);
        }
        *outcome = Outcome { error: outcome.error.take(), ..Outcome::empty() };
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// `MPI_Comm_idup` and `MPI_Comm_idup_with_info`: returns the handles of the new communicator and of the request.
///
/// # Errors
/// What a copy callback says.
pub fn idup(comm: &CommRef, hints: &Entries) -> Result<(usize, usize)> {
    let process = process::current()?;
    if comm.rank() == 0 {
        let context = process.new_context();
        announce(process, comm, context);
        let new = dup::copy(process, comm, context, hints)?;
        let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized);
        // SAFETY: the request is new: nobody else knows it.
        unsafe { request::complete(id, Outcome::empty()) };
        return Ok((new.handle(), request::handle(id)));
    }
    let new = dup::copy(process, comm, UNKNOWN, hints);
    let context = Arc::new(AtomicU64::new(UNKNOWN));
    // SAFETY: the request keeps the word until the message has arrived.
    let buffer = unsafe { Buffer::bytes(context.as_ptr().cast(), size_of::<u64>()) };
    let key = Key::new(comm.context(Plane::Collective), 0, tag::IDUP);
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized);
    // SAFETY: the request is new: nobody else knows it.
    let owner = unsafe { request::owner(id) };
    let result = match new {
        Ok(new) => {
            let handle = new.handle();
            owner.attachment = Some(Box::new(Pending { new, context, vnis: process.fabric().vnis() }));
            Ok((handle, request::handle(id)))
        }
        Err(error) => {
            // The leader's message comes all the same and must be taken: by a request that nobody waits for.
            // SAFETY: as above.
            unsafe { request::flight(id) }.keep = Some(Box::new(context));
            owner.detached = true;
            Err(error)
        }
    };
    reissue(process, comm.vni(), id, buffer, key);
    result
}

/// Sends the context to all others; returns without waiting.
fn announce(process: &Process, comm: &CommRef, context: u64) {
    for rank in 1..comm.size() {
        let Some(peer) = comm.group.world_rank(rank) else { unreachable!("ranks go to the size") };
        let word = Arc::new(AtomicU64::new(context));
        // SAFETY: the send keeps the word until it has been taken.
        let buffer = unsafe { Buffer::bytes(word.as_ptr().cast(), size_of::<u64>()) };
        let args = SendArgs {
            buffer,
            peer,
            context: comm.context(Plane::Collective),
            source: 0,
            tag: tag::IDUP,
            synchronous: false,
            keep: Some(Box::new(word)),
        };
        process.vni(comm.vni()).with(|core| {
            let detached = || {
                let id = request::take(comm.vni(), comm.handle(), RequestKind::Send);
                // SAFETY: the request is new: nobody else knows it.
                unsafe { request::owner(id) }.detached = true;
                id
            };
            core.send(args, detached);
        });
    }
}
