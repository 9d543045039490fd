//! `heddle bench locks`: the locks of `heddle-locks` and the combining of `heddle-combining` beside the other
//! mutexes of this machine.
//!
//! Every round measures each cell (an experiment with a number of threads) for all locks, one directly after
//! the other, beginning with another lock each time, so that a machine whose speed changes treats them alike.
//! A figure is the median over the rounds. Every cell makes a new lock: a bias that was revoked or a thread
//! that was chosen must not spoil the next. Threads are left where the system puts them, as in programs.

mod combined;
mod contender;
mod experiments;
mod guarded;
mod peers;
mod picture;
mod probe;
mod pthread;
mod record;
mod table;
mod targets;
mod team;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use heddle_platform::atomic::{AtomicBool, Ordering};
use humantime::format_rfc3339_seconds;
use indicatif::{ProgressBar, ProgressStyle};

use crate::report::error::BenchError;
use crate::report::load::LoadMeter;
use crate::report::machine::Machine;
use crate::report::png;
use crate::report::run::save;
use crate::report::run::{INTERRUPTED, results_folder, seconds};
use crate::report::target::Verdict;
use contender::Contender;
use experiments::{Experiment, Metric, Sample};
use record::{Measurement, Participant, Results, summarise};
use team::Effort;

/// The largest number of threads that can be asked for.
const MOST_THREADS: u64 = 1024;

/// Options of `heddle bench locks`.
#[derive(Debug, clap::Args)]
pub(crate) struct LocksArgs {
    /// What to measure (default: everything).
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Which locks, separated by commas; the other mutexes of this machine are measured besides.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    locks: Vec<String>,
    /// Numbers of threads, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 64],
          value_parser = clap::value_parser!(u64).range(1..=MOST_THREADS))]
    threads: Vec<u64>,
    /// Without the other mutexes and queues.
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
    /// Seconds of a cell that counts time.
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
    fn effort(&self) -> Effort {
        let (iterations, seconds) = match (self.quick, self.full) {
            (true, _) => (1 << 18, 0.01),
            (_, true) => (1 << 22, 0.25),
            _ => (1 << 21, 0.05),
        };
        let seconds = self.seconds.unwrap_or(seconds);
        Effort {
            iterations: self.iterations.unwrap_or(iterations),
            window: Duration::from_secs_f64(seconds),
            limit: Duration::from_secs_f64(20.0 * seconds),
        }
    }

    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }

    /// The cells: every experiment with every number of threads that it takes.
    fn cells(&self) -> Vec<(Experiment, usize)> {
        let mut cells = Vec::new();
        for experiment in Experiment::ALL {
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
    let out = args.out.clone().unwrap_or_else(|| results_folder("locks", started));
    fs::create_dir_all(&out).map_err(BenchError::file("create", &out))?;
    let effort = args.effort();
    let results = Results {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        started: format_rfc3339_seconds(started).to_string(),
        complete: false,
        machine: Machine::read(),
        rounds: args.rounds(),
        iterations: effort.iterations,
        seconds: effort.window.as_secs_f64(),
        locks: locks.iter().map(|&lock| Participant::from(lock)).collect(),
        measurements: Vec::new(),
        summary: Vec::new(),
        targets: Vec::new(),
    };
    eprintln!("{}", results.machine.sentence());
    let mut session = Session { effort, locks, cells, results, file: out.join("results.json") };
    let complete = session.rounds()?;
    let results = &session.results;
    let page = out.join("table.md");
    fs::write(&page, table::render(results)).map_err(BenchError::file("write", &page))?;
    let picture = out.join("picture.svg");
    picture::draw(results, &picture)?;
    if args.png {
        png::beside(&picture)?;
    }
    print!("{}", table::conclusion(results));
    println!("results: {}", out.display());
    let met = results.targets.iter().all(|target| target.verdict != Verdict::Fail);
    Ok(match (complete, args.check && !met) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    })
}

