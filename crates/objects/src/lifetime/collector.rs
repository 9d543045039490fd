//! The cycle: which of the freed objects nobody uses any more.
//!
//! Cost of a cycle: one barrier (an interrupt to the cores that run threads of the process), a look at every request's slot,
//! at the threads' places for holds, and at a bit for each slot of a table; then work for each eligible object. It runs when
//! an object is made and at least a threshold of objects has become eligible since the last cycle, and at finalize.
//!
//! | | |
//! |---|---|
//! | departure from the paper | no section: see [`lifetime`](super), also for the argument that no reference is missed |
//! | space | at most the threshold, and what was in use at the last cycle, is kept longer than needed |
//! | waiting | none; the steps are bounded by the numbers of slots and threads |

use super::hazard;
use crate::fault::{Fault, planted};
use heddle_platform::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::{Scope, barrier, const_fn};

/// An object that may be destroyed, if nobody uses it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// The slot of the object.
    pub index: u32,
    /// The state in which it was found.
    pub state: u64,
    /// The words that holds and requests name it by.
    pub names: [usize; 2],
}

/// A table whose objects are collected.
pub trait Collected: std::fmt::Debug + Sync {
    /// About how many objects are eligible.
    fn eligible(&self) -> usize;
    /// Hands out all eligible objects.
    fn candidates(&self, found: &mut dyn FnMut(Candidate));
    /// Whether nobody has touched the object since it was found.
    fn is_unchanged(&self, candidate: &Candidate) -> bool;
    /// Makes the object the caller's, unless anybody has touched it since it was found.
    fn claim(&self, candidate: &Candidate) -> bool;
    /// Destroys an object that the caller has claimed.
    fn destroy_claimed(&self, index: u32);
}

/// Where a cycle is: tests stop a thread at each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Begun,
    Found,
    HoldsSeen,
    StatesSeen,
    RequestsSeen,
    /// One object is claimed and not destroyed yet.
    Claimed,
    Destroyed,
    Over,
}

/// The least that is collected at once, if the threshold adapts itself. In a model, every object.
const LEAST: usize = if cfg!(loom) { 1 } else { 64 };
/// The most that is waited for.
const MOST: usize = 1 << 16;
/// A look at so many requests costs about as much as destroying one object.
const LOOKS_AN_OBJECT: usize = 16;

/// No name of an object is a number up to this: neither zero, where a request or an object has no such word, nor a predefined
/// object's handle.
const PREDEFINED: usize = 4096;

/// Collects the objects of some tables.
#[derive(Debug)]
pub struct Collector {
    tables: &'static [&'static dyn Collected],
    /// Zero: adaptive.
    threshold: AtomicU32,
    /// What the adaptive threshold is now.
    adapted: AtomicUsize,
    /// With so many eligible objects the next cycle begins.
    due: AtomicUsize,
    cycles: AtomicU64,
    destroyed: AtomicU64,
}

/// Hands the words of live requests to its argument; returns how many slots it looked at.
pub type Requests = fn(&mut dyn FnMut(usize)) -> usize;

