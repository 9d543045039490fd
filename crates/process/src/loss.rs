//! The loss of ranks on other machines: whether the process goes on, and which receives wait for them.

use heddle_comm::error::{Error, Result};
use heddle_comm::{CommRef, KeptComm, session};
use heddle_message::domain::Domain;
use heddle_message::losses::Members;
use heddle_platform::atomic::{AtomicBool, Ordering};
use heddle_spec::constants as mpi;

/// The answer of [`survives`] once `MPI_COMM_WORLD` and all sessions are gone.
static CHOICE: AtomicBool = AtomicBool::new(false);

/// Returns true if the process goes on without a lost rank: if the error handler of `MPI_COMM_WORLD` returns,
/// or is the program's; without `MPI_COMM_WORLD`, if those of all sessions are so.
pub(crate) fn survives() -> bool {
    let is_fatal = |errhandler| matches!(errhandler, mpi::MPI_ERRORS_ARE_FATAL | mpi::MPI_ERRORS_ABORT);
    if let Ok(world) = CommRef::world() {
        return !is_fatal(world.errhandler.get());
    }
    let mut sessions = session::errhandlers().peekable();
    if sessions.peek().is_none() { CHOICE.load(Ordering::Relaxed) } else { !sessions.any(is_fatal) }
}

/// Keeps the choice of the program's, for losses after the end of `MPI_COMM_WORLD` or of the last session.
pub(crate) fn keep_choice() {
    CHOICE.store(survives(), Ordering::Relaxed);
}

/// The processes whose messages a communicator receives.
pub(crate) const MEMBERS: Members = Members {
    world_rank: |comm, rank| KeptComm::of_request(comm)?.peers.world_rank(rank as usize),
    contain: |comm, rank| KeptComm::of_request(comm).is_some_and(|comm| comm.peers.rank_of(rank).is_some()),
};

/// The result of an operation that lost ranks take no part in.
///
/// # Errors
/// Any but `MPI_ERR_PROC_ABORTED` after a loss.
pub(crate) fn tolerated(domain: &Domain, result: Result<()>) -> Result<()> {
    let is_loss = |error: &Error| error.code() == mpi::MPI_ERR_PROC_ABORTED && domain.fabric().has_losses();
    result.or_else(|error| if is_loss(&error) { Ok(()) } else { Err(error) })
}
