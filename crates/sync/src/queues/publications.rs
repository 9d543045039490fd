//! Data that processes publish for each other, round after round, in memory that they share.
//!
//! Rounds have numbers, which all processes count alike. Each process has as many cells as the *depth*; in
//! round *n* it may fill its cell *n* mod depth, and any process may read it then. A process that needs
//! nothing more of a round says that it has *finished* it. A cell is filled again only when all processes
//! have finished the round that it was filled for, so a process may be ahead of the others by the depth. One
//! that [notes](Room::note) for whom it fills its cells waits for these readers alone.
//!
//! ```text
//!   one that publishes                           one that reads
//!   all have finished round - depth?  (Acquire)
//!     -> fill the cell
//!        mark = round + 1             (Release)   mark == round + 1?       (Acquire)
//!                                                   -> read the cell
//!                                                      finished += round   (Release)
//! ```
//!
//! Rounds may be finished in any order, and by several threads of a process at once. A process's word has the
//! first round that it has not finished, and for the [`WINDOW`] of rounds from there whether it has. A round
//! further ahead can be finished only after the first one. The process does not wait for that for ever: the
//! first one belongs to an earlier operation, which all processes begin before they come to the later round.
//!
//! **Exposed data.** A process may also publish the address of data that stay in its own memory, from which
//! the readers copy them. It may change them when the readers have [finished](Finished::is_finished) that
//! very round; earlier rounds may still be open.
//!
//! **Those that wait for others to finish.** A process that has to says so ([`Waiting`]) before it goes to
//! sleep at its doorbell, and looks once more. One that has finished a round looks whether any process
//! waits, and rings. Between the two steps of each lies a fence: `light` in the frequent path, and `heavy` in
//! the doorbell's preparation.
//!
//! Numbers wrap. Zeros are valid for all words, so they may lie in new memory that processes share.

use heddle_platform::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use heddle_platform::platform::AtomicInteger;
use heddle_platform::{Native, Platform};
use std::fmt;

/// How many rounds, from the first open one on, can be finished.
pub const WINDOW: u32 = u32::BITS;

/// A cell's word: the round for which it was filled last.
#[derive(Default)]
#[repr(transparent)]
pub struct Mark<P: Platform = Native>(P::AtomicU32);

impl<P: Platform> fmt::Debug for Mark<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mark").field(&self.0.load(Relaxed)).finish()
    }
}

impl<P: Platform> Mark<P> {
    /// Says that the cell is filled for a round.
    #[inline(always)]
    pub fn publish(&self, round: u32) {
        self.0.store(round.wrapping_add(1), Release);
    }

    /// Returns true if the cell is filled for a round.
    #[inline(always)]
    #[must_use]
    pub fn is_published(&self, round: u32) -> bool {
        self.0.load(Acquire) == round.wrapping_add(1)
    }
}

/// A process's word: the rounds that it has finished. The upper half is the first one that it has not; the
/// lower half has a bit for that one and each of the following.
#[derive(Default)]
#[repr(transparent)]
pub struct Finished<P: Platform = Native>(P::AtomicU64);

impl<P: Platform> fmt::Debug for Finished<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Finished").field(&self.0.load(Relaxed)).finish()
    }
}

/// The word after a round in the window was finished.
#[inline(always)]
fn with(word: u64, round: u32) -> u64 {
    let (first, bits) = ((word >> 32) as u32, word as u32);
    debug_assert!(round.wrapping_sub(first) < WINDOW, "round {round} is not near {first}");
    let bits = bits | 1 << (round.wrapping_sub(first) % WINDOW);
    let over = bits.trailing_ones();
    let (first, bits) = (first.wrapping_add(over), bits.checked_shr(over).unwrap_or(0));
    u64::from(first) << 32 | u64::from(bits)
}

impl<P: Platform> Finished<P> {
    /// The first round that is not finished.
    #[inline(always)]
    #[must_use]
    pub fn first_open(&self) -> u32 {
        (self.0.load(Acquire) >> 32) as u32
    }

    /// Returns true if a round is finished.
    #[inline(always)]
    #[must_use]
    pub fn is_finished(&self, round: u32) -> bool {
        let word = self.0.load(Acquire);
        let ahead = round.wrapping_sub((word >> 32) as u32);
        ahead.cast_signed() < 0 || ahead < WINDOW && word >> ahead & 1 != 0
    }

