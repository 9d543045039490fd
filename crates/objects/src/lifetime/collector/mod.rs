//! The cycle: it finds the freed objects that are no longer in use, and destroys them.
//!
//! A cycle costs one barrier (an interrupt to the cores that run threads of the process), a read of every
//! request's slot, of all hazard slots and of a bit for each slot of a table; then work for each eligible
//! object. It runs when a program makes an object and a threshold of objects has become eligible since the
//! last cycle, and at finalize.
//!
//! | | |
//! |---|---|
//! | departure from the paper | no critical section; [`lifetime`](super) proves that no use is missed |
//! | space | keeps longer than needed: at most the threshold, and the objects in use at the last cycle |
//! | waiting | none; the numbers of slots and threads bound the steps |

use super::hazard;
use heddle_platform::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use heddle_platform::{Scope, barrier, const_fn};

/// An object that may be destroyed, unless a call or a request uses it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// The slot of the object.
    pub index: u32,
    /// The state in which it was found.
    pub state: u64,
    /// The words by which hazard slots and requests name it.
    pub names: [usize; 2],
}

/// A table whose objects are collected.
pub trait Collected: std::fmt::Debug + Sync {
    /// The approximate number of eligible objects.
    fn eligible(&self) -> usize;
    /// Hands out all eligible objects.
    fn candidates(&self, found: &mut dyn FnMut(Candidate));
    /// Returns true if the object's state is still the one in which it was found.
    fn is_unchanged(&self, candidate: &Candidate) -> bool;
    /// Makes the object the caller's to destroy. Returns false if its state has changed since it was found.
    fn claim(&self, candidate: &Candidate) -> bool;
    /// Destroys an object that the caller has claimed.
    fn destroy_claimed(&self, index: u32);
}

/// The steps of a cycle; the caller of a cycle learns when each is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The cycle has begun.
    Begun,
    /// The eligible objects are found.
    Found,
    /// The hazard slots were read.
    HazardsSeen,
    /// The states of the objects were read once more.
    StatesSeen,
    /// The requests were read.
    RequestsSeen,
    /// The objects that a request or a call uses are marked; it says how many there are.
    Marked(u64),
    /// One object is claimed and not destroyed yet.
    Claimed,
    /// That object is destroyed.
    Destroyed,
    /// The cycle is over.
    Over,
}

/// The smallest adaptive threshold, in objects. Under the model checker every object is collected at once.
const LEAST: usize = if cfg!(loom) { 1 } else { 64 };
/// The largest adaptive threshold, in objects.
const MOST: usize = 1 << 16;
/// The number of requests' slots whose reading costs about the same as destroying one object.
const READS_AN_OBJECT: usize = 16;

/// Words up to this name no collected object: zero stands for no word, and the others are handles of
/// predefined objects.
const PREDEFINED: usize = 4096;

/// Collects the objects of some tables.
#[derive(Debug)]
pub struct Collector {
    tables: &'static [&'static dyn Collected],
    /// The number of objects set by the user; zero: adaptive.
    threshold: AtomicU32,
    /// The adaptive threshold now.
    adapted: AtomicUsize,
    /// The number of eligible objects at which the next cycle begins.
    due: AtomicUsize,
    cycles: AtomicU64,
    destroyed: AtomicU64,
}

/// Hands the words of live requests to its argument; returns the number of slots that it read.
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

    /// Sets the number of objects that become eligible between two cycles; 0: the number adapts itself.
    pub fn set_threshold(&self, number: u32) {
        self.threshold.store(number, Ordering::Relaxed);
        self.due.store(self.step(), Ordering::Relaxed);
    }

    /// The number of further objects that must become eligible before the next cycle.
    fn step(&self) -> usize {
        match self.threshold.load(Ordering::Relaxed) {
            0 => self.adapted.load(Ordering::Relaxed),
            number => number as usize,
        }
    }

    fn eligible(&self) -> usize {
        self.tables.iter().map(|table| table.eligible()).sum()
    }

    /// The numbers of cycles run and of objects destroyed.
    pub fn totals(&self) -> (u64, u64) {
        (self.cycles.load(Ordering::Relaxed), self.destroyed.load(Ordering::Relaxed))
    }

    /// Runs a cycle if enough objects are eligible and no other thread begins one now. Returns whether it
    /// ran. Calls `at` after each step. Any thread may call this at any time.
    #[inline]
    pub fn run_if_due(&self, requests: Requests, at: &mut dyn FnMut(Step)) -> bool {
        self.eligible() >= self.due.load(Ordering::Relaxed) && self.run_next(requests, at)
    }

    #[cold]
    fn run_next(&self, requests: Requests, at: &mut dyn FnMut(Step)) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        let eligible = self.eligible();
        // The thread that moves the threshold runs this cycle. The next cycle comes at the new threshold,
        // even if this thread never finishes.
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
        // Mark. The proof in `lifetime` rests on the order of these steps.
        let mut found = self.candidates();
        at(Step::Found);
        if found.is_empty() {
            return;
        }
        barrier::heavy(Scope::Process);
        let mut roots = Vec::new();
        hazard::for_each(&mut |handle| roots.push(handle));
        at(Step::HazardsSeen);
        // An object whose state has changed is in use, or another cycle has destroyed it.
        found.retain(|(table, candidate)| self.tables[*table].is_unchanged(candidate));
        at(Step::StatesSeen);
        let reads = requests(&mut |word| {
            if word > PREDEFINED {
                roots.push(word);
            }
        });
        at(Step::RequestsSeen);
        roots.sort_unstable();
        let eligible = found.len();
        found.retain(|(_, candidate)| !candidate.names.iter().any(|name| roots.binary_search(name).is_ok()));
        // Only the objects in use. If those that another cycle destroyed counted, too, the threshold would
        // grow whenever two cycles overlap; the next ones would be longer and overlap more often.
        let survivors = eligible - found.len();
        at(Step::Marked(survivors as u64));
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
        self.adapted.store((reads / READS_AN_OBJECT).max(survivors).clamp(LEAST, MOST), Ordering::Relaxed);
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
