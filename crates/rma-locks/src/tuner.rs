//! How an [`AdaptiveRw`](crate::AdaptiveRw) finds its number of counters: by trying its neighbours.
//!
//! The rate of acquisitions is measured over a number of writers' turns. The lock stays with the coarseness
//! that was best, and now and then tries the next finer or coarser one for a few measurements; if that is
//! better it stays there and tries the next one in that direction. If the rate becomes another one by itself,
//! the workload has changed, and it tries at once.
//!
//! Its words are changed only by the process that has the lock.

use crate::rma::{Rank, Rma, Word};

/// Measurements for which the lock stays with the best coarseness between two tries.
const STAY: u64 = 40;
/// The same, if the other neighbour is to be tried yet.
const SOON: u64 = 2;
/// Measurements of a try.
const TRY: u64 = 4;
/// A rate that is another one than before, in hundredths: a change of workload, or the end of a try.
const CHANGE: u64 = 30;
/// A try is better if its mean rate is so many hundredths higher.
const BETTER: u64 = 2;

/// The word that every turn of writers touches: the coarseness, and what has been since the measurement
/// began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) coarseness: u32,
    pub(crate) turns: u32,
    pub(crate) acquisitions: u64,
}

impl Tally {
    pub(crate) fn of(word: u64) -> Tally {
        Tally {
            coarseness: (word >> 56) as u32,
            turns: (word >> 40) as u32 & 0xFFFF,
            acquisitions: word & ((1 << 40) - 1),
        }
    }

    fn word(self) -> u64 {
        u64::from(self.coarseness) << 56 | u64::from(self.turns) << 40 | self.acquisitions
    }
}

/// The words after the tally's: when the measurement began, the state, the rate of the coarseness that is
/// kept (the mean of the last measurements), and the mean of the try.
const START: Word = 1;
const STATE: Word = 2;
const KEPT: Word = 3;
const TRIED: Word = 4;

/// What the tuner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    /// Measurements since the last try.
    stayed: u64,
    /// The neighbours that are known to be worse, before the next long stay.
    failed: u64,
    /// Measurements of the current try, and 1; 0 if there is none.
    trying: u64,
    /// The direction of this or the next try.
    is_finer: bool,
    kept: u64,
    tried: u64,
}

impl State {
    fn word(self) -> u64 {
        self.stayed << 16 | self.failed << 8 | self.trying << 1 | u64::from(self.is_finer)
    }
}

