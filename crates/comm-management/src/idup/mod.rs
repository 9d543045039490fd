//! Nonblocking duplicates.
//!
//! The leader sends the context to all other members and is done; the others receive it into memory that
//! their request keeps. The new communicator's handle exists at once. The communicator learns its context
//! when the program reads the outcome of the request; the program must not use it before. A leader
//! that has no number left for a context says so by the same message, and the request's outcome is an error.
//!
//! If the program gives hints, the leader must know all members' before it makes the
//! context (`idup/agreement.rs`).

mod agreement;
mod between_groups;
mod word;

use super::context::tag;
use super::dup;
use heddle_comm::error::Result;
use heddle_comm::info::Entries;
use heddle_comm::{Comm, CommRef, choice_of};
use heddle_message::context::{UNKNOWN, VniChoice, known};
use heddle_message::domain::{self, Domain};
use heddle_message::request::{self, Attachment, Outcome, RequestId, RequestKind};
use heddle_message::vni::Vni;
use heddle_objects::table::Ref;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use word::{message, receive};

/// The attachment of a duplication's request.
#[derive(Debug)]
struct Pending {
    new: Ref<Comm>,
    /// Receives the context.
    context: Arc<AtomicU64>,
    vnis: &'static [Vni],
}

impl Attachment for Pending {
    fn finish(&mut self, outcome: &mut Outcome) {
        self.read(outcome);
    }

    /// A thread that sees the duplication complete may use the communicator.
    fn read(&mut self, outcome: &mut Outcome) {
        if outcome.error.is_none() {
            match known(self.context.load(Ordering::Relaxed)) {
                Ok(context) => self.new.context().set_id(context, self.vnis),
                Err(error) => outcome.error = Some(error),
            }
        }
        *outcome = Outcome { error: outcome.error.take(), ..Outcome::empty() };
    }
}

/// `MPI_Comm_idup`: returns the handles of the new communicator and of the request.
///
/// # Errors
/// The error of a copy callback; `MPI_ERR_OTHER` in the leader if it has no number left for a context. The
/// others have that error as the outcome of their requests.
pub fn idup(comm: &CommRef) -> Result<(usize, usize)> {
    if let Some(local) = comm.local() {
        return between_groups::idup(comm, &local, &Entries::new());
    }
    let domain = domain::current()?;
    if comm.rank() != 0 {
        let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized)?;
        return follow(domain, comm, id, tag::IDUP, &Entries::new());
    }
    // The others wait for the leader's word, so it says that there is no context, too.
    let context = domain.new_context(VniChoice::default()).unwrap_or(UNKNOWN);
    // All requests are taken first, so that either all members learn the context or none.
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized)?;
    let sends = request::take_many_detached(comm.size() - 1, comm.vni(), comm.handle(), RequestKind::Send)
        .inspect_err(|_| request::release(id))?;
    for (rank, detached) in (1..).zip(sends) {
        domain.vni(comm.vni()).send_into(detached, message(comm, rank, tag::IDUP, context));
    }
    let new = known(context)
        .and_then(|context| dup::copy(domain, comm, context, &Entries::new()))
        .inspect_err(|_| request::release(id))?;
    // SAFETY: the request is new, so no other thread uses it.
    unsafe { request::complete(id, Outcome::empty()) };
    Ok((new.handle(), request::handle(id)))
}

/// `MPI_Comm_idup_with_info`: as [`idup`].
///
/// # Errors
/// The error of a copy callback.
pub fn idup_with_info(comm: &CommRef, hints: &Entries) -> Result<(usize, usize)> {
    if let Some(local) = comm.local() {
        return between_groups::idup(comm, &local, hints);
    }
    let domain = domain::current()?;
    let mine = choice_of(hints, domain.vnis().len());
    if comm.rank() == 0 {
        return agreement::lead(domain, comm, mine, hints);
    }
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized)?;
    let detached = request::take_detached(comm.vni(), comm.handle(), RequestKind::Send)
        .inspect_err(|_| request::release(id))?;
    let said = message(comm, 0, tag::IDUP_CHOICE, mine.to_word());
    domain.vni(comm.vni()).send_into(detached, said);
    follow(domain, comm, id, tag::IDUP_AGREED, hints)
}

/// A duplicate whose context the leader sends, with a new request.
fn follow(
    domain: &Domain,
    comm: &CommRef,
    id: RequestId,
    tag: i32,
    hints: &Entries,
) -> Result<(usize, usize)> {
    let new = dup::copy(domain, comm, UNKNOWN, hints);
    let context = Arc::new(AtomicU64::new(UNKNOWN));
    // SAFETY: the request is new, so no other thread uses it.
    let owner = unsafe { request::owner(id) };
    let word = context.clone();
    let result = match new {
        Ok(new) => {
            let handle = new.handle();
            owner.attachment = Some(Box::new(Pending { new, context, vnis: domain.vnis() }));
            Ok((handle, request::handle(id)))
        }
        Err(error) => {
            // The leader's message comes all the same. A request that no thread waits for receives it.
            // SAFETY: the request is new, so no other thread uses it.
            unsafe { request::in_flight(id) }.keep = Some(Box::new(context));
            owner.detached = true;
            Err(error)
        }
    };
    receive(domain, comm, id, &word, (0, tag));
    result
}
