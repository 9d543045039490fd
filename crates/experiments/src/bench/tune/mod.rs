//! `heddle bench collective --tune`: the quickest algorithm of each collective operation on this machine, as
//! a table that `HEDDLE_COLLECTIVES` names.
//!
//! Each algorithm is measured beside the choice that Heddle makes without a table. It is taken for a size
//! where it was quicker in every round, by a twentieth or more. Of so many some are lucky: so the table is
//! measured beside that choice once more, and a size for which it is not quicker in every round again has no
//! rule.
//!
//! | file | idea |
//! |---|---|
//! | `grid.rs` | the numbers of processes and the sizes that are measured, and what lies between them |
//! | `rules.rs` | the rules for what was taken |

mod grid;
mod rules;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use heddle_model::Choice;
use heddle_settings::{Algorithm, CollectiveOperation};

use super::behind::behind_those;
use super::case::{Case, Comms, Effort, IN_LAB};
use super::launch::Runner;
use super::lengths::LengthArgs;
use super::library::{HEDDLE, Library};
use super::participants::ParticipantArgs;
use super::record::{Key, Measurement, Participant, Results};
use super::session::{self, Compiled, Session};
use super::subject::Subject;
use super::table;
use crate::error::BenchError;
use crate::harness::folder::{exit_status, save};
use crate::harness::lab::MachineArgs;
use crate::harness::machine::Machine;
use crate::harness::options::Sizes;
use grid::Grid;
use rules::{Taken, page};

/// The lengths on a real machine.
const ON_MACHINE: Effort = Effort { rounds: 5, reps: 1, seconds: 0.05, warm: 0.05 };
/// The rounds in the lab.
const ROUNDS_IN_LAB: u32 = 3;
/// An algorithm is taken if the choice without a table has at most this part of its speed.
const WORTH: f64 = 0.95;
/// The name of Heddle with the table.
const WITH_TABLE: &str = "heddle:table";
/// The file of the rules that are not confirmed yet, among the results.
const CANDIDATES: &str = "candidates.table";

/// Options of `--tune`.
#[derive(Debug, clap::Args)]
pub(super) struct TuneArgs {
    /// Find the quickest algorithm of each collective operation on this machine, which takes some ten
    /// minutes, and write a table of them into this file, for HEDDLE_COLLECTIVES.
    #[arg(
        id = "tune",
        long = "tune",
        value_name = "FILE",
        conflicts_with_all = ["quick", "full", "overview", "no_heddle", "check", "list", "peers", "models", "pvars", "png"]
    )]
    pub(super) file: Option<PathBuf>,
    /// The numbers of processes for --tune, separated by commas (default: the powers of two from 2 to the
    /// number of cores, and 4).
    #[arg(
        long,
        requires = "tune",
        value_delimiter = ',',
        value_name = "RANKS",
        value_parser = clap::value_parser!(u32).range(2..=4096)
    )]
    ranks: Vec<u32>,
}

/// The options of `heddle bench` that count here, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfBench<'a> {
    pub(super) participants: &'a ParticipantArgs,
    pub(super) machine: &'a MachineArgs,
    pub(super) lengths: &'a LengthArgs,
    pub(super) sizes: Option<&'a Sizes>,
}

/// The form of an operation that is measured. Where one rank is the root of all, it need not wait for others,
/// so the roots take turns.
fn form(operation: CollectiveOperation) -> &'static str {
    match operation {
        CollectiveOperation::Bcast => "bcast_turns",
        CollectiveOperation::Reduce => "reduce_turns",
        CollectiveOperation::Gather => "gather_turns",
        CollectiveOperation::Scatter => "scatter_turns",
        other => other.name(),
    }
}

/// The operation of a measured form.
fn operation_of(key: &Key) -> Option<CollectiveOperation> {
    CollectiveOperation::ALL.into_iter().find(|operation| form(*operation) == key.op)
}

/// The variant of Heddle ([`Library::heddle`]) that has this algorithm.
fn variant(operation: CollectiveOperation, algorithm: Algorithm) -> String {
    format!("{}_ALGORITHM={}", operation.name().to_uppercase(), algorithm.name())
}

/// The algorithms that one machine can have.
fn algorithms(operation: CollectiveOperation) -> impl Iterator<Item = Algorithm> {
    let all = operation.algorithms().iter().copied();
    all.filter(|algorithm| !matches!(algorithm, Algorithm::Auto | Algorithm::Leaders))
}

/// The algorithms that were quicker than Heddle without a table, for certain.
fn taken(measurements: &[Measurement]) -> Vec<Taken> {
    let rows = behind_those(measurements, |name| name != HEDDLE).1;
    let worth = rows.into_iter().filter(|row| row.speed <= WORTH);
    worth
        .filter_map(|row| {
            let operation = operation_of(row.key)?;
            let mut all = algorithms(operation);
            let algorithm = all.find(|algorithm| {
                row.peer.strip_prefix("heddle:") == Some(&variant(operation, *algorithm))
            })?;
            let (ranks, size) = (row.key.ranks, row.key.size);
            Some(Taken { operation, ranks, size, algorithm, speed: 1.0 / row.speed })
        })
        .collect()
}

/// Those for which the table was quicker as well, for certain, with the speed that it had.
fn confirmed(taken: Vec<Taken>, measurements: &[Measurement]) -> Vec<Taken> {
    let rows = behind_those(measurements, |name| name == WITH_TABLE).1;
    let speed = |taken: &Taken| {
        let mut rows = rows.iter();
        let row = rows.find(|row| {
            operation_of(row.key) == Some(taken.operation)
                && (row.key.ranks, row.key.size) == (taken.ranks, taken.size)
        })?;
        Some(1.0 / row.speed)
    };
    taken.into_iter().filter_map(|taken| Some(Taken { speed: speed(&taken)?, ..taken })).collect()
}

