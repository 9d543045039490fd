//! The receives and probes that the loss of a rank ends.
//!
//! A receive or probe that names its source ends in an error if that is lost. One from any source ends in an
//! error once for each communicator and lost member, so that a program which has not heard of the loss does
//! not wait for the lost rank for ever; then others may follow, which wait for the remaining members.

use crate::error::Error;
use crate::matching::{Key, PLANE};
use heddle_spec::constants as mpi;
use heddle_transport::Fabric;
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Finds one of these world ranks that is the given source in a communicator, or any member for
/// `MPI_ANY_SOURCE`. The communicator is given by its handle.
pub type FindSender = fn(comm: usize, source: i32, lost: &[usize]) -> Option<usize>;

static FIND_SENDER: OnceLock<FindSender> = OnceLock::new();

/// The communicators, by their contexts, whose receives or probes from any source have reported the loss of a
/// rank.
static REPORTED: Mutex<BTreeSet<(u64, usize)>> = Mutex::new(BTreeSet::new());

/// Sets how the sources of receives are found. Called before there are requests.
pub fn set_finder_of_senders(find: FindSender) {
    FIND_SENDER.get_or_init(|| find);
}

/// Without communicators sources are world ranks.
fn find_in_world(_comm: usize, source: i32, lost: &[usize]) -> Option<usize> {
    lost.iter().copied().find(|rank| source == mpi::MPI_ANY_SOURCE || *rank == source as usize)
}

/// The lost rank for which a receive or probe with this key ends in an error. The loss of the rank `new` is
/// reported even if it was reported before.
#[cold]
pub(crate) fn lost_sender(fabric: &Fabric, comm: usize, key: &Key, new: Option<usize>) -> Option<usize> {
    let mut lost = fabric.lost_ranks();
    let find = FIND_SENDER.get().copied().unwrap_or(find_in_world);
    if key.source() != mpi::MPI_ANY_SOURCE {
        return find(comm, key.source(), &lost);
    }
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    let context = key.context & !PLANE;
    lost.retain(|rank| Some(*rank) == new || !reported.contains(&(context, *rank)));
    let found = find(comm, key.source(), &lost)?;
    reported.insert((context, found));
    Some(found)
}

/// The error of a probe that waits for a lost rank.
pub fn error_of_probe(fabric: &Fabric, comm: usize, key: &Key) -> Option<Error> {
    if !fabric.has_losses() {
        return None;
    }
    lost_sender(fabric, comm, key, None).map(|rank| error(fabric, rank))
}

/// The error of an operation whose peer is lost.
#[cold]
pub(crate) fn error(fabric: &Fabric, rank: usize) -> Error {
    let text = fabric.loss_text(Some(rank)).unwrap_or_else(|| format!("rank {rank} is lost"));
    Error::new(mpi::MPI_ERR_PROC_ABORTED, text)
}