    /// Finishes a round. If it is beyond the window, returns false and has done nothing.
    #[must_use]
    pub fn finish(&self, round: u32) -> bool {
        let mut word = self.0.load(Relaxed);
        loop {
            if round.wrapping_sub((word >> 32) as u32) >= WINDOW {
                return false;
            }
            match self.0.compare_exchange(word, with(word, round), AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Finishes a round in the window while no other thread finishes a round of this process.
    #[inline(always)]
    pub fn finish_alone(&self, round: u32) {
        self.0.store(with(self.0.load(Relaxed), round), Release);
    }
}

/// The room in a process's cells, as far as it knows.
#[derive(Debug, Default)]
pub struct Room<P: Platform = Native> {
    /// A round before which all that the process has published is read.
    first_open: P::AtomicU32,
    /// Of each cell, the round that it was filled for last, and above it [`NOBODY`], [`ALL`] or [`FIRST`]
    /// plus the reader. Empty if that is not noted.
    readers: Box<[P::AtomicU64]>,
}

/// The cell was never filled.
const NOBODY: u64 = 0;
const ALL: u64 = 1;
const FIRST: u64 = 2;

/// Returns true if one round comes before another.
#[inline(always)]
fn is_before(round: u32, other: u32) -> bool {
    round.wrapping_sub(other).cast_signed() < 0
}

impl<P: Platform> Room<P> {
    /// The room in that many cells, of which the process notes for whom it fills them.
    #[must_use]
    pub fn with_readers(cells: u32) -> Self {
        Self {
            first_open: P::AtomicU32::default(),
            readers: (0..cells).map(|_| P::AtomicU64::new(0)).collect(),
        }
    }

    /// Notes that the cell for a round is filled for the process `reader`, or for all, if that is noted.
    #[inline(always)]
    pub fn note(&self, round: u32, reader: Option<usize>) {
        if !self.readers.is_empty() {
            let reader = reader.map_or(ALL, |process| FIRST + process as u64);
            // Relaxed: a thread that fills cells has seen what others filled before.
            self.readers[round as usize % self.readers.len()].store(reader << 32 | u64::from(round), Relaxed);
        }
    }

    /// Returns true if the cell for a round may be filled. If it does not know it, it looks at the words of
    /// the processes; then half of the cells have to be free, since each look takes lines from the processes
    /// that write them.
    #[inline(always)]
    pub fn is_there(&self, round: u32, depth: u32, processes: &impl Processes<P>) -> bool {
        // Acquire: whoever has looked has seen the last accesses to the cell.
        Self::reaches(self.first_open.load(Acquire), round, depth) || self.look(round, depth, processes)
    }

    #[inline(always)]
    fn reaches(first_open: u32, round: u32, depth: u32) -> bool {
        round.wrapping_sub(first_open).cast_signed() < depth.cast_signed()
    }

    #[inline(never)]
    fn look(&self, round: u32, depth: u32, processes: &impl Processes<P>) -> bool {
        let first_open = (0..processes.number()).map(|rank| processes.finished(rank).first_open());
        let Some(least) = first_open.reduce(|a, b| if is_before(b, a) { b } else { a }) else { return true };
        let half = depth.div_ceil(2);
        // All that was published before this round has to be read.
        let wanted = round.wrapping_add(1).wrapping_sub(half);
        let first_open = if Self::reaches(least, round, half) {
            least
        } else if processes.fills_in_order() && self.is_read_before(wanted, least, processes) {
            wanted
        } else {
            return false;
        };
        self.first_open.store(first_open, Release);
        true
    }

    /// Returns true if all that this process has published before a round is read, while some process has
    /// finished the rounds before `least` only.
    fn is_read_before(&self, wanted: u32, least: u32, processes: &impl Processes<P>) -> bool {
        let is_read = |word: &P::AtomicU64| {
            let word = word.load(Relaxed);
            let (reader, filled) = (word >> 32, word as u32);
            match reader {
                NOBODY => true,
                _ if is_before(filled, least) || !is_before(filled, wanted) => true,
                ALL => false,
                _ => processes.finished((reader - FIRST) as usize).is_finished(filled),
            }
        };
        let own = processes.finished(processes.own()).first_open();
        !self.readers.is_empty() && !is_before(own, wanted) && self.readers.iter().all(is_read)
    }
}

/// The processes that publish for each other, as one of them knows them.
pub trait Processes<P: Platform = Native> {
    /// How many there are.
    fn number(&self) -> usize;
    /// The number of this one.
    fn own(&self) -> usize;
    /// The word of one of them.
    fn finished(&self, process: usize) -> &Finished<P>;
    /// Returns true if this process has filled its cells one after the other, as far as they are filled.
    fn fills_in_order(&self) -> bool;
}

/// A word of all processes: how many of them wait for room.
#[derive(Default)]
#[repr(transparent)]
pub struct Waiting<P: Platform = Native>(P::AtomicU32);

impl<P: Platform> fmt::Debug for Waiting<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Waiting").field(&self.0.load(Relaxed)).finish()
    }
}

impl<P: Platform> Waiting<P> {
    /// Says that the caller waits for room. Before it sleeps it looks for room once more, after `heavy`.
    pub fn begin(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    /// Says that it does not wait any more.
    pub fn end(&self) {
        self.0.fetch_sub(1, SeqCst);
    }

    /// Returns true if a process may wait for the round that the caller has finished just now.
    #[inline(always)]
    #[must_use]
    pub fn is_any(&self) -> bool {
        P::light();
        self.0.load(Relaxed) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_finished_in_any_order() {
        let finished: Finished = Finished::default();
        for round in [2, 1, 4] {
            assert!(finished.finish(round));
            assert_eq!(finished.first_open(), 0);
        }
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 32].map(|round| finished.is_finished(round)),
            [false, true, true, false, true, false, false]
        );
        finished.finish_alone(0);
        assert_eq!(finished.first_open(), 3);
        assert!(finished.finish(3));
        assert_eq!(finished.first_open(), 5);
    }

