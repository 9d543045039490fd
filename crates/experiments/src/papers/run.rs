//! Measures an experiment and compares the figures with the paper's statements.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::experiment::{Claim, Experiment, Needs, Points, Statement, Within};
use super::measured::Measured;
use super::results::PaperResults;
use super::system::{Form, System};
use super::{points, simulation, within, within_lab};
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
    /// Numbers of threads that were asked for; empty: the usual ones.
    pub(super) threads: &'a [u32],
    pub(super) effort: Effort,
    pub(super) machine: Machine,
    pub(super) started: SystemTime,
    pub(super) compiled: Compiled,
    pub(super) runner: Runner,
}

impl PaperRun<'_> {
    /// The numbers of threads of an experiment.
    pub(super) fn points(&self, experiment: &Experiment) -> Points {
        points::of(experiment, self.threads, &self.machine)
    }

    /// Measures an experiment; the record is in `file` after every launch.
    pub(super) fn measure(
        &mut self,
        experiment: &Experiment,
        file: &Path,
    ) -> Result<PaperResults, BenchError> {
        let points = self.points(experiment);
        let (cases, left_out) = Case::partition((experiment.cases)(&points), self.runner.lab().is_some());
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
        let mut results = record::Results::begin(
            self.started,
            self.machine.clone(),
            libraries.iter().map(|pair| Participant::from(&pair.0)).collect(),
            failures,
        );
        results.left_out = left_out;
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
            let within = if self.runner.lab().is_some() {
                let out = file.with_extension("locks");
                within_lab::measure(experiment, &points, &self.effort, &mut self.runner, &out)?
            } else {
                within::measure(experiment, &points, &self.effort, &interrupts)?
            };
            results.measurements.extend(within.measurements);
            results.failures.extend(within.failures);
            results.run.complete = within.complete;
        }
        results.summary = summarise(&results.measurements);
        let mut statements = self.statements(experiment, &points, &results.summary);
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

    fn statements(&self, experiment: &Experiment, points: &Points, rows: &[Row]) -> Vec<Statement> {
        let measured = Measured { systems: experiment.systems, rows };
        let one = |claim| statement(experiment, points, self.machine.numa_nodes, claim, &measured);
        experiment.claims.iter().map(one).collect()
    }
}

/// Compares a statement with the figures of the most threads that have a core each; where those are too
/// few, with the figures of the threads that it speaks of.
fn statement(
    experiment: &Experiment,
    points: &Points,
    numa_nodes: usize,
    claim: &Claim,
    measured: &Measured<'_>,
) -> Statement {
    let (threads, nodes) = match claim.needs {
        Needs::Threads(threads) => (threads, 1),
        Needs::Nodes(threads) => (threads, 2),
    };
    let fits = |n: &&u32| (experiment.cores)(**n) <= points.cores;
    let most = points.threads.iter().filter(fits).max().copied().unwrap_or(0);
    let lack = match (most < threads, numa_nodes < nodes) {
        (true, _) => Some(match (experiment.cores)(threads) {
            cores if cores <= points.cores => format!("needs {threads} threads"),
            cores => format!("needs {cores} cores"),
        }),
        (false, true) => Some("needs several NUMA nodes".to_owned()),
        (false, false) => None,
    };
    let of_it = points.threads.iter().copied().find(|&n| n >= threads);
    let n = if most >= threads { most } else { of_it.or(points.threads.last().copied()).unwrap_or(1) };
    let (here, verdict) = match ((claim.check)(measured, n), lack) {
        (Some(finding), None) => (finding.here, finding.verdict),
        (Some(finding), Some(lack)) => (format!("{lack}. {}", finding.here), Verdict::NotTestable),
        (None, lack) => (lack.unwrap_or_default(), Verdict::NotMeasured),
    };
    Statement { figure: claim.figure, paper: claim.text, here, verdict }
}

#[cfg(test)]
mod tests {
    use super::statement;
    use crate::bench::record::{Key, Line, Measurement, summarise};
    use crate::harness::load::Load;
    use crate::harness::machine::Machine;
    use crate::papers::experiment::{Experiment, Statement};
    use crate::papers::measured::Measured;
    use crate::papers::{all, points};
    use crate::report::verdict::Verdict;

    /// The statement of Fig. 7a on a machine, with rates of two locks that differ by a factor of 2.
    fn of_machine(machine: &Machine, given: &[u32]) -> Statement {
        let experiment: &Experiment =
            all().find(|experiment| experiment.name() == "contention-fig7").expect("an experiment");
        let points = points::of(experiment, given, machine);
        let of = |&threads: &u32| {
            [("p-hmcs-mcs", 2.0), ("p-mcs-mcs", 1.0)].map(|(system, value)| Measurement {
                library: format!("heddle:topc2019-{system}"),
                round: 1,
                load: Load::default(),
                line: Line::of_program(
                    Key::new("rate", "multiple", 64).threads(threads, "shared"),
                    "1".to_owned(),
                    value,
                    "msg/s",
                    &[],
                ),
            })
        };
        let measurements: Vec<Measurement> = points.threads.iter().flat_map(of).collect();
        let rows = summarise(&measurements);
        let measured = Measured { systems: experiment.systems, rows: &rows };
        let claim = experiment.claims.iter().find(|claim| claim.figure == "Fig. 7a").expect("a statement");
        statement(experiment, &points, machine.numa_nodes, claim, &measured)
    }

    #[test]
    fn a_machine_of_the_lab_has_the_cores_and_sockets_that_a_statement_needs() {
        let verdict = |name, sockets, cores| {
            let one = of_machine(&Machine::simulated(name, sockets, cores), &[]);
            (one.verdict, one.here)
        };
        let haswell = verdict("haswell-88", 2, 44);
        assert_eq!(haswell, (Verdict::Agrees, "44 threads: 2.00 of P-MCS-MCS's".to_owned()));
        let xeon = verdict("xeon-16", 1, 16);
        assert!(
            xeon.0 == Verdict::NotTestable && xeon.1.starts_with("needs several NUMA nodes"),
            "{}",
            xeon.1
        );
        let small = verdict("2x1", 2, 1);
        assert!(small.0 == Verdict::NotTestable && small.1.starts_with("needs 8 cores"), "{}", small.1);
    }

    #[test]
    fn few_threads_that_were_asked_for_do_not_make_a_machine_small() {
        let one = of_machine(&Machine::simulated("haswell-88", 2, 44), &[1, 2]);
        assert!(
            one.verdict == Verdict::NotTestable && one.here.starts_with("needs 4 threads"),
            "{}",
            one.here
        );
    }
}
