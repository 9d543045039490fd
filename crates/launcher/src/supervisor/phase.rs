//! Where a job is in its life: see the table in [`super`].

use std::time::Instant;

use crate::leftovers::Leftovers;

/// Where a job is in its life.
#[derive(Debug)]
pub(super) enum Phase {
    Running,
    Ending {
        kill_at: Option<Instant>,
    },
    Leftovers {
        leftovers: Leftovers,
        next_look: Instant,
        /// Nothing of the job runs any more; what is still in the pipes is the rest of its output.
        gone: bool,
    },
    Writing,
}
