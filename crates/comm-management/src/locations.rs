//! Where the processes of a communicator run, as they tell each other.

use crate::gather;
use heddle_comm::CommRef;
use heddle_comm::error::Result;
use heddle_message::domain::{self, Domain};
use heddle_platform::background::{allowed_cores, online_cores};
use heddle_topology::{Location, Topology};
use std::sync::OnceLock;

/// Where the first `count` processes of a communicator run, by rank. Collective over all of it.
///
/// # Errors
/// Those of the messages.
pub(crate) fn of_first(comm: &CommRef, count: usize) -> Result<Vec<Location>> {
    let all = gather::words(comm, own(domain::current()?).to_words())?;
    Ok(all.into_iter().take(count).map(Location::from_words).collect())
}

/// Where this process runs, by the hardware threads on which the calling thread may run. One that may run
/// anywhere has no location, and does not ask for the machine's topology; neither has one of a job on several
/// machines, which locations do not tell apart.
fn own(domain: &Domain) -> Location {
    static MACHINE: OnceLock<Option<Topology>> = OnceLock::new();
    static ONLINE: OnceLock<usize> = OnceLock::new();
    let cores = allowed_cores();
    if domain.fabric().spans_machines() || cores.len() >= *ONLINE.get_or_init(online_cores) {
        return Location::default();
    }
    let machine = MACHINE.get_or_init(|| Topology::of_machine().ok());
    machine.as_ref().map_or_else(Location::default, |machine| Location::new(machine, &cores))
}
