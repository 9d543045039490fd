//! `heddle lab --validate`: figures of a real machine beside those of the lab, made by the same programs.
//!
//! | module | what it has |
//! |---|---|
//! | `real` | the real figures, and how the lab makes them |
//! | `table` | the table, and what is counted in it |

mod real;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;

use super::view::View;
use crate::bench::compile::Programs;
use crate::bench::launch::{Ending, Run, Runner};
use crate::bench::library::{HEDDLE, Library};
use crate::bench::participants::PlaceArgs;
use crate::bench::peers::Peer;
use crate::bench::record::{Measurement, summarise};
use crate::bench::session::{self, Compiled};
use crate::error::BenchError;
use crate::harness::folder::exit_status;
use crate::harness::lab::Lab;
use real::{LabQuantity, RealMachine};
use table::{Compared, render};

/// The name of Heddle's default among the systems.
const DEFAULT_SYSTEM: &str = "default";

/// A launch of the lab that takes longer is ended: they take seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// Options of `heddle lab --validate`.
#[derive(Debug, clap::Args)]
pub struct ValidationArgs {
    /// Make the table of docs/lab.md: figures of a real machine of 16 cores beside the lab's. It takes two
    /// minutes for each round.
    #[arg(long)]
    pub validate: bool,
    /// Rounds, each with another seed: figures are medians.
    #[arg(long, default_value_t = 1, requires = "validate", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only Heddle's figures.
    #[arg(long, requires = "validate")]
    no_peers: bool,
    #[command(flatten)]
    places: PlaceArgs,
}

/// Makes the figures, with seeds from `seed` on and on the core `host_core` of this host, and prints the
/// table.
///
/// # Errors
///
/// If no library is there, or the lab cannot be started.
pub fn validate(args: &ValidationArgs, seed: u64, host_core: Option<usize>) -> Result<ExitCode, BenchError> {
    let real = RealMachine::read().map_err(|error| BenchError::Options(format!("real.toml: {error}")))?;
    let libraries = libraries(args, &real)?;
    let lab = Lab::new(&real.machine, host_core)?;
    let mut runner = Runner::new(LIMIT, Some(lab))?;
    eprintln!("{} against {}", real.machine, real.source);
    let mut all = Vec::new();
    for table in &real.tables {
        for (system, figure) in &table.figures {
            let name = library_name(system);
            let lab = match libraries.iter().find(|(library, _)| library.name == name) {
                Some(library) => {
                    let seeds = seed..seed + u64::from(args.rounds);
                    in_lab(&mut runner, library, table.of, real.threads, seeds)?
                }
                None => None,
            };
            if runner.interrupts().came() {
                return Ok(exit_status(false, false));
            }
            let one = Compared { title: table.of.title(), system: shown(system), real: *figure, lab };
            eprintln!("{}", one.line());
            all.push(one);
        }
    }
    print!("{}", render(&all));
    Ok(exit_status(true, all.iter().all(|one| one.lab.is_some())))
}

/// The libraries of all systems that are there, with their programs.
fn libraries(args: &ValidationArgs, real: &RealMachine) -> Result<Vec<(Library, Programs)>, BenchError> {
    let mut systems: Vec<&str> =
        real.tables.iter().flat_map(|table| &table.figures).map(|(system, _)| system.as_str()).collect();
    systems.sort_unstable();
    systems.dedup();
    let peer = |system: &&str| Peer::from_str(system, false).ok();
    let peers: Vec<Peer> = systems.iter().filter_map(peer).filter(|_| !args.no_peers).collect();
    let is_model = |system: &&&str| **system != DEFAULT_SYSTEM && peer(system).is_none();
    let models: Vec<String> = systems.iter().filter(is_model).map(|&model| model.to_owned()).collect();
    let heddle = Library::heddle(args.places.prefix(), &models, &[])?;
    session::compile(
        heddle.into_iter().map(Ok).chain(args.places.prepared(peers.into_iter())),
        &args.places.sources()?,
        &args.places.peers_dir,
        &mut Compiled::new(),
        // They are named on the terminal.
        &mut Vec::new(),
    )
}

/// The name of a system's library in records.
fn library_name(system: &str) -> String {
    match system {
        DEFAULT_SYSTEM => HEDDLE.to_owned(),
        peer if Peer::from_str(peer, false).is_ok() => peer.to_owned(),
        model => format!("{HEDDLE}:{model}"),
    }
}

/// The name of a system in the table.
fn shown(system: &str) -> String {
    match system {
        DEFAULT_SYSTEM => system.to_owned(),
        "mpich" => "MPICH".to_owned(),
        name => format!("`{name}`"),
    }
}

/// The figure of a library in the lab, the median over the seeds; nothing if a launch failed.
fn in_lab(
    runner: &mut Runner,
    (library, programs): &(Library, Programs),
    quantity: LabQuantity,
    threads: u32,
    seeds: std::ops::Range<u64>,
) -> Result<Option<f64>, BenchError> {
    let case = quantity.case(threads);
    let Some(program) = programs.of(case.subject) else { return Ok(None) };
    let mut measurements = Vec::new();
    for (round, seed) in (1..).zip(seeds) {
        let Run { ending, lines, load } = runner.run(library, program, &case, &quantity.effort(), seed)?;
        match ending {
            Ending::Success => {}
            Ending::Failure(how) => eprintln!("{}, {}: {how}", library.name, case.label()),
            Ending::TimedOut => {
                eprintln!("{}, {}: took longer than {} s", library.name, case.label(), LIMIT.as_secs());
            }
            Ending::Interrupted => return Ok(None),
        }
        let library = &library.name;
        measurements.extend(lines.into_iter().map(|line| Measurement {
            library: library.clone(),
            round,
            load,
            line,
        }));
    }
    let (view, unit) = quantity.view();
    let one = |view: View| {
        let rows = summarise(&measurements);
        let row = rows.iter().find(|row| view.takes(row))?;
        Some(view.of(&row.key, row.figures.get(&library.name)?)?.0)
    };
    Ok(one(view).map(|figure| figure * unit))
}

#[cfg(test)]
mod tests {
    use super::{library_name, shown};

    #[test]
    fn a_system_is_the_default_or_a_library_or_a_model() {
        let names = ["default", "mpich", "hmcs-usc"];
        assert_eq!(names.map(library_name), ["heddle", "mpich", "heddle:hmcs-usc"]);
        assert_eq!(names.map(shown), ["default", "MPICH", "`hmcs-usc`"]);
    }
}
