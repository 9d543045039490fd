//! Windows: making one, and what all operations use.

use crate::algorithm::{LockChoice, WindowLock};
use crate::attach;
use crate::exposure;
use crate::far::{Far, Part, Peer};
use crate::machine::Machine;
use crate::offer::{Draft, WindowOffer};
use crate::plan::Plan;
use crate::processes::Processes;
use crate::remote::Remote;
use crate::target::{Target, Way};
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{AtomicBool, Ordering, fence};
use heddle_spec::constants as mpi;
use std::sync::Mutex;

/// The most bytes that a processor changes at once.
pub(crate) const LARGEST_ATOMIC: usize = 8;

/// A window. Any thread may use it.
#[derive(Debug)]
pub struct Window {
    targets: Box<[Target]>,
    domain: &'static Domain,
    rank: usize,
    /// How the other processes are reached.
    remote: Processes,
    lock: WindowLock,
    lock_choice: LockChoice,
    lock_levels: usize,
    lock_counters: usize,
    /// How many bytes accumulates change at a time.
    granularity: usize,
    /// True if displacements are addresses in attached regions.
    dynamic: bool,
    empty_regions: attach::Empty,
    /// True if other processes of this machine may not be able to map this one's memory.
    private: bool,
    /// True between two fences, so that a lock or a start ends the fences' epoch.
    pub(crate) is_fenced: AtomicBool,
    /// True between start and complete, so that no lock is taken.
    pub(crate) is_started: AtomicBool,
    /// Post, start, complete and wait.
    pub(crate) active: Mutex<exposure::ExposureState>,
}

impl Window {
    /// Makes this process's view of a window, from the offers of all its processes.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if another process's memory cannot be mapped.
    ///
    /// # Panics
    /// If there is not an offer for each process.
    pub fn new(domain: &'static Domain, plan: Plan, draft: Draft, offers: &[WindowOffer]) -> Result<Window> {
        let Plan { processes, rank, dynamic, private, number, lock } = plan;
        assert_eq!(processes.len(), offers.len(), "an offer for each process");
        let Draft { control, memory, base: own_base, .. } = draft;
        let own_control = control.clone();
        let mut machine = Machine::new(domain, (rank, processes.clone()), (control, memory), offers)?;
        let granularity = offers.first().map_or(0, WindowOffer::granularity);
        let is_here = |process: u32| domain.fabric().is_local(process as usize);
        let may_close =
            offers.iter().zip(&processes).all(|(offer, process)| offer.may_close() || !is_here(*process));
        let way_of = |offer: &WindowOffer| match granularity {
            _ if !offer.is_shared() => Way::Lock,
            0 if may_close => Way::Chosen,
            0..=LARGEST_ATOMIC => Way::Atomics,
            _ => Way::Lock,
        };
        let mut targets = Vec::new();
        for (index, offer) in offers.iter().enumerate() {
            let base = match own_base {
                own if index == rank && !own.is_null() => own,
                _ if !domain.fabric().is_local(processes[index] as usize) => std::ptr::null_mut(),
                _ => machine.map_memory(offer)?,
            };
            let size = if dynamic { u64::MAX } else { offer.size };
            let (process, address) = (processes[index], offer.address());
            let lock = machine.controls()[index].accumulate_lock();
            let words = (lock, machine.own().marks());
            let part = (base, size, offer.disp_unit);
            // SAFETY: the window keeps the blocks of its processes as long as the targets.
            targets.push(unsafe { Target::new(part, way_of(offer), words, (process, address)) });
        }
        let far = if processes.iter().all(|process| is_here(*process)) {
            None
        } else {
            let peer = |(offer, process): (&WindowOffer, &u32)| {
                (!is_here(*process)).then(|| Peer::new(*process, offer))
            };
            let own = &targets[rank];
            Some(Far::new(domain, number, offers.iter().zip(&processes).map(peer).collect(), |counts| {
                Part {
                    control: own_control,
                    base: own.base(),
                    size: own.size(),
                    dynamic,
                    way: own.way(),
                    counts,
                    exposed: None,
                }
            })?)
        };
        let count = processes.len();
        let elements = |offer: &WindowOffer| offer.elements(far.is_some());
        let layout = lock.layout(&offers.iter().map(elements).collect::<Vec<_>>());
        Ok(Window {
            targets: targets.into(),
            domain,
            rank,
            remote: Processes::new(machine, far),
            lock_levels: layout.levels(),
            lock_counters: lock.counters(&layout),
            lock: lock.lock(layout),
            lock_choice: lock,
            granularity,
            dynamic,
            empty_regions: attach::Empty::default(),
            private: private && !offers[rank].is_shared(),
            is_fenced: AtomicBool::new(false),
            is_started: AtomicBool::new(false),
            active: Mutex::new(exposure::ExposureState::new(count)),
        })
    }

    /// How many bytes accumulates change at a time, as rank 0 has said; up to 8, elements one by one.
    pub fn granularity(&self) -> usize {
        self.granularity
    }

    /// The target of a rank, or `None`.
    #[inline(always)]
    pub fn peek(&self, rank: i32) -> Option<&Target> {
        self.targets.get(rank as usize)
    }

