//! `heddle bench`: the same C programs, run for Heddle and for other libraries in turn.
//!
//! Machines change from one minute to the next, so libraries are compared only within one run, in which they
//! take turns at every case (`harness/alternation.rs`). Results are on disk after every launch.

mod behind;
mod beside_targets;
pub(crate) mod case;
mod cases;
mod collective_targets;
mod columns;
mod command;
pub(crate) mod compile;
pub(crate) mod figures;
mod graph500;
mod instructions;
pub(crate) mod launch;
pub(crate) mod lengths;
pub(crate) mod library;
mod overview;
pub(crate) mod participants;
pub(crate) mod peers;
mod picture;
pub(crate) mod record;
mod remains;
pub(crate) mod session;
pub(crate) mod subject;
mod sweep;
mod table;
mod targets;
mod thread_targets;
mod tune;
mod window_targets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use case::{Case, DEFAULT_IN_LAB, Effort, PEERS_IN_LAB, Scale};
use cases::{cases, cases_in_lab, overview_in_lab};
use compile::Programs;
use instructions::InstructionsArgs;
use launch::Runner;
use lengths::LengthArgs;
use library::Library;
use participants::ParticipantArgs;
use record::{Participant, Results};
use session::{Compiled, Session};
use subject::{Subject, Topic, topics};
use tune::{OfBench, TuneArgs};

use crate::error::BenchError;
use crate::harness::alternation::Failure;
use crate::harness::folder::{exit_status, save};
use crate::harness::lab::{Lab, MachineArgs, announce_lab};
use crate::harness::machine::Machine;
use crate::harness::options::{Sizes, sizes};
use crate::locks::{self, LocksArgs};
use crate::report::target::{CheckResult, count};
use crate::rma_locks::{self, RmaLocksArgs};

/// Options of `heddle bench`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(mut_arg("peers", |peers| peers.default_values(["mpich", "mpich-vci", "openmpi", "impi", "impi-split"])))]
pub struct BenchArgs {
    #[command(subcommand)]
    other: Option<Other>,
    /// What to measure (default: everything).
    #[arg(value_name = "SUBJECT", value_parser = topics())]
    subjects: Vec<Topic>,
    /// Only the cases of the targets, in short runs: a first impression in a few minutes (with --machine in
    /// an hour or two).
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Every size, thread count and kind of communicator.
    #[arg(long)]
    full: bool,
    /// Message sizes in bytes instead of those of each case that has messages: a list, such as 8,4K, or all
    /// powers of two of a range, such as 1..16M.
    #[arg(long, value_parser = sizes, conflicts_with = "overview")]
    sizes: Option<Sizes>,
    /// Measure what the README's picture shows, and draw it into this SVG file: `make figures` does.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "full", "subjects"])]
    overview: Option<PathBuf>,
    #[command(flatten)]
    participants: ParticipantArgs,
    /// Measure the other libraries alone.
    #[arg(long, alias = "only-peers", conflicts_with = "no_peers")]
    no_heddle: bool,
    #[command(flatten)]
    machine: MachineArgs,
    /// Performance variables (MPI_T) of Heddle to report beside each figure, separated by commas: what each
    /// grows in rank 0 for a unit of its work.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pvars: Vec<String>,
    #[command(flatten)]
    lengths: LengthArgs,
    #[command(flatten)]
    tune: TuneArgs,
    /// The picture as PNG too (needs rsvg-convert).
    #[arg(long)]
    png: bool,
    /// Fail (status 1) if a target is missed or could not be checked.
    #[arg(long, conflicts_with = "no_heddle")]
    check: bool,
    /// Only list what would be launched.
    #[arg(long)]
    list: bool,
}

/// What else can be measured.
#[derive(Debug, clap::Subcommand)]
enum Other {
    /// Measure Heddle's locks beside the other mutexes of this machine: no MPI in it.
    Locks(LocksArgs),
    /// Simulate the distributed locks on a network of up to thousands of processes, beside their paper's
    /// statements.
    RmaLocks(RmaLocksArgs),
    /// Count the instructions of the hottest calls under callgrind, beside the other libraries.
    Instructions(InstructionsArgs),
}

impl BenchArgs {
    fn scale(&self) -> Scale {
        match (self.quick, self.full, &self.overview) {
            (true, _, _) => Scale::Quick,
            (_, true, _) => Scale::Full,
            (_, _, Some(_)) => Scale::Overview,
            _ => Scale::Targets,
        }
    }

    /// The cases, and what is left out. The lab has cases of its own unless a scale is asked for, and the
    /// usual ones of other subjects that are.
    fn cases(&self, lab: Option<&Lab>) -> (Vec<Case>, Vec<(String, String)>) {
        let named = |case: &Case| self.subjects.iter().any(|topic| topic.holds(case.subject));
        let all = match (lab, self.scale()) {
            (Some(lab), Scale::Targets) => {
                let mut all = cases_in_lab(lab.facts().cores as u32);
                let lacks = |case: &Case| all.iter().all(|own| own.subject != case.subject);
                let usual: Vec<Case> =
                    cases(Scale::Targets).into_iter().filter(|case| named(case) && lacks(case)).collect();
                all.extend(usual);
                all
            }
            (Some(lab), Scale::Overview) => overview_in_lab(lab.facts().cores as u32),
            (_, scale) => cases(scale),
        };
        let wanted = all.into_iter().filter(|case| self.subjects.is_empty() || named(case));
        let sized = wanted.map(|case| match &self.sizes {
            Some(Sizes(sizes)) if case.has_messages() => Case { sizes: sizes.clone(), ..case },
            _ => case,
        });
        Case::partition(sized.collect(), lab.is_some())
    }

