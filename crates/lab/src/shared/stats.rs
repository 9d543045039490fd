//! Counters: of each thread's deeds, and of who moved each line.

/// The deeds of a thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Instructions.
    pub instructions: u64,
    /// Locked instructions and fences.
    pub locked: u64,
    /// Lines that came from other cores.
    pub moved: u64,
    /// Lines that came from the last-level cache or memory.
    pub fetched: u64,
    /// System calls.
    pub system_calls: u64,
    /// Sleeps on a word.
    pub sleeps: u64,
    /// Calls that wake sleepers.
    pub wakes: u64,
    /// Calls of `sched_yield`.
    pub yields: u64,
    /// Those after which another thread ran on its core.
    pub yields_to_others: u64,
    /// Times that it lost its core to another thread while it had work.
    pub preempted: u64,
}

impl Counts {
    /// How often another thread ran in its place though it wanted to run: Linux counts a yield, too.
    #[must_use]
    pub fn involuntary_switches(&self) -> u64 {
        self.preempted + self.yields_to_others
    }

    /// Adds what another did.
    pub fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.locked += other.locked;
        self.moved += other.moved;
        self.fetched += other.fetched;
        self.system_calls += other.system_calls;
        self.sleeps += other.sleeps;
        self.wakes += other.wakes;
        self.yields += other.yields;
        self.yields_to_others += other.yields_to_others;
        self.preempted += other.preempted;
    }
}

/// An instruction that moved a line, and how often.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LineMover {
    /// Its address.
    pub at: u64,
    /// In this process.
    pub process: u32,
    /// How often.
    pub times: u32,
}

/// Instructions that are told apart for a line.
const MOVERS: usize = 6;

/// How often a line went from core to core, and by whom.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineMovers {
    pub(super) transfers: u64,
    /// Picoseconds that threads waited for it.
    pub(super) cost: u64,
    /// An address of it, in the process of the first mover.
    pub(super) address: u64,
    pub(super) by: [LineMover; MOVERS],
}

impl LineMovers {
    /// The instruction at `at` of `process` has moved the line. When there are more instructions than room,
    /// the last place counts the latest.
    pub(super) fn note(&mut self, at: u64, process: u32, address: u64, cost: u64) {
        self.transfers += 1;
        self.cost += cost;
        if self.by[0].times == 0 {
            self.address = address;
        }
        let is_it = |mover: &LineMover| mover.times == 0 || (mover.at == at && mover.process == process);
        let place = self.by.iter().position(is_it).unwrap_or(MOVERS - 1);
        let mover = &mut self.by[place];
        if mover.at != at || mover.process != process {
            *mover = LineMover { at, process, times: 0 };
        }
        mover.times += 1;
    }
}
