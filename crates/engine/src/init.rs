//! The beginning and the end: `MPI_Init` and `MPI_Finalize`.

use crate::abort::abort;
use crate::{comm_management, statistics, window};
use heddle_bootstrap::World;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::{Comm, KeptComm};
use heddle_comm::{datatype, lifetime, process, reference_counts};
use heddle_message::context::{Choice, Context, context_id};
use heddle_message::domain::Failure;
use heddle_message::domain::{self, Domain, Prepared};
use heddle_message::error::Owner;
use heddle_message::request;
use heddle_objects::lifetime::Collected;
use heddle_settings::{self as settings, Settings};
use heddle_spec::constants as mpi;
use std::sync::{Arc, Mutex, PoisonError};

pub use heddle_message::domain::{is_finalized, is_initialized};

static CHANGE_OF_LIFE: Mutex<()> = Mutex::new(());

/// The tables whose objects are collected.
static COLLECTED: [&dyn Collected; 3] = [&heddle_comm::COMMS, &datatype::DERIVED, &window::WINS];

fn start_error(what: impl std::fmt::Display) -> Error {
    Error::new(mpi::MPI_ERR_OTHER, what.to_string())
}

/// Initialises MPI at a thread level (`MPI_THREAD_…`).
///
/// # Errors
/// `MPI_ERR_OTHER` if it was initialised before, if the environment is inconsistent, or if the job's shared
/// memory cannot be set up.
pub fn initialize(thread_level: i32) -> Result<()> {
    let _change = CHANGE_OF_LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    if is_initialized() {
        return Err(start_error("MPI was initialised before in this process; it can be only once"));
    }
    let settings = Settings::chosen().map_err(start_error)?;
    let world = World::from_env().map_err(start_error)?;
    let prepared = Prepared::new(&world, &settings, thread_level, end_job)?;
    lifetime::configure(&settings.model, &COLLECTED);
    reference_counts::configure(&settings.model, prepared.sections());
    request::set_owner_of_errors(owner_of_errors);
    let domain = prepared.start(&settings)?;
    settings::put_in_force(settings);
    process::describe(world, thread_level);
    heddle_comm::open_predefined(comm_of_all(domain, 0), self_comm(domain), comm_of_all(domain, 2));
    domain::open(domain);
    Ok(())
}

/// Ends the job because memory ran out, or because a peer wrote garbage into a ring.
fn end_job(failure: &Failure) -> ! {
    let text = failure.to_string();
    abort(1, &text, &text)
}

/// A communicator of all processes, with a number among the contexts of process 0.
fn comm_of_all(domain: &Domain, number: u64) -> Comm {
    let context = Context::new(context_id(0, number, Choice::default()), domain.rank(), domain.vnis());
    Comm::new(context, Arc::new(Group::all(domain.size())))
}

fn self_comm(domain: &Domain) -> Comm {
    let rank = domain.rank();
    let context = Context::new(context_id(rank, 1, Choice::default()), 0, domain.vnis());
    Comm::new(context, Arc::new(Group::from_world_ranks(vec![rank as u32])))
}

/// The communicator that a failed request names: its error handler is responsible.
fn owner_of_errors(comm: usize) -> Option<Owner> {
    KeptComm::of_request(comm).map(|comm| Arc::new(comm) as Owner)
}

/// Finalizes MPI: waits for all ranks, so that no message of this process is lost.
///
/// # Errors
/// `MPI_ERR_OTHER` if MPI is not running.
pub fn finalize() -> Result<()> {
    let domain = domain::current()?;
    comm_management::run_delete_callbacks_of_predefined()?;
    heddle_collective::run(&heddle_comm::CommRef::world()?, heddle_collective::barrier)?;
    domain.drain();
    lifetime::collect_now();
    domain.end_offload_server();
    if let Some(settings) = settings::in_force().filter(|settings| settings.statistics) {
        statistics::print(settings, domain);
    }
    domain::close();
    heddle_comm::close_predefined();
    if let Some(job) = process::ever().and_then(|process| process.world().job()) {
        job.set_finalised();
    }
    Ok(())
}
