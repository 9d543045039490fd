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

/// The processes whose messages a communicator, given by its handle, receives.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    /// The world rank of the process with this rank.
    pub world_rank: fn(comm: usize, rank: i32) -> Option<usize>,
    /// Returns true if the process with this world rank is one of them.
    pub contain: fn(comm: usize, world_rank: usize) -> bool,
}

static MEMBERS: OnceLock<Members> = OnceLock::new();

/// Without communicators sources are world ranks.
const OF_WORLD: Members = Members { world_rank: |_, rank| usize::try_from(rank).ok(), contain: |_, _| true };

heddle_platform::per_process! {
    /// The communicators, by their contexts, whose receives or probes from any source have reported the loss
    /// of a rank.
    static REPORTED: Mutex<BTreeSet<(u64, usize)>> = Mutex::new(BTreeSet::new());
}

/// Sets how the members of communicators are found. Called before there are requests.
pub fn set_members(members: Members) {
    MEMBERS.get_or_init(|| members);
}

/// The world rank of the process from which a receive with this key receives, if it names one.
pub(crate) fn sender(comm: usize, key: &Key) -> Option<usize> {
    if key.source() == mpi::MPI_ANY_SOURCE {
        return None;
    }
    (MEMBERS.get().unwrap_or(&OF_WORLD).world_rank)(comm, key.source())
}

/// The lost rank for which a receive or probe with this key ends in an error. The loss of the rank `new` is
/// reported even if it was reported before.
#[cold]
pub(crate) fn lost_sender(fabric: &Fabric, comm: usize, key: &Key, new: Option<usize>) -> Option<usize> {
    if key.source() != mpi::MPI_ANY_SOURCE {
        return sender(comm, key).filter(|rank| fabric.is_lost(*rank));
    }
    let members = MEMBERS.get().unwrap_or(&OF_WORLD);
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    let context = key.context & !PLANE;
    let is_due = |rank: &usize| Some(*rank) == new || !reported.contains(&(context, *rank));
    let mut lost = fabric.lost_ranks().into_iter().filter(is_due);
    let found = lost.find(|rank| (members.contain)(comm, *rank))?;
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
