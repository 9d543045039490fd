//! Options for the lengths of a run and of its launches.

use std::time::Duration;

use super::case::{Effort, LEAST_SECONDS};
use crate::error::BenchError;
use crate::harness::options::seconds;

/// Options that `heddle bench` and `heddle papers` share.
#[derive(Debug, clap::Args)]
pub(crate) struct LengthArgs {
    /// Rounds over all libraries; with --machine, each has another seed.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Repetitions in each launch.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    reps: Option<u32>,
    /// Seconds of a repetition: at least 0.01, with --machine 0.0001 of its time.
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Seconds after which a launch is ended (default: 60, with --machine 300).
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
}

impl LengthArgs {
    /// The lengths: `usual` ones where the command line does not say otherwise. Short ones are for machines
    /// that are `simulated`.
    ///
    /// # Errors
    ///
    /// [`BenchError::Options`] if repetitions are too short for a real machine.
    pub(crate) fn effort(&self, usual: Effort, simulated: bool) -> Result<Effort, BenchError> {
        let seconds = self.seconds.unwrap_or(usual.seconds);
        if seconds < LEAST_SECONDS && !simulated {
            return Err(BenchError::Options(format!(
                "--seconds {seconds} is too short for a real machine: at least {LEAST_SECONDS}, or a simulated one \
                 (--machine)"
            )));
        }
        Ok(Effort {
            rounds: self.rounds.unwrap_or(usual.rounds),
            reps: self.reps.unwrap_or(usual.reps),
            seconds,
            ..usual
        })
    }

    /// The time after which a launch is ended. A simulated machine takes its time.
    pub(crate) fn timeout(&self, simulated: bool) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(if simulated { 300 } else { 60 }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::LengthArgs;
    use crate::bench::case::Effort;

    #[test]
    fn short_repetitions_are_for_simulated_machines() {
        let given = LengthArgs { rounds: None, reps: Some(2), seconds: Some(0.001), timeout: None };
        let usual = Effort { rounds: 5, reps: 1, seconds: 0.1, warm: 0.01 };
        assert!(given.effort(usual, false).is_err_and(|error| error.to_string().contains("--machine")));
        let effort = given.effort(usual, true).expect("a simulated machine");
        assert_eq!((effort.rounds, effort.reps, effort.seconds), (5, 2, 0.001));
        assert_eq!(
            [false, true].map(|simulated| given.timeout(simulated)),
            [60, 300].map(Duration::from_secs)
        );
    }
}
