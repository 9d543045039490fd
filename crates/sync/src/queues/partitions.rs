//! The partitions of a buffer, which many threads of a sender hand over to a receiver, round after round.
//!
//! A round has a number, from 1 on. In each, every partition is handed over once: the thread that has it
//! ready delivers its data and raises its flag, without a lock, and without a look at other partitions. The
//! receiver finds each partition by its flag.
//!
//! ```text
//!   a thread of the sender                      the receiver
//!                                               gate = round            a place for the data is free
//!   gate >= round?  -> yes: deliver
//!     flag = round              (Release)       flag == round?          (Acquire)  -> take the data
//!   no: mark = round, deferred += 1
//!     fence; gate >= round?     -> the gate was opened meanwhile
//! ```
//!
//! A partition that finds the [gate](Gate) closed is *deferred*: a thread that makes progress for the sender
//! delivers it later ([`Departures::deliver_deferred`]; one thread at a time).
//!
//! **No partition is forgotten.** A thread that has deferred one looks at the gate again. If it is open now,
//! the thread [says so](Ready::Overtaken), and its caller sees to progress. If not, the receiver opens the
//! gate later, and a thread that makes progress after that sees the deferred partition: between its look at
//! the gate and its look at the deferred ones lies a fence, as between the deferring thread's two steps.
//!
//! Rounds wrap; the gate is never more than a few rounds ahead or behind.

use super::sparse::Sparse;
use crate::CachePadded;
use heddle_platform::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};
use std::fmt;

/// The round after this one. 0 is no round: it is what new memory says.
pub fn next_round(round: u32) -> u32 {
    round.wrapping_add(1).max(1)
}

/// The receiver's word: the last round whose partitions may be delivered. New memory is a gate closed for
/// all.
#[derive(Default)]
#[repr(transparent)]
pub struct Gate<P: Platform = Native>(P::AtomicU32);

impl<P: Platform> fmt::Debug for Gate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.load(Relaxed)).finish()
    }
}

impl<P: Platform> Gate<P> {
    /// Opens the gate for a round, after the receiver's last access to the place of its data.
    #[inline]
    pub fn open(&self, round: u32) {
        self.0.store(round, Release);
    }

    /// Returns true if the partitions of a round may be delivered.
    #[inline(always)]
    #[must_use]
    pub fn is_open(&self, round: u32) -> bool {
        self.0.load(Acquire).wrapping_sub(round).cast_signed() >= 0
    }
}

/// A word of each partition: the last round in which it was delivered.
#[derive(Default)]
#[repr(transparent)]
pub struct Flag<P: Platform = Native>(P::AtomicU32);

impl<P: Platform> fmt::Debug for Flag<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flag").field(&self.0.load(Relaxed)).finish()
    }
}

impl<P: Platform> Flag<P> {
    /// Says that the partition's data are there.
    #[inline(always)]
    pub fn raise(&self, round: u32) {
        self.0.store(round, Release);
    }

    /// Returns true if the partition's data are there.
    #[inline(always)]
    #[must_use]
    pub fn is_raised(&self, round: u32) -> bool {
        self.0.load(Acquire) == round
    }
}

/// What became of a partition that is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// It was delivered.
    Delivered,
    /// It was delivered, the last one of its round.
    Last,
    /// It is deferred until the receiver has opened the gate.
    Deferred,
    /// It was deferred before, which is a mistake of the program.
    DeferredBefore,
    /// It is deferred, and the gate has been opened meanwhile: a thread of the sender has to
    /// [deliver](Departures::deliver_deferred) it.
    Overtaken,
}

/// The sender's account of a round.
#[derive(Debug)]
pub struct Departures<P: Platform = Native> {
    /// For each partition, the round in which it was deferred.
    marks: Sparse<P::AtomicU32>,
    /// How many partitions are deferred.
    deferred: P::AtomicUsize,
    /// How many were not delivered yet. Every delivery changes it, so it has a line of its own.
    missing: CachePadded<P::AtomicUsize>,
}

impl<P: Platform> Departures<P> {
    /// The account of that many partitions.
    #[must_use]
    pub fn new(partitions: usize) -> Self {
        Departures {
            marks: Sparse::new(partitions),
            deferred: AtomicInteger::new(0),
            missing: CachePadded::new(AtomicInteger::new(0)),
        }
    }

    /// Begins a round. The caller orders this before all other calls for the round.
    pub fn begin(&self) {
        self.missing.store(self.marks.len(), Relaxed);
    }

