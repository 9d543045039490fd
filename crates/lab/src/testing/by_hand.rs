//! A machine whose threads go on when the test says so.

use crate::machine::Costs;
use crate::shared::{CORES, CoreLayout, LabMemory, SharedLab};
use crate::thread::{LineNames, Site, Thread};
use heddle_platform::atomic::AtomicBool;
use std::ops::{Deref, DerefMut};

/// Costs that can be told apart in a sum.
pub(crate) const COSTS: Costs = Costs {
    instruction: 1,
    window: 200,
    locked: 5,
    pause: 1,
    timestamp: 1,
    ticks: 1000,
    own: 1_000,
    cluster: 10_000,
    socket: 20_000,
    far: 40_000,
    clean: 2_000,
    memory: 80_000,
    stream: 300,
    occupied: 700,
    held: 500,
    core_lines: 8,
    cluster_lines: 32,
    system_call: 1,
    clock: 1,
    wake: 100,
    awake: 3_000,
    switch: 50,
    slice: 3_000_000_000,
    yielded: 7,
    thread: 1,
    barrier: 1,
    interrupted: 1,
};

/// When tests begin: behind what the seed adds to the start of a thread.
pub(crate) const START: u64 = 10_000_000;

/// A machine of the calling thread alone.
#[derive(Debug)]
pub(crate) struct ByHand {
    memory: LabMemory,
    /// Its threads go on when the test says so: none may have to wait for another.
    is_by_hand: bool,
}

impl ByHand {
    /// A machine of `sockets` x `clusters` x `cores`, with the costs of these tests.
    pub(crate) fn new(sockets: u32, clusters: u32, cores: u32) -> Self {
        let per_socket = clusters * cores;
        let layout = CoreLayout { cores: sockets * per_socket, per_socket, per_cluster: cores };
        let memory = LabMemory::new(None).expect("there is address space");
        let mut machine = Self { memory, is_by_hand: true };
        machine.begin(layout, COSTS, 0);
        machine
    }

    /// A thread of process 0 that becomes ready at `at`, near `core`.
    pub(crate) fn thread(&mut self, core: u32, at: u64) -> u32 {
        self.thread_of(1, core, at)
    }

    /// The same, of the process with the number `pid`.
    pub(crate) fn thread_of(&mut self, pid: i32, core: u32, at: u64) -> u32 {
        // Nothing is added to the start of the thread that gets the first slot: the seed is 0.
        let slot = (0..).find(|slot| self.slots[*slot].state == crate::shared::State::Free).expect("a slot");
        let late = self.jitter(slot as u32);
        self.begin_thread(0, pid, core, at - late).expect("a slot")
    }

    /// A thread that runs on `core` and has had its turn at `at`.
    pub(crate) fn goes_on(&mut self, core: u32, at: u64) -> Thread {
        let slot = self.thread(core, at);
        assert_eq!(self.slots[slot as usize].core, core, "the core is idle");
        let mut thread = Thread::new(slot, 0);
        // If it hands the token over, it does not wait for ever.
        self.token.hand_to(slot);
        thread.go_on_alone(self);
        thread
    }

    /// The memory, for threads that wait for their turns.
    pub(crate) fn for_real_threads(&mut self) -> LabMemory {
        self.is_by_hand = false;
        self.memory
    }
}

impl Deref for ByHand {
    type Target = SharedLab;

    fn deref(&self) -> &SharedLab {
        // SAFETY: mapped until this is dropped; without other threads it is this one's alone.
        unsafe { &*self.memory.lab() }
    }
}

impl DerefMut for ByHand {
    fn deref_mut(&mut self) -> &mut SharedLab {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.memory.lab() }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // Threads may wait in it.
        }
        assert!(
            !self.is_by_hand || self.passes == 0,
            "a thread was ahead of another, and handed the token over"
        );
        // SAFETY: the mapping has this length, and nobody uses it behind this.
        unsafe { libc::munmap(self.memory.lab().cast(), LabMemory::BYTES) };
    }
}

/// The names of lines are their addresses.
#[derive(Debug)]
pub(crate) struct NoNames;

impl LineNames for NoNames {
    fn name(&mut self, address: u64) -> u64 {
        address >> 6
    }
}

/// An instruction at which threads meet, or have not met yet.
pub(crate) fn site(is_met: bool) -> Site {
    static MEETS: AtomicBool = AtomicBool::new(false);
    Site::new(0x1000, &MEETS, is_met)
}

/// A set of cores.
pub(crate) fn cores(all: impl IntoIterator<Item = u32>) -> [u64; CORES / 64] {
    let mut set = [0; CORES / 64];
    for core in all {
        set[core as usize / 64] |= 1 << (core % 64);
    }
    set
}
