//! Blocks of instructions, and the places in them that use memory.

use heddle_lab::thread::{Flow, Site, Sources};
use heddle_platform::atomic::Ordering::Relaxed;
use heddle_platform::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// A block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) at: u64,
    pub(crate) instructions: u64,
    /// Picoseconds.
    pub(crate) cost: u64,
    /// True once one of its stores has met another thread.
    pub(crate) meets: &'static AtomicBool,
    /// Its stores whose address is known when it begins.
    pub(crate) stores: Vec<&'static Place>,
    /// The registers that it changes, and what its way out depends on.
    pub(crate) flow: Flow,
    /// The address of the block that came after it last.
    pub(crate) next: AtomicU64,
    /// The time that threads have spent in it, in the interval with this number.
    pub(crate) time: AtomicU64,
    pub(crate) interval: AtomicU32,
}

static NOT_MET: AtomicBool = AtomicBool::new(false);

/// A thread that begins comes from here.
pub(crate) static BEFORE_THE_FIRST: Block = Block {
    at: 0,
    instructions: 0,
    cost: 0,
    meets: &NOT_MET,
    stores: Vec::new(),
    flow: Flow { changed: Vec::new(), branch: Sources { registers: 0, loads: 0 } },
    next: AtomicU64::new(0),
    time: AtomicU64::new(0),
    interval: AtomicU32::new(0),
};

impl Block {
    /// A thread has spent `time` in it, in `interval`. The holder of the token says so.
    pub(crate) fn spend(&self, time: u64, interval: u32) {
        let before =
            if self.interval.swap(interval, Relaxed) == interval { self.time.load(Relaxed) } else { 0 };
        self.time.store(before + time, Relaxed);
    }
}

/// An instruction that uses memory.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) site: Site,
    pub(crate) address: Option<Address>,
}

/// An address as a sum of registers, which the thread has when the block begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<usize>,
    pub(crate) index: Option<(usize, u64)>,
    pub(crate) displacement: u64,
}

impl Address {
    /// The address with these registers.
    ///
    /// # Safety
    ///
    /// `registers` are the sixteen of the thread that runs.
    #[inline]
    pub(crate) unsafe fn with(&self, registers: *const u64) -> u64 {
        let read = |number: usize| {
            // SAFETY: numbers are below sixteen.
            let register = unsafe { registers.add(number) };
            // SAFETY: the caller's promise.
            unsafe { register.read() }
        };
        let base = self.base.map_or(0, read);
        let index = self.index.map_or(0, |(number, scale)| read(number).wrapping_mul(scale));
        base.wrapping_add(index).wrapping_add(self.displacement)
    }
}
