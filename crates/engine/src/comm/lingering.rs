//! Communicators that were freed while requests of theirs were pending: the errors of those requests belong to the
//! communicator's own error handler (MPI 5.0, sections 7.4.3 and 9.3).
//!
//! Requests hold no references to their communicators, which would cost two atomic additions an operation: they keep
//! the handle. Instead a communicator that is freed is kept here if a request names it, and each later free looks
//! whether some can go. So there are never more than those with pending requests and those that lost their last one
//! since the latest free. (Counting nothing and collecting at the end of an object is from Goodell, Balaji, Buntinas,
//! Dózsa, Gropp, Kumar, de Supinski and Thakur, "Minimizing MPI resource contention in multithreaded multicore
//! environments", CLUSTER 2010, DOI 10.1109/CLUSTER.2010.11; there for the objects themselves, here for their errors.)
//!
//! No request is missed: whoever frees a communicator has begun all operations on it before, in its own thread or
//! ordered before the call; later ones would use a dead handle.

use super::CommRef;
use crate::request;
use std::sync::{Mutex, PoisonError};

static LINGERING: Mutex<Vec<Lingering>> = Mutex::new(Vec::new());

struct Lingering {
    comm: CommRef,
    wanted: bool,
}

/// Keeps a communicator that was just freed as long as requests name it, and lets go of those that none names now.
pub(super) fn keep_while_requested(comm: CommRef) {
    let mut list = LINGERING.lock().unwrap_or_else(PoisonError::into_inner);
    list.push(Lingering { comm, wanted: false });
    for handle in request::communicators() {
        for entry in list.iter_mut().filter(|entry| entry.comm.handle() == handle) {
            entry.wanted = true;
        }
    }
    list.retain_mut(|entry| std::mem::take(&mut entry.wanted));
}

/// The communicator that had this handle, if it lingers.
#[cold]
pub(super) fn find(handle: usize) -> Option<CommRef> {
    let list = LINGERING.lock().unwrap_or_else(PoisonError::into_inner);
    list.iter().find(|entry| entry.comm.handle() == handle).map(|entry| entry.comm.clone())
}
