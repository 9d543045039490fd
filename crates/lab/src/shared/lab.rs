//! The machine's memory: threads, cores, and what belongs to all.

use super::limits::{CORES, MOVED, NEVER, NONE, OBJECTS, SLOTS};
use super::{CoreLayout, Counts, NewProcesses, Polls, SUPERVISOR, Token};
use crate::machine::Costs;

/// What a thread does, as the machine sees it.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no thread.
    Free,
    /// Has its core, and runs or waits for the token.
    Running,
    /// Waits for its core.
    Queued,
    /// Sleeps on a word, or for a time.
    Asleep,
    /// Waits for a file descriptor or a process: something outside of the machine may wake it.
    Outside,
}

/// A thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What it does.
    pub state: State,
    /// The core that it runs on, or ran on last.
    pub core: u32,
    /// Its process: which has come how many-th.
    pub process: u32,
    /// Its process's number in the system.
    pub pid: i32,
    /// Since when it is ready for its core; or since when it sleeps.
    pub since: u64,
    /// The name of the word that it sleeps on, 0 for none.
    pub word: u64,
    /// For which of the word's bits.
    pub bits: u32,
    /// The next in its core's queue.
    pub next: u32,
    /// The cores that it may run on.
    pub allowed: [u64; CORES / 64],
    /// The latest time that it was told. It never goes back behind it.
    pub told: u64,
    /// What it has done.
    pub counts: Counts,
    /// What it polls.
    pub polls: Polls,
}

/// A core.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// Its thread, [`NONE`] if it is idle.
    pub running: u32,
    /// The first of those that wait for it.
    pub first: u32,
    /// The last of those that wait for it.
    pub last: u32,
    /// How many they are.
    pub waiting: u32,
    /// Since when it is idle.
    pub free_since: u64,
    /// Until when its thread stays if others wait.
    pub slice_end: u64,
    /// Lines that its caches have taken in: the age of what they hold.
    pub fetched: u32,
}

/// The whole: made of zeros, then by [`SharedLab::begin`].
#[repr(C)]
#[derive(Debug)]
pub struct SharedLab {
    magic: u64,
    /// Sockets, clusters and cores.
    pub layout: CoreLayout,
    /// What things cost.
    pub costs: Costs,
    /// How far a thread's clock may be ahead of the slowest while it touches only what it has.
    pub quantum: u64,
    /// The same where threads meet.
    pub slack: u64,
    /// Moves the starts of threads.
    pub seed: u64,
    /// Whose turn it is.
    pub token: Token,
    /// Processes that have begun and are not yet on the machine.
    pub new_processes: NewProcesses,
    /// The latest time at which somebody got the token.
    pub now: u64,
    /// When those that wait for something outside were asked last.
    pub asked: u64,
    /// 1 while the supervisor asks them.
    pub(super) asking: u32,
    /// How many of them there are.
    pub outside: u32,
    /// When they are asked at the latest, because something outside has got something to do.
    pub(super) ask_before: u64,
    /// 1 if a thread may have given something outside to do since all outside was still: what a descriptor
    /// answers then depends on the host's time.
    pub stirred: u32,
    /// How many slots have ever been used.
    pub used: u32,
    /// How many processes there have been.
    pub processes: u32,
    /// Whether somebody wants to know which lines moved, and where the time went.
    pub report_wanted: u32,
    /// The interval that is counted for that report, 0 for none.
    pub counting: u32,
    /// How many intervals there have been.
    pub(super) intervals: u32,
    pub(super) moved_used: u32,
    /// The lines that have moved in the interval: their places in the directory.
    pub(super) moved: [u32; MOVED],
    /// A thread's clock if it has a core, its deadline if it waits until then, else [`NEVER`].
    pub clocks: [u64; SLOTS],
    /// The threads.
    pub slots: [Slot; SLOTS],
    /// The cores.
    pub cores: [Core; CORES],
    /// Lines that the last-level cache of each cluster has taken in.
    pub clusters: [u32; CORES],
    /// Objects that processes share: the index is in the names of lines.
    pub(super) objects: [(u64, u64); OBJECTS],
    pub(super) objects_used: u32,
    /// Sets of the directory of lines, less one; a power of two.
    pub(super) set_mask: u32,
    /// What threads that have ended did.
    pub total: Counts,
    /// Lines that the directory has forgotten because it was full.
    pub evictions: u64,
    /// Times that the token went from hand to hand.
    pub passes: u64,
}

const MAGIC: u64 = 0x4865_6464_6c65_0001;

impl SharedLab {
    /// An empty machine.
    pub fn begin(&mut self, layout: CoreLayout, costs: Costs, seed: u64) {
        self.layout = layout;
        self.costs = costs;
        self.quantum = 100_000;
        self.slack = 20_000;
        self.seed = seed;
        self.clocks.fill(NEVER);
        self.ask_before = NEVER;
        for core in &mut self.cores {
            core.running = NONE;
            core.first = NONE;
            core.last = NONE;
        }
        self.token.give_to(SUPERVISOR);
        self.magic = MAGIC;
    }

    /// Whether this is a machine that [`begin`](Self::begin) has made.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.magic == MAGIC
    }
}
