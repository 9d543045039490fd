//! `heddle bench rma-locks`: the distributed locks on a simulated network, with the benchmarks of the paper
//! that they are from (Schmid, Besta, Hoefler, HPDC 2016), and the paper's statements beside the figures.
//!
//! Nothing here depends on the speed of this machine: time is virtual, and a seed gives the same figures.

mod cases;
mod results;
mod statements;
mod table;

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use heddle_rma_sim::{NANOSECOND, RmaRwParameters, SimulatedNetwork};
use indicatif::ProgressBar;

use crate::error::BenchError;
use crate::harness::folder::{Folder, save};
use crate::harness::record::{VERSION, command_line, utc};
use cases::{SimulationEffort, cases};
use results::SimulationResults;

pub(crate) use cases::{SimulatedFigure, SimulatedRow};
pub(crate) use statements::check;

/// The seed, where the command line names no other.
const SEED: u64 = 1;
/// T_DC, T_L,2, T_L,1 and T_R, where neither a figure nor the command line has others.
const USUAL: RmaRwParameters =
    RmaRwParameters { counter_distance: 32, locality: 50, writers: 20, readers: 0 };

/// Options of `heddle bench rma-locks`.
#[derive(Debug, clap::Args)]
pub(crate) struct RmaLocksArgs {
    /// Which figures of the paper (default: all).
    #[arg(value_enum)]
    figures: Vec<SimulatedFigure>,
    /// Numbers of processes, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [8, 16, 32, 64, 256, 512, 1024],
          value_parser = clap::value_parser!(u64).range(2..=16384))]
    processes: Vec<u64>,
    /// Acquisitions of all processes of a case together; at least 20 for each process. Cases with rare
    /// writers make five times the number, those beside the tuned lock more.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    acquisitions: u64,
    /// The seed of the random numbers.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// T_DC in processes, where a figure does not vary it.
    #[arg(long, default_value_t = USUAL.counter_distance as u64, value_parser = clap::value_parser!(u64).range(1..))]
    counter_distance: u64,
    /// T_L,2, of RMA-MCS, too.
    #[arg(long, default_value_t = USUAL.locality, value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    locality: u64,
    /// T_L,1.
    #[arg(long, default_value_t = USUAL.writers, value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    writers: u64,
    /// T_R.
    #[arg(long, default_value_t = USUAL.readers)]
    readers: u64,
    /// Nanoseconds for which a put or a get occupies a node's interface.
    #[arg(long, value_name = "NS")]
    interface: Option<u64>,
    /// The same of an atomic operation.
    #[arg(long, value_name = "NS")]
    interface_atomic: Option<u64>,
    /// The folder for the results (default: results/rma-locks-DATE).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `heddle bench rma-locks`.
///
/// # Errors
///
/// If results cannot be written.
pub(crate) fn run(args: &RmaLocksArgs) -> Result<ExitCode, BenchError> {
    let started = SystemTime::now();
    let mut network = SimulatedNetwork::xc30();
    if let Some(ns) = args.interface {
        network.interface = ns * NANOSECOND;
    }
    if let Some(ns) = args.interface_atomic {
        network.interface_atomic = ns * NANOSECOND;
    }
    let effort = SimulationEffort {
        processes: args.processes.iter().map(|p| *p as usize).collect(),
        acquisitions: args.acquisitions as usize,
        seed: args.seed,
        rma_rw: RmaRwParameters {
            counter_distance: args.counter_distance as usize,
            locality: args.locality,
            writers: args.writers,
            readers: args.readers,
        },
    };
    let rows = simulate(&args.figures, &effort, &network)?;
    let results = SimulationResults {
        version: VERSION.to_owned(),
        command: command_line(),
        started: utc(started),
        seed: args.seed,
        acquisitions: effort.acquisitions,
        machine: format!("{network:?}; {:?}", effort.rma_rw),
        statements: check(&rows),
        rows,
    };
    let folder = Folder::create(args.out.as_deref(), "rma-locks", started)?;
    save(&results, &folder.file("results.json"))?;
    let text = table::render(&results);
    folder.write("table.md", &text)?;
    print!("{text}");
    folder.announce();
    Ok(ExitCode::SUCCESS)
}

/// Simulates a figure on the paper's machine, with the parameters of a command line that names none.
///
/// # Errors
///
/// If a simulation comes to no end.
pub(crate) fn simulate_usual(
    figure: SimulatedFigure,
    processes: &[usize],
    acquisitions: usize,
) -> Result<Vec<SimulatedRow>, BenchError> {
    let effort = SimulationEffort { processes: processes.to_vec(), acquisitions, seed: SEED, rma_rw: USUAL };
    simulate(&[figure], &effort, &SimulatedNetwork::xc30())
}

/// Simulates all cases, several at once, the slowest first.
fn simulate(
    figures: &[SimulatedFigure],
    effort: &SimulationEffort,
    network: &SimulatedNetwork,
) -> Result<Vec<SimulatedRow>, BenchError> {
    let all = cases(figures, effort);
    let progress = ProgressBar::new(all.len() as u64);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|index| all[*index].processes);
    let left = Mutex::new(order);
    let done = Mutex::new(Vec::with_capacity(all.len()));
    let work = || {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(index) = next else { return };
            let row = all[index].run(effort, network);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, row));
            progress.inc(1);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    progress.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let rows = done.into_iter().map(|(index, row)| {
        row.map_err(|stuck| BenchError::Simulation(format!("{}: {stuck}", all[index].series)))
    });
    rows.collect()
}
