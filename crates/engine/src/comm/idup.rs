//! Nonblocking duplicates.
//!
//! The leader sends the context to everybody and is done; the others receive it into memory that their request keeps.
//! The new communicator's handle exists at once; the communicator learns its context when the request's outcome is
//! taken or looked at, and until then the program must not use it.
//!
//! If the program gives hints, the leader must know all members' before it makes the context (`idup/agreement.rs`).

mod agreement;

use super::context::tag;
use super::mapping::{Choice, UNKNOWN};
use super::{Comm, CommRef, Plane, dup};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::info::Entries;
use crate::matching::Key;
use crate::object_table::Ref;
use crate::p2p::reissue;
use crate::process::{self, Process};
use crate::request::{self, Attachment, Outcome, RequestId, RequestKind};
use crate::vni::SendArgs;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::any::Any;
use std::sync::Arc;

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

/// `MPI_Comm_idup`: returns the handles of the new communicator and of the request.
///
/// # Errors
/// What a copy callback says.
pub fn idup(comm: &CommRef) -> Result<(usize, usize)> {
    let process = process::current()?;
    if comm.rank() != 0 {
        return follow(process, comm, tag::IDUP, &Entries::new());
    }
    let context = process.new_context(Choice::default());
    for rank in 1..comm.size() {
        let detached = request::take_detached(comm.vni(), comm.handle(), RequestKind::Send);
        process.vni(comm.vni()).send_into(detached, message(comm, rank, tag::IDUP, context));
    }
    let new = dup::copy(process, comm, context, &Entries::new())?;
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized);
    // SAFETY: the request is new: nobody else knows it.
    unsafe { request::complete(id, Outcome::empty()) };
    Ok((new.handle(), request::handle(id)))
}

/// `MPI_Comm_idup_with_info`: as [`idup`].
///
/// # Errors
/// What a copy callback says.
pub fn idup_with_info(comm: &CommRef, hints: &Entries) -> Result<(usize, usize)> {
    let process = process::current()?;
    let mine = Choice::of(hints, process.vnis().len());
    if comm.rank() == 0 {
        return agreement::lead(process, comm, mine, hints);
    }
    let detached = request::take_detached(comm.vni(), comm.handle(), RequestKind::Send);
    let said = message(comm, 0, tag::IDUP_CHOICE, mine.to_word());
    process.vni(comm.vni()).send_into(detached, said);
    follow(process, comm, tag::IDUP_AGREED, hints)
}

/// A duplicate whose context the leader sends.
fn follow(process: &Process, comm: &CommRef, tag: i32, hints: &Entries) -> Result<(usize, usize)> {
    let new = dup::copy(process, comm, UNKNOWN, hints);
    let context = Arc::new(AtomicU64::new(UNKNOWN));
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized);
    // SAFETY: the request is new: nobody else knows it.
    let owner = unsafe { request::owner(id) };
    let word = context.clone();
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
    receive(process, comm, id, &word, (0, tag));
    result
}

/// Issues the receive of a word from a rank of the communicator, into memory that the request keeps.
fn receive(process: &Process, comm: &CommRef, id: RequestId, word: &AtomicU64, (source, tag): (i32, i32)) {
    // SAFETY: by the caller's care the request keeps the word until the message has arrived.
    let buffer = unsafe { Buffer::bytes(word.as_ptr().cast(), size_of::<u64>()) };
    let key = Key::new(comm.context(Plane::Collective), source, tag);
    reissue(process, comm, comm.vni(), id, buffer, key);
}

/// A word for a rank of the communicator.
fn message(comm: &CommRef, to: usize, tag: i32, word: u64) -> SendArgs {
    let Some(peer) = comm.group.world_rank(to) else { unreachable!("ranks go to the size") };
    let word = Arc::new(AtomicU64::new(word));
    // SAFETY: the send keeps the word until it has been taken.
    let buffer = unsafe { Buffer::bytes(word.as_ptr().cast(), size_of::<u64>()) };
    SendArgs {
        buffer,
        peer,
        context: comm.context(Plane::Collective),
        source: comm.rank() as i32,
        tag,
        synchronous: false,
        keep: Some(Box::new(word)),
    }
}
