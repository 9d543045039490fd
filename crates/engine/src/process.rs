//! The process: everything that exists once `MPI_Init` has run.

use crate::comm::{Choice, Comm, context_id};
use crate::error::{Error, Result};
use crate::group::Group;
use crate::service::Servers;
use crate::settings::Settings;
use crate::vni::Vni;
use crate::{lifetime, own, request};
use heddle_bootstrap::World;
use heddle_model::{CallSection, Service, WakeUp};
use heddle_platform::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::WaitPolicy;
use heddle_transport::{Fabric, Failure, single_copy};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The state of an initialised process. It is made once and stays, so that references to it are `'static`.
#[derive(Debug)]
pub struct Process {
    world: World,
    fabric: Fabric,
    calls: CallSection,
    vnis: &'static [Vni],
    /// The threads of execution `offload`.
    servers: Option<Servers>,
    settings: Settings,
    thread_level: i32,
    /// Whether several threads may be inside of the library at once.
    threads: bool,
    main_thread: u64,
    /// Number of the next context id that this process gives away as a leader.
    next_context: AtomicU64,
    world_comm: Comm,
    self_comm: Comm,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// The process while MPI is initialised and not finalized: what every call asks for, in one load.
static CURRENT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

const NEVER: u32 = 0;
const RUNNING: u32 = 1;
const FINALIZED: u32 = 2;

/// How far the process has come in its life with MPI.
static LIFE: AtomicU32 = AtomicU32::new(NEVER);
static CHANGE_OF_LIFE: Mutex<()> = Mutex::new(());

/// Context numbers below this one are taken: 0 is `MPI_COMM_WORLD`'s, 1 is `MPI_COMM_SELF`'s.
const FIRST_CONTEXT: u64 = 2;

/// The process, if MPI is initialised and not finalized.
///
/// # Errors
/// `MPI_ERR_OTHER` naming what is wrong.
#[inline(always)]
pub fn current() -> Result<&'static Process> {
    // Acquire: pairs with the Release in `initialize`.
    let process = CURRENT.load(Ordering::Acquire);
    // SAFETY: null, or the process in `PROCESS`, which stays.
    unsafe { process.as_ref() }.ok_or_else(not_running)
}

/// The process, if `MPI_Init` was ever called: for error handlers and for what is legal after `MPI_Finalize`.
pub fn ever() -> Option<&'static Process> {
    PROCESS.get()
}

#[cold]
fn not_running() -> Error {
    let what = match LIFE.load(Ordering::Relaxed) {
        NEVER => "MPI is not initialised: call MPI_Init or MPI_Init_thread first",
        _ => "MPI is finalized already",
    };
    Error::new(mpi::MPI_ERR_OTHER, what)
}

/// Whether `MPI_Init` has been called.
pub fn is_initialized() -> bool {
    LIFE.load(Ordering::Acquire) != NEVER
}

/// Whether `MPI_Finalize` has been called.
pub fn is_finalized() -> bool {
    LIFE.load(Ordering::Acquire) == FINALIZED
}

fn start_error(what: impl std::fmt::Display) -> Error {
    Error::new(mpi::MPI_ERR_OTHER, what.to_string())
}

/// Ends the job for want of memory, or because of a peer that writes what no sender writes.
fn abort_for(failure: &Failure) -> ! {
    let text = failure.to_string();
    crate::abort::abort(1, &text, &text)
}

