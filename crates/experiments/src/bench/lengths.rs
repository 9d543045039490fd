//! Options for the lengths of a run and of its launches.

use std::time::Duration;

use super::case::Effort;
use crate::harness::options::seconds;

/// Options that `heddle bench` and `heddle papers` share.
#[derive(Debug, clap::Args)]
pub(crate) struct LengthArgs {
    /// Rounds over all libraries.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Repetitions in each launch.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    reps: Option<u32>,
    /// Seconds of a repetition.
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Seconds after which a launch is ended.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

impl LengthArgs {
    /// The lengths: `usual` ones where the command line does not say otherwise.
    pub(crate) fn effort(&self, usual: Effort) -> Effort {
        Effort {
            rounds: self.rounds.unwrap_or(usual.rounds),
            reps: self.reps.unwrap_or(usual.reps),
            seconds: self.seconds.unwrap_or(usual.seconds),
            ..usual
        }
    }

    /// The time after which a launch is ended.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}
