//! Data that processes publish for each other, round after round, in memory that they share.
//!
//! Rounds have numbers, which all processes count alike. Each process has as many cells as the *depth*; in
//! round *n* it may fill its cell *n* mod depth, and any process may read it then. A process that needs
//! nothing more of a round says that it has *finished* it. A cell is filled again only when all processes
//! have finished the round that it was filled for, so a process may be ahead of the others by the depth.
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

/// What a process knows of the room in its cells: a round before which all processes have finished all.
#[derive(Debug, Default)]
pub struct Room<P: Platform = Native>(P::AtomicU32);

impl<P: Platform> Room<P> {
    /// Returns true if the cell for a round may be filled. If it does not know it, it looks at the words of
    /// all processes; then half of the cells have to be free, since each look takes lines from the processes
    /// that write them.
    #[inline(always)]
    pub fn is_there<'a>(
        &self,
        round: u32,
        depth: u32,
        finished: impl Iterator<Item = &'a Finished<P>>,
    ) -> bool
    where
        P: 'a,
    {
        // Acquire: whoever has looked has seen the last accesses to the cell.
        Self::reaches(self.0.load(Acquire), round, depth) || self.look(round, depth, finished)
    }

    #[inline(always)]
    fn reaches(first_open: u32, round: u32, depth: u32) -> bool {
        round.wrapping_sub(first_open).cast_signed() < depth.cast_signed()
    }

    #[inline(never)]
    fn look<'a>(&self, round: u32, depth: u32, finished: impl Iterator<Item = &'a Finished<P>>) -> bool
    where
        P: 'a,
    {
        let behind = |first_open: &u32| round.wrapping_sub(*first_open).cast_signed();
        let Some(least) = finished.map(Finished::first_open).max_by_key(behind) else { return true };
        let is_there = Self::reaches(least, round, depth.div_ceil(2));
        if is_there {
            self.0.store(least, Release);
        }
        is_there
    }
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

    #[test]
    fn there_is_room_when_all_have_finished_the_round_a_depth_before() {
        let finished: [Finished; 2] = Default::default();
        let room: Room = Room::default();
        let is_there = |round| room.is_there(round, 2, finished.iter());
        assert!(is_there(0) && is_there(1) && !is_there(2));
        finished.iter().for_each(|finished| finished.finish_alone(0));
        assert!(!is_there(2), "half of the cells must be free");
        finished[0].finish_alone(1);
        assert!(!is_there(2));
        finished[1].finish_alone(1);
        assert!(is_there(2) && is_there(3) && !is_there(4));
    }
}
