//! The leader's side of a nonblocking duplication with hints.
//!
//! ```text
//!  others: their hints ──▶ leader: agrees, makes the context ──▶ others: receive it
//!          (at once)                  (when the last one came)
//! ```
//!
//! Between its two steps the leader may wait in MPI for something that the others do only after they
//! have learnt the context. So the second step is a [`Sequel`] of the VNI: the thread that sees the
//! first step complete runs it.
//!
//! If one communicator is duplicated several times, the messages of each kind are in order: the steps of a
//! later duplication end after those of an earlier one, and sequels run in order.

use super::word::{message, receive};
use crate::context::tag;
use crate::dup;
use heddle_comm::error::Result;
use heddle_comm::info::Entries;
use heddle_comm::{Comm, CommRef};
use heddle_message::context::{UNKNOWN, VniChoice, known};
use heddle_message::domain::Domain;
use heddle_message::request::{self, OutOfRequests, Outcome, RequestId, RequestKind};
use heddle_message::vni::{SendArgs, Sequel};
use heddle_objects::table::Ref;
use heddle_platform::atomic::{AtomicU64, Ordering};
use std::fmt;
use std::sync::Arc;

/// The work of the leader when the hints of all others have arrived.
struct Announcement {
    domain: &'static Domain,
    /// Complete when they have.
    gathering: RequestId,
    mine: VniChoice,
    others: Arc<[AtomicU64]>,
    /// A message to each other member, still without the context, and its request. They are made while
    /// the communicator is in use.
    messages: Vec<(RequestId, SendArgs)>,
    /// The new communicator and the program's request; none if its copy callbacks failed.
    new: Option<(Ref<Comm>, RequestId)>,
}

impl fmt::Debug for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcement").field("gathering", &self.gathering).finish_non_exhaustive()
    }
}

/// Begins a duplication of a communicator whose rank 0 this process has; returns as [`idup`](super::idup).
///
/// # Errors
/// The error of a copy callback.
pub(super) fn lead(
    domain: &'static Domain,
    comm: &CommRef,
    mine: VniChoice,
    hints: &Entries,
) -> Result<(usize, usize)> {
    let others = comm.size() - 1;
    // All requests are taken first, so that the duplication cannot fail after it has begun.
    let id = request::take(comm.vni(), comm.handle(), RequestKind::Generalized)?;
    if others == 0 {
        let new = domain
            .new_context(mine)
            .and_then(|context| dup::copy(domain, comm, context, hints))
            .inspect_err(|_| request::release(id))?;
        // SAFETY: the request is new, so no other thread uses it.
        unsafe { request::complete(id, Outcome::empty()) };
        return Ok((new.handle(), request::handle(id)));
    }
    let Requests { gathering, sends, receives } =
        Requests::take(comm, others).inspect_err(|_| request::release(id))?;
    let (result, new) = match dup::copy(domain, comm, UNKNOWN, hints) {
        Ok(new) => {
            let handle = new.handle();
            (Ok((handle, request::handle(id))), Some((new, id)))
        }
        // The other members still wait for the context.
        Err(error) => {
            request::release(id);
            (Err(error), None)
        }
    };
    let words: Arc<[AtomicU64]> = (0..others).map(|_| AtomicU64::new(0)).collect();
    // SAFETY: the request is new; each receive below is a part of it.
    unsafe { request::expect_parts(gathering, others as u32) };
    let messages =
        (1..).zip(sends).map(|(rank, id)| (id, message(comm, rank, tag::IDUP_AGREED, UNKNOWN))).collect();
    domain.vni(comm.vni()).follow(Box::new(Announcement {
        domain,
        gathering,
        mine,
        others: words.clone(),
        messages,
        new,
    }));
    for ((source, word), id) in (1i32..).zip(&*words).zip(receives) {
        // This part is only counted: the announcement keeps the word that it receives
        // until all parts are complete.
        // SAFETY: the request is new, so no other thread uses it.
        unsafe { request::owner(id) }.joint = Some(gathering);
        receive(domain, comm, id, word, (source, tag::IDUP_CHOICE));
    }
    result
}

/// The requests of the two steps.
struct Requests {
    gathering: RequestId,
    sends: Vec<RequestId>,
    receives: Vec<RequestId>,
}

impl Requests {
    /// All of them, or none.
    fn take(comm: &CommRef, others: usize) -> Result<Requests, OutOfRequests> {
        let take = |kind| request::take_many_detached(others, comm.vni(), comm.handle(), kind);
        let gathering = request::take(comm.vni(), comm.handle(), RequestKind::Generalized)?;
        let give_back = |ids: Vec<RequestId>| ids.into_iter().for_each(request::release);
        let sends = take(RequestKind::Send).inspect_err(|_| request::release(gathering))?;
        match take(RequestKind::Generalized) {
            Ok(receives) => Ok(Requests { gathering, sends, receives }),
            Err(error) => {
                give_back(sends);
                request::release(gathering);
                Err(error)
            }
        }
    }
}

impl Sequel for Announcement {
    fn is_due(&self) -> bool {
        request::is_complete(self.gathering)
    }

    fn run(self: Box<Self>, send: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)> {
        request::release(self.gathering);
        // Relaxed: the gathering's completion orders them.
        let others = self.others.iter().map(|word| VniChoice::from_word(word.load(Ordering::Relaxed)));
        // The others wait for the leader's word, so it says that there is no context, too.
        let context = self.domain.new_context(others.fold(self.mine, VniChoice::agreed)).unwrap_or(UNKNOWN);
        for (id, args) in self.messages {
            args.buffer.write(0, &context.to_ne_bytes());
            send(id, args);
        }
        self.new.map(|(new, request)| match known(context) {
            Ok(context) => {
                new.context().set_id(context, self.domain.vnis());
                (request, Outcome::empty())
            }
            Err(error) => (request, Outcome { error: Some(error), ..Outcome::empty() }),
        })
    }
}
