//! Alternating rounds: every round gives each case to each system, one directly after the other, beginning
//! with another system each time, so that a machine whose speed changes treats all alike.

use std::collections::HashMap;

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::interrupts::Interrupts;
use crate::error::BenchError;

/// After this number of turns that took too long, a system is left out of a case.
const PATIENCE: u32 = 2;

/// A benchmark: what its cases and systems are, and how a system takes a case.
pub(crate) trait Benchmark {
    /// One thing to measure.
    type Case;
    /// One of those that are compared.
    type System;
    /// The word for its turns.
    const TURNS: &'static str;

    /// The name of a case.
    fn case_name(&self, case: &Self::Case) -> String;

    /// The name of a system.
    fn system_name(&self, system: &Self::System) -> String;

    /// Returns false if the system has no part in the case.
    fn takes(&self, _system: &Self::System, _case: &Self::Case) -> bool {
        true
    }

    /// Called before the turns of a case.
    fn case_begins(&mut self) {}

    /// Measures a case for a system, in a round counted from 1, and notes the figures.
    ///
    /// # Errors
    ///
    /// One that ends the run.
    fn measure(
        &mut self,
        round: u32,
        case: &Self::Case,
        system: &Self::System,
    ) -> Result<Outcome, BenchError>;

    /// Notes that a turn gave no figures; there is nothing to note where no turn fails.
    fn failed(&mut self, _failure: Failure) {}

    /// Called after a turn.
    ///
    /// # Errors
    ///
    /// If what was measured cannot be written.
    fn turn_ends(&mut self) -> Result<(), BenchError> {
        Ok(())
    }

    /// Called after the turns of a case, or those before an interruption.
    fn case_ends(&mut self, _round: u32, _case: &Self::Case) {}

    /// Called after a round, or its part before an interruption.
    ///
    /// # Errors
    ///
    /// If what was measured cannot be written.
    fn round_ends(&mut self) -> Result<(), BenchError> {
        Ok(())
    }
}

/// How a turn ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With figures, or by an interruption.
    Measured,
    /// Without them, for this reason.
    Failed(String),
    /// It was ended because it took too long.
    TookTooLong,
}

/// A turn that gave no figures, or not all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The system's name.
    #[serde(rename = "library")]
    pub(crate) system: String,
    /// Counted from 1; 0 for a system that could not be prepared at all.
    pub(crate) round: u32,
    /// Which case.
    pub(crate) case: String,
    /// The reason.
    pub(crate) how: String,
}

/// The cases and systems of a run, each in their order in the first round.
#[derive(Debug)]
pub(crate) struct Alternation<C, S> {
    /// Rounds over all cases.
    pub(crate) rounds: u32,
    /// The cases.
    pub(crate) cases: Vec<C>,
    /// The systems.
    pub(crate) systems: Vec<S>,
}

impl<C, S> Alternation<C, S> {
    /// Makes all rounds; true if the user interrupted.
    ///
    /// # Errors
    ///
    /// The first that the benchmark returns.
    pub(crate) fn run<B: Benchmark<Case = C, System = S>>(
        &self,
        benchmark: &mut B,
        interrupts: &Interrupts,
    ) -> Result<bool, BenchError> {
        let takes = |case: &C| self.systems.iter().filter(|system| benchmark.takes(system, case)).count();
        let turns = self.cases.iter().map(takes).sum::<usize>();
        if turns == 0 {
            return Ok(interrupts.came());
        }
        let progress = ProgressBar::new(u64::from(self.rounds) * turns as u64);
        let line =
            format!("{{bar:30}} {{pos}}/{{len}} {}, {{elapsed}} gone, {{eta}} left: {{msg}}", B::TURNS);
        if let Ok(style) = ProgressStyle::with_template(&line) {
            progress.set_style(style);
        }
        let mut patience = Patience::default();
        for round in 1..=self.rounds {
            if progress.is_hidden() {
                eprintln!("round {round} of {}: {turns} {}", self.rounds, B::TURNS);
            }
            for case in &self.cases {
                benchmark.case_begins();
                for system in self.in_turn(round).filter(|_| !interrupts.came()) {
                    if benchmark.takes(system, case) {
                        let names = (benchmark.system_name(system), benchmark.case_name(case));
                        progress.set_message(format!("round {round}, {}, {}", names.1, names.0));
                        patience.turn(benchmark, round, (case, system), names)?;
                        progress.inc(1);
                    }
                }
                benchmark.case_ends(round, case);
                if interrupts.came() {
                    progress.abandon_with_message("interrupted");
                    benchmark.round_ends()?;
                    return Ok(true);
                }
            }
            benchmark.round_ends()?;
        }
        progress.finish_and_clear();
        Ok(false)
    }

    /// The systems in the order of a round.
    fn in_turn(&self, round: u32) -> impl Iterator<Item = &S> {
        let count = self.systems.len();
        (0..count).map(move |turn| &self.systems[(turn + round as usize - 1) % count])
    }
}

/// The turns that took too long, by system and case.
#[derive(Debug, Default)]
struct Patience(HashMap<(String, String), u32>);

