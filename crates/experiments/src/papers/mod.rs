//! `heddle papers`: the experiments of the papers whose models Heddle has, on this machine: the papers'
//! systems in their form, Heddle's forms of them, Heddle's default and the other libraries, and the papers'
//! statements beside the figures.
//!
//! Each experiment is a run of the programs of `heddle bench`, in alternating rounds, on this machine or on
//! one of the lab. A statement that needs more cores, or levels of them, than there are is shown with the
//! figures and called not testable here.

mod combining;
mod conditions;
mod contention;
mod distributed;
mod experiment;
mod granularity;
mod lifetime;
mod measured;
mod page;
mod picture;
mod points;
mod results;
mod run;
mod simulation;
mod system;
mod validation;
mod view;
mod within;
mod within_lab;

use std::process::ExitCode;
use std::time::SystemTime;

use crate::bench::case::{Effort, IN_LAB};
use crate::bench::launch::Runner;
use crate::bench::lengths::LengthArgs;
use crate::bench::participants::ParticipantArgs;
use crate::bench::session::Compiled;
use crate::error::BenchError;
use crate::harness::folder::{exit_status, save};
use crate::harness::lab::{Lab, MachineArgs, announce_lab};
use crate::harness::machine::Machine;
use experiment::{Experiment, Paper, Within};
use results::PaperResults;
use run::PaperRun;
pub use validation::{ValidationArgs, validate};

/// The help of `--rounds`.
const ROUNDS: &str = "Rounds over all systems; from 6 on, medians have an interval of 95 % confidence";

/// Options of `heddle papers`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("peers", |peers| peers.default_values(["mpich", "openmpi", "impi"])))]
#[command(mut_arg("rounds", |rounds| rounds.help(ROUNDS)))]
pub struct PapersArgs {
    /// The paper (default: all).
    #[arg(value_enum)]
    paper: Option<Paper>,
    /// Its experiments, by figure (fig3), table (table1) or word (default: all; --list names them).
    #[arg(requires = "paper")]
    experiments: Vec<String>,
    /// Short runs and few rounds: a first impression.
    #[arg(long)]
    quick: bool,
    /// Only list the experiments and the papers' statements.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    participants: ParticipantArgs,
    /// Numbers of threads, separated by commas (default: powers of two up to 16; with --machine 1, 2, 8 and
    /// the most that have a core each).
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=128))]
    threads: Vec<u32>,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    lengths: LengthArgs,
    /// The pictures as PNG too (needs rsvg-convert).
    #[arg(long)]
    png: bool,
}

/// All experiments.
fn all() -> impl Iterator<Item = &'static Experiment> {
    granularity::EXPERIMENTS
        .iter()
        .chain(&lifetime::EXPERIMENTS)
        .chain(contention::experiments())
        .chain(&combining::EXPERIMENTS)
        .chain(&distributed::EXPERIMENTS)
}

impl PapersArgs {
    /// The experiments asked for.
    fn chosen(&self) -> Result<Vec<&'static Experiment>, BenchError> {
        let of_paper = |experiment: &&Experiment| self.paper.is_none_or(|paper| paper == experiment.paper);
        let known: Vec<&Experiment> = all().filter(of_paper).collect();
        if let Some(unknown) =
            self.experiments.iter().find(|name| known.iter().all(|it| !it.names.contains(&name.as_str())))
        {
            let names: Vec<&str> = known.iter().flat_map(|it| it.names).copied().collect();
            return Err(BenchError::Options(format!(
                "the paper has no experiment {unknown:?} here; it has {}",
                names.join(", ")
            )));
        }
        let wanted = |experiment: &&&Experiment| {
            self.experiments.is_empty()
                || self.experiments.iter().any(|name| experiment.names.contains(&name.as_str()))
        };
        Ok(known.iter().filter(wanted).copied().collect())
    }

    fn effort(&self, simulated: bool) -> Result<Effort, BenchError> {
        let usual = match (simulated, self.quick) {
            (true, true) => Effort { seconds: 0.0005, ..IN_LAB },
            (true, false) => IN_LAB,
            (false, true) => Effort { rounds: 2, reps: 1, seconds: 0.1, warm: 0.02 },
            (false, false) => Effort { rounds: 6, reps: 2, seconds: 0.2, warm: 0.05 },
        };
        let effort = self.lengths.effort(usual, simulated)?;
        Ok(Effort { warm: effort.warm.min(effort.seconds), ..effort })
    }
}

/// The experiments of a run in the lab, and those that it leaves out: the distributed locks have a simulator
/// of their own, and no machine.
///
/// # Errors
///
/// [`BenchError::Options`] if nothing else is asked for.
fn for_lab(
    chosen: Vec<&'static Experiment>,
) -> Result<(Vec<&'static Experiment>, Vec<&'static Experiment>), BenchError> {
    let (left_out, kept): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|experiment| matches!(experiment.within, Within::Simulation(_)));
    match kept.is_empty() {
        true => Err(BenchError::Options(
            "the distributed locks run on a simulated network, whatever the machine: leave --machine out"
                .to_owned(),
        )),
        false => Ok((kept, left_out)),
    }
}

