//! A communicator's blackboard, as one of its processes has it.
//!
//! | file | idea |
//! |---|---|
//! | `publish.rs` | what the process writes in a round |

mod publish;

use crate::cell::{self, Cell, DEPTH, KINDS_OF_PAGES, LANES, Layout};
use crate::exposed::{copy_from, copy_to};
use crate::limits::Limits;
use crate::pages::{Allocated, Pages};
use crate::published::{Data, Published, Round};
use heddle_message::buffer::Buffer;
use heddle_message::domain::Domain;
use heddle_platform::atomic::{AtomicU32, Ordering};
use heddle_spec::constants as mpi;
use heddle_sync::queues::publications::{Finished, Room};
use heddle_transport::{SharedRange, StoreChoice};
use std::io;
use std::sync::OnceLock;

/// A lane, as this process knows it.
#[derive(Debug, Default)]
struct Lane {
    next: AtomicU32,
    room: Room,
}

/// The number of the pages of a persistent operation's lane, behind those of lane 0.
fn number_of_lane(lane: u32) -> usize {
    KINDS_OF_PAGES + lane as usize - 1
}

/// A communicator's blackboard, as one of its processes has it.
#[derive(Debug)]
pub struct Blackboard {
    domain: &'static Domain,
    /// The VNI of its communicator, and that one's handle.
    owner: (u32, usize),
    rank: usize,
    /// The processes' ranks in the job.
    processes: Box<[u32]>,
    /// Their ranks in the communicator, if it has others, too.
    ranks: Option<Box<[u32]>>,
    layout: Layout,
    /// If this process has allocated it.
    _allocated: Option<Allocated>,
    pages: [Pages; KINDS_OF_PAGES],
    /// Those of each lane that was taken.
    lane_pages: [OnceLock<Pages>; LANES],
    lanes: [Lane; 1 + LANES],
    /// How data are stored on pages.
    stores: StoreChoice,
    /// True if each process can copy from the memory of every other one.
    exposes: bool,
    /// True if each process may have a core of its own, as all have said.
    each_has_a_core: bool,
    /// How many lanes of persistent operations are taken.
    lanes_taken: AtomicU32,
    /// How many operations in lane 0 are in the hands of tasks, which any thread may advance.
    tasks: AtomicU32,
}

impl Blackboard {
    /// A new blackboard for these processes, of which the caller is number `rank`.
    ///
    /// # Errors
    /// The system's error, if there is no memory.
    pub fn allocate(domain: &'static Domain, rank: usize, processes: Vec<u32>) -> io::Result<Blackboard> {
        let memory = domain.fabric().allocate(Layout::len(processes.len()))?;
        let allocated = Allocated::count();
        let layout = Layout::new(memory);
        // Relaxed: the others learn of the blackboard by a message, which brings the word along.
        layout.slot().store(allocated.slot(processes.len()) as u32, Ordering::Relaxed);
        Ok(Blackboard::over(domain, rank, processes, (layout, Some(allocated))))
    }

    /// The blackboard that another process has allocated.
    ///
    /// # Errors
    /// The system's error, if it cannot be mapped.
    pub fn map(
        domain: &'static Domain,
        rank: usize,
        processes: Vec<u32>,
        range: SharedRange,
    ) -> io::Result<Blackboard> {
        let memory = domain.fabric().map(range)?;
        Ok(Blackboard::over(domain, rank, processes, (Layout::new(memory), None)))
    }

