//! `heddle bench locks`: the locks of `heddle-locks` and the combining of `heddle-combining` beside the other
//! mutexes of this machine.
//!
//! The locks take turns at each cell, an experiment with a number of threads (`harness/alternation.rs`).
//! Every turn makes a new lock: a bias that was revoked or a thread that was chosen must not spoil the next.
//! Threads are left where the system puts them, as in programs.

mod combined;
mod contender;
mod experiments;
mod guarded;
mod peers;
mod picture;
mod probe;
mod pthread;
mod record;
mod session;
mod table;
mod targets;
mod team;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use crate::error::BenchError;
use crate::harness::folder::{Folder, exit_status};
use crate::harness::machine::Machine;
use crate::harness::options::seconds;
use crate::harness::record::{RunFacts, VERSION};
use crate::report::target::{CheckResult, count};
use contender::Contender;
use experiments::Sample;
pub(crate) use experiments::{LockExperiment, Metric};
use record::{LockParticipant, LockResults};
use session::LockSession;
use team::TeamEffort;

/// The name of the record in the folder of a run.
const RECORD: &str = "results.json";

/// The largest number of threads that can be asked for.
const MOST_THREADS: u64 = 1024;

/// Options of `heddle bench locks`.
#[derive(Debug, clap::Args)]
pub(crate) struct LocksArgs {
    /// What to measure (default: everything).
    #[arg(value_enum)]
    experiments: Vec<LockExperiment>,
    /// Which locks, separated by commas; the other mutexes of this machine are measured besides.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    locks: Vec<String>,
    /// Numbers of threads, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 64],
          value_parser = clap::value_parser!(u64).range(1..=MOST_THREADS))]
    threads: Vec<u64>,
    /// Without the other mutexes and queues, unless --locks names them.
    #[arg(long)]
    no_peers: bool,
    /// Short cells and few rounds: a first impression in less than a minute.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The papers' 2^22 iterations, and a quarter of a second where time is counted.
    #[arg(long)]
    full: bool,
    /// Iterations that the threads of a cell share.
    #[arg(long, value_parser = clap::value_parser!(u64).range(64..=1 << 32))]
    iterations: Option<u64>,
    /// Seconds of a cell that counts time; less than 0.01 is for simulated machines.
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Rounds over all cells.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// The folder for the results (default: results/locks-DATE).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The picture as PNG too (needs rsvg-convert).
    #[arg(long)]
    png: bool,
    /// Fail (status 1) if a target is missed.
    #[arg(long)]
    check: bool,
    /// Only list the locks.
    #[arg(long)]
    list: bool,
}

impl LocksArgs {
    fn effort(&self) -> TeamEffort {
        let (iterations, seconds) = match (self.quick, self.full) {
            (true, _) => (1 << 18, 0.01),
            (_, true) => (1 << 22, 0.25),
            _ => (1 << 21, 0.05),
        };
        let seconds = self.seconds.unwrap_or(seconds);
        TeamEffort {
            iterations: self.iterations.unwrap_or(iterations),
            window: Duration::from_secs_f64(seconds),
            limit: Duration::from_secs_f64(20.0 * seconds),
        }
    }

    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }

    /// The cells: every experiment with every number of threads that it takes.
    fn cells(&self) -> Vec<(LockExperiment, usize)> {
        let mut cells = Vec::new();
        for experiment in LockExperiment::ALL {
            if !self.experiments.is_empty() && !self.experiments.contains(&experiment) {
                continue;
            }
            let threads = self.threads.iter().map(|&threads| threads as usize);
            cells.extend(threads.filter(|&n| experiment.takes(n)).map(|n| (experiment, n)));
        }
        cells
    }
}

/// Runs `heddle bench locks`.
///
/// # Errors
///
/// If nothing can be measured or results cannot be written.
pub(crate) fn run(args: &LocksArgs) -> Result<ExitCode, BenchError> {
    let locks = contender::chosen(&args.locks, !args.no_peers).map_err(BenchError::Options)?;
    if args.list {
        for lock in &locks {
            println!("{:16} {:10} {}", lock.name, lock.family.name(), (lock.type_name)());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let cells = args.cells();
    if cells.is_empty() {
        return Err(BenchError::Options(
            "nothing to measure: `uncontended` is for 1 thread, `fairness` and `handover` for 2 and more (--threads)"
                .to_owned(),
        ));
    }
    let started = SystemTime::now();
    let folder = Folder::create(args.out.as_deref(), "locks", started)?;
    let effort = args.effort();
    let results = LockResults {
        version: VERSION.to_owned(),
        run: RunFacts::begin(started, Machine::read()),
        rounds: args.rounds(),
        iterations: effort.iterations,
        seconds: effort.window.as_secs_f64(),
        locks: locks.iter().map(|&lock| LockParticipant::from(lock)).collect(),
        measurements: Vec::new(),
        summary: Vec::new(),
        targets: Vec::new(),
    };
    eprintln!("{}", results.run.machine.sentence());
    let results = LockSession::new(effort, &locks, results, folder.file(RECORD)).run(cells)?;
    folder.write("table.md", &table::render(&results))?;
    folder.picture("picture.svg", args.png, |path| picture::draw(&results, path))?;
    print!("{}", table::conclusion(&results));
    folder.announce();
    let met = count(&results.targets, CheckResult::Fail) == 0;
    Ok(exit_status(results.run.complete, met || !args.check))
}

/// A lock's figure in one cell: with `iterations` for all threads together, or for the time `limit`. `None`
/// without a lock of that name, or where the experiment makes no sense for it.
pub(crate) fn figure_of(
    lock: &str,
    (experiment, metric): (LockExperiment, Metric),
    threads: usize,
    iterations: u64,
    limit: Duration,
) -> Option<f64> {
    let effort = TeamEffort { iterations, window: limit, limit };
    let Sample(figures) = Contender::named(lock)?.measure(experiment, threads, &effort)?;
    figures.into_iter().find(|(found, _)| *found == metric).map(|(_, value)| value)
}

/// The figure in the record of a run of one cell, which lies in the folder `out`.
///
/// # Errors
///
/// If the record cannot be read.
pub(crate) fn figure_of_record(out: &Path, metric: Metric) -> Result<Option<f64>, BenchError> {
    let file = out.join(RECORD);
    let text = fs::read_to_string(&file).map_err(BenchError::file("read", &file))?;
    let record: LockResults = serde_json::from_str(&text)?;
    Ok(record.measurements.first().and_then(|cell| cell.figures.get(&metric).copied()))
}
