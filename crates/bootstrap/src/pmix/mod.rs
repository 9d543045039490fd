//! The mechanism of the launchers that speak PMIx: PRRTE (`prterun`, Open MPI's `mpiexec`), Slurm
//! (`srun --mpi=pmix`), and others.
//!
//! PMIx is a library (`library.rs`): it finds the launcher's server on this machine by variables of its own,
//! and keeps the connection (`client.rs`), whose loss is an event (`event.rs`). Words that ranks have put
//! stay on the machine of the rank; the servers fetch one when a rank of another machine asks for it.

mod abi;
mod client;
mod event;
#[cfg(test)]
mod layout;
mod library;

use crate::BootstrapError;
use crate::external::ExternalJoining;
use client::Client;

/// The name of the job. The other variables are the library's.
pub const NAMESPACE: &str = "PMIX_NAMESPACE";

/// Connects to the launcher.
///
/// # Errors
/// When it cannot be reached, or does not say how large the job is.
pub(crate) fn begin() -> Result<ExternalJoining, BootstrapError> {
    let client = Client::connect()?;
    let (rank, size) = (client.rank(), client.size()?);
    if rank >= size {
        return Err(BootstrapError::Launcher {
            what: format!("rank {rank} is not in a job of {size} ranks"),
        });
    }
    let beside = client.local_peers().and_then(|peers| ranks_in(&peers, rank, size));
    Ok(ExternalJoining { rank, size, appnum: client.appnum(), beside }.over(client))
}

/// The ranks that a list of the launcher names, in ascending order; `None` if they are not ranks of the job,
/// or `rank` is not among them.
fn ranks_in(peers: &str, rank: u32, size: u32) -> Option<Vec<u32>> {
    let mut ranks: Vec<u32> = peers.split(',').map(|peer| peer.trim().parse().ok()).collect::<Option<_>>()?;
    ranks.sort_unstable();
    ranks.dedup();
    (ranks.contains(&rank) && ranks.last()? < &size).then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_ranks_is_read_whatever_its_order() {
        assert_eq!(ranks_in("0,1,2", 1, 4), Some(vec![0, 1, 2]));
        assert_eq!(ranks_in("7, 3", 3, 8), Some(vec![3, 7]));
        assert_eq!(ranks_in("5", 5, 6), Some(vec![5]));
    }

    #[test]
    fn other_words_say_nothing() {
        for peers in ["", "0-3", "0,1,", "0,2", "0,1,4", "one"] {
            assert_eq!(ranks_in(peers, 1, 4), None, "{peers:?}");
        }
    }
}
