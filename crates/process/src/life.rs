//! The time in which the library is in use: from `MPI_Init` or the first session to `MPI_Finalize` or the end
//! of the last session, whichever is later (MPI 5.0, sections 11.2 and 11.3).
//!
//! What the library is made of, from the job's shared memory to the VNIs, is made once and stays until the
//! process ends: peers may write to its rings at any time. The end of the last use only sends what is
//! queued, collects objects, ends the offload threads and makes calls fail. So the next session finds
//! everything in place, with the messages that have come meanwhile.
//!
//! A process whose first use is a session runs at `MPI_THREAD_MULTIPLE` from then on, since another session
//! may ask for it; one whose first use is `MPI_Init` keeps the level asked for there, or that of
//! `HEDDLE_THREAD_LEVEL` if it is higher.
//!
//! **No barrier.** `MPI_Finalize` waits for all processes, since all have to call it. A session concerns only
//! those that communicate, and a process need not have one. So the last session to end waits only until its
//! receivers have fetched what they were offered. Ranks of several machines meet at the launcher's fence
//! before they leave: in `MPI_Finalize` if none of them has had a session, as they tell each other there, and
//! otherwise when the processes exit. With 10 % of the packets lost, 2 of 10 jobs of 8 ranks that only began
//! and ended hung without the fence.
//!
//! The lock is never held while a thread waits for another process: threads of this process may make sessions
//! meanwhile, which that process needs. The one exception is the launcher's fence, to which processes come
//! that need no session of others ([`end_world`]).

use crate::abort::abort;
use crate::{loss, statistics};
use heddle_bootstrap::{Joining, World, end_without_launcher, host};
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::{Comm, KeptComm};
use heddle_comm::{datatype, lifetime, process, reference_counts};
use heddle_message::context::{Context, VniChoice, context_id};
use heddle_message::domain::Failure;
use heddle_message::domain::{self, Domain, Network, Prepared};
use heddle_message::error::ErrorOwner;
use heddle_message::{losses, request};
use heddle_model::counters;
use heddle_objects::lifetime::Collected;
use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_settings::{self as settings, Settings};
use heddle_spec::constants as mpi;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A reason for which the library is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// `MPI_Init` was called, at this thread level, and `MPI_Finalize` was not.
    World(i32),
    /// A session.
    Session,
}

/// How the process learns its place in the job, and its settings, when the library starts.
#[derive(Debug)]
pub(crate) enum Origin {
    /// From the environment, or from a launcher that the environment names.
    Environment,
    /// Both are given.
    Given(Box<(World, Settings)>),
}

/// Who uses the library.
#[derive(Debug, Default)]
struct Life {
    /// True between `MPI_Init` and `MPI_Finalize`.
    world: bool,
    /// True once `MPI_Init` was called.
    had_world: bool,
    sessions: usize,
    /// True once there was a session.
    had_session: bool,
    /// True once all processes have said in `MPI_Finalize` that they had no session so far.
    ends_together: bool,
}

heddle_platform::per_process! {
    static LIFE: Mutex<Life> = Mutex::new(Life {
        world: false,
        had_world: false,
        sessions: 0,
        had_session: false,
        ends_together: false,
    });

    /// How often a use has begun or ended.
    static CHANGES: AtomicU64 = AtomicU64::new(0);
}

/// The tables whose objects are collected.
static COLLECTED: [&dyn Collected; 3] = [&heddle_comm::COMMS, &datatype::DERIVED, &heddle_rma::WINS];

impl Life {
    fn lock() -> MutexGuard<'static, Life> {
        LIFE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn uses(&self) -> usize {
        self.sessions + usize::from(self.world)
    }

    fn add(&mut self, what: Use) {
        match what {
            Use::World(_) => (self.world, self.had_world) = (true, true),
            Use::Session => (self.sessions, self.had_session) = (self.sessions + 1, true),
        }
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }

    fn remove(&mut self, what: Use) {
        match what {
            Use::World(_) => self.world = false,
            Use::Session => self.sessions -= 1,
        }
        CHANGES.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells the launcher what the end of this process would mean.
    fn report(&self, world: &World) -> Result<()> {
        let Some(job) = world.job() else { return Ok(()) };
        match (self.world, self.sessions, self.had_world) {
            (true, ..) => job.set_initialised().map_err(start_error)?,
            (false, 1.., _) => job.set_in_sessions().map_err(start_error)?,
            (false, 0, true) => job.set_finalised(),
            (false, 0, false) => job.set_left(),
        }
        match self.uses() {
            0 if self.ends_together => job.finish(),
            0 => job.finish_at_exit(),
            _ => (),
        }
        Ok(())
    }
}

fn start_error(what: impl std::fmt::Display) -> Error {
    Error::new(mpi::MPI_ERR_OTHER, what.to_string())
}

/// Begins a use of the library, and starts the library if it is not in use.
///
/// # Errors
/// `MPI_ERR_OTHER` if the environment is inconsistent, if the job's shared memory cannot be set up, or if the
/// offload threads cannot be started.
pub(crate) fn begin(what: Use, origin: Origin) -> Result<&'static Domain> {
    let mut life = Life::lock();
    life.add(what);
    let started = start_if_needed(&life, what, origin);
    if started.is_err() {
        life.remove(what);
    }
    started
}

fn start_if_needed(life: &Life, what: Use, origin: Origin) -> Result<&'static Domain> {
    let domain = match (domain::ever(), process::ever()) {
        (Some(domain), Some(process)) => {
            life.report(process.world())?;
            domain
        }
        _ => first_start(life, what, origin)?,
    };
    if domain::running().is_none() {
        domain.return_to_network();
        domain.start_offload_server()?;
        domain::open(domain);
        heddle_comm::open_creations(|| comm_of_all(domain, 2));
    }
    Ok(domain)
}

