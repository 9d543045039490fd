//! Where new communicators go.

use crate::comm::{COMMS, Comm};
use crate::lifetime;

/// Puts a new communicator into the table; returns its handle.
pub(super) fn insert(comm: Comm) -> usize {
    lifetime::before_creation();
    COMMS.insert(comm)
}
