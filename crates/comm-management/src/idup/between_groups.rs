//! Nonblocking duplicates of intercommunicators.
//!
//! Both groups know who they are, so all that is missing are two contexts: that of the new intercommunicator,
//! which process 0 of one group makes and tells the other group's, and that of the communicator that the new
//! one has of its local group. Each process 0 then tells its group both.

use crate::insert::insert;
use crate::intercomm::is_first;
use heddle_collective::{Part, begin_with, tell_both_groups};
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::{Error, Result};
use heddle_comm::info::Entries;
use heddle_comm::{COMMS, Comm, CommRef, KeptComm, lifetime};
use heddle_datatype::types;
use heddle_message::context::{Context, UNKNOWN, VniChoice, known};
use heddle_message::domain::{self, Domain};
use heddle_message::request::{Attachment, Outcome};
use heddle_objects::table::Ref;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// The contexts of the new intercommunicator and of the communicator of its local group.
type Contexts = Arc<[AtomicU64; 2]>;

/// The attachment of a duplication's request.
#[derive(Debug)]
struct PendingBetweenGroups {
    new: Ref<Comm>,
    contexts: Contexts,
    domain: &'static Domain,
}

impl Attachment for PendingBetweenGroups {
    fn finish(&mut self, outcome: &mut Outcome) {
        self.read(outcome);
    }

    /// A thread that sees the duplication complete may use the communicator.
    fn read(&mut self, outcome: &mut Outcome) {
        if outcome.error.is_some() {
            return;
        }
        // Relaxed: the completion of the request orders them.
        let [inter, local] = [0, 1].map(|at: usize| known(self.contexts[at].load(Ordering::Relaxed)));
        match (inter, local, &self.new.local) {
            (Ok(inter), Ok(id), Some((_, local))) => {
                self.new.context().set_id(inter, self.domain.vnis());
                local.context().set_id(id, self.domain.vnis());
            }
            (Err(error), ..) | (_, Err(error), _) => outcome.error = Some(error),
            (.., None) => unreachable!("an intercommunicator has a communicator of its local group"),
        }
    }
}

/// Begins a duplication; returns the handles of the new communicator and of the request.
///
/// # Errors
/// The error of a copy callback.
pub(super) fn idup(comm: &CommRef, local: &KeptComm, hints: &Entries) -> Result<(usize, usize)> {
    let domain = domain::current()?;
    let new = copy(domain, comm, local, hints)?;
    let handle = new.handle();
    let first = is_first(&comm.group, &comm.peers);
    // The others wait for the words, so they say that there is no context, too.
    let make = |here: bool| {
        let made = if here { domain.new_context(VniChoice::default()).ok() } else { None };
        AtomicU64::new(made.unwrap_or(UNKNOWN))
    };
    let contexts: Contexts = Arc::new([make(first && comm.rank() == 0), make(comm.rank() == 0)]);
    let word = TypeInUse::predefined(&types::MPI_UINT64_T);
    // SAFETY: the request's attachment keeps the words until it is complete.
    let words = unsafe { Part::new(contexts[0].as_ptr().cast(), 2, &word) }?;
    let pending = PendingBetweenGroups { new, contexts: contexts.clone(), domain };
    let begun = begin_with(comm, |talk| tell_both_groups(talk, words, first), Box::new(pending));
    begun.map(|request| (handle, request)).inspect_err(|_| drop(COMMS.remove(handle)))
}

/// A duplicate without contexts.
fn copy(domain: &Domain, comm: &CommRef, local: &KeptComm, hints: &Entries) -> Result<Ref<Comm>> {
    let gone = || Error::new(mpi::MPI_ERR_INTERN, "a new communicator is gone");
    let local_handle =
        insert(local.child(Context::new(UNKNOWN, comm.rank(), domain.vnis()), comm.group.clone()));
    let (of_group, of_table) = COMMS.get(local_handle).zip(COMMS.remove(local_handle)).ok_or_else(gone)?;
    lifetime::user_released(local_handle, of_table);
    let context = Context::between_groups(UNKNOWN, comm.rank(), domain.vnis());
    let new = comm.child(context, comm.group.clone());
    new.take_hints(hints);
    let handle = insert(new.between_groups(comm.peers.clone(), (local_handle, of_group)));
    let new = COMMS.get(handle).ok_or_else(gone)?;
    if let Err(error) = comm.attributes.copy_all(comm.handle(), &new.attributes) {
        // The call fails as its copy callback said, whatever the delete callbacks say.
        let _ = new.attributes.delete_all(handle);
        COMMS.remove(handle);
        return Err(error);
    }
    Ok(new)
}