    #[test]
    fn a_whole_window_is_finished_backwards_where_numbers_wrap() {
        let finished: Finished = Finished::default();
        finished.0.store(u64::from(u32::MAX - 3) << 32, Relaxed);
        assert!(!finished.finish((u32::MAX - 3).wrapping_add(WINDOW)), "beyond the window");
        for ahead in (0..WINDOW).rev() {
            assert!(finished.finish((u32::MAX - 3).wrapping_add(ahead)));
        }
        assert_eq!(finished.first_open(), 28);
        finished.finish_alone(28);
        assert_eq!(finished.first_open(), 29);
        assert!(finished.is_finished(u32::MAX - 3) && finished.is_finished(28) && !finished.is_finished(29));
    }

    struct Words<'a>(&'a [Finished], bool);

    impl Processes for Words<'_> {
        fn number(&self) -> usize {
            self.0.len()
        }

        fn own(&self) -> usize {
            0
        }

        fn finished(&self, process: usize) -> &Finished {
            &self.0[process]
        }

        fn fills_in_order(&self) -> bool {
            self.1
        }
    }

    fn of(finished: &[Finished]) -> Words<'_> {
        Words(finished, true)
    }

    #[test]
    fn there_is_room_when_the_readers_have_finished() {
        let finished: [Finished; 3] = Default::default();
        let room: Room = Room::with_readers(4);
        let is_there = |round| room.is_there(round, 4, &of(&finished));
        let publish = |round, reader| {
            assert!(is_there(round));
            room.note(round, reader);
            finished[0].finish_alone(round);
        };
        // Not in round 1, which is for process 2.
        [0, 2, 3].into_iter().for_each(|round| publish(round, Some(1)));
        finished[0].finish_alone(1);
        assert!(!is_there(4));
        (0..3).for_each(|round| finished[1].finish_alone(round));
        assert!(!room.is_there(4, 4, &Words(&finished, false)), "other threads may fill cells");
        assert!(!Room::default().is_there(4, 4, &of(&finished)), "nothing is noted");
        assert!(is_there(4), "process 2 has read nothing, and there was nothing to read");
        [4, 5].into_iter().for_each(|round| publish(round, Some(1)));
        (3..6).for_each(|round| finished[1].finish_alone(round));
        assert!(!is_there(8), "this process has not finished round 6");
        finished[0].finish_alone(6);
        assert!(is_there(8));
        finished[0].finish_alone(7);
        publish(8, None);
        (9..11).for_each(|round| finished[0].finish_alone(round));
        (6..9).for_each(|round| finished[1].finish_alone(round));
        assert!(!is_there(12), "process 2 has to read round 8, too");
        (0..9).for_each(|round| finished[2].finish_alone(round));
        assert!(is_there(12));
    }

    #[test]
    fn there_is_room_when_all_have_finished_the_round_a_depth_before() {
        let finished: [Finished; 2] = Default::default();
        let room: Room = Room::default();
        let is_there = |round| room.is_there(round, 2, &of(&finished));
        assert!(is_there(0) && is_there(1) && !is_there(2));
        finished.iter().for_each(|finished| finished.finish_alone(0));
        assert!(!is_there(2), "half of the cells must be free");
        finished[0].finish_alone(1);
        assert!(!is_there(2));
        finished[1].finish_alone(1);
        assert!(is_there(2) && is_there(3) && !is_there(4));
    }
}