    /// The target of a rank.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`.
    #[inline]
    pub fn target(&self, rank: i32) -> Result<&Target> {
        self.peek(rank).ok_or_else(|| self.bad_rank(rank))
    }

    #[cold]
    fn bad_rank(&self, rank: i32) -> Error {
        let last = self.targets.len() - 1;
        let message = format!("{rank} is not a rank of the window, whose ranks go from 0 to {last}");
        Error::new(mpi::MPI_ERR_RANK, message)
    }

    /// All targets, by rank.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// This process's rank.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns true if displacements are addresses.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The algorithm of its locks.
    pub fn lock_choice(&self) -> LockChoice {
        self.lock_choice
    }

    /// The levels of the trees of its locks.
    pub fn lock_levels(&self) -> usize {
        self.lock_levels
    }

    /// The number of counters of readers in the lock of a target; 0 if the algorithm has none.
    pub fn lock_counters(&self) -> usize {
        self.lock_counters
    }

    #[inline(always)]
    pub(crate) fn domain(&self) -> &'static Domain {
        self.domain
    }

    /// How the other processes are reached.
    #[inline(always)]
    pub(crate) fn remote(&self) -> &Processes {
        &self.remote
    }

    pub(crate) fn lock(&self) -> &WindowLock {
        &self.lock
    }

    /// Completes everything that this thread has begun, and orders its accesses to mapped memory.
    #[inline(always)]
    pub(crate) fn complete_all(&self) {
        self.remote.complete();
        fence(Ordering::SeqCst);
    }

    /// Completes everything that this thread has begun on a process, and orders its accesses to mapped
    /// memory.
    #[inline(always)]
    pub(crate) fn complete_at(&self, rank: usize) {
        self.remote.complete_at(rank);
        fence(Ordering::SeqCst);
    }

    /// The name of this process's memory for other machines, if they read and write it past the thread here.
    pub fn exposed(&self) -> Option<(u64, u64)> {
        self.remote.all_far()?.exposed()
    }

    /// Says how the other processes have [exposed](Self::exposed) their memory.
    pub fn know_exposed(&mut self, told: &[WindowOffer]) {
        self.remote.all_far_mut().into_iter().for_each(|far| far.know_exposed(told));
    }

    /// A request, by its handle, that is complete once data and results of this process's operations on a
    /// rank are here; `None` if they are.
    pub fn request(&self, rank: i32) -> Option<usize> {
        let rank = usize::try_from(rank).ok()?;
        self.remote.far(rank)?.request(rank)
    }

    /// `MPI_Win_sync`: orders this thread's accesses to its copy of the memory.
    #[inline(always)]
    pub fn sync(&self) {
        fence(Ordering::SeqCst);
    }

    /// Attaches memory of this process to a dynamic window.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_FLAVOR` if the window is not dynamic, `MPI_ERR_RMA_ATTACH` if the memory
    /// overlaps an attached region.
    pub fn attach(&self, address: u64, len: u64) -> Result<()> {
        self.check_dynamic()?;
        attach::attach(&self.remote, &self.empty_regions, self.rank, address, len)?;
        self.remote.machine().start_helper(len);
        Ok(())
    }

    /// Detaches the memory that begins at `address`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_FLAVOR` if the window is not dynamic, `MPI_ERR_RMA_ATTACH` if there is no such region.
    pub fn detach(&self, address: u64) -> Result<()> {
        self.check_dynamic()?;
        attach::detach(&self.remote, &self.empty_regions, self.rank, address)
    }

    fn check_dynamic(&self) -> Result<()> {
        if self.dynamic {
            return Ok(());
        }
        let message = "memory can be attached to windows of MPI_Win_create_dynamic only";
        Err(Error::new(mpi::MPI_ERR_RMA_FLAVOR, message))
    }

    /// Returns true if this process cannot reach the memory of another one without that one's window thread.
    pub fn needs_threads(&self) -> bool {
        let is_out_of_reach = |(rank, target): (usize, &Target)| {
            rank != self.rank
                && target.base().is_null()
                && target.size() > 0
                && self.remote.far(rank).is_none()
                && self.remote.machine().needs_thread(rank)
        };
        self.targets.iter().enumerate().any(is_out_of_reach)
    }

    /// Starts the window thread of this process, since another one needs it.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if there is no thread to be had.
    pub fn start_thread(&self) -> Result<()> {
        self.remote.machine().start_thread()
    }

    /// Starts a thread of this process for short runs, if its private memory is long.
    pub fn start_helper(&self) {
        if self.private && !self.dynamic {
            self.remote.machine().start_helper(self.targets[self.rank].size());
        }
    }

    /// Ends the window thread, if there is one, and gives this process's memory back to the system. The
    /// program uses the window no more; if it does all the same, it reads zeros.
    pub fn discard(&self) {
        self.remote.discard();
    }

    /// Checks that no epoch is open.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_idle(&self) -> Result<()> {
        let fenced = crate::target::access::FENCE;
        let idle = self.targets.iter().all(|target| target.access() & !fenced == 0);
        if idle && !self.is_exposed() {
            return Ok(());
        }
        let message = "the window is in an epoch: end it (unlock, complete, wait) before you free the window";
        Err(Error::new(mpi::MPI_ERR_RMA_SYNC, message))
    }
}
