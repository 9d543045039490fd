//! The domain: the VNIs of a process that uses MPI, and what they share.

use crate::context::{Numbers, VniChoice, context_id, used};
use crate::cores::Cores;
use crate::error::{Error, Result};
use crate::lanes;
use crate::mapping::default_vni;
use crate::offload::RunningServer;
use crate::request::{self, RequestId};
use crate::spread::{Spreading, stamp};
use crate::vni::{Task, Vni};
use heddle_bootstrap::{Joining, World};
use heddle_model::{CallSection, OffloadServer, Path, Sections, TestBackoff, WakeUp};
use heddle_objects::resharding::{self, Mover};
use heddle_platform::atomic::{AtomicPtr, Ordering};
use heddle_settings::{Settings, SpreadRule};
use heddle_spec::constants as mpi;
use heddle_sync::WaitPolicy;
use heddle_transport::{Alike, Fabric, NetworkChoice, Survives, single_copy};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub use heddle_transport::{Failure, Network};

/// The VNIs of a process, and what they share. It is made once and stays, so that
/// references to it are `'static`.
#[derive(Debug)]
pub struct Domain {
    fabric: Fabric,
    calls: CallSection,
    vnis: &'static [Vni],
    /// The offload threads, under execution `offload`.
    offload_server: Option<RunningServer>,
    wait: WaitPolicy,
    cores: Cores,
    blackboards: bool,
    test_patience_ns: u64,
    /// True if tests back off from a critical section that they have found taken.
    tests_back_off: bool,
    /// True if several threads may be in the library at once.
    threads: bool,
    /// The numbers of the context ids that this process makes as a leader.
    context_numbers: Numbers,
}

/// The longest time that a process which leaves the network waits until it has told its peers.
const LEAVING: Duration = Duration::from_secs(1);

heddle_platform::per_process! {
    static DOMAIN: OnceLock<Domain> = OnceLock::new();

    /// The domain while MPI is in use: between `MPI_Init` and `MPI_Finalize`, or in a session. Every call
    /// loads it, so it is one word.
    static CURRENT: AtomicPtr<Domain> = AtomicPtr::new(null_mut());
}

/// The domain, if MPI is in use.
///
/// # Errors
/// `MPI_ERR_OTHER`, with the reason.
#[inline(always)]
pub fn current() -> Result<&'static Domain> {
    running().ok_or_else(not_running)
}

/// Does the same as [`current`], but returns `None` instead of an error.
#[inline(always)]
pub fn running() -> Option<&'static Domain> {
    // Acquire: pairs with the Release in `open`.
    let domain = CURRENT.load(Ordering::Acquire);
    // SAFETY: the pointer is null, or leads to the domain in `DOMAIN`, which is never freed.
    unsafe { domain.as_ref() }
}

/// The domain, if MPI was ever in use: for error handlers and calls that are legal after `MPI_Finalize`.
pub fn ever() -> Option<&'static Domain> {
    DOMAIN.get()
}

#[cold]
fn not_running() -> Error {
    let what = match ever() {
        None => "MPI is not initialised: call MPI_Init, MPI_Init_thread or MPI_Session_init first",
        Some(_) => "MPI is finalized already, and no session is open",
    };
    Error::new(mpi::MPI_ERR_OTHER, what)
}

fn start_error(what: impl std::fmt::Display) -> Error {
    Error::new(mpi::MPI_ERR_OTHER, what.to_string())
}

/// Opens the network to other machines, if the ranks may run on several, before the ranks meet.
///
/// # Errors
/// `MPI_ERR_OTHER` if it is needed and cannot be opened.
pub fn open_network(settings: &Settings, joining: &Joining) -> Result<Option<Network>> {
    let choice = match settings.network() {
        None => NetworkChoice::Off,
        Some((None, None)) => NetworkChoice::Auto,
        Some((provider, domain)) => NetworkChoice::wish(provider, domain),
    };
    let alike = Alike { vnis: settings.vnis_among(None), collectives: settings.collectives.fingerprint() };
    Network::open(&choice, alike, settings.peer_timeout, joining).map_err(start_error)
}

/// The number of ranks that share the machine's cores; `None` if the ranks are on several machines, which
/// have to agree on the number of VNIs, or if offload threads serve the VNIs.
fn ranks_that_share_cores(world: &World, settings: &Settings) -> Option<usize> {
    let (all, local) = (world.size() as usize, world.local_ranks().len());
    (all == local && !settings.model.is_offloaded()).then_some(local)
}

