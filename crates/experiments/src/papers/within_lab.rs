//! Measures the locks and queues of an experiment on a machine of the lab: `heddle bench locks` runs there as
//! any other program, once for each lock, number of threads and seed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::experiment::{Experiment, Points};
use super::within::{MeasuredWithin, line, name, subject};
use crate::bench::case::Effort;
use crate::bench::launch::{Ending, Finished, Runner};
use crate::bench::record::Measurement;
use crate::error::BenchError;
use crate::harness::alternation::{Alternation, Benchmark, Failure, Outcome};
use crate::locks::{LockExperiment, figure_of_record};

/// The papers' iterations in a second are too few for many threads in a short interval: each thread needs
/// this number, so that all of them have begun before the first has ended.
const ITERATIONS_EACH: u64 = 256;

/// Measures the locks or the queues of an experiment in the lab of `runner`, whose records go through the
/// folder `out`.
///
/// # Errors
///
/// Those of [`Alternation::run`].
pub(super) fn measure(
    experiment: &Experiment,
    points: &Points,
    effort: &Effort,
    runner: &mut Runner,
    out: &Path,
) -> Result<MeasuredWithin, BenchError> {
    let (_, locks) = subject(experiment);
    let all = Alternation { rounds: effort.rounds, cases: points.threads.clone(), systems: locks.to_vec() };
    let interrupts = runner.interrupts().clone();
    let mut session = LabSession {
        experiment,
        effort: *effort,
        runner,
        heddle: env::current_exe().map_err(BenchError::file("find", "the heddle command"))?,
        out: out.to_owned(),
        measurements: Vec::new(),
        failures: Vec::new(),
    };
    let complete = !all.run(&mut session, &interrupts)?;
    // Without locks there is none.
    let _ = fs::remove_dir_all(out);
    Ok(MeasuredWithin { measurements: session.measurements, failures: session.failures, complete })
}

/// A run of locks in the lab. A case is a number of threads, and a system a lock with its label.
struct LabSession<'a> {
    experiment: &'a Experiment,
    effort: Effort,
    runner: &'a mut Runner,
    heddle: PathBuf,
    /// The folder of the record of a launch.
    out: PathBuf,
    measurements: Vec<Measurement>,
    failures: Vec<Failure>,
}

impl Benchmark for LabSession<'_> {
    type Case = u32;
    type System = (&'static str, &'static str);
    const TURNS: &'static str = "launches";

    fn case_name(&self, threads: &u32) -> String {
        format!("{}, {threads} threads", subject(self.experiment).0.bench)
    }

    fn system_name(&self, (lock, _): &Self::System) -> String {
        (*lock).to_owned()
    }

    fn measure(
        &mut self,
        round: u32,
        &threads: &u32,
        (lock, label): &Self::System,
    ) -> Result<Outcome, BenchError> {
        let (quantity, _) = subject(self.experiment);
        let mut command = self.runner.command(&self.heddle, round.into());
        command.args(arguments(quantity.figure.0, lock, threads, &self.effort, &self.out));
        let Finished { ending, load, .. } = self.runner.finish(command)?;
        match ending {
            Ending::Success => {}
            Ending::Failure(how) => return Ok(Outcome::Failed(how)),
            Ending::TimedOut => return Ok(Outcome::TookTooLong),
            Ending::Interrupted => return Ok(Outcome::Measured),
        }
        let value = figure_of_record(&self.out, quantity.figure.1)?;
        self.measurements.push(Measurement {
            library: name(self.experiment, label),
            round,
            load,
            line: line(&quantity, threads, value),
        });
        Ok(Outcome::Measured)
    }

    fn failed(&mut self, failure: Failure) {
        self.failures.push(failure);
    }
}

/// The arguments of `heddle` for one cell.
fn arguments(
    experiment: LockExperiment,
    lock: &str,
    threads: u32,
    effort: &Effort,
    out: &Path,
) -> Vec<OsString> {
    let iterations = super::within::iterations(effort).max(ITERATIONS_EACH * u64::from(threads));
    let words = format!(
        "bench locks {} --locks {lock} --threads {threads} --no-peers --rounds 1 --iterations {iterations} --seconds {} --out",
        experiment.name(),
        effort.seconds,
    );
    words.split(' ').map(OsString::from).chain([out.into()]).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::arguments;
    use crate::bench::case::IN_LAB;
    use crate::locks::LockExperiment;

    #[test]
    fn every_thread_has_iterations() {
        let of = |threads| {
            let words = arguments(LockExperiment::Lines, "mutex", threads, &IN_LAB, Path::new("/out"));
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        let (few, many) = (of(2), of(44));
        assert!(
            few.starts_with("bench locks lines --locks mutex --threads 2 ") && few.ends_with("--out /out")
        );
        assert!(few.contains("--iterations 4194 --seconds 0.001 "), "{few}");
        assert!(many.contains("--iterations 11264 "), "{many}");
    }
}