    /// Runs `--tune`.
    fn tuned(&self, file: &Path) -> Result<ExitCode, BenchError> {
        if self.subjects.iter().any(|topic| !topic.holds(Subject::Collective)) {
            return Err(BenchError::Options("--tune measures the subject collective alone".to_owned()));
        }
        let Self { participants, machine, lengths, sizes, .. } = self;
        tune::run(file, &self.tune, OfBench { participants, machine, lengths, sizes: sizes.as_ref() })
    }

    fn effort(&self, simulated: bool) -> Result<Effort, BenchError> {
        self.lengths.effort(if simulated { DEFAULT_IN_LAB } else { self.scale().effort() }, simulated)
    }
}

/// Runs `heddle bench`.
///
/// # Errors
///
/// If nothing can be measured or results cannot be written.
pub fn run(args: &BenchArgs) -> Result<ExitCode, BenchError> {
    match &args.other {
        Some(Other::Locks(args)) => return locks::run(args),
        Some(Other::RmaLocks(args)) => return rma_locks::run(args),
        Some(Other::Instructions(args)) => return instructions::run(args),
        None => {}
    }
    if let Some(file) = &args.tune.file {
        return args.tuned(file);
    }
    let lab = args.machine.lab()?;
    let simulated = lab.is_some();
    let (cases, left_out) = args.cases(lab.as_ref());
    for (case, why) in &left_out {
        eprintln!("left out: {case}: {why}");
    }
    if cases.is_empty() && simulated {
        return Err(BenchError::Options("the lab can run nothing of that".to_owned()));
    }
    if args.list {
        for case in &cases {
            println!("-n {} mtbench {}", case.ranks, case.arguments().join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let effort = args.effort(simulated)?;
    let sources = args.participants.places.sources()?;
    let started = SystemTime::now();
    let mut failures = Vec::new();
    let libraries = prepare(args, &sources, &mut failures)?;
    let folder = args.participants.folder("bench", started)?;
    let mut results = Results::begin(
        started,
        lab.as_ref().map_or_else(Machine::read, Lab::facts),
        libraries.iter().map(|pair| Participant::from(&pair.0)).collect(),
        failures,
    );
    eprintln!("{}", results.run.machine.sentence());
    results.left_out = left_out;
    if simulated {
        announce(&cases, &libraries, &effort);
    }
    let session = Session {
        effort,
        runner: &mut Runner::new(args.lengths.timeout(simulated), lab)?,
        sweep: args.participants.sweep(&sources),
        results,
        conclude: |results| results.targets = targets::check(&results.summary),
        file: folder.file("results.json"),
    };
    let results = session.run(cases, libraries)?;
    save(&results, &folder.file("results.json"))?;
    folder.write("table.md", &table::render(&results))?;
    folder.picture("picture.svg", args.png, |path| picture::draw(&results, path))?;
    if let Some(file) = args.overview.as_ref().filter(|_| results.run.complete) {
        overview::draw(&results, effort.rounds, file)?;
    }
    conclude(&results);
    folder.announce();
    let met = count(&results.targets, CheckResult::Pass) == results.targets.len();
    Ok(exit_status(results.run.complete, met || !args.check))
}

/// Says how long a run in the lab takes.
fn announce(cases: &[Case], libraries: &[(Library, Programs)], effort: &Effort) {
    let (mut launches, mut seconds) = (0, 0.0);
    for case in cases {
        for (library, _) in libraries.iter().filter(|(library, _)| library.takes(case)) {
            let factor = if Library::is_heddle(&library.name) { 1.0 } else { PEERS_IN_LAB };
            launches += effort.rounds as usize;
            seconds += factor * case.seconds_in_lab(effort) * f64::from(effort.rounds);
        }
    }
    announce_lab(launches, seconds);
}

/// The libraries that can be measured, each with its compiled programs.
fn prepare(
    args: &BenchArgs,
    sources: &Path,
    failures: &mut Vec<Failure>,
) -> Result<Vec<(Library, Programs)>, BenchError> {
    let heddle = if args.no_heddle { Vec::new() } else { args.participants.heddle(&args.pvars)? };
    let libraries = heddle.into_iter().map(Ok).chain(args.participants.prepared_peers());
    session::compile(libraries, sources, &args.participants.places.peers_dir, &mut Compiled::new(), failures)
}

/// The last words on the terminal.
fn conclude(results: &Results) {
    for target in results.targets.iter().filter(|target| target.verdict == CheckResult::Fail) {
        println!("{}", target.miss());
    }
    let count = |verdict| count(&results.targets, verdict);
    let (compared, behind) = behind::behind(&results.measurements);
    println!("behind another library: {} of {compared} rows", behind.len());
    println!(
        "targets: {} met, {} missed, {} not measured; launches that failed: {}",
        count(CheckResult::Pass),
        count(CheckResult::Fail),
        count(CheckResult::NotMeasured),
        results.failures.len()
    );
}
