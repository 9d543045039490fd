//! Processes that make a window tell each other of their parts.

use crate::algorithm::{LockAlgorithm, LockChoice};
use crate::allocated;
use crate::control::Control;
use crate::geometry::{Contents, Geometry, REGIONS};
use crate::levels::{self, MOST_LEVELS};
use crate::memory::{allocate, allocate_untouched};
use crate::plan::Plan;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_platform::barrier;
use heddle_transport::{SharedMemory, SharedRange};

/// A process's part of a window, as the others have to know it. It travels as bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowOffer {
    /// The error class with which the process has failed, or 0.
    pub failure: u64,
    /// Bytes of its memory.
    pub size: u64,
    /// The unit of displacements, in bytes.
    pub disp_unit: u64,
    /// Where its memory begins, in its own address space.
    address: u64,
    /// The range of the job's file with its window block.
    control: Range,
    /// The range with its memory; empty if others cannot map it.
    memory: Range,
    /// Where its memory begins in that range.
    start: u64,
    /// 1 if all processes of its machine map the memory, so that accumulates use processor atomics.
    shared: u64,
    /// The number by which processes of other machines name the window there.
    number: u64,
    /// The lowest rank in the job of its machine's processes, and 1.
    machine: u64,
    /// The elements of the machine in which the process runs, for locks that have levels.
    elements: levels::Names,
    /// The algorithm of the locks, as its number in
    /// [`LockAlgorithm::ALL`](crate::LockAlgorithm::ALL), and its parameters.
    lock: [u64; 7],
    /// How many bytes accumulates change at a time.
    granularity: u64,
    /// 1 if accumulate locks that the process uses may be closed: others can make its threads pass a fence.
    may_close: u64,
    /// 1 if shared memory need not be contiguous.
    pub apart: u64,
    /// 1 if the process cannot reach another one's memory without that one's window thread.
    pub needs_threads: u64,
    /// 1 if processes of other machines read and write its memory past the thread there, and its name for
    /// them.
    exposed: [u64; 3],
}

/// A [`SharedRange`] as it travels.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Range {
    offset: u64,
    len: u64,
}

impl From<Option<SharedRange>> for Range {
    fn from(range: Option<SharedRange>) -> Range {
        range.map_or_else(Range::default, |range| Range { offset: range.offset, len: range.len })
    }
}

impl Range {
    fn shared(self) -> Option<SharedRange> {
        (self.len != 0).then_some(SharedRange { offset: self.offset, len: self.len })
    }
}

impl WindowOffer {
    /// The offer of a process that could not make its part.
    pub fn failed(error: &Error) -> WindowOffer {
        WindowOffer { failure: error.code() as u64, ..WindowOffer::default() }
    }

    /// What a process wants of shared memory: its size, and whether its part may lie apart from the others'.
    pub fn wanted(size: u64, apart: bool) -> WindowOffer {
        WindowOffer { size, apart: u64::from(apart), ..WindowOffer::default() }
    }

    /// Says whether a process that has its window needs the others' window threads, and the name of its
    /// memory for other machines.
    pub fn asking(needs_threads: bool, exposed: Option<(u64, u64)>) -> WindowOffer {
        let exposed = exposed.map_or([0; 3], |(address, key)| [1, address, key]);
        WindowOffer { needs_threads: u64::from(needs_threads), exposed, ..WindowOffer::default() }
    }

    /// The name of its memory for other machines, if it has one.
    pub(crate) fn exposed(&self) -> Option<(u64, u64)> {
        let [is_exposed, address, key] = self.exposed;
        (is_exposed != 0).then_some((address, key))
    }

    /// Returns true if other processes can map the memory.
    pub fn has_memory(&self) -> bool {
        self.memory.shared().is_some()
    }

    /// The memory of this offer becomes the part of `size` bytes from `start` on of the
    /// memory of another offer.
    #[must_use]
    pub fn within(self, whole: &WindowOffer, start: u64) -> WindowOffer {
        WindowOffer { memory: whole.memory, start: whole.start + start, address: 0, shared: 1, ..self }
    }

    /// Proposes an algorithm for the locks. That of rank 0 is taken.
    #[must_use]
    pub fn with_lock(mut self, choice: LockChoice) -> WindowOffer {
        let number = LockAlgorithm::ALL.iter().position(|(_, algorithm)| *algorithm == choice.algorithm);
        self.lock = [
            number.unwrap_or(0) as u64,
            choice.counter_distance as u64,
            choice.locality,
            choice.writers,
            choice.readers,
            choice.bypasses,
            choice.patience,
        ];
        if choice.algorithm.has_levels() {
            self.elements = levels::of_this_process();
        }
        self
    }

    /// Proposes how many bytes accumulates change at a time. What rank 0 proposes is taken.
    #[must_use]
    pub fn with_granularity(self, bytes: usize) -> WindowOffer {
        WindowOffer { granularity: bytes as u64, ..self }
    }

