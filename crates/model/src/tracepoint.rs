//! Tracepoints: places in the library at which a tool can observe what happens.
//!
//! A thread that passes a tracepoint which no tool observes loads one word and branches; nothing else is
//! computed. The word is written only when a tool begins or ends to observe, so it stays in every core's
//! cache. A thread that passes an observed one calls the observer with some numbers, whose meaning depends on
//! the tracepoint. It may be inside of critical sections, so the observer takes no lock that a thread holds
//! while it passes a tracepoint, and does not come back into the library's message path.

use heddle_platform::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

/// A place at which a tool can observe what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracepoint {
    /// A message and a receive, or a matched probe, have found each other. The numbers are the context
    /// without its plane, the bytes of the message, its plane, source and tag, and 1 if it came before the
    /// receive.
    Matched,
    /// A message has come before its receive. The numbers are those of `Matched`, except the last.
    Unexpected,
    /// A collection has run. The numbers are how many objects it destroyed, and the nanoseconds that it took.
    Collection,
    /// A waiting thread is about to sleep. The number is that of the VNI on which it waits.
    Park,
    /// It has woken. The numbers are the nanoseconds that it slept, and that of the VNI.
    Wake,
}

/// The largest number of numbers that a tracepoint has.
pub const MOST_NUMBERS: usize = 6;

/// A function that is called by every thread that passes an observed tracepoint.
pub type Observer = fn(Tracepoint, &[u64]);

/// A bit for each tracepoint that is observed.
static OBSERVED: AtomicU32 = AtomicU32::new(0);
static OBSERVER: OnceLock<Observer> = OnceLock::new();

impl Tracepoint {
    /// All tracepoints.
    pub const ALL: [Tracepoint; 5] = [
        Tracepoint::Matched,
        Tracepoint::Unexpected,
        Tracepoint::Collection,
        Tracepoint::Park,
        Tracepoint::Wake,
    ];

    const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns true if a tool observes this tracepoint.
    #[inline(always)]
    pub fn is_observed(self) -> bool {
        // Relaxed: a thread may miss what happens while a tool begins to observe.
        OBSERVED.load(Ordering::Relaxed) & self.bit() != 0
    }

    /// Says that the calling thread passes this tracepoint. `numbers` is called only if a tool observes it;
    /// it captures by value, so that the caller's variables stay in registers.
    #[inline(always)]
    pub fn pass<const N: usize>(self, numbers: impl FnOnce() -> [u64; N]) {
        const { assert!(N <= MOST_NUMBERS) };
        if self.is_observed() {
            // Computed here: if `numbers` were handed on, what it refers to would have to lie in memory, also
            // while no tool observes.
            tell(self, numbers());
        }
    }

    /// Lets `observer` observe this tracepoint from now on. A process has one observer: the first one.
    pub fn observe(self, observer: Observer) {
        OBSERVER.get_or_init(|| observer);
        OBSERVED.fetch_or(self.bit(), Ordering::Relaxed);
    }

    /// Ends the observation of this tracepoint. Threads that pass it now may still call the observer.
    pub fn ignore(self) {
        OBSERVED.fetch_and(!self.bit(), Ordering::Relaxed);
    }
}

#[cold]
#[inline(never)]
fn tell<const N: usize>(at: Tracepoint, numbers: [u64; N]) {
    if let Some(observer) = OBSERVER.get() {
        observer(at, &numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static SEEN: Mutex<Vec<(Tracepoint, Vec<u64>)>> = Mutex::new(Vec::new());

    fn see(at: Tracepoint, numbers: &[u64]) {
        SEEN.lock().expect("no panic").push((at, numbers.to_vec()));
    }

    #[test]
    fn only_what_is_observed_is_computed_and_told() {
        let not_computed = || -> [u64; 1] { panic!("no tool observes this") };
        Tracepoint::ALL.iter().for_each(|at| at.pass(not_computed));
        Tracepoint::Park.observe(see);
        Tracepoint::Park.pass(|| [7]);
        Tracepoint::Wake.pass(not_computed);
        Tracepoint::Wake.observe(see);
        Tracepoint::Wake.pass(|| [7, 8]);
        Tracepoint::Park.ignore();
        Tracepoint::Park.pass(not_computed);
        Tracepoint::Wake.ignore();
        assert_eq!(
            *SEEN.lock().expect("no panic"),
            [(Tracepoint::Park, vec![7]), (Tracepoint::Wake, vec![7, 8])]
        );
    }
}
