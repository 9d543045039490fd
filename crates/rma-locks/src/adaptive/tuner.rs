//! How the adaptive lock measures.
//!
//! A measurement lasts for some turns of writers: until enough processes have come and enough of them were
//! writers, so that chance does not decide. One turn is enough where a thousand processes take part in
//! it; with few writers among few processes it takes dozens.
//!
//! Its words are changed only by the process that has the lock.

use super::climb::{Climb, Measured, State};
use super::setting::{Bounds, ReaderPatience, SETTING_BITS, Setting};
use super::turn::{Felt, Turn};
use crate::layout::Layout;
use crate::rma::{Rank, Rma, Word};

/// A measurement has so many acquisitions for each process, and so many writers, unless it has
/// [`MOST_TURNS`] turns before.
const ACQUISITIONS: u64 = 16;
const WRITERS: u64 = 64;
/// Its turns together visit at least this many counters; [`WRITERS_A_VISIT`] writers count as one visit.
/// All processes wait while the lock decides, about as long as for one or two visits, so a decision has to
/// be rare.
const VISITS: u64 = 48;
const WRITERS_A_VISIT: u64 = 64;

/// The word that every turn of writers touches: the setting in force, and what has been since the measurement
/// began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) setting: Setting,
    /// False before the first turn.
    has_begun: bool,
    turns: u64,
    felt: Felt,
    writers: u64,
    readers: u64,
}

/// The bits of its parts; the numbers stay at the most that they hold.
const TURNS: u32 = 6;
const MOST_TURNS: u64 = (1 << TURNS) - 1;
const FELT_AT: u32 = SETTING_BITS + 1;
const TURNS_AT: u32 = FELT_AT + Felt::BITS;
const WRITERS_AT: u32 = TURNS_AT + TURNS;
const WRITERS_BITS: u32 = 17;
const READERS_AT: u32 = WRITERS_AT + WRITERS_BITS;
const READERS_BITS: u32 = 64 - READERS_AT;

