//! Measures an experiment and compares the figures with the paper's statements.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::experiment::{Claim, Experiment, Needs, Points, Statement, Within};
use super::measured::Measured;
use super::results::PaperResults;
use super::simulation;
use super::system::{Form, System};
use super::within;
use crate::bench::case::{Case, Effort};
use crate::bench::launch::Runner;
use crate::bench::library::{HEDDLE, Library};
use crate::bench::participants::ParticipantArgs;
use crate::bench::record::{self, Participant, Row, summarise};
use crate::bench::session::{self, Compiled, Session};
use crate::error::BenchError;
use crate::harness::machine::Machine;
use crate::report::verdict::Verdict;

/// The parts that all experiments of a run share.
pub(super) struct PaperRun<'a> {
    pub(super) args: &'a ParticipantArgs,
    pub(super) sources: PathBuf,
    pub(super) points: Points,
    pub(super) effort: Effort,
    pub(super) machine: Machine,
    pub(super) started: SystemTime,
    pub(super) compiled: Compiled,
    pub(super) runner: Runner,
}

impl PaperRun<'_> {
    /// Measures an experiment; the record is in `file` after every launch.
    pub(super) fn measure(
        &mut self,
        experiment: &Experiment,
        file: &Path,
    ) -> Result<PaperResults, BenchError> {
        let cases = (experiment.cases)(&self.points);
        let mut failures = Vec::new();
        let libraries = if cases.is_empty() {
            Vec::new()
        } else {
            let libraries = self.libraries(experiment)?.into_iter().map(Ok).chain(self.args.prepared_peers());
            session::compile(
                libraries,
                &self.sources,
                &self.args.places.peers_dir,
                &mut self.compiled,
                &mut failures,
            )?
        };
        let results = record::Results::begin(
            self.started,
            self.machine.clone(),
            libraries.iter().map(|pair| Participant::from(&pair.0)).collect(),
            failures,
        );
        let interrupts = self.runner.interrupts().clone();
        let session = Session {
            effort: self.effort,
            runner: &mut self.runner,
            sweep: self.args.sweep(&self.sources),
            results,
            conclude: |_| (),
            file: file.to_path_buf(),
        };
        let mut results = session.run(cases, libraries)?;
        let mut simulated = Vec::new();
        if let Within::Simulation(figure) = experiment.within {
            if results.run.complete {
                (results.measurements, simulated) = simulation::measure(figure, &self.effort)?;
            }
        } else if results.run.complete {
            let within = within::measure(experiment, &self.points, &self.effort, &interrupts)?;
            results.measurements.extend(within.measurements);
            results.run.complete = within.complete;
        }
        results.summary = summarise(&results.measurements);
        let mut statements = self.statements(experiment, &results.summary);
        statements.append(&mut simulated);
        Ok(PaperResults {
            paper: experiment.paper,
            experiment: experiment.names,
            title: experiment.title,
            lengths: self.effort.into(),
            statements,
            record: results,
        })
    }

    /// Heddle with its defaults, and as each system of the experiment.
    fn libraries(&self, experiment: &Experiment) -> Result<Vec<Library>, BenchError> {
        let pvars: Vec<String> = experiment.pvars.iter().map(|&name| name.to_owned()).collect();
        let (processes, models): (Vec<&System>, Vec<&System>) =
            experiment.systems.iter().partition(|system| system.form == Form::Processes);
        let settings: Vec<String> = models.iter().map(|system| system.settings.to_owned()).collect();
        let mut libraries = self.args.heddle_as(&settings, &pvars)?;
        libraries.iter_mut().for_each(|library| library.takes = |case: &Case| case.multiple);
        let default = libraries[0].clone();
        libraries.extend(processes.iter().map(|system| Library {
            name: format!("{HEDDLE}:{}", system.settings),
            takes: |case| !case.multiple,
            ..default.clone()
        }));
        if experiment.misses {
            libraries.iter_mut().for_each(|library| library.program_arguments.push("--misses".to_owned()));
        }
        Ok(libraries)
    }

    fn statements(&self, experiment: &Experiment, rows: &[Row]) -> Vec<Statement> {
        let measured = Measured { systems: experiment.systems, rows };
        experiment.claims.iter().map(|claim| self.statement(experiment, claim, &measured)).collect()
    }

    /// Compares a statement with the figures of the most threads that have a core each; where those are too
    /// few, with the figures of the threads that it speaks of.
    fn statement(&self, experiment: &Experiment, claim: &Claim, measured: &Measured<'_>) -> Statement {
        let (threads, nodes) = match claim.needs {
            Needs::Threads(threads) => (threads, 1),
            Needs::Nodes(threads) => (threads, 2),
        };
        let fits = |n: &&u32| (experiment.cores)(**n) <= self.points.cores;
        let most = self.points.threads.iter().filter(fits).max().copied().unwrap_or(0);
        let lack = match (most < threads, self.machine.numa_nodes < nodes) {
            (true, _) => Some(format!("needs {} cores", (experiment.cores)(threads))),
            (false, true) => Some("needs several NUMA nodes".to_owned()),
            (false, false) => None,
        };
        let of_it = self.points.threads.iter().copied().find(|&n| n >= threads);
        let n =
            if most >= threads { most } else { of_it.or(self.points.threads.last().copied()).unwrap_or(1) };
        let (here, verdict) = match ((claim.check)(measured, n), lack) {
            (Some(finding), None) => (finding.here, finding.verdict),
            (Some(finding), Some(lack)) => (format!("{lack}. {}", finding.here), Verdict::NotTestable),
            (None, lack) => (lack.unwrap_or_default(), Verdict::NotMeasured),
        };
        Statement { figure: claim.figure, paper: claim.text, here, verdict }
    }
}