/// A thread's turn at a lock in the lock-latency experiment, in nanoseconds: threads over rate. `None`
/// without a lock of that name.
pub(crate) fn lock_latency_ns(lock: &str, threads: usize, iterations: u64, limit: Duration) -> Option<f64> {
    one_figure(lock, Experiment::Lines, Metric::LatencyNs, threads, iterations, limit)
}

/// Enqueues and dequeues a second on one queue under a lock. `None` without a lock of that name.
pub(crate) fn fifo_rate(lock: &str, threads: usize, iterations: u64, limit: Duration) -> Option<f64> {
    one_figure(lock, Experiment::Fifo, Metric::Rate, threads, iterations, limit)
}

fn one_figure(
    lock: &str,
    experiment: Experiment,
    metric: Metric,
    threads: usize,
    iterations: u64,
    limit: Duration,
) -> Option<f64> {
    let effort = Effort { iterations, window: limit, limit };
    let Sample(figures) = Contender::named(lock)?.measure(experiment, threads, &effort)?;
    figures.into_iter().find(|(found, _)| *found == metric).map(|(_, value)| value)
}

/// A run in progress.
struct Session {
    effort: Effort,
    locks: Vec<&'static Contender>,
    cells: Vec<(Experiment, usize)>,
    results: Results,
    file: PathBuf,
}

impl Session {
    /// All rounds; false if the user interrupted.
    fn rounds(&mut self) -> Result<bool, BenchError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let to_handler = Arc::clone(&interrupted);
        ctrlc::set_handler(move || to_handler.store(true, Ordering::Relaxed))?;
        let progress = ProgressBar::new(u64::from(self.results.rounds) * self.cells.len() as u64);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {pos}/{len} cells, {elapsed} gone, {eta} left: {msg}")
        {
            progress.set_style(style);
        }
        for round in 1..=self.results.rounds {
            if progress.is_hidden() {
                eprintln!("round {round} of {}", self.results.rounds);
            }
            for (experiment, threads) in self.cells.clone() {
                progress.set_message(format!("round {round}, {}, {threads} threads", experiment.name()));
                self.cell(round, experiment, threads, &interrupted);
                if interrupted.load(Ordering::Relaxed) {
                    progress.abandon_with_message("interrupted");
                    self.save()?;
                    return Ok(false);
                }
                progress.inc(1);
            }
            self.results.complete = round == self.results.rounds;
            self.save()?;
        }
        progress.finish_and_clear();
        Ok(true)
    }

    /// All locks once, beginning with another one each round.
    fn cell(&mut self, round: u32, experiment: Experiment, threads: usize, interrupted: &AtomicBool) {
        let probe_ns = probe::round_trip_ns();
        let meter = LoadMeter::start();
        let mut samples = Vec::new();
        for turn in 0..self.locks.len() {
            let lock = self.locks[(turn + round as usize - 1) % self.locks.len()];
            if interrupted.load(Ordering::Relaxed) {
                break;
            }
            if let Some(Sample(figures)) = lock.measure(experiment, threads, &self.effort) {
                samples.push((lock.name, figures));
            }
        }
        let load = meter.finish();
        self.results.measurements.extend(samples.into_iter().map(|(lock, figures)| Measurement {
            experiment,
            threads,
            lock: lock.to_owned(),
            round,
            load,
            probe_ns,
            figures: figures.into_iter().collect(),
        }));
    }

    /// Brings the medians up to date and writes the file.
    fn save(&mut self) -> Result<(), BenchError> {
        self.results.summary = summarise(&self.results.measurements);
        let all = targets::check(&self.results.summary, &self.locks, self.results.machine.cores);
        // A figure that this run did not measure has no target.
        self.results.targets =
            all.into_iter().filter(|target| target.verdict != Verdict::NotMeasured).collect();
        save(&self.results, &self.file)
    }
}