fn first_start(life: &Life, what: Use, origin: Origin) -> Result<&'static Domain> {
    let (world, network, settings) = match origin {
        Origin::Environment => join_job()?,
        Origin::Given(given) => (given.0, None, given.1),
    };
    let thread_level = match what {
        Use::World(level) => settings.level_for(level),
        Use::Session => mpi::MPI_THREAD_MULTIPLE,
    };
    let ends = (end_job as fn(&Failure) -> !, loss::survives as fn() -> bool);
    let prepared = Prepared::new(&world, network, &settings, thread_level, ends)?;
    life.report(&world)?;
    // Offload threads count at any thread level.
    if thread_level == mpi::MPI_THREAD_MULTIPLE || settings.model.is_offloaded() {
        counters::prepare();
    }
    lifetime::configure(&settings.model, &COLLECTED);
    reference_counts::configure(&settings.model, prepared.sections());
    request::set_owner_of_errors(owner_of_errors);
    losses::set_members(loss::MEMBERS);
    let domain = prepared.domain(&settings);
    settings::put_in_force(Settings { vnis: Some(domain.vnis().len()), ..settings });
    process::describe(world, thread_level);
    end_without_launcher(end_as_orphan).map_err(start_error)?;
    Ok(domain)
}

/// Joins the job that the environment names, and opens the network to its other machines.
fn join_job() -> Result<(World, Option<Network>, Settings)> {
    let settings = Settings::chosen().map_err(start_error)?;
    let joining = Joining::begin(settings.bootstrap).map_err(start_error)?;
    let network = domain::open_network(&settings, &joining)?;
    let world = joining.join().map_err(start_error)?;
    if world.rank() == 0 {
        for slip in heddle_settings::mistyped_variables() {
            let _ = io::stderr().write_all(format!("heddle: {slip}\n").as_bytes());
        }
    }
    Ok((world, network, settings))
}

/// Ends the job because memory ran out, a peer wrote garbage into a ring, or one cannot be reached.
fn end_job(failure: &Failure) -> ! {
    let text = failure.to_string();
    abort(1, &text, &text)
}

/// Ends this process because the launcher's process that has started it has ended.
fn end_as_orphan() -> ! {
    let rank = process::ever().map(|process| process.world().rank()).unwrap_or_default();
    let text = format!(
        "rank {rank} on {} ends: the launcher's process that has started it (hydra_pmi_proxy, prted, slurmstepd ...) \
         has ended or was killed, and without it nobody would end the rank with its job; start the job again, the \
         log of the system may say what has happened to the process",
        host()
    );
    abort(1, &text, &text)
}

/// The communicator that a failed request names: its error handler is responsible.
fn owner_of_errors(comm: usize) -> Option<ErrorOwner> {
    KeptComm::of_request(comm).map(|comm| Arc::new(comm) as ErrorOwner)
}

/// A communicator of all processes, with a number among the contexts of process 0.
pub(crate) fn comm_of_all(domain: &Domain, number: u64) -> Comm {
    let context = Context::new(context_id(0, number, VniChoice::default()), domain.rank(), domain.vnis());
    Comm::new(context, Arc::new(Group::all(domain.size())))
}

/// Returns true if the process has had a session.
pub(crate) fn had_session() -> bool {
    Life::lock().had_session
}

/// Ends `MPI_Init`'s use of the library; `together` if no process had a session when all of them had called
/// `MPI_Finalize`. Then all come to the launcher's fence. Otherwise each does when it exits: it may have
/// ended its last use for a moment only, and others may wait for its next session.
pub(crate) fn end_world(domain: &Domain, thread_level: i32, together: bool) {
    Life::lock().ends_together = together;
    end(domain, Use::World(thread_level), || {
        if together && let Some(job) = process::ever().and_then(|process| process.world().job()) {
            job.meet();
        }
    });
}

/// Ends a session's use of the library.
pub(crate) fn end_session(domain: &Domain) {
    end(domain, Use::Session, || ());
}

/// Ends a use of the library. The last one first sends what is queued, and after sessions, whose processes
/// need not leave together, waits until the receivers have fetched it; then it ends the library. Calls
/// `meet` once the process's messages have left.
fn end(domain: &Domain, what: Use, meet: impl FnOnce()) {
    loop {
        let (seen, had_session) = {
            let mut life = Life::lock();
            if life.uses() > 1 {
                leave(&mut life, what);
                drop(life);
                return meet();
            }
            (CHANGES.load(Ordering::Relaxed), life.had_session)
        };
        // The use still counts, so the library goes on for threads that begin others meanwhile.
        domain.drain(had_session, || CHANGES.load(Ordering::Relaxed) != seen);
        let mut life = Life::lock();
        if CHANGES.load(Ordering::Relaxed) == seen {
            stop(domain);
            meet();
            return leave(&mut life, what);
        }
    }
}

fn leave(life: &mut Life, what: Use) {
    life.remove(what);
    if let Some(process) = process::ever() {
        // It fails only for a rank that another process has, and this one was the rank from the start.
        let _ = life.report(process.world());
    }
}

fn stop(domain: &Domain) {
    if domain.fabric().has_losses() {
        heddle_bootstrap::finish_alone();
    }
    lifetime::collect_now();
    domain.leave_network();
    domain.end_offload_server();
    if let Some(settings) = settings::in_force().filter(|settings| settings.statistics) {
        statistics::print(settings, domain);
    }
    domain::close();
    heddle_comm::close_creations();
}