    fn over(
        domain: &'static Domain,
        rank: usize,
        processes: Vec<u32>,
        (layout, allocated): (Layout, Option<Allocated>),
    ) -> Blackboard {
        let size = processes.len();
        let slot = layout.slot().load(Ordering::Relaxed) as usize;
        let mut lanes: [Lane; 1 + LANES] = Default::default();
        if !domain.has_cores() {
            // Processes that share cores get far ahead of each other, so each waits for its readers alone.
            // With a core each they do not, and notes would only take time.
            lanes[0].room = Room::with_readers(DEPTH);
        }
        Blackboard {
            domain,
            owner: (0, mpi::MPI_COMM_SELF),
            rank,
            processes: processes.into(),
            ranks: None,
            layout,
            _allocated: allocated,
            pages: Pages::slots(slot).map(|slot| Pages::new(slot, size)),
            lane_pages: Default::default(),
            lanes,
            stores: StoreChoice::default(),
            exposes: false,
            each_has_a_core: false,
            lanes_taken: AtomicU32::new(0),
            tasks: AtomicU32::new(0),
        }
    }

    /// Says to which communicator it belongs: its VNI, and its handle.
    pub fn set_owner(&mut self, vni: u32, handle: usize) {
        self.owner = (vni, handle);
    }

    /// The VNI of its communicator, and that one's handle.
    pub fn owner(&self) -> (u32, usize) {
        self.owner
    }

    /// Says which ranks of the communicator its processes have, if it has others, too.
    pub fn set_ranks(&mut self, ranks: &[u32]) {
        self.ranks = Some(ranks.into());
    }

    /// This process's rank among its processes.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of its processes.
    pub fn size(&self) -> usize {
        self.processes.len()
    }

    /// The rank in the communicator of its process `rank`.
    pub fn rank_in_communicator(&self, rank: usize) -> usize {
        self.ranks.as_ref().map_or(rank, |ranks| ranks[rank] as usize)
    }

    /// Where the other processes find it; `None` if this process has no job.
    pub fn range(&self) -> Option<SharedRange> {
        self.layout.memory().range()
    }

