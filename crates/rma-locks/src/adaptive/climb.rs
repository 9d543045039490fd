//! How the adaptive lock decides: by trying the neighbours of its setting.
//!
//! It stays with a setting, and after a few measurements tries a neighbour: one step more or less of one
//! parameter, or two steps in the number of counters, for the one after the next may be better where the
//! next is not. If the neighbour has a higher rate the lock stays there and goes on in that direction, else
//! it comes back and tries another one. When no neighbour is better it tries one of them only now and then.
//! If the rate or the share of writers becomes another one by itself, the workload has changed: the lock
//! measures once more, then tries.
//!
//! **What it leaves out.** A threshold that kept no writer from passing the lock on is not raised, and one
//! whose half would be enough is not lowered: neither would change anything. While readers' patience is
//! tried, thresholds are lowered without asking for the rate.

use super::setting::Setting;
use super::step::Step;
use super::turn::Felt;

/// Measurements for which the lock stays between two tries, if no neighbour is better. Chance may have hidden
/// that one is better, unless it was [`BAD`], so the first stays are short; after the last one it goes on
/// with the first long one.
const STAY: [u32; 4] = [10, 20, LONGEST_STAY, LONGEST_STAY];
const LONG: u32 = 2;
const LONGEST_STAY: u32 = 80;
/// It counts no further.
const MOST_STAYED: u32 = 127;
/// The rate of a bad neighbour is lower by this factor: it is tried again only after the longest stay.
const BAD: f32 = 1.08;
/// Tries after each of these stays.
const TRIES: u32 = 2;
/// Measurements before it tries a neighbour that is not known to be worse.
const SOON: u32 = 2;
/// Measurements of a try, at most.
const TRY: u32 = 4;
/// A try ends after its n-th measurement if the mean rate is higher, or lower, by the n-th part of this.
const CLEARLY_BETTER: f32 = 0.3;
const CLEARLY_WORSE: f32 = 0.15;
/// Another rate, or another share of writers, by these factors is a change of the workload.
const OTHER_RATE: f32 = 1.3;
const OTHER_SHARE: f32 = 2.0;

/// The result of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    /// Acquisitions in a unit of time: the geometric mean of this rate of all processes and that of writers
    /// alone. In the long run the two go together; for a while chance, or a queue of writers
    /// that grows, raises one and lowers the other.
    pub(super) rate: f32,
    /// The share of writers.
    pub(super) writers: f32,
    pub(super) felt: Felt,
    /// Readers were kept out for longer than they may be.
    pub(super) tries_patience: bool,
}

/// What the lock knows between two measurements. At first all is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct State {
    /// Measurements since the last try.
    stayed: u32,
    /// The steps that are known to be no better, as bits.
    failed: u32,
    /// Those that are known to be bad.
    bad: u32,
    /// Tries after long stays, since a neighbour was better.
    in_vain: u32,
    /// The step of the last or current try.
    step: Step,
    /// Measurements of the current try, and 1; 0 if there is none.
    trying: u32,
    /// The share of writers of the setting that is kept, its rate (0: not known), and the rate of the try.
    writers: f32,
    kept: f32,
    tried: f32,
}

impl State {
    pub(super) fn of(known: u64, rates: u64) -> State {
        let bits = known as u32;
        State {
            stayed: bits & MOST_STAYED,
            failed: bits >> 7 & 0xFF,
            bad: bits >> 15 & 0xFF,
            in_vain: bits >> 23 & 7,
            step: Step::ALL[(bits >> 26 & 7) as usize],
            trying: bits >> 29,
            writers: f32::from_bits((known >> 32) as u32),
            kept: f32::from_bits(rates as u32),
            tried: f32::from_bits((rates >> 32) as u32),
        }
    }

    pub(super) fn words(self) -> [u64; 2] {
        let steps = self.failed << 7 | self.bad << 15 | (self.step as u32) << 26;
        let bits = self.stayed | steps | self.in_vain << 23 | self.trying << 29;
        [
            u64::from(self.writers.to_bits()) << 32 | u64::from(bits),
            u64::from(self.tried.to_bits()) << 32 | u64::from(self.kept.to_bits()),
        ]
    }
}