    /// Returns true if all partitions of the round were delivered.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.missing.load(Acquire) == 0
    }

    /// Hands over a partition, if the gate is open; otherwise does nothing. `deliver` stores its data and
    /// raises its flag. If this was the last one, the sender may be over, and freed, as soon as another
    /// thread sees it.
    #[inline(always)]
    pub fn ready_at_once(&self, round: u32, gate: &Gate<P>, deliver: impl FnOnce()) -> Option<Ready> {
        if !gate.is_open(round) {
            return None;
        }
        deliver();
        Some(if self.count_delivered() { Ready::Last } else { Ready::Delivered })
    }

    /// Hands over a partition, now or later.
    pub fn ready(&self, partition: usize, round: u32, gate: &Gate<P>, deliver: impl FnOnce()) -> Ready {
        match self.ready_at_once(round, gate, deliver) {
            Some(ready) => ready,
            None => self.defer(partition, round, gate),
        }
    }

    /// Returns true if a partition is deferred. A caller that finds it is not sees its flag raised, if it was
    /// before in this round.
    #[must_use]
    pub fn is_deferred(&self, partition: usize, round: u32) -> bool {
        // Acquire: the flag of one that was delivered comes along.
        self.marks.peek(partition).is_some_and(|mark| mark.load(Acquire) == round)
    }

    #[cold]
    #[inline(never)]
    fn defer(&self, partition: usize, round: u32, gate: &Gate<P>) -> Ready {
        let mark = self.marks.at(partition);
        if mark.load(Relaxed) == round {
            return Ready::DeferredBefore;
        }
        // Release: the data of the partition come along.
        mark.store(round, Release);
        self.deferred.fetch_add(1, Relaxed);
        // Pairs with the fence in `deliver_deferred`.
        P::fence(SeqCst);
        if gate.is_open(round) { Ready::Overtaken } else { Ready::Deferred }
    }

    /// Delivers the deferred partitions, if the gate is open; `deliver` does it for one, and returns false if
    /// the partition was delivered before, by mistake of the program. Returns true if there were any. Called
    /// by one thread at a time.
    pub fn deliver_deferred(
        &self,
        round: u32,
        gate: &Gate<P>,
        mut deliver: impl FnMut(usize) -> bool,
    ) -> bool {
        if !gate.is_open(round) {
            return false;
        }
        // Pairs with the fence in `defer`.
        P::fence(SeqCst);
        if self.deferred.load(Relaxed) == 0 {
            return false;
        }
        for (partition, mark) in self.marks.used() {
            if mark.load(Acquire) == round {
                // A thread that has not counted its partition yet does so later: the number wraps until then.
                self.deferred.fetch_sub(1, Relaxed);
                let is_delivered = deliver(partition);
                // Release: after the flag, for `is_deferred`. Before the count: the last one ends the round.
                mark.store(0, Release);
                if is_delivered {
                    self.count_delivered();
                }
            }
        }
        true
    }

    /// Counts a delivery. Returns true for the last one.
    #[inline(always)]
    fn count_delivered(&self) -> bool {
        // AcqRel: whoever sees that all are over has all that was done for them.
        self.missing.fetch_sub(1, AcqRel) == 1
    }
}

/// The sender's account of partitions without data. There is nothing to deliver before all are ready, so the
/// last one is handed over for all of them.
#[derive(Debug)]
pub struct Together<P: Platform = Native> {
    /// For each partition, the last round in which it was ready.
    marks: Sparse<P::AtomicU32>,
    missing: P::AtomicUsize,
}

impl<P: Platform> Together<P> {
    /// The account of that many partitions.
    #[must_use]
    pub fn new(partitions: usize) -> Self {
        Together { marks: Sparse::new(partitions), missing: AtomicInteger::new(0) }
    }

    /// Begins a round. The caller orders this before all other calls for the round.
    pub fn begin(&self) {
        self.missing.store(self.marks.len(), Relaxed);
    }

    /// Notes that a partition is ready. Returns true if all are now, and `None` if this one was before, which
    /// is a mistake of the program.
    pub fn ready(&self, partition: usize, round: u32) -> Option<bool> {
        if self.marks.at(partition).swap(round, Relaxed) == round {
            return None;
        }
        // AcqRel: who hands over the last one comes after all threads that had one ready.
        Some(self.missing.fetch_sub(1, AcqRel) == 1)
    }
}

/// What a look at a partition has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// Its data are not there yet, or another thread takes them just now.
    No,
    /// It is there.
    Yes,
    /// The same, and this look was the one that has found the last partition.
    Last,
}