    /// The domain in which its processes wait.
    #[inline(always)]
    pub fn domain(&self) -> &'static Domain {
        self.domain
    }

    /// The limits of each lane.
    #[inline(always)]
    pub fn limits(&self) -> Limits {
        let bytes = self.pages[KINDS_OF_PAGES - 1].slot();
        Limits {
            bytes,
            parts: u32::MAX / 2,
            exposed: self.exposes.then_some(bytes + 1),
            each_has_a_core: self.each_has_a_core,
        }
    }

    /// Returns true if this process can copy from the memory of all others. To be called when all are there.
    pub fn reaches_all(&self) -> bool {
        let fabric = self.domain.fabric();
        let mut others = (0..self.processes.len()).filter(|&rank| rank != self.rank);
        others.all(|rank| fabric.copy_partner(self.processes[rank] as usize).is_some())
    }

    /// Lets processes [expose](Self::expose) data. All must agree that each one reaches all others.
    pub fn allow_exposing(&mut self) {
        self.exposes = true;
    }

    /// Notes that each process may have a core of its own. All must agree on that.
    pub fn note_cores(&mut self) {
        self.each_has_a_core = true;
    }

    /// Takes the numbers of the rounds of an operation; returns the first one. All processes begin the
    /// operations of lane 0 in the same order, one at a time.
    #[inline(always)]
    pub fn begin(&self, rounds: u32) -> Round {
        self.begin_in(0, rounds)
    }

    /// The number of the round that the next operation of lane 0 takes first.
    #[inline(always)]
    pub fn next_round(&self) -> u32 {
        self.lanes[0].next.load(Ordering::Relaxed)
    }

    /// Does the same as [`begin`](Self::begin) in a lane that was [taken](Self::take_lane).
    #[inline(always)]
    pub fn begin_in(&self, lane: u32, rounds: u32) -> Round {
        let next = &self.lanes[lane as usize].next;
        let number = next.load(Ordering::Relaxed);
        next.store(number.wrapping_add(rounds), Ordering::Relaxed);
        Round { lane, number }
    }

    /// Returns true if a lane is left for a persistent operation.
    pub fn has_lane(&self) -> bool {
        self.lanes_taken.load(Ordering::Relaxed) as usize != LANES
    }

    /// Takes a lane for a persistent operation, if one is left. All processes take lanes in the same order.
    pub fn take_lane(&self) -> Option<u32> {
        let taken = self.lanes_taken.load(Ordering::Relaxed);
        if !self.has_lane() {
            return None;
        }
        self.lanes_taken.store(taken + 1, Ordering::Relaxed);
        Some(taken + 1)
    }

    /// Makes the pages of a lane that was taken, if this process publishes more there than a cell takes: as
    /// much as `longest` bytes in a round. Starting the operation allocates nothing then, unless there is no
    /// memory now.
    pub fn make_pages_of_lane(&self, lane: u32, longest: usize) {
        let pages = self.lane_pages[lane as usize - 1].get_or_init(|| Pages::of_lane(longest, self.size()));
        if longest > cell::ROOM {
            _ = pages.own(self.domain, self.layout.pages_of(self.rank, number_of_lane(lane)));
        }
    }

    /// The pages of a number that a cell has.
    fn pages(&self, number: usize) -> Option<&Pages> {
        match number.checked_sub(KINDS_OF_PAGES) {
            None => self.pages.get(number),
            Some(lane) => self.lane_pages.get(lane)?.get(),
        }
    }

    /// Notes that an operation of lane 0 is a task until [`end_task`](Self::end_task).
    pub fn begin_task(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if no operation of lane 0 is in the hands of tasks.
    #[inline(always)]
    fn has_no_tasks(&self) -> bool {
        self.tasks.load(Ordering::Acquire) == 0
    }

    /// Notes that a task has finished its last round.
    pub fn end_task(&self) {
        // Release: a thread that sees no task has seen all that they have finished.
        self.tasks.fetch_sub(1, Ordering::Release);
    }

    #[inline(always)]
    fn cell(&self, round: Round, rank: usize) -> &Cell {
        self.layout.cell(rank, round.lane, round.number)
    }

    /// The rank in the job of its process `rank`.
    pub fn process(&self, rank: usize) -> u32 {
        self.processes[rank]
    }

    /// Copies a part of exposed data, which begins at `address` in the memory of a process.
    ///
    /// # Errors
    /// The kernel's error. A part may have been copied then; the process itself can copy the data.
    pub fn copy_exposed(&self, rank: usize, address: u64, room: &Buffer) -> io::Result<()> {
        self.noting_refusals(rank, |pid| copy_from(pid, address, room))
    }

    /// Copies data to exposed room, which begins at `address` in the memory of a process.
    ///
    /// # Errors
    /// The kernel's error. A part may have been copied then; the process itself can copy the data.
    pub fn copy_to_exposed(&self, rank: usize, address: u64, data: &Buffer) -> io::Result<()> {
        self.noting_refusals(rank, |pid| copy_to(pid, address, data))
    }

    /// Makes a copy from or to the memory of a process, by its process id.
    fn noting_refusals(&self, rank: usize, copy: impl FnOnce(u32) -> io::Result<()>) -> io::Result<()> {
        let (fabric, process) = (self.domain.fabric(), self.processes[rank] as usize);
        let pid = fabric.copy_partner(process).ok_or(io::ErrorKind::PermissionDenied)?;
        copy(pid).inspect_err(|error| fabric.note_refusal(process, error))
    }

    /// Returns true if the process `reader`, or each but this one, has finished a round.
    pub fn is_finished_by(&self, round: Round, reader: Option<usize>) -> bool {
        let has_finished = |rank: usize| self.layout.finished(rank, round.lane).is_finished(round.number);
        match reader {
            Some(rank) => has_finished(rank),
            None => (0..self.processes.len()).all(|rank| rank == self.rank || has_finished(rank)),
        }
    }

    /// Takes back what this process has exposed in a round.
    pub fn withdraw(&self, round: Round) {
        self.cell(round, self.rank).withdraw();
    }

    /// What a process has published in a round, if it has.
    #[inline(always)]
    pub fn look(&self, round: Round, rank: usize) -> Option<Published> {
        let cell = self.cell(round, rank);
        let (what, len, place) = cell.look(round.number)?;
        let data = match place {
            cell::Where::Here => Data::Mapped(cell.data()),
            cell::Where::Pages(number) => self.on_pages(number, cell, rank),
            // SAFETY: the word is published, and nobody writes it until this process has finished the round.
            cell::Where::Exposed => Data::Exposed(unsafe { cell.address().read() }),
            cell::Where::InMessage => Data::InMessage,
            cell::Where::Nowhere => Data::Nowhere,
        };
        Some(Published { what, len, data })
    }

    #[inline(never)]
    fn on_pages(&self, number: usize, cell: &Cell, rank: usize) -> Data {
        let words = self.layout.pages_of(rank, number);
        let memory = self.pages(number).and_then(|pages| {
            if rank == self.rank { pages.own(self.domain, words) } else { pages.of(rank, self.domain, words) }
        });
        // SAFETY: the word is published, and nobody writes it until this process has finished the round.
        let offset = unsafe { cell.address().read() } as usize;
        memory.map_or(Data::Nowhere, |memory| Data::Mapped(memory.as_ptr().wrapping_add(offset)))
    }

    /// Says that this process needs nothing more of a round: what it has looked at may be overwritten.
    /// Returns false, and has done nothing, if a task that began long before has not finished its rounds.
    #[inline(always)]
    pub fn finish(&self, round: Round) -> bool {
        let finished = self.layout.finished(self.rank, round.lane);
        // The rounds of other lanes are finished by one thread at a time.
        let is_alone = round.lane != 0 || self.has_no_tasks();
        if is_alone {
            finished.finish_alone(round.number);
        } else if !finished.finish(round.number) {
            return false;
        }
        if self.layout.waiting().is_any() {
            self.wake(None);
            if !is_alone {
                // Another thread may wait to finish a round.
                self.wake(Some(self.rank));
            }
        }
        true
    }

    /// Tells the other processes that this one waits for them to finish rounds; it waits until
    /// [`end_waiting`](Self::end_waiting).
    pub fn begin_waiting(&self) {
        self.layout.waiting().begin();
    }

    /// Tells them that it does not wait any more.
    pub fn end_waiting(&self) {
        self.layout.waiting().end();
    }

    /// Returns true if each process of the job may have a core of its own.
    #[inline(always)]
    pub fn has_cores(&self) -> bool {
        self.domain.has_cores()
    }

    #[inline(always)]
    fn wake(&self, reader: Option<usize>) {
        let fabric = self.domain.fabric();
        match reader {
            Some(rank) => fabric.wake(self.processes[rank] as usize),
            None => self.wake_all(),
        }
    }

    #[inline(always)]
    fn wake_all(&self) {
        let fabric = self.domain.fabric();
        for (rank, &process) in self.processes.iter().enumerate() {
            if rank != self.rank {
                fabric.wake(process as usize);
            }
        }
    }

    /// Leaves the blackboard if all processes have finished all rounds that this one has begun: then nobody
    /// looks at its pages. Rank 0 leaves last, for the blackboard is its memory. Returns true if it has left.
    pub(crate) fn leave(&self) -> bool {
        let mut others = (0..self.processes.len()).filter(|&rank| rank != self.rank);
        if self.rank == 0 {
            return others.all(|rank| self.layout.left(rank).load(Ordering::Acquire) != 0);
        }
        let is_over = self.is_quiet();
        if is_over {
            self.layout.left(self.rank).store(1, Ordering::Release);
        }
        is_over
    }

    fn is_quiet(&self) -> bool {
        (0u32..).zip(&self.lanes).all(|(lane, known)| {
            let next = known.next.load(Ordering::Relaxed);
            let is_over = |finished: &Finished| next.wrapping_sub(finished.first_open()).cast_signed() <= 0;
            (0..self.processes.len()).all(|rank| is_over(self.layout.finished(rank, lane)))
        })
    }
}