/// Runs `heddle bench collective --tune FILE`.
///
/// # Errors
///
/// If nothing can be measured or a file cannot be written.
pub(super) fn run(file: &Path, tune: &TuneArgs, args: OfBench<'_>) -> Result<ExitCode, BenchError> {
    // A file that cannot be written is an error now, not in ten minutes. Its old table stays until then.
    let mut may_write = OpenOptions::new();
    may_write.append(true).create(true).open(file).map_err(BenchError::file("write", file))?;
    let lab = args.machine.lab()?;
    let usual = if lab.is_some() { Effort { rounds: ROUNDS_IN_LAB, ..IN_LAB } } else { ON_MACHINE };
    let effort = args.lengths.effort(usual, lab.is_some())?;
    let machine = lab.as_ref().map_or_else(Machine::read, |lab| lab.facts());
    let grid = Grid::new(&machine, &tune.ranks, args.sizes.map(|Sizes(sizes)| &sizes[..]));
    eprintln!("{}", machine.sentence());
    let started = SystemTime::now();
    let folder = args.participants.folder("tune", started)?;
    let mut tuner = Tuner {
        args,
        effort,
        runner: Runner::new(args.lengths.timeout(lab.is_some()), lab)?,
        compiled: Compiled::new(),
        results: Results::begin(started, machine, Vec::new(), Vec::new()),
        file: folder.file("results.json"),
    };
    for operation in CollectiveOperation::ALL {
        let variants: Vec<String> =
            algorithms(operation).map(|algorithm| variant(operation, algorithm)).collect();
        let libraries = Library::heddle(args.participants.places.prefix(), &variants, &[])?;
        let cases = grid.ranks().map(|ranks| case(operation, ranks, grid.sizes(operation, ranks)));
        tuner = tuner.measure(libraries, cases.collect())?;
        if !tuner.results.run.complete {
            break;
        }
    }
    let mut all = taken(&tuner.results.measurements);
    if tuner.results.run.complete && !all.is_empty() {
        folder.write(CANDIDATES, &page(&tuner.results, &grid, &all))?;
        let measured = tuner.results.measurements.len();
        let libraries = tuner.with_table(&folder.file(CANDIDATES))?;
        tuner = tuner.measure(libraries, again(&grid, &all))?;
        all = confirmed(all, &tuner.results.measurements[measured..]);
    }
    let (results, complete) = (&tuner.results, tuner.results.run.complete);
    save(results, &folder.file("results.json"))?;
    folder.write("table.md", &table::render(results))?;
    if complete {
        std::fs::write(file, page(results, &grid, &all)).map_err(BenchError::file("write", file))?;
        println!(
            "quicker than without a table: {} of {} sizes; {}",
            all.len(),
            grid.points(),
            file.display()
        );
    } else {
        println!("interrupted: nothing is written into {}", file.display());
    }
    folder.announce();
    Ok(exit_status(complete, true))
}

/// A launch that measures an operation.
fn case(operation: CollectiveOperation, ranks: u32, sizes: Vec<u64>) -> Case {
    Case { comms: Comms::PerThread, ..Case::new(Subject::Collective, ranks, &sizes) }.op(form(operation))
}

/// The launches in which something was taken.
fn again(grid: &Grid, all: &[Taken]) -> Vec<Case> {
    let mut cases = Vec::new();
    for operation in CollectiveOperation::ALL {
        for ranks in grid.ranks() {
            if all.iter().any(|taken| (taken.operation, taken.ranks) == (operation, ranks)) {
                cases.push(case(operation, ranks, grid.sizes(operation, ranks)));
            }
        }
    }
    cases
}

/// A run: the sessions measure one after the other, and all add to its results.
struct Tuner<'a> {
    args: OfBench<'a>,
    effort: Effort,
    runner: Runner,
    compiled: Compiled,
    results: Results,
    file: PathBuf,
}

impl Tuner<'_> {
    /// Measures the cases with each of the libraries.
    fn measure(self, libraries: Vec<Library>, cases: Vec<Case>) -> Result<Self, BenchError> {
        let Self { args, effort, mut runner, mut compiled, mut results, file } = self;
        let places = &args.participants.places;
        let sources = places.sources()?;
        let libraries = session::compile(
            libraries.into_iter().map(Ok),
            &sources,
            &places.peers_dir,
            &mut compiled,
            &mut results.failures,
        )?;
        for (library, _) in &libraries {
            if results.libraries.iter().all(|other| other.name != library.name) {
                results.libraries.push(Participant::from(library));
            }
        }
        let session = Session {
            effort,
            runner: &mut runner,
            sweep: args.participants.sweep(&sources),
            results,
            conclude: |_| {},
            file: file.clone(),
        };
        let results = session.run(cases, libraries)?;
        Ok(Self { args, effort, runner, compiled, results, file })
    }

    /// Heddle without a table and with it.
    fn with_table(&self, file: &Path) -> Result<Vec<Library>, BenchError> {
        let file = file.canonicalize().map_err(BenchError::file("find", file))?;
        let mut libraries = Library::heddle(self.args.participants.places.prefix(), &[], &[])?;
        let environment = vec![("HEDDLE_COLLECTIVES".to_owned(), file.into())];
        libraries.extend(libraries.first().cloned().map(|heddle| Library {
            name: WITH_TABLE.to_owned(),
            environment,
            ..heddle
        }));
        Ok(libraries)
    }
}
