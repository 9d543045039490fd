//! A thread of a program on the machine: its clock, and what it knows of its core's caches.

mod access;
mod caches;
mod dataflow;
mod loads;
mod turn;

#[cfg(test)]
mod access_tests;
#[cfg(test)]
mod loads_tests;
#[cfg(test)]
mod random_programs;
#[cfg(test)]
mod turn_tests;

pub use caches::{LineNames, Site};
pub use dataflow::{Flow, Registers, Sources};
pub use turn::Ended;

use crate::shared::{Foreseen, SharedLab};
use caches::{Entry, Streams};
use dataflow::Loads;
use std::ptr::NonNull;

/// A thread. One that holds the token may use it; the others wait in `turn`.
#[derive(Debug)]
pub struct Thread {
    /// Its slot of the lab.
    pub slot: u32,
    /// Its process on the machine.
    pub process: u32,
    /// Its core.
    pub core: u32,
    /// Its time. The slot has it while another thread runs.
    pub clock: u64,
    /// Instructions since they were counted last.
    pub instructions: u64,
    /// The clock at which it looks around: where it uses what it has, and where threads meet.
    pub limit: u64,
    strict: u64,
    /// It has fetched a line from another core since it looked around last.
    touched: bool,
    /// When its store buffer is empty.
    drained: u64,
    /// The word of its `struct rseq` that says whether it is in a restartable sequence.
    restartable: Option<NonNull<u64>>,
    /// Places in queues of lines that it has taken.
    foreseen: Vec<Foreseen>,
    streams: Streams,
    loads: Loads,
    entries: Box<[Entry; caches::ENTRIES]>,
}

impl Thread {
    /// The thread in `slot` of `process`, which waits for its first turn.
    #[must_use]
    pub fn new(slot: u32, process: u32) -> Self {
        Self {
            slot,
            process,
            core: 0,
            clock: 0,
            instructions: 0,
            limit: 0,
            strict: 0,
            touched: false,
            drained: 0,
            restartable: None,
            foreseen: Vec::with_capacity(4),
            streams: Streams::default(),
            loads: Loads::default(),
            entries: Box::new([Entry::NONE; caches::ENTRIES]),
        }
    }

    /// The thread is told the time: it will not be earlier for it.
    pub fn tell(&mut self, lab: &mut SharedLab) -> u64 {
        self.wait_loaded();
        lab.slots[self.slot as usize].told = self.clock;
        self.clock
    }

    /// While `word` is not 0 the thread is in a restartable sequence and keeps its core.
    ///
    /// # Safety
    ///
    /// The word can be read until the thread ends or says otherwise.
    pub unsafe fn set_restartable(&mut self, word: Option<NonNull<u64>>) {
        self.restartable = word;
    }

    fn is_in_sequence(&self) -> bool {
        // SAFETY: the caller of `set_restartable` vouches for the word; only this thread writes it.
        self.restartable.is_some_and(|word| unsafe { word.read_volatile() } != 0)
    }
}