/// The receiver's account of a round. Many threads may look for partitions.
#[derive(Debug)]
pub struct Arrivals<P: Platform = Native> {
    /// For each partition twice the round in which a thread last took it, and one more when it had.
    states: Sparse<P::AtomicU32>,
    /// How many were not taken yet.
    missing: P::AtomicUsize,
}

impl<P: Platform> Arrivals<P> {
    /// The account of that many partitions.
    #[must_use]
    pub fn new(partitions: usize) -> Self {
        Arrivals { states: Sparse::new(partitions), missing: AtomicInteger::new(0) }
    }

    /// Begins a round. The caller orders this before all other calls for the round.
    pub fn begin(&self) {
        self.missing.store(self.states.len(), Relaxed);
    }

    /// Returns true if all partitions of the round were taken.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.missing.load(Acquire) == 0
    }

    /// Looks for a partition. If `is_there` says that its data have come, `take` moves them where they
    /// belong; one thread does that.
    #[inline]
    pub fn look(
        &self,
        partition: usize,
        round: u32,
        is_there: impl FnOnce() -> bool,
        take: impl FnOnce(),
    ) -> Arrived {
        let state = self.states.at(partition);
        let (being_taken, taken) = (round.wrapping_mul(2), round.wrapping_mul(2).wrapping_add(1));
        // Acquire: the data come along.
        let before = state.load(Acquire);
        if before == taken {
            return Arrived::Yes;
        }
        if before == being_taken
            || !is_there()
            || state.compare_exchange(before, being_taken, Relaxed, Relaxed).is_err()
        {
            return Arrived::No;
        }
        take();
        state.store(taken, Release);
        if self.missing.fetch_sub(1, AcqRel) == 1 { Arrived::Last } else { Arrived::Yes }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_the_gate_wrap() {
        assert_eq!((next_round(0), next_round(7), next_round(u32::MAX)), (1, 8, 1));
        let gate: Gate = Gate::default();
        assert!(!gate.is_open(1) && !gate.is_open(2));
        gate.open(2);
        assert!(gate.is_open(1) && gate.is_open(2) && !gate.is_open(3));
        gate.open(u32::MAX);
        assert!(gate.is_open(u32::MAX) && !gate.is_open(1));
    }

    #[test]
    fn a_partition_waits_for_the_gate() {
        let (gate, departures): (Gate, Departures) = (Gate::default(), Departures::new(2));
        departures.begin();
        assert_eq!(departures.ready(1, 1, &gate, || unreachable!()), Ready::Deferred);
        assert_eq!(departures.ready(1, 1, &gate, || unreachable!()), Ready::DeferredBefore);
        assert!(!departures.deliver_deferred(1, &gate, |_| unreachable!()));
        gate.open(1);
        assert!(
            departures.is_deferred(1, 1) && !departures.is_deferred(0, 1) && !departures.is_deferred(1, 2)
        );
        assert_eq!(departures.ready(0, 1, &gate, || ()), Ready::Delivered);
        let delivered = departures.deliver_deferred(1, &gate, |partition| {
            assert!(departures.is_deferred(partition, 1), "its flag is not raised yet");
            partition == 1
        });
        assert!(delivered && departures.are_over());
        assert!(!departures.is_deferred(1, 1));
        assert!(!departures.deliver_deferred(1, &gate, |_| unreachable!()));
    }

    #[test]
    fn the_last_partition_without_data_stands_for_all() {
        let together: Together = Together::new(3);
        for round in [1, 2, u32::MAX] {
            together.begin();
            assert_eq!(
                [2, 0, 2, 0].map(|partition| together.ready(partition, round)),
                [Some(false), Some(false), None, None]
            );
            assert_eq!(together.ready(1, round), Some(true));
        }
    }

    #[test]
    fn a_partition_is_taken_once() {
        let arrivals: Arrivals = Arrivals::new(2);
        for round in [1, 2, u32::MAX] {
            arrivals.begin();
            assert_eq!(arrivals.look(0, round, || false, || unreachable!()), Arrived::No);
            assert_eq!(arrivals.look(0, round, || true, || ()), Arrived::Yes);
            assert_eq!(arrivals.look(0, round, || unreachable!(), || unreachable!()), Arrived::Yes);
            assert!(!arrivals.are_over());
            assert_eq!(arrivals.look(1, round, || true, || ()), Arrived::Last);
            assert!(arrivals.are_over());
        }
    }
}