impl Patience {
    /// One turn of the system and the case with these names, unless they took too long too often.
    fn turn<B: Benchmark>(
        &mut self,
        benchmark: &mut B,
        round: u32,
        (case, system): (&B::Case, &B::System),
        names: (String, String),
    ) -> Result<(), BenchError> {
        let fail = |benchmark: &mut B, how: String| {
            let (system, case) = names.clone();
            benchmark.failed(Failure { system, round, case, how });
        };
        if self.0.get(&names).is_some_and(|&times| times >= PATIENCE) {
            fail(benchmark, format!("not tried: took too long {PATIENCE} times before"));
            return Ok(());
        }
        match benchmark.measure(round, case, system)? {
            Outcome::Measured => {}
            Outcome::Failed(how) => fail(benchmark, how),
            Outcome::TookTooLong => {
                fail(benchmark, "took too long and was ended".to_owned());
                *self.0.entry(names).or_default() += 1;
            }
        }
        benchmark.turn_ends()
    }
}

#[cfg(test)]
mod tests {
    use super::{Alternation, Benchmark, Failure, Outcome};
    use crate::error::BenchError;
    use crate::harness::interrupts::Interrupts;

    /// Notes what is called. The systems are letters: `f` fails, `s` is slow, `e` ends the run, `i`
    /// interrupts it; a capital has no part in the first case.
    #[derive(Default)]
    struct Notes {
        calls: Vec<String>,
        failures: Vec<Failure>,
        interrupts: Interrupts,
    }

    impl Benchmark for Notes {
        type Case = u32;
        type System = char;
        const TURNS: &'static str = "notes";

        fn case_name(&self, case: &u32) -> String {
            case.to_string()
        }

        fn system_name(&self, system: &char) -> String {
            system.to_string()
        }

        fn takes(&self, system: &char, &case: &u32) -> bool {
            case != 1 || system.is_lowercase()
        }

        fn case_begins(&mut self) {
            self.calls.push("(".to_owned());
        }

        fn measure(&mut self, round: u32, case: &u32, &system: &char) -> Result<Outcome, BenchError> {
            self.calls.push(format!("{round}{case}{system}"));
            match system {
                'f' => Ok(Outcome::Failed("no luck".to_owned())),
                's' => Ok(Outcome::TookTooLong),
                'e' => Err(BenchError::NothingToMeasure),
                'i' => {
                    self.interrupts.interrupt();
                    Ok(Outcome::Measured)
                }
                _ => Ok(Outcome::Measured),
            }
        }

        fn failed(&mut self, failure: Failure) {
            self.failures.push(failure);
        }

        fn turn_ends(&mut self) -> Result<(), BenchError> {
            self.calls.push(",".to_owned());
            Ok(())
        }

        fn case_ends(&mut self, _: u32, _: &u32) {
            self.calls.push(")".to_owned());
        }

        fn round_ends(&mut self) -> Result<(), BenchError> {
            self.calls.push(";".to_owned());
            Ok(())
        }
    }

    /// The calls of a run with two cases, how it ended, and its failures.
    fn run(rounds: u32, systems: &str) -> (String, Result<bool, BenchError>, Vec<Failure>) {
        let mut notes = Notes::default();
        let interrupts = notes.interrupts.clone();
        let all = Alternation { rounds, cases: vec![1, 2], systems: systems.chars().collect() };
        let ended = all.run(&mut notes, &interrupts);
        (notes.calls.concat(), ended, notes.failures)
    }

    #[test]
    fn each_round_begins_with_another_system() {
        let (calls, ended, failures) = run(4, "abc");
        assert_eq!(
            calls,
            "(11a,11b,11c,)(12a,12b,12c,);\
             (21b,21c,21a,)(22b,22c,22a,);\
             (31c,31a,31b,)(32c,32a,32b,);\
             (41a,41b,41c,)(42a,42b,42c,);"
        );
        assert!(ended.is_ok_and(|interrupted| !interrupted) && failures.is_empty());
    }

    #[test]
    fn a_system_is_left_out_where_it_has_no_part() {
        assert_eq!(run(2, "aB").0, "(11a,)(12a,12B,);(21a,)(22B,22a,);");
    }

    #[test]
    fn the_others_go_on_beside_a_system_that_fails() {
        let (calls, ended, failures) = run(1, "afb");
        assert_eq!(calls, "(11a,11f,11b,)(12a,12f,12b,);");
        assert!(ended.is_ok_and(|interrupted| !interrupted));
        let failure = |case: &str| Failure {
            system: "f".to_owned(),
            round: 1,
            case: case.to_owned(),
            how: "no luck".to_owned(),
        };
        assert_eq!(failures, [failure("1"), failure("2")]);
    }

    #[test]
    fn a_slow_system_is_not_tried_a_third_time() {
        let (calls, _, failures) = run(3, "as");
        assert!(calls.ends_with("(31a,)(32a,);"), "{calls}");
        let how: Vec<&str> = failures.iter().map(|failure| failure.how.as_str()).collect();
        assert_eq!(how[..4], ["took too long and was ended"; 4]);
        assert_eq!(how[4..], ["not tried: took too long 2 times before"; 2]);
    }

    #[test]
    fn an_interruption_ends_the_run_after_the_turn() {
        let (calls, ended, _) = run(2, "aib");
        assert_eq!(calls, "(11a,11i,);");
        assert!(ended.is_ok_and(|interrupted| interrupted));
    }

    #[test]
    fn an_error_ends_the_run_at_once() {
        let (calls, ended, _) = run(2, "aeb");
        assert_eq!(calls, "(11a,11e");
        assert!(ended.is_err());
    }
}