fn differ(a: f32, b: f32, factor: f32) -> bool {
    a > b * factor || b > a * factor
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Climb {
    /// The coarsest counters and the least of each threshold.
    pub(super) last: Setting,
}

impl Climb {
    /// The setting and the state after a measurement of `setting`.
    pub(super) fn next(&self, setting: Setting, measured: Measured, state: State) -> (Setting, State) {
        if state.trying > 0 {
            self.try_on(setting, measured, state)
        } else {
            self.stay_on(setting, measured, state)
        }
    }

    fn try_on(&self, setting: Setting, measured: Measured, state: State) -> (Setting, State) {
        let State { step, trying, kept, .. } = state;
        let tried = (state.tried * (trying - 1) as f32 + measured.rate) / trying as f32;
        let is_over = measured.tries_patience
            || tried > kept * (1.0 + CLEARLY_BETTER / trying as f32)
            || kept > tried * (1.0 + CLEARLY_WORSE / trying as f32)
            || trying == TRY;
        if !is_over {
            return (setting, State { trying: trying + 1, tried, ..state });
        }
        let ended = State { stayed: 0, trying: 0, tried: 0.0, ..state };
        if measured.tries_patience || tried < kept * step.wanted() {
            let back = self.moved(setting, step.back()).unwrap_or(setting);
            let bad = if kept > tried * BAD { state.bad | step.bit() } else { state.bad & !step.bit() };
            return (back, State { failed: state.failed | step.bit(), bad, ..ended });
        }
        // Where it comes from is worse, and all other neighbours are new.
        let failed = step.back().bit();
        let (kept, writers) = (tried.max(kept), measured.writers);
        let better = State { failed, bad: 0, in_vain: 0, kept, writers, ..ended };
        let on = step.near();
        match self.moved(setting, on).filter(|_| on.matters(measured.felt)) {
            Some(next) => (next, State { step: on, trying: 1, ..better }),
            None => (setting, better),
        }
    }

    fn stay_on(&self, setting: Setting, measured: Measured, state: State) -> (Setting, State) {
        let stayed = state.stayed + 1;
        if measured.tries_patience
            && let Some(lower) = self.lowered(setting, measured.felt)
        {
            let failed = Step::MoreWriters.bit() | Step::MoreLocality.bit();
            return (lower, State { stayed: 0, failed, kept: 0.0, ..state });
        }
        // The first measurement after a try still has processes that came before.
        let is_other = stayed > 1
            && state.kept > 0.0
            && (differ(measured.rate, state.kept, OTHER_RATE)
                || differ(measured.writers, state.writers, OTHER_SHARE));
        if is_other {
            // This measurement has something of both workloads. The next one says what the setting is worth.
            return (setting, State { stayed: SOON, failed: 0, bad: 0, in_vain: 0, kept: 0.0, ..state });
        }
        let mean = |kept: f32, now: f32| if state.kept == 0.0 { now } else { (3.0 * kept + now) / 4.0 };
        let known = State {
            kept: mean(state.kept, measured.rate),
            writers: mean(state.writers, measured.writers),
            ..state
        };
        let neighbour = |step: Step| {
            let next = self.moved(setting, step).filter(|_| step.matters(measured.felt))?;
            Some((next, State { step, stayed: 0, trying: 1, tried: 0.0, ..known }))
        };
        let untried = Step::ALL.into_iter().filter(|step| known.failed & step.bit() == 0).find_map(neighbour);
        let again = || {
            let after = (1..=Step::ALL.len()).map(|n| Step::ALL[(known.step as usize + n) % Step::ALL.len()]);
            let is_due = |step: &Step| known.bad & step.bit() == 0 || stayed >= LONGEST_STAY;
            let (next, state) = after.into_iter().filter(is_due).find_map(neighbour)?;
            let in_vain = (known.in_vain + 1) % (TRIES * STAY.len() as u32);
            let in_vain = if in_vain == 0 { TRIES * LONG } else { in_vain };
            Some((next, State { in_vain, ..state }))
        };
        let tries = match untried {
            Some(_) if stayed >= SOON => untried,
            None if stayed >= STAY[(known.in_vain / TRIES) as usize % STAY.len()] => again(),
            _ => None,
        };
        tries.unwrap_or((setting, State { stayed: stayed.min(MOST_STAYED), ..known }))
    }

    /// With one threshold lower, the first whose lowering makes a writers' turn shorter.
    fn lowered(&self, setting: Setting, felt: Felt) -> Option<Setting> {
        let steps = [Step::FewerWriters, Step::LessLocality];
        steps.into_iter().filter(|step| step.matters(felt)).find_map(|step| self.moved(setting, step))
    }

    /// The setting after a step, if there is one.
    fn moved(&self, setting: Setting, step: Step) -> Option<Setting> {
        let by = if step == step.near() { 1 } else { 2 };
        let more = |now: u32, last: u32| (now + by <= last).then_some(now + by);
        let less = |now: u32| now.checked_sub(by);
        let Setting { coarseness, locality, writers } = setting;
        Some(match step {
            Step::MoreWriters => Setting { writers: less(writers)?, ..setting },
            Step::MoreLocality => Setting { locality: less(locality)?, ..setting },
            Step::Finer | Step::MuchFiner => Setting { coarseness: less(coarseness)?, ..setting },
            Step::Coarser | Step::MuchCoarser => {
                Setting { coarseness: more(coarseness, self.last.coarseness)?, ..setting }
            }
            Step::FewerWriters => Setting { writers: more(writers, self.last.writers)?, ..setting },
            Step::LessLocality => Setting { locality: more(locality, self.last.locality)?, ..setting },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Climb, Felt, Measured, Setting, State, Step};

    const CLIMB: Climb = Climb { last: Setting { coarseness: 4, locality: 4, writers: 4 } };
    const START: Setting = Setting { coarseness: 2, locality: 2, writers: 2 };

    /// Measures `rate` of each setting for a while, and returns the setting after each measurement.
    fn climb(
        (mut setting, mut state): (Setting, State),
        measurements: usize,
        measure: impl Fn(Setting) -> Measured,
    ) -> (Vec<Setting>, State) {
        let mut settings = Vec::new();
        for _ in 0..measurements {
            (setting, state) = CLIMB.next(setting, measure(setting), state);
            settings.push(setting);
        }
        (settings, state)
    }

    fn first() -> (Setting, State) {
        (START, State::of(0, 0))
    }

    fn measured(rate: f32) -> Measured {
        Measured { rate, writers: 0.1, felt: Felt::default(), tries_patience: false }
    }

    /// A threshold that cuts and is used.
    fn felt(rate: f32) -> Measured {
        let felt = Felt { locality_cut: true, locality_used: true, writers_cut: true, writers_used: true };
        Measured { felt, ..measured(rate) }
    }

    #[test]
    fn a_state_fits_into_its_words() {
        let state = State {
            stayed: 127,
            failed: 255,
            bad: 255,
            in_vain: 7,
            step: Step::LessLocality,
            trying: 7,
            writers: 0.3,
            kept: 1.5,
            tried: 2.5,
        };
        let [known, rates] = state.words();
        assert_eq!(State::of(known, rates), state);
    }

    #[test]
    fn it_finds_the_best_of_all_parameters() {
        let best = Setting { coarseness: 4, locality: 1, writers: 0 };
        let distance = |setting: Setting| {
            setting.coarseness.abs_diff(best.coarseness)
                + setting.locality.abs_diff(best.locality)
                + setting.writers.abs_diff(best.writers)
        };
        let (settings, _) = climb(first(), 200, |setting| felt(10.0 - distance(setting) as f32));
        let found = settings.iter().position(|setting| *setting == best).expect("it comes to the best");
        assert!(found < 40, "after {found} measurements");
        let stays = settings[100..].iter().filter(|setting| **setting == best).count();
        assert!(stays >= 90, "it stays there: {stays} of 100");
    }

    #[test]
    fn it_looks_past_a_neighbour_that_is_no_better() {
        let rate = |setting: Setting| if setting.coarseness == 0 { 1.2 } else { 1.0 };
        let (settings, _) = climb(first(), 100, |setting| measured(rate(setting)));
        assert_eq!(settings[99].coarseness, 0);
        let rate = |setting: Setting| if setting.coarseness == 4 { 1.2 } else { 1.0 };
        let (settings, _) = climb(first(), 100, |setting| measured(rate(setting)));
        assert_eq!(settings[99].coarseness, 4);
    }

    #[test]
    fn thresholds_that_were_not_felt_stay() {
        let (settings, _) = climb(first(), 200, |setting| measured(setting.coarseness as f32 + 1.0));
        assert!(settings.iter().all(|setting| (setting.locality, setting.writers) == (2, 2)));
        assert_eq!(settings[199].coarseness, 4);
    }

    #[test]
    fn of_equal_rates_the_lower_thresholds_are_chosen() {
        let (settings, _) = climb(first(), 100, |_| felt(1.0));
        assert_eq!((settings[99].locality, settings[99].writers), (4, 4));
    }

    #[test]
    fn a_lower_threshold_that_costs_is_not_kept() {
        let losses = |setting: Setting| if setting.writers > 3 { 0.95 } else { 1.0 };
        let (settings, _) = climb(first(), 100, |setting| felt(losses(setting)));
        assert_eq!((settings[99].locality, settings[99].writers), (4, 3));
    }

    #[test]
    fn patience_lowers_a_threshold_at_any_rate() {
        let tried = |setting: Setting| {
            let rate = 10.0 - (setting.locality + setting.writers) as f32;
            Measured { tries_patience: setting.writers < 4 || setting.locality < 3, ..felt(rate) }
        };
        let (settings, _) = climb(first(), 3, tried);
        let thresholds: Vec<_> = settings.iter().map(|setting| (setting.locality, setting.writers)).collect();
        assert_eq!(thresholds, [(2, 3), (2, 4), (3, 4)]);
        // From then on only for the time of a try.
        let (settings, _) = climb((settings[2], State::of(0, 0)), 300, tried);
        assert!(settings.iter().filter(|setting| tried(**setting).tries_patience).count() < 20);
    }

    #[test]
    fn another_share_of_writers_is_another_workload() {
        let best = |coarseness: u32| {
            move |setting: Setting| measured(2.0 - setting.coarseness.abs_diff(coarseness) as f32 / 8.0)
        };
        let (settings, state) = climb(first(), 64, best(0));
        assert_eq!(settings[63].coarseness, 0);
        let others = |setting: Setting| Measured { writers: 0.5, ..best(4)(setting) };
        let (settings, _) = climb((settings[63], state), 30, others);
        assert_eq!(settings[29].coarseness, 4, "it does not wait for the end of its stay");
    }

    #[test]
    fn the_measurement_in_which_the_workload_changes_is_compared_with_no_other() {
        let rate = |setting: Setting| 2.0 - setting.coarseness as f32 / 8.0;
        let (settings, state) = climb(first(), 64, |setting| measured(rate(setting) / 8.0));
        assert_eq!(settings[63].coarseness, 0);
        let end = Setting { coarseness: 4, ..settings[63] };
        // Half of it goes by with a workload of a higher rate.
        let mixed = Measured { writers: 0.3, ..measured(2.0 * rate(end)) };
        let (setting, state) = CLIMB.next(end, mixed, state);
        let (settings, _) =
            climb((setting, state), 30, |setting| Measured { writers: 0.5, ..measured(rate(setting)) });
        assert_eq!(settings[29].coarseness, 0);
    }
}