/// Says how long a run in the lab takes.
fn announce(run: &PaperRun<'_>, experiments: &[&Experiment]) {
    let peers = run.args.peers().count();
    let each = experiments.iter().map(|it| points::in_lab(it, &run.points(it), &run.effort, peers));
    let (launches, seconds) = each.fold((0, 0.0), |(all, sum), (some, time)| (all + some, sum + time));
    announce_lab(launches, seconds);
}

/// Runs `heddle papers`.
///
/// # Errors
///
/// If nothing can be measured or results cannot be written.
pub fn run(args: &PapersArgs) -> Result<ExitCode, BenchError> {
    let experiments = args.chosen()?;
    if args.list {
        experiments.iter().for_each(|experiment| print!("{}", page::listing(experiment)));
        return Ok(ExitCode::SUCCESS);
    }
    let lab = args.machine.lab()?;
    let simulated = lab.is_some();
    let (experiments, left_out) = if simulated { for_lab(experiments)? } else { (experiments, Vec::new()) };
    let effort = args.effort(simulated)?;
    let machine = lab.as_ref().map_or_else(Machine::read, Lab::facts);
    let started = SystemTime::now();
    let folder = args.participants.folder("papers", started)?;
    eprintln!("{}", machine.sentence());
    let mut run = PaperRun {
        args: &args.participants,
        sources: args.participants.places.sources()?,
        threads: &args.threads,
        effort,
        machine,
        started,
        compiled: Compiled::new(),
        runner: Runner::new(args.lengths.timeout(simulated), lab)?,
    };
    if simulated {
        announce(&run, &experiments);
    }
    for experiment in &left_out {
        eprintln!("left out: {}, which is simulated on a network, whatever the machine", experiment.name());
    }
    let mut all: Vec<(&Experiment, PaperResults)> = Vec::new();
    let mut complete = true;
    for experiment in experiments {
        eprintln!("{}: {}", experiment.name(), experiment.title);
        let file = folder.file(&experiment.file_name("json"));
        let results = run.measure(experiment, &file)?;
        complete = results.record.run.complete;
        save(&results, &file)?;
        let picture = experiment.file_name("svg");
        folder.picture(&picture, args.png, |path| picture::draw(experiment, &results, path))?;
        all.push((experiment, results));
        folder.write("page.md", &page::render(&all, &left_out))?;
        if !complete {
            break;
        }
    }
    print!("{}", page::summary(&all));
    folder.announce();
    Ok(exit_status(complete, true))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use heddle_model::Model;

    use super::all;
    use super::experiment::Points;
    use super::experiment::Within;
    use super::measured::Measured;
    use super::system::{Form, System};
    use crate::locks::{LockExperiment, Metric, figure_of};

    #[test]
    fn names_find_one_experiment_each() {
        let names: Vec<_> = all().flat_map(|it| it.names.iter().map(|name| (it.paper, *name))).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn every_system_begins_with_a_model_that_exists() {
        let of_mpi = |system: &&System| matches!(system.form, Form::Paper | Form::Heddle);
        for system in all().flat_map(|it| it.systems).filter(of_mpi) {
            let model = system.settings.split('+').next().expect("its first part");
            assert!(Model::named(model).is_ok(), "{}", system.settings);
        }
    }

    #[test]
    fn labels_and_settings_are_different_within_an_experiment() {
        for experiment in all() {
            let labels: BTreeSet<_> = experiment.systems.iter().map(|system| system.label).collect();
            let settings: BTreeSet<_> = experiment.systems.iter().map(|system| system.settings).collect();
            assert_eq!((labels.len(), settings.len()), (experiment.systems.len(), experiment.systems.len()));
        }
    }

    #[test]
    fn every_experiment_has_cases_pictures_and_statements() {
        let points = Points { threads: vec![1, 2], cores: 2, ranks: u32::MAX };
        for experiment in all() {
            let cases = (experiment.cases)(&points);
            let labels: BTreeSet<String> = cases.iter().map(|case| case.label()).collect();
            assert_eq!(labels.len(), cases.len(), "{}", experiment.name());
            let simulated = matches!(experiment.within, Within::Simulation(_));
            assert!(!cases.is_empty() || !matches!(experiment.within, Within::Nothing));
            assert!(!experiment.views.is_empty() && (!experiment.claims.is_empty() || simulated));
        }
    }

    #[test]
    fn names_in_pictures_are_different_whatever_the_case_of_letters() {
        for experiment in all() {
            let names: BTreeSet<_> = experiment.systems.iter().map(|it| it.name().to_lowercase()).collect();
            assert_eq!(names.len(), experiment.systems.len(), "{}", experiment.name());
        }
    }

    #[test]
    fn what_runs_without_mpi_is_named_by_its_experiment() {
        for experiment in all() {
            let (Within::Locks(pairs) | Within::Queues(pairs)) = experiment.within else { continue };
            let measured = Measured { systems: experiment.systems, rows: &[] };
            for (lock, label) in pairs {
                let figure = (LockExperiment::Lines, Metric::LatencyNs);
                assert!(figure_of(lock, figure, 1, 64, Duration::from_secs(1)).is_some(), "{lock}");
                let alone = matches!(experiment.within, Within::Queues(_));
                assert!(!alone || measured.name(label) == *lock, "{lock}: {label}");
            }
        }
    }
}
