//! Duplicates: the same processes, another context.
//!
//! A duplicate has the topology, the error handler and, as far as their callbacks want it, the attributes of
//! the original. Hints are not inherited; `MPI_Comm_dup_with_info` gives them (MPI 5.0, section 7.4.2).

use crate::context::{self, COLLECTIVE};
use crate::insert::insert;
use heddle_comm::error::Result;
use heddle_comm::info::Entries;
use heddle_comm::{COMMS, Comm, CommRef, choice_of};
use heddle_message::context::{Context, VniChoice};
use heddle_message::domain::{self, Domain};
use heddle_objects::table::Ref;

/// A duplicate of a communicator with one group.
///
/// # Errors
/// The error of a copy callback; `MPI_ERR_OTHER` if the leader has no number left for a context.
pub(crate) fn dup(comm: &CommRef) -> Result<usize> {
    made(domain::current()?, comm, VniChoice::default(), &Entries::new())
}

/// A duplicate with hints: each process sends one message more than in [`dup`], to agree on the hints.
///
/// # Errors
/// The same as for [`dup`].
pub(crate) fn dup_with_info(comm: &CommRef, hints: &Entries) -> Result<usize> {
    let domain = domain::current()?;
    let choice = context::agreed(comm, choice_of(hints, domain.vnis().len()))?;
    made(domain, comm, choice, hints)
}

fn made(domain: &Domain, comm: &CommRef, choice: VniChoice, hints: &Entries) -> Result<usize> {
    let context = context::agree(domain, comm, &comm.group, comm.rank(), COLLECTIVE, choice)?;
    Ok(copy(domain, comm, context, hints)?.handle())
}

/// A duplicate with a context that is known now or later.
pub(crate) fn copy(domain: &Domain, comm: &CommRef, context: u64, hints: &Entries) -> Result<Ref<Comm>> {
    let mut new = comm.child(Context::new(context, comm.rank(), domain.vnis()), comm.group.clone());
    new.topology.clone_from(&comm.topology);
    new.take_hints(hints);
    let handle = insert(new);
    let Some(new) = COMMS.get(handle) else { unreachable!("nobody else knows the handle") };
    match comm.attributes.copy_all(comm.handle(), &new.attributes) {
        Ok(()) => Ok(new),
        Err(error) => {
            // The call fails as its copy callback said, whatever the delete callbacks say.
            let _ = new.attributes.delete_all(handle);
            COMMS.remove(handle);
            Err(error)
        }
    }
}