impl Collector {
    const_fn! {
        /// A collector of the objects of these tables.
        pub const fn new(tables: &'static [&'static dyn Collected]) -> Collector {
            Collector {
                tables,
                threshold: AtomicU32::new(0),
                adapted: AtomicUsize::new(LEAST),
                due: AtomicUsize::new(LEAST),
                cycles: AtomicU64::new(0),
                destroyed: AtomicU64::new(0),
            }
        }
    }

    /// Sets how many objects become eligible between two cycles; 0 lets the number adapt itself.
    pub fn set_threshold(&self, number: u32) {
        self.threshold.store(number, Ordering::Relaxed);
        self.due.store(self.step(), Ordering::Relaxed);
    }

    /// How many more objects are to be eligible before the next cycle.
    fn step(&self) -> usize {
        match self.threshold.load(Ordering::Relaxed) {
            0 => self.adapted.load(Ordering::Relaxed),
            number => number as usize,
        }
    }

    fn eligible(&self) -> usize {
        self.tables.iter().map(|table| table.eligible()).sum()
    }

    /// Cycles run, and objects destroyed.
    pub fn totals(&self) -> (u64, u64) {
        (self.cycles.load(Ordering::Relaxed), self.destroyed.load(Ordering::Relaxed))
    }

    /// Runs a cycle if enough objects are eligible and no other thread begins one now. Returns whether it ran one.
    #[inline]
    pub fn run_if_due(&self, requests: Requests) -> bool {
        self.eligible() >= self.due.load(Ordering::Relaxed) && self.run_next(requests, &mut |_| ())
    }

    #[cold]
    fn run_next(&self, requests: Requests, at: &mut dyn FnMut(Step)) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        let eligible = self.eligible();
        // Who moves the threshold runs this cycle. It is never moved back to wait for that one: the next cycle comes after as
        // many objects again, whatever becomes of this one.
        let next = eligible + self.step();
        let runs = eligible >= due
            && self.due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if runs {
            self.cycle(requests, at);
        }
        runs
    }

    /// Runs a cycle. Calls `at` after each step.
    pub fn cycle(&self, requests: Requests, at: &mut dyn FnMut(Step)) {
        self.cycles.fetch_add(1, Ordering::Relaxed);
        at(Step::Begun);
        // Mark. The order of the looks is what the argument in `lifetime` rests on.
        let mut found = self.candidates();
        at(Step::Found);
        if found.is_empty() {
            return;
        }
        if !planted(Fault::CycleWithoutHeavy) {
            barrier::heavy(Scope::Process);
        }
        let is_unchanged =
            |(table, candidate): &(usize, Candidate)| self.tables[*table].is_unchanged(candidate);
        let look_at_requests = |roots: &mut Vec<usize>| {
            requests(&mut |word| {
                if word > PREDEFINED {
                    roots.push(word);
                }
            })
        };
        let mut roots = Vec::new();
        let too_early = planted(Fault::CycleRequestsFirst).then(|| look_at_requests(&mut roots));
        if planted(Fault::CycleStatesFirst) {
            found.retain(is_unchanged);
        }
        hazard::for_each(&mut |handle| roots.push(handle));
        at(Step::HoldsSeen);
        if !planted(Fault::CycleStatesFirst) && !planted(Fault::CycleWithoutStates) {
            // What was touched is in use, or another cycle has destroyed it.
            found.retain(is_unchanged);
        }
        at(Step::StatesSeen);
        let looks = too_early.unwrap_or_else(|| look_at_requests(&mut roots));
        at(Step::RequestsSeen);
        roots.sort_unstable();
        let eligible = found.len();
        found.retain(|(_, candidate)| !candidate.names.iter().any(|name| roots.binary_search(name).is_ok()));
        // Only what is in use. With what another cycle destroyed meanwhile the threshold would grow whenever two cycles met,
        // so that the next ones would be longer and meet more often.
        let survivors = eligible - found.len();
        // Sweep.
        let mut destroyed = 0;
        for (table, candidate) in &found {
            if self.tables[*table].claim(candidate) {
                at(Step::Claimed);
                self.tables[*table].destroy_claimed(candidate.index);
                destroyed += 1;
                at(Step::Destroyed);
            }
        }
        self.destroyed.fetch_add(destroyed as u64, Ordering::Relaxed);
        self.adapted.store((looks / LOOKS_AN_OBJECT).max(survivors).clamp(LEAST, MOST), Ordering::Relaxed);
        self.due.store(self.eligible() + self.step(), Ordering::Relaxed);
        at(Step::Over);
    }

    /// All eligible objects, each with the number of its table.
    fn candidates(&self) -> Vec<(usize, Candidate)> {
        let mut found = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            table.candidates(&mut |candidate| found.push((number, candidate)));
        }
        found
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
