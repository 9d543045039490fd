//! Windows: making one, and what all operations use.

use crate::algorithm::{LockChoice, WindowLock};
use crate::attach;
use crate::control::Control;
use crate::exposure;
use crate::memory::no_memory;
use crate::offer::{Draft, Offer};
use crate::plan::Plan;
use crate::service::WindowThread;
use crate::target::Target;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_platform::atomic::{AtomicBool, Ordering, fence};
use heddle_spec::constants as mpi;
use heddle_transport::{SharedMemory, SharedRange};
use std::sync::{Mutex, PoisonError};

/// A window. Any thread may use it.
#[derive(Debug)]
pub struct Window {
    targets: Box<[Target]>,
    domain: &'static Domain,
    rank: usize,
    /// The processes' ranks in the job.
    processes: Box<[u32]>,
    controls: Box<[Control]>,
    lock: WindowLock,
    lock_choice: LockChoice,
    /// True if displacements are addresses in attached regions.
    dynamic: bool,
    /// True between two fences, so that a lock or a start ends the fences' epoch.
    pub(crate) is_fenced: AtomicBool,
    /// True between start and complete, so that no lock is taken.
    pub(crate) is_started: AtomicBool,
    /// Post, start, complete and wait.
    pub(crate) active: Mutex<exposure::State>,
    /// The thread that copies for processes which cannot, where there are such.
    thread: Mutex<Option<WindowThread>>,
    /// This process's memory, if the window has allocated it. Discarded at the end, unmapped
    /// when the window is dropped.
    own_memory: Option<SharedMemory>,
    /// Keeps the others' memory mapped.
    _mapped: Vec<SharedMemory>,
}

impl Window {
    /// Makes this process's view of a window, from the offers of all its processes.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if another process's memory cannot be mapped.
    ///
    /// # Panics
    /// If there is not an offer for each process.
    pub fn new(domain: &'static Domain, plan: Plan, draft: Draft, offers: &[Offer]) -> Result<Window> {
        let Plan { processes, rank, dynamic, private: _, lock } = plan;
        assert_eq!(processes.len(), offers.len(), "an offer for each process");
        let Draft { control: own_control, memory: own_memory, base: own_base, .. } = draft;
        let geometry = own_control.geometry();
        let mut own_control = Some(own_control);
        let map = |range: SharedRange| {
            domain.fabric().map(range).map_err(|error| no_memory(range.len as usize, &error))
        };
        let own_range = own_memory.as_ref().and_then(|own| Some((own.range()?, own.as_ptr())));
        let (mut mapped, mut controls, mut targets) = (Vec::<SharedMemory>::new(), Vec::new(), Vec::new());
        for (index, offer) in offers.iter().enumerate() {
            controls.push(match own_control.take_if(|_| index == rank) {
                Some(own) => own,
                None => Control::new(map(control_range(offer)?)?, geometry),
            });
            let base = match offer.memory() {
                _ if index == rank && !own_base.is_null() => own_base,
                // Shared memory in one piece has the parts of all processes, and is mapped once.
                Some(range) => {
                    let known = mapped.iter().map(|memory| (memory.range(), memory.as_ptr()));
                    let known = known.chain(own_range.map(|(range, base)| (Some(range), base)));
                    let known = known.filter(|(known, _)| *known == Some(range)).map(|(_, base)| base).next();
                    let base = match known {
                        Some(base) => base,
                        None => {
                            mapped.push(map(range)?);
                            mapped[mapped.len() - 1].as_ptr()
                        }
                    };
                    base.wrapping_add(offer.start())
                }
                None => std::ptr::null_mut(),
            };
            // Alone in a window, a process need not share its memory.
            let shared = offer.memory().is_some() || processes.len() == 1 && !dynamic;
            let size = if dynamic { u64::MAX } else { offer.size };
            let (process, address) = (processes[index], offer.address());
            targets.push(Target::new(base, size, offer.disp_unit, shared, process, address));
        }
        let count = processes.len();
        Ok(Window {
            targets: targets.into(),
            domain,
            rank,
            processes,
            controls: controls.into(),
            lock: lock.lock(count),
            lock_choice: lock,
            dynamic,
            is_fenced: AtomicBool::new(false),
            is_started: AtomicBool::new(false),
            active: Mutex::new(exposure::State::new(count)),
            thread: Mutex::new(None),
            own_memory,
            _mapped: mapped,
        })
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

    #[inline(always)]
    pub(crate) fn domain(&self) -> &'static Domain {
        self.domain
    }

    #[inline(always)]
    pub(crate) fn processes(&self) -> &[u32] {
        &self.processes
    }

    #[inline(always)]
    pub(crate) fn control(&self, rank: usize) -> &Control {
        &self.controls[rank]
    }

    pub(crate) fn lock(&self) -> &WindowLock {
        &self.lock
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
        attach::attach(self.control(self.rank), address, len)
    }

    /// Detaches the memory that begins at `address`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_FLAVOR` if the window is not dynamic, `MPI_ERR_RMA_ATTACH` if there is no such region.
    pub fn detach(&self, address: u64) -> Result<()> {
        self.check_dynamic()?;
        attach::detach(self.control(self.rank), address)
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
        let is_out_of_reach = |target: &Target| {
            target.base().is_null()
                && target.size() > 0
                && self.domain.fabric().copy_partner(target.process()).is_none()
        };
        let others = self.targets.iter().enumerate().filter(|(rank, _)| *rank != self.rank);
        others.into_iter().any(|(_, target)| is_out_of_reach(target))
    }

    /// Starts the window thread of this process, since another one needs it.
    ///
    /// # Errors
    /// `MPI_ERR_OTHER` if there is no thread to be had, `MPI_ERR_NO_MEM` if its words cannot be mapped.
    pub fn start_thread(&self) -> Result<()> {
        let own = self.control(self.rank);
        let Some(range) = own.memory().range() else { return Ok(()) };
        let memory =
            self.domain.fabric().map(range).map_err(|error| no_memory(range.len as usize, &error))?;
        let thread = WindowThread::start(Control::new(memory, own.geometry()))?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    /// Returns true if the processes of the window have window threads.
    pub(crate) fn has_threads(&self) -> bool {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the window thread, if there is one, and gives this process's memory back to the system. The
    /// program uses the window no more; if it does all the same, it reads zeros.
    pub fn discard(&self) {
        if let Some(mut thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            thread.end(self.control(self.rank));
        }
        self.own_memory.iter().for_each(SharedMemory::discard);
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

fn control_range(offer: &Offer) -> Result<SharedRange> {
    let message = "a process of the window shares no memory with this one";
    offer.control().ok_or_else(|| Error::new(mpi::MPI_ERR_INTERN, message))
}