/// The critical sections of a model; under execution `offload` the library's own
/// threads run their operations.
#[derive(Debug)]
pub struct Prepared {
    fabric: Fabric,
    cores: Cores,
    threads: bool,
    server: Option<OffloadServer>,
    sections: Arc<Sections>,
}

impl Prepared {
    /// Attaches to the job's shared memory and to the network, and makes the critical sections of the model.
    /// `end_job` ends the job when memory runs out, when a peer has written garbage, or when one cannot be
    /// reached, unless `survives` says that the process goes on without that one.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if the shared memory or the network cannot be set up.
    pub fn new(
        world: &World,
        network: Option<Network>,
        settings: &Settings,
        thread_level: i32,
        (end_job, survives): (fn(&Failure) -> !, Survives),
    ) -> Result<Prepared> {
        heddle_platform::barrier::register();
        single_copy::allow_peers();
        let vnis = settings.vnis_among(ranks_that_share_cores(world, settings));
        let fabric = Fabric::attach(world, vnis).map_err(start_error)?.failing_by(end_job);
        let fabric = fabric.surviving_if(survives);
        let fabric = fabric.with_network(network).map_err(start_error)?;
        if !settings.single_copy {
            fabric.forbid_single_copies();
        }
        // The library's own threads count at any thread level.
        let threads = thread_level == mpi::MPI_THREAD_MULTIPLE || settings.model.is_offloaded();
        if threads && settings.model.wake_up == WakeUp::Counter {
            request::signal_watchers();
        }
        let cores = Cores::share(&fabric);
        let server = OffloadServer::of(&settings.model, fabric.vnis(), || Arc::new(fabric.clone()));
        let sections = Arc::new(settings.model.sections(threads).with_offload_server(server.clone()));
        request::configure(&settings.model, &sections);
        if settings.model.locks_each_vni(threads) {
            resharding::allow_moves();
            if stamp::is_shared() {
                resharding::stamp_by_clock();
            }
        }
        Ok(Prepared { fabric, cores, threads, server, sections })
    }

    /// The model's critical sections.
    pub fn sections(&self) -> &Sections {
        &self.sections
    }

    /// Makes the domain, which [`current`] returns once it is [opened](open). Its offload threads are still
    /// to be [started](Domain::start_offload_server).
    pub fn domain(self, settings: &Settings) -> &'static Domain {
        let Prepared { fabric, cores, threads, server, sections } = self;
        let rule = if sections.may_spread() { settings.spread } else { SpreadRule::Never };
        let spreading = Arc::new(Spreading::by(rule, &fabric));
        let bytes = settings.unexpected_bytes;
        let vni = |index| Vni::spreading(&fabric, index, &sections, bytes, Arc::clone(&spreading));
        let vnis: Vec<Vni> = (0..fabric.vnis()).map(vni).collect();
        // The VNIs are never freed, and neither is the domain.
        let vnis: &'static [Vni] = vnis.leak();
        lanes::begin(vnis, &fabric);
        used::prepare(&fabric);
        let offload_server = server.map(|server| RunningServer::new(server, fabric.clone(), vnis, settings));
        let domain = Domain {
            calls: settings.model.call_section(threads),
            vnis,
            offload_server,
            wait: settings.wait,
            cores,
            blackboards: settings.blackboards,
            test_patience_ns: settings.model.test_patience_ns(),
            tests_back_off: settings.model.test_backoff == TestBackoff::Exponential,
            threads,
            context_numbers: Numbers::new(),
            fabric,
        };
        DOMAIN.get_or_init(|| domain)
    }
}

/// Makes [`current`] return the domain, for the first time or after [`close`].
pub fn open(domain: &'static Domain) {
    // Release: pairs with the Acquire in `current`.
    CURRENT.store(std::ptr::from_ref(domain).cast_mut(), Ordering::Release);
}

/// Makes [`current`] fail until the domain is [opened](open) again.
pub fn close() {
    CURRENT.store(null_mut(), Ordering::Release);
}