/// Initialises MPI at a thread level (`MPI_THREAD_…`).
///
/// # Errors
/// `MPI_ERR_OTHER` if it was initialised before, if the environment is inconsistent, or if the job's shared memory
/// cannot be set up.
pub fn initialize(thread_level: i32) -> Result<()> {
    let _change = CHANGE_OF_LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    if LIFE.load(Ordering::Relaxed) != NEVER {
        return Err(start_error("MPI was initialised before in this process; it can be only once"));
    }
    let settings = Settings::chosen().map_err(start_error)?;
    let world = World::from_env().map_err(start_error)?;
    heddle_platform::barrier::register();
    single_copy::allow_peers();
    let fabric = Fabric::attach(&world, settings.vnis).map_err(start_error)?.failing_by(abort_for);
    if !settings.single_copy {
        fabric.forbid_single_copies();
    }
    if let Some(job) = world.job() {
        job.set_initialised().map_err(start_error)?;
    }
    // Threads of the library's own are threads, too, at any level.
    let threads = thread_level == mpi::MPI_THREAD_MULTIPLE || settings.model.is_offloaded();
    if threads && settings.model.wake_up == WakeUp::Counter {
        request::signal_watchers();
    }
    let (rank, size) = (fabric.rank(), fabric.size());
    let service = Service::of(&settings.model, fabric.vnis(), || Arc::new(fabric.clone()));
    let sections = settings.model.sections(threads).served_by(service.clone());
    lifetime::configure(&settings.model, &sections);
    request::configure(&settings.model, &sections);
    if settings.model.locks_each_vni(threads) {
        own::allow_moves();
    }
    let vnis: Vec<Vni> = (0..fabric.vnis()).map(|index| Vni::new(&fabric, index, &sections)).collect();
    // As the process itself they stay.
    let vnis: &'static [Vni] = vnis.leak();
    let servers = service.map(|service| Servers::start(&service, &fabric, vnis, &settings)).transpose()?;
    let process = Process {
        calls: settings.model.call_section(threads),
        vnis,
        servers,
        thread_level,
        threads,
        main_thread: heddle_platform::thread::current_id(),
        next_context: AtomicU64::new(FIRST_CONTEXT),
        world_comm: Comm::new(
            context_id(0, 0, Choice::default()),
            Arc::new(Group::all(size)),
            rank,
            fabric.vnis(),
        ),
        self_comm: Comm::new(
            context_id(rank, 1, Choice::default()),
            Arc::new(Group::from_world_ranks(vec![rank as u32])),
            0,
            fabric.vnis(),
        ),
        world,
        fabric,
        settings,
    };
    process.world_comm.set_name("MPI_COMM_WORLD");
    process.self_comm.set_name("MPI_COMM_SELF");
    let process = PROCESS.get_or_init(|| process);
    // Release: pairs with the Acquire in `current`.
    CURRENT.store(std::ptr::from_ref(process).cast_mut(), Ordering::Release);
    LIFE.store(RUNNING, Ordering::Release);
    Ok(())
}

/// Finalizes MPI: waits for all ranks, so that no message of this process is lost.
///
/// # Errors
/// If MPI is not running.
pub fn finalize() -> Result<()> {
    let process = current()?;
    crate::comm::run_delete_callbacks_of_self(process)?;
    crate::collective::barrier(&crate::comm::CommRef::world(process))?;
    process.drain();
    lifetime::collect_now();
    if let Some(servers) = &process.servers {
        servers.end();
    }
    if process.settings.statistics {
        crate::statistics::print(process);
    }
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
    LIFE.store(FINALIZED, Ordering::Release);
    if let Some(job) = process.world.job() {
        job.set_finalised();
    }
    Ok(())
}

impl Process {
    /// This process's rank in `MPI_COMM_WORLD`.
    pub fn rank(&self) -> usize {
        self.fabric.rank()
    }

    /// Processes in `MPI_COMM_WORLD`.
    pub fn size(&self) -> usize {
        self.fabric.size()
    }

    /// The job's bootstrap information.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// `MPI_COMM_WORLD`.
    pub fn world_comm(&self) -> &Comm {
        &self.world_comm
    }

    /// `MPI_COMM_SELF`.
    pub fn self_comm(&self) -> &Comm {
        &self.self_comm
    }

    /// The thread level that was given.
    pub fn thread_level(&self) -> i32 {
        self.thread_level
    }

    /// Whether several threads may be inside of the library at once.
    #[inline(always)]
    pub(crate) fn has_threads(&self) -> bool {
        self.threads
    }

    /// Whether threads of the library's own make the progress.
    #[inline(always)]
    pub(crate) fn is_served(&self) -> bool {
        self.servers.is_some()
    }

    /// Whether the calling thread called `MPI_Init`.
    pub fn is_main_thread(&self) -> bool {
        heddle_platform::thread::current_id() == self.main_thread
    }

    /// What the environment chose.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The section that every MPI call enters.
    #[inline(always)]
    pub fn calls(&self) -> &CallSection {
        &self.calls
    }

    /// How to wait.
    pub(crate) fn wait_policy(&self) -> &WaitPolicy {
        &self.settings.wait
    }

    #[inline(always)]
    pub(crate) fn vni(&self, index: u32) -> &Vni {
        &self.vnis[index as usize]
    }

    pub(crate) fn vnis(&self) -> &[Vni] {
        self.vnis
    }

    pub(crate) fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// A context id that no communicator of the job has or ever had: this process is its leader.
    pub(crate) fn new_context(&self, choice: Choice) -> u64 {
        // Relaxed: only that no two get one number matters.
        let (load, store) = (Ordering::Relaxed, Ordering::Relaxed);
        let number = |next| choice.number_from(next, self.vnis.len());
        let next = match choice.vni() {
            None => self.next_context.fetch_add(1, store),
            Some(_) => match self.next_context.fetch_update(store, load, |next| Some(number(next) + 1)) {
                Ok(next) | Err(next) => next,
            },
        };
        context_id(self.rank(), number(next), choice)
    }
}