    /// How many bytes accumulates should change at a time.
    pub(crate) fn granularity(&self) -> usize {
        self.granularity as usize
    }

    /// Returns true if accumulate locks that the process uses may be closed.
    pub(crate) fn may_close(&self) -> bool {
        self.may_close != 0
    }

    /// The proposed algorithm.
    pub fn lock(&self) -> LockChoice {
        let [number, distance, locality, writers, readers, bypasses, patience] = self.lock;
        let (_, algorithm) = LockAlgorithm::ALL[number as usize % LockAlgorithm::ALL.len()];
        let counter_distance = distance as usize;
        LockChoice { algorithm, counter_distance, locality, writers, readers, bypasses, patience }
    }

    /// The names of the elements in which the process runs, from the largest: its machine, if the window has
    /// several, and those of the machine.
    pub(crate) fn elements(&self, of_several_machines: bool) -> Vec<u64> {
        let machine = of_several_machines.then_some(self.machine);
        machine.into_iter().chain(levels::known(&self.elements)).take(MOST_LEVELS).collect()
    }

    /// Returns true if all processes of its machine map the memory.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared != 0
    }

    /// The number of the window there.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    pub(crate) fn control(&self) -> Option<SharedRange> {
        self.control.shared()
    }

    pub(crate) fn memory(&self) -> Option<SharedRange> {
        self.memory.shared()
    }
}

/// This process's part of a window that is being made.
#[derive(Debug)]
pub struct Draft {
    pub(crate) control: Control,
    /// Memory that the window owns.
    pub(crate) memory: Option<SharedMemory>,
    /// Where this process's memory begins here; null if it has none.
    pub(crate) base: *mut u8,
    size: u64,
    disp_unit: u64,
    range: Option<SharedRange>,
    start: u64,
    /// True if no other process of this machine could map the memory.
    is_alone: bool,
    number: u64,
    machine: u64,
}

impl Draft {
    fn new(domain: &Domain, geometry: Geometry, plan: &Plan) -> Result<Draft> {
        let control = allocate(domain, geometry.len())?;
        Ok(Draft {
            control: Control::new(control, geometry),
            memory: None,
            base: std::ptr::null_mut(),
            size: 0,
            disp_unit: 1,
            range: None,
            start: 0,
            // Alone on its machine, a process need not share its memory.
            is_alone: !plan.dynamic && !plan.has_neighbours(domain),
            number: plan.number,
            machine: u64::from(domain.fabric().local_ranks().rank(0)) + 1,
        })
    }

    /// A part without memory: of a dynamic window, or in shared memory that another process allocates.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub fn empty(domain: &Domain, plan: &Plan) -> Result<Draft> {
        let (processes, lock_words) = (plan.processes.len(), plan.lock_words());
        let regions = if plan.dynamic { REGIONS } else { 0 };
        let contents = Contents { processes, lock_words, regions, private: plan.private };
        Draft::new(domain, Geometry::new(contents), plan)
    }

    /// Gives the part `size` bytes of new memory.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub fn allocated(mut self, domain: &Domain, size: usize, alignment: usize) -> Result<Draft> {
        // A mapping begins on a page; for more than that the beginning is moved.
        let memory = allocate_untouched(domain, size.saturating_add(alignment))?;
        let start = memory.as_ptr().align_offset(alignment);
        (self.size, self.start) = (size as u64, start as u64);
        self.base = memory.as_ptr().wrapping_add(start);
        self.range = memory.range();
        self.memory = Some(memory);
        Ok(self)
    }

    /// Gives the part memory of the program. If it lies in memory of `MPI_Alloc_mem`, others can map it.
    #[must_use]
    pub fn exposed(mut self, base: *mut u8, size: u64) -> Draft {
        (self.base, self.size) = (base, size);
        if let Some((range, start)) = allocated::find(base.addr(), size as usize) {
            (self.range, self.start) = (range, start as u64);
        }
        self
    }

    /// Says how many bytes of memory the part has, and the unit of displacements in bytes.
    #[must_use]
    pub fn measured(mut self, size: u64, disp_unit: u64) -> Draft {
        (self.size, self.disp_unit) = (size, disp_unit);
        self
    }

    /// What the other processes have to know.
    pub fn offer(&self) -> WindowOffer {
        WindowOffer {
            failure: 0,
            size: self.size,
            disp_unit: self.disp_unit,
            address: self.base.expose_provenance() as u64,
            control: self.control.memory().range().into(),
            memory: self.range.into(),
            start: self.start,
            shared: u64::from(self.is_alone || self.range.is_some()),
            number: self.number,
            machine: self.machine,
            may_close: u64::from(barrier::is_asymmetric()),
            ..WindowOffer::default()
        }
    }

    /// Where this process's memory begins; null if it has none of its own.
    pub fn base(&self) -> *mut u8 {
        self.base
    }
}
