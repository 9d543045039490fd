//! `MPI_Init` and `MPI_Finalize`.

use crate::life::{self, Origin, Use, comm_of_all};
use crate::loss;
use heddle_bootstrap::World;
use heddle_collective::any;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::{Comm, CommRef, world_model};
use heddle_message::context::{Context, VniChoice, context_id};
use heddle_message::domain::{self, Domain};
use heddle_settings::{Settings, in_force};
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex, PoisonError};

heddle_platform::per_process! {
    static INITIALISING: Mutex<()> = Mutex::new(());
}

/// Initialises MPI at a thread level (`MPI_THREAD_…`), or at that of `HEDDLE_THREAD_LEVEL` if it is higher.
///
/// # Errors
/// `MPI_ERR_OTHER` if it was initialised before, if the environment is inconsistent, or if the job's shared
/// memory cannot be set up.
pub fn initialize(thread_level: i32) -> Result<()> {
    initialize_from(Origin::Environment, thread_level)
}

/// Initialises MPI at a thread level in a process whose place in the job, and whose settings, are given.
///
/// # Errors
/// Those of [`initialize`].
pub fn initialize_in(world: World, settings: Settings, thread_level: i32) -> Result<()> {
    initialize_from(Origin::Given(Box::new((world, settings))), thread_level)
}

fn initialize_from(origin: Origin, thread_level: i32) -> Result<()> {
    let _one_at_a_time = INITIALISING.lock().unwrap_or_else(PoisonError::into_inner);
    if world_model::is_initialized() {
        let message = "MPI was initialised before in this process; it can be only once";
        return Err(Error::new(mpi::MPI_ERR_OTHER, message));
    }
    let domain = life::begin(Use::World(thread_level), origin)?;
    heddle_comm::open_predefined(comm_of_all(domain, 0), self_comm(domain));
    world_model::begin(in_force().map_or(thread_level, |settings| settings.level_for(thread_level)));
    Ok(())
}

fn self_comm(domain: &Domain) -> Comm {
    let rank = domain.rank();
    let context = Context::new(context_id(rank, 1, VniChoice::default()), 0, domain.vnis());
    Comm::new(context, Arc::new(Group::from_world_ranks(vec![rank as u32])))
}

/// Finalizes MPI: waits for all ranks but lost ones, so that no message of this process is lost. The library
/// goes on if there are sessions.
///
/// # Errors
/// `MPI_ERR_OTHER` if MPI is not initialised, or finalized already.
pub fn finalize() -> Result<()> {
    let level = world_model::current()?.thread_level();
    let domain = domain::current()?;
    heddle_comm_management::run_delete_callbacks_of_predefined()?;
    let mut had_sessions = life::had_session();
    loss::tolerated(domain, await_all(&mut had_sessions))?;
    loss::keep_choice();
    heddle_comm::close_predefined();
    world_model::end();
    life::end_world(domain, level, !had_sessions);
    Ok(())
}

/// Waits until all ranks have called this; the answer is true if that of any rank is.
fn await_all(answer: &mut bool) -> Result<()> {
    *answer = any(&CommRef::world()?, *answer)?;
    Ok(())
}