/// True if `rate` is at least so many hundredths higher than `other`.
fn is_higher(rate: u64, other: u64, hundredths: u64) -> bool {
    rate * 100 > other * (100 + hundredths)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuner {
    /// The largest coarseness.
    pub(crate) coarsest: u32,
    /// The writers' turns of a measurement; 0 to measure nothing and change at every turn.
    pub(crate) turns: u32,
}

impl Tuner {
    /// The number of its words.
    pub(crate) const WORDS: usize = 5;

    /// The coarseness from now on. `tally` is what the first of the words at `home` holds.
    pub(crate) async fn decide(
        &self,
        rma: &impl Rma,
        (home, word): (Rank, Word),
        tally: Tally,
        time: u64,
    ) -> u32 {
        if tally.turns < self.turns {
            return tally.coarseness;
        }
        if self.turns == 0 {
            return (tally.coarseness + 1) % (self.coarsest + 1);
        }
        let start = rma.get(home, word + START).await;
        if start == 0 {
            // The first measurement begins in the middle.
            rma.put(time.max(1), home, word + START).await;
            rma.flush(home).await;
            return self.coarsest / 2;
        }
        let known = rma.get(home, word + STATE).await;
        let state = State {
            stayed: known >> 16,
            failed: known >> 8 & 255,
            trying: known >> 1 & 127,
            is_finer: known & 1 != 0,
            kept: rma.get(home, word + KEPT).await,
            tried: rma.get(home, word + TRIED).await,
        };
        // Acquisitions in 2^20 units of time.
        let rate = (tally.acquisitions << 20) / time.saturating_sub(start).max(1);
        let (coarseness, state) = self.next(tally.coarseness, rate, state);
        rma.put(time, home, word + START).await;
        rma.put(state.word(), home, word + STATE).await;
        rma.put(state.kept, home, word + KEPT).await;
        rma.put(state.tried, home, word + TRIED).await;
        rma.flush(home).await;
        coarseness
    }

    /// The coarseness and the state after a measurement.
    fn next(&self, coarseness: u32, rate: u64, state: State) -> (u32, State) {
        if state.trying > 0 {
            self.try_on(coarseness, rate, state)
        } else {
            self.stay_on(coarseness, rate, state)
        }
    }

    fn try_on(&self, coarseness: u32, rate: u64, state: State) -> (u32, State) {
        let State { trying, is_finer, kept, .. } = state;
        let tried = (state.tried * (trying - 1) + rate) / trying;
        let is_clear = is_higher(tried, kept, CHANGE) || is_higher(kept, tried, CHANGE);
        if trying < TRY && !is_clear {
            return (coarseness, State { trying: trying + 1, tried, ..state });
        }
        let onward = self.neighbour(coarseness, is_finer);
        let trial = State { trying: 0, tried: 0, ..state };
        if !is_higher(tried, kept, BETTER) {
            let back = self.neighbour(coarseness, !is_finer).unwrap_or(coarseness);
            return (back, State { failed: state.failed + 1, is_finer: !is_finer, ..trial });
        }
        // Where it comes from is worse, so it goes on.
        match onward {
            Some(next) => (next, State { trying: 1, failed: 1, kept: tried, ..trial }),
            None => (coarseness, State { failed: 2, kept: tried, is_finer: !is_finer, ..trial }),
        }
    }

    fn stay_on(&self, coarseness: u32, rate: u64, state: State) -> (u32, State) {
        let stayed = state.stayed + 1;
        // The first measurement after a try still has processes that came before.
        let is_first = stayed == 1;
        let is_other =
            !is_first && (is_higher(rate, state.kept, CHANGE) || is_higher(state.kept, rate, CHANGE));
        let is_known = state.kept > 0 && !is_other;
        let kept = if is_known { (7 * state.kept + rate) / 8 } else { rate };
        let failed = if is_known { state.failed } else { 0 };
        let stay = if failed < 2 { SOON } else { STAY };
        if stayed < stay && is_known {
            return (coarseness, State { stayed, kept, failed, ..state });
        }
        // After a long stay one neighbour is enough, the other one is next.
        let failed = if failed < 2 { failed } else { 1 };
        let is_finer = state.is_finer == self.neighbour(coarseness, state.is_finer).is_some();
        match self.neighbour(coarseness, is_finer) {
            Some(next) => (next, State { stayed: 0, failed, trying: 1, is_finer, kept, tried: 0 }),
            None => (coarseness, State { stayed: 0, failed: 2, kept, ..state }),
        }
    }

    fn neighbour(&self, coarseness: u32, is_finer: bool) -> Option<u32> {
        if is_finer {
            coarseness.checked_sub(1)
        } else {
            (coarseness < self.coarsest).then_some(coarseness + 1)
        }
    }

    /// Counts a turn of writers, with the readers before it, or begins a new measurement.
    pub(crate) async fn count(
        &self,
        rma: &impl Rma,
        (home, word): (Rank, Word),
        tally: Tally,
        coarseness: u32,
        acquisitions: u64,
    ) {
        let next = if tally.turns < self.turns {
            Tally { turns: tally.turns + 1, acquisitions: tally.acquisitions + acquisitions, ..tally }
        } else {
            Tally { coarseness, turns: 0, acquisitions: 0 }
        };
        rma.put(next.word(), home, word).await;
        rma.flush(home).await;
    }
}