impl Domain {
    /// This process's rank in `MPI_COMM_WORLD`.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.fabric.rank()
    }

    /// The number of processes in `MPI_COMM_WORLD`.
    pub fn size(&self) -> usize {
        self.fabric.size()
    }

    /// Returns true if several threads may be in the library at once.
    #[inline(always)]
    pub fn has_threads(&self) -> bool {
        self.threads
    }

    /// Returns true if offload threads make the progress.
    #[inline(always)]
    pub fn is_offloaded(&self) -> bool {
        self.offload_server.is_some()
    }

    /// The critical section around every MPI call.
    #[inline(always)]
    pub fn calls(&self) -> &CallSection {
        &self.calls
    }

    /// The policy by which threads wait.
    pub fn wait_policy(&self) -> &WaitPolicy {
        &self.wait
    }

    /// Returns true if each process that may run on the cores of this one may have one of its own.
    #[inline(always)]
    pub fn has_cores(&self) -> bool {
        self.cores.are_one_each(&self.fabric)
    }

    /// Returns true if communicators may have blackboards.
    pub fn may_have_blackboards(&self) -> bool {
        self.blackboards
    }

    /// The time that a test waits for a critical section, in nanoseconds.
    #[inline(always)]
    pub fn test_patience_ns(&self) -> u64 {
        self.test_patience_ns
    }

    /// Returns true if tests back off from a critical section that they have found taken.
    pub fn tests_back_off(&self) -> bool {
        self.tests_back_off
    }

    /// The VNI with a number.
    #[inline(always)]
    pub fn vni(&self, index: u32) -> &Vni {
        &self.vnis[index as usize]
    }

    /// All VNIs.
    #[inline(always)]
    pub fn vnis(&self) -> &'static [Vni] {
        self.vnis
    }

    /// The numbers of the VNIs in use: those that threads poll which make progress on all.
    pub fn vnis_in_use(&self) -> impl Iterator<Item = u32> {
        used::in_use()
    }

    /// The job's shared memory.
    #[inline(always)]
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Cancels an active send if its message was not matched.
    pub fn cancel_send(&self, id: RequestId) {
        if request::is_complete(id) {
            return;
        }
        if request::peer_of(id) != self.rank() {
            let _no_other_thread_moves = Mover::wait();
            if !self.take_from_spill(id) {
                self.cancel_sent(id);
            }
            return;
        }
        // The message may have moved to another VNI than the one where it was sent.
        let _no_other_thread_moves = Mover::wait();
        let _ = self.vnis().iter().any(|vni| vni.cancel_send_to_self(id));
    }

    /// Cancels a send to another process that does not wait for room in a lane. Its receiver may answer on
    /// its home, so no thread may be inside there.
    fn cancel_sent(&self, id: RequestId) {
        let cancel = || self.vni(request::vni_of(id)).cancel_send(id);
        let vnis = self.vnis().len();
        let home = default_vni(request::context_of(id), vnis);
        if home == request::vni_of(id) || !self.vni(home).may_spread() {
            return cancel();
        }
        self.vni(home).whole().with_lock(Path::Main, |_| cancel());
    }

    /// Cancels a send that waits for room in a lane. Returns false if it does not.
    fn take_from_spill(&self, id: RequestId) -> bool {
        let peer = request::peer_of(id);
        let waited = self.vnis().iter().find(|vni| vni.take_from_spill(id, peer));
        waited.inspect(|vni| vni.cancelled_in_spill(id)).is_some()
    }

    /// Tells the ranks on other machines that this process leaves the network, and waits until the network
    /// has taken that, for a second at most.
    pub fn leave_network(&self) {
        self.fabric.set_leaves_network(true);
        let deadline = Instant::now() + LEAVING;
        while !self.fabric.is_network_drained() && Instant::now() < deadline {
            std::thread::yield_now();
        }
    }

    /// Tells them that it is there again.
    pub fn return_to_network(&self) {
        self.fabric.set_leaves_network(false);
    }

    /// Starts the offload threads, if the model has any.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if they cannot be started.
    pub fn start_offload_server(&self) -> Result<()> {
        self.offload_server.as_ref().map_or(Ok(()), RunningServer::start)
    }

    /// Leaves a task to the offload thread of a VNI, where there is one.
    pub fn leave_task(&self, vni: u32, task: Box<dyn Task>) {
        self.vni(vni).add_task_for_others(task);
        if let Some(offload_server) = &self.offload_server {
            offload_server.wake_for(vni);
        }
    }

    /// Ends the offload threads, after they have run all posted operations.
    pub fn end_offload_server(&self) {
        if let Some(offload_server) = &self.offload_server {
            offload_server.end();
        }
    }

    /// Makes a context id that no communicator of the job has or ever had. This process is its leader.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if no number is left for it.
    pub fn new_context(&self, choice: VniChoice) -> Result<u64> {
        let number = self.context_numbers.take(choice, self.vnis.len())?;
        Ok(context_id(self.rank(), number, choice))
    }
}
