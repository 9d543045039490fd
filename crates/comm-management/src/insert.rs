//! Where new communicators go.

use heddle_comm::lifetime;
use heddle_comm::{COMMS, Comm};

/// Puts a new communicator into the table; returns its handle.
pub(crate) fn insert(comm: Comm) -> usize {
    lifetime::before_creation();
    COMMS.insert(comm)
}