fn most(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Tally {
    /// Nothing was counted yet.
    fn begins(setting: Setting) -> Tally {
        Tally { setting, has_begun: true, turns: 0, felt: Felt::default(), writers: 0, readers: 0 }
    }

    pub(super) fn of(word: u64) -> Tally {
        Tally {
            setting: Setting::of(word),
            has_begun: word >> SETTING_BITS & 1 == 1,
            felt: Felt::of(word >> FELT_AT),
            turns: word >> TURNS_AT & MOST_TURNS,
            writers: word >> WRITERS_AT & most(WRITERS_BITS),
            readers: word >> READERS_AT,
        }
    }

    fn word(self) -> u64 {
        self.setting.word()
            | u64::from(self.has_begun) << SETTING_BITS
            | self.felt.bits() << FELT_AT
            | self.turns << TURNS_AT
            | self.writers << WRITERS_AT
            | self.readers << READERS_AT
    }

    /// What to add to the word for a turn that begins after so many readers.
    fn of_turn(self, readers: u64) -> u64 {
        1 << TURNS_AT | readers.min(most(READERS_BITS) - self.readers) << READERS_AT
    }

    /// What to add to the word for the writers of a turn. It holds this much again: see `is_complete`.
    fn of_writers(writers: u64) -> u64 {
        writers.min(most(WRITERS_BITS) / 2) << WRITERS_AT
    }
}

/// The words after the tally's: when the measurement began, the state, and its rates.
const START: Word = 1;
const STATE: Word = 2;
const RATES: Word = 3;

#[derive(Debug, Clone, Copy)]
pub(super) struct Tuner {
    climb: Climb,
    /// The setting after the first turn.
    start: Setting,
    patience: ReaderPatience,
    /// Acquisitions of a measurement, at least.
    enough: u64,
    /// The number of counters, if all are open.
    counters: u64,
    /// It measures nothing and changes the setting at every turn.
    is_restless: bool,
}

impl Tuner {
    /// The number of its words.
    pub(super) const WORDS: usize = 4;

    pub(super) fn new(layout: &Layout, bounds: &Bounds) -> Tuner {
        Tuner {
            climb: Climb { last: bounds.last(layout) },
            start: bounds.start(layout),
            patience: bounds.patience_of(layout),
            enough: ACQUISITIONS * layout.processes() as u64,
            counters: layout.counters().len() as u64,
            is_restless: false,
        }
    }

    pub(super) fn restless(self) -> Tuner {
        Tuner { is_restless: true, ..self }
    }

    pub(super) async fn tally(&self, rma: &impl Rma, (home, word): (Rank, Word)) -> Tally {
        Tally::of(rma.get(home, word).await)
    }

    /// Whether a measurement is complete with this tally. At the beginning of its first turn, nothing
    /// is known of writers.
    fn is_complete(&self, tally: Tally, are_writers_known: bool) -> bool {
        let is_full = tally.writers > most(WRITERS_BITS) / 2 || tally.readers == most(READERS_BITS);
        let counters = (self.counters >> tally.setting.coarseness).max(1);
        let is_enough = tally.writers + tally.readers >= self.enough
            && (tally.writers >= WRITERS || !are_writers_known)
            && tally.turns * counters + tally.writers / WRITERS_A_VISIT >= VISITS;
        is_enough || is_full || tally.turns == MOST_TURNS || !tally.has_begun || self.is_restless
    }

    /// Counts a turn of writers that begins after so many readers. `tally` is what the first of the words at
    /// `home` holds. The caller has to flush.
    pub(super) async fn begin(
        &self,
        rma: &impl Rma,
        (home, word): (Rank, Word),
        tally: Tally,
        readers: u64,
    ) -> Turn {
        let change = tally.of_turn(readers);
        rma.add(change, home, word).await;
        let is_last = self.is_complete(Tally::of(tally.word() + change), tally.turns > 0);
        Turn { setting: tally.setting, is_last, felt_before: tally.felt, ..Turn::default() }
    }

    /// Counts the writers of a turn that ends now, and chooses the setting from now on. The caller has to
    /// flush before it lets another writer begin a turn.
    pub(super) async fn end(
        &self,
        rma: &impl Rma,
        (home, word): (Rank, Word),
        turn: Turn,
        time: u64,
    ) -> Setting {
        let writers = Tally::of_writers(turn.writers);
        // A turn in which thresholds did nothing new needs no answer from the tally's process.
        if !turn.is_last && turn.felt.or(turn.felt_before) == turn.felt_before {
            rma.add(writers, home, word).await;
            return turn.setting;
        }
        let tally = Tally::of(rma.get(home, word).await + writers);
        let tally = Tally { felt: tally.felt.or(turn.felt), ..tally };
        let next = if turn.is_last && self.is_complete(tally, true) {
            Tally::begins(self.decide(rma, (home, word), tally, time).await)
        } else {
            tally
        };
        rma.put(next.word(), home, word).await;
        next.setting
    }

    async fn decide(&self, rma: &impl Rma, (home, word): (Rank, Word), tally: Tally, time: u64) -> Setting {
        if self.is_restless {
            return tally.setting.next(self.climb.last);
        }
        let start = rma.get(home, word + START).await;
        rma.put(time.max(1), home, word + START).await;
        if start == 0 {
            return self.start;
        }
        let known = rma.get(home, word + STATE).await;
        let rates = rma.get(home, word + RATES).await;
        let measured = self.measured(tally, time.saturating_sub(start));
        let (setting, state) = self.climb.next(tally.setting, measured, State::of(known, rates));
        let [known, rates] = state.words();
        rma.put(known, home, word + STATE).await;
        rma.put(rates, home, word + RATES).await;
        setting
    }

    /// The measurement that took `time`.
    fn measured(&self, tally: Tally, time: u64) -> Measured {
        let (writers, all) = (tally.writers as f32, (tally.writers + tally.readers) as f32);
        let is_impatient = match self.patience {
            ReaderPatience::Writers(most) => tally.writers > most.saturating_mul(tally.turns),
            ReaderPatience::Time(most) => time > most.saturating_mul(tally.turns),
        };
        Measured {
            rate: (all * writers).sqrt() / time.max(1) as f32,
            writers: writers / all,
            felt: tally.felt,
            tries_patience: tally.readers > 0 && is_impatient,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Felt, MOST_TURNS, ReaderPatience, Setting, Tally, Tuner};
    use crate::adaptive::setting::Bounds;
    use crate::layout::Layout;

    #[test]
    fn a_tally_fits_into_a_word() {
        let felt = Felt { locality_cut: true, locality_used: true, writers_cut: true, writers_used: true };
        let setting = Setting { coarseness: 31, locality: 15, writers: 15 };
        let tally =
            Tally { setting, has_begun: true, turns: MOST_TURNS, felt, writers: 1 << 16, readers: 1 << 22 };
        assert_eq!(Tally::of(tally.word()), tally);
        let tally = Tally { turns: 1, writers: (1 << 16) - 1, ..tally };
        let full = Tally::of(tally.word() + tally.of_turn(u64::MAX) + Tally::of_writers(u64::MAX));
        let numbers = (full.turns, full.readers, full.writers);
        assert_eq!(numbers, (2, (1 << 23) - 1, (1 << 17) - 2), "numbers stay at their most");
    }

    #[test]
    fn a_measurement_has_acquisitions_and_writers_or_many_turns() {
        let tuner = Tuner::new(&Layout::flat(64, 1), &Bounds::new(vec![], 1..=8));
        let coarsest = Setting { coarseness: 6, ..Setting::default() };
        let tally =
            |turns, writers, readers| Tally { turns, writers, readers, ..Tally::begins(Setting::default()) };
        let is_complete = |tally| tuner.is_complete(tally, true);
        assert!(is_complete(tally(1, 64, 1000)));
        assert!(!is_complete(tally(1, 64, 900)), "too few acquisitions");
        assert!(!is_complete(tally(1, 63, 1 << 20)), "too few writers");
        assert!(tuner.is_complete(tally(1, 0, 1024), false), "perhaps enough writers");
        assert!(is_complete(tally(MOST_TURNS, 1, 1)));
        assert!(is_complete(tally(1, 1, (1 << 23) - 1)), "the word is full");
        let coarse = |turns| Tally { turns, writers: 1000, readers: 1000, ..Tally::begins(coarsest) };
        assert!(is_complete(coarse(33)) && !is_complete(coarse(32)), "one counter needs more turns");
    }

    #[test]
    fn patience_is_for_readers() {
        let tally =
            |writers, readers| Tally { turns: 2, writers, readers, ..Tally::begins(Setting::default()) };
        let tries = |patience, tally, time| {
            let bounds = Bounds::new(vec![], 1..=8).with_patience(patience);
            Tuner::new(&Layout::flat(4, 1), &bounds).measured(tally, time).tries_patience
        };
        assert!(tries(ReaderPatience::Writers(5), tally(11, 1), 7));
        assert!(!tries(ReaderPatience::Writers(5), tally(10, 1), 7));
        assert!(!tries(ReaderPatience::Writers(5), tally(11, 0), 7), "no reader waits");
        assert!(tries(ReaderPatience::Time(5), tally(1, 1), 11));
        assert!(!tries(ReaderPatience::Time(5), tally(1, 1), 10));
        let usual = Tuner::new(&Layout::flat(4, 1), &Bounds::new(vec![], 1..=8));
        assert!(usual.measured(tally(33, 1), 1).tries_patience, "four for each process");
        assert!(!usual.measured(tally(32, 1), 1).tries_patience);
    }
}
