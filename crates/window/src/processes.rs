//! All processes of a window: those of this machine, and those of others.

use crate::answers::Answers;
use crate::attach;
use crate::far::{Far, WordOperation};
use crate::geometry::{Geometry, WordAt};
use crate::machine::Machine;
use crate::remote::{Change, Remote};
use heddle_transport::single_copy::Piece;
use std::io;
use std::ops::Range;

/// The processes of a window.
#[derive(Debug)]
pub(crate) struct Processes {
    machine: Machine,
    far: Option<Far>,
}

impl Processes {
    pub(crate) fn new(machine: Machine, far: Option<Far>) -> Processes {
        Processes { machine, far }
    }

    /// All of them, if they are of this machine.
    #[inline(always)]
    pub(crate) fn on_one_machine(&self) -> Option<&Machine> {
        if self.far.is_none() { Some(&self.machine) } else { None }
    }

    /// Those of this machine.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Those of other machines, if a rank is one of them.
    #[inline(always)]
    pub(crate) fn far(&self, rank: usize) -> Option<&Far> {
        self.far.as_ref().filter(|far| far.has(rank))
    }

    /// Those of other machines, if there are some.
    pub(crate) fn all_far(&self) -> Option<&Far> {
        self.far.as_ref()
    }

    /// The same, while the window is made.
    pub(crate) fn all_far_mut(&mut self) -> Option<&mut Far> {
        self.far.as_mut()
    }

    /// Returns true if the bytes lie in a region that a process has attached. On another machine they may lie
    /// in several that touch.
    pub(crate) fn is_in_region(&self, rank: usize, address: u64, len: u64) -> bool {
        match self.far(rank) {
            Some(far) => far.is_attached(rank, address, len),
            None => attach::is_in_region(self.geometry(), |word| self.machine.load(rank, word), address, len),
        }
    }

    /// The attached memory of a process of this machine; nothing of another one's.
    pub(crate) fn stretches(&self, rank: usize) -> Vec<Range<u64>> {
        match self.far(rank) {
            Some(_) => Vec::new(),
            None => attach::stretches(self.geometry(), |word| self.machine.load(rank, word)),
        }
    }

    /// Other processes reach this process's part of the window no more.
    pub(crate) fn discard(&self) {
        self.far.iter().for_each(Far::withdraw);
        self.machine.discard();
    }
}

impl Remote for Processes {
    #[inline(always)]
    fn geometry(&self) -> &Geometry {
        self.machine.geometry()
    }

    fn reaches(&self, rank: usize) -> bool {
        self.far(rank).is_some() || self.machine.reaches(rank)
    }

    unsafe fn read(
        &self,
        rank: usize,
        address: u64,
        here: *mut u8,
        len: usize,
        reads: &Answers,
    ) -> io::Result<()> {
        let Some(far) = self.far(rank) else {
            // SAFETY: by the caller's promise.
            return unsafe { self.machine.read(rank, address, here, len, reads) };
        };
        // SAFETY: by the caller's promise.
        unsafe { far.read(rank, address, (here, len), Some(reads)) };
        Ok(())
    }

    unsafe fn read_runs(
        &self,
        rank: usize,
        runs: &[Piece],
        here: *mut u8,
        reads: &Answers,
    ) -> io::Result<()> {
        let Some(far) = self.far(rank) else {
            // SAFETY: by the caller's promise.
            return unsafe { self.machine.read_runs(rank, runs, here, reads) };
        };
        let mut to = here;
        for run in runs {
            // SAFETY: by the caller's promise.
            unsafe { far.read(rank, run.iov_base.addr() as u64, (to, run.iov_len), Some(reads)) };
            to = to.wrapping_add(run.iov_len);
        }
        Ok(())
    }

    fn finish(&self, rank: usize, reads: &Answers) {
        self.far(rank).into_iter().for_each(|far| far.finish(reads));
    }

    unsafe fn write(&self, rank: usize, address: u64, here: *const u8, len: usize) -> io::Result<()> {
        let Some(far) = self.far(rank) else {
            // SAFETY: by the caller's promise.
            return unsafe { self.machine.write(rank, address, here, len) };
        };
        // SAFETY: by the caller's promise.
        unsafe { far.write(rank, address, here, len) };
        Ok(())
    }

    unsafe fn write_runs(&self, rank: usize, runs: &[Piece], here: *const u8) -> io::Result<()> {
        let Some(far) = self.far(rank) else {
            // SAFETY: by the caller's promise.
            return unsafe { self.machine.write_runs(rank, runs, here) };
        };
        let mut from = here;
        for run in runs {
            // SAFETY: by the caller's promise.
            unsafe { far.write(rank, run.iov_base.addr() as u64, from, run.iov_len) };
            from = from.wrapping_add(run.iov_len);
        }
        Ok(())
    }

    #[inline(always)]
    fn load(&self, rank: usize, word: WordAt) -> u64 {
        match self.far(rank) {
            None => self.machine.load(rank, word),
            Some(far) => far.word(rank, word, WordOperation::Load),
        }
    }

    #[inline(always)]
    fn store(&self, rank: usize, word: WordAt, value: u64) {
        match self.far(rank) {
            None => self.machine.store(rank, word, value),
            Some(far) => _ = far.word(rank, word, WordOperation::Change(Change::Swap(value))),
        }
    }

    #[inline(always)]
    fn change(&self, rank: usize, word: WordAt, change: Change) -> u64 {
        match self.far(rank) {
            None => self.machine.change(rank, word, change),
            Some(far) => far.word(rank, word, WordOperation::Change(change)),
        }
    }

    #[inline(always)]
    fn announce(&self, rank: usize, word: WordAt) {
        // On another machine whoever changes the word has woken them.
        if self.far(rank).is_none() {
            self.machine.announce(rank, word);
        }
    }

    #[inline(always)]
    fn wait(&self, rank: usize, word: WordAt, mut is_over: impl FnMut(u64) -> bool) {
        match self.far(rank) {
            None => self.machine.wait(rank, word, is_over),
            Some(far) => far.wait(rank, word, &mut is_over),
        }
    }

    #[inline(always)]
    fn wait_a_while(&self, rank: usize, word: WordAt, mut is_over: impl FnMut(u64) -> bool) -> bool {
        match self.far(rank) {
            None => self.machine.wait_a_while(rank, word, is_over),
            Some(far) => far.wait_a_while(rank, word, &mut is_over),
        }
    }

    fn wake(&self, rank: usize) {
        // On another machine whoever changes a word has woken them.
        if self.far(rank).is_none() {
            self.machine.wake(rank);
        }
    }

    #[inline(always)]
    fn complete(&self) {
        self.far.iter().for_each(Far::complete);
    }

    #[inline(always)]
    fn complete_at(&self, rank: usize) {
        self.far.iter().for_each(|far| far.complete_at(rank));
    }
}
