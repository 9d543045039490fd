//! The record of a run: the C program's lines, the medians over the rounds, and the file that keeps them.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::case::Beside;
use super::library::Library;
use crate::harness::alternation::Failure;
use crate::harness::commit::COMMIT;
use crate::harness::load::Load;
use crate::harness::machine::Machine;
use crate::harness::record::{RunFacts, VERSION};
use crate::harness::rounds::{OverRounds, median, mostly_disturbed};
use crate::report::target::Target;

/// Shares of the threads in the work, where 1 is the mean.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Share {
    /// The slowest thread's.
    pub(crate) min: Option<f64>,
    /// The fastest thread's.
    pub(crate) max: Option<f64>,
}

/// A line of JSON from the C program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The key of the measurement.
    #[serde(flatten)]
    pub(crate) key: Key,
    /// The library as it names itself.
    pub(crate) version: String,
    /// The thread level that it gave.
    pub(crate) provided: String,
    /// True if each process had a separate core.
    pub(crate) pinned: bool,
    /// Messages in flight.
    pub(crate) window: u32,
    /// Median of the repetitions.
    pub(crate) value: Option<f64>,
    /// The value of the faster parts of the repetitions, an estimate for a quiet machine.
    #[serde(default)]
    pub(crate) calm: Option<f64>,
    /// Unit of the value.
    pub(crate) unit: String,
    /// The repetitions.
    pub(crate) reps: Vec<Option<f64>>,
    /// Fairness.
    #[serde(default)]
    pub(crate) share: Option<Share>,
    /// Further figures by name.
    #[serde(default)]
    pub(crate) more: BTreeMap<String, Option<f64>>,
    /// Payload that did not arrive as it was sent.
    pub(crate) wrong_bytes: u64,
    /// Cache-line round trip before and after.
    pub(crate) probe_ns: Vec<f64>,
}

impl Line {
    /// The line of a program that reports one figure for a whole run, and further figures.
    pub(crate) fn of_program(
        key: Key,
        version: String,
        value: f64,
        unit: &str,
        more: &[(&str, f64)],
    ) -> Self {
        Self {
            key,
            version,
            provided: "multiple".to_owned(),
            pinned: false,
            window: 0,
            value: Some(value),
            calm: None,
            unit: unit.to_owned(),
            reps: vec![Some(value)],
            share: None,
            more: more.iter().map(|&(name, value)| (name.to_owned(), Some(value))).collect(),
            wrong_bytes: 0,
            probe_ns: Vec::new(),
        }
    }

    /// All results in a program's output; other lines are left out.
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// The case, subject and quantity of a figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    /// The subject, as the C program names it.
    pub(crate) bench: String,
    /// The form of sending, or the name of one of a subject's figures.
    pub(crate) op: String,
    /// The thread level asked for.
    pub(crate) level: String,
    /// `shared` or `per-thread` communicators.
    pub(crate) comms: String,
    /// Processes.
    pub(crate) ranks: u32,
    /// Threads in each.
    pub(crate) threads: u32,
    /// Bytes per message.
    pub(crate) size: u64,
    /// The computation beside the processes.
    #[serde(default)]
    pub(crate) beside: Beside,
}

impl Key {
    /// A key of two processes with one thread each.
    pub(crate) fn new(bench: &str, level: &str, size: u64) -> Self {
        Self {
            bench: bench.to_owned(),
            op: "isend".to_owned(),
            level: level.to_owned(),
            comms: "shared".to_owned(),
            ranks: 2,
            threads: 1,
            size,
            beside: Beside::Nothing,
        }
    }

    /// The same in another form of the subject.
    pub(crate) fn op(self, op: &str) -> Self {
        Self { op: op.to_owned(), ..self }
    }

    /// The same beside computing processes or threads.
    pub(crate) fn beside(self, beside: Beside) -> Self {
        Self { beside, ..self }
    }

    /// The same with another number of processes.
    pub(crate) fn ranks(self, ranks: u32) -> Self {
        Self { ranks, ..self }
    }

    /// The same with `threads` threads per process.
    pub(crate) fn threads(self, threads: u32, comms: &str) -> Self {
        Self { threads, comms: comms.to_owned(), ..self }
    }
}

/// One line of one launch, and when it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measurement {
    /// The library's short name.
    pub(crate) library: String,
    /// Counted from 1.
    pub(crate) round: u32,
    /// The load by other programs.
    pub(crate) load: Load,
    /// The line.
    #[serde(flatten)]
    pub(crate) line: Line,
}

/// A library that took part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Participant {
    /// Its short name.
    pub(crate) name: String,
    /// Its launcher.
    pub(crate) mpiexec: String,
    /// Environment added for it.
    pub(crate) environment: Vec<(String, String)>,
}

impl From<&Library> for Participant {
    fn from(library: &Library) -> Self {
        Self {
            name: library.name.clone(),
            mpiexec: library.mpiexec.display().to_string(),
            environment: library
                .environment
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string_lossy().into_owned()))
                .collect(),
        }
    }
}

/// A library's figure over the rounds: the undisturbed rounds if there are enough, else all.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// Median over the rounds.
    pub(crate) median: f64,
    /// Smallest round.
    pub(crate) low: f64,
    /// Largest round.
    pub(crate) high: f64,
    /// The interval of the median, with a confidence of 95 %.
    #[serde(default)]
    pub(crate) interval: Option<(f64, f64)>,
    /// Rounds that it is made of.
    pub(crate) rounds: usize,
    /// The number of rounds that were disturbed.
    pub(crate) disturbed: usize,
    /// Median of the launches' calm values.
    pub(crate) calm: Option<f64>,
    /// Median share of the slowest thread.
    pub(crate) share_min: Option<f64>,
    /// Medians of the further figures.
    #[serde(default)]
    pub(crate) more: BTreeMap<String, f64>,
    /// Median of the probes beside it.
    pub(crate) probe_ns: Option<f64>,
}

impl Figure {
    /// Returns true if most rounds were disturbed.
    pub(crate) fn doubtful(&self) -> bool {
        mostly_disturbed(self.disturbed, self.rounds)
    }
}

/// All libraries' figures of one key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Of what.
    pub(crate) key: Key,
    /// Unit of the figures.
    pub(crate) unit: String,
    /// By library.
    pub(crate) figures: BTreeMap<String, Figure>,
}

/// Everything a benchmark run leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// This program's version.
    pub(crate) version: String,
    /// The commit that it was built from.
    #[serde(default)]
    pub(crate) commit: String,
    /// The run; it is complete if every launch was made.
    #[serde(flatten)]
    pub(crate) run: RunFacts,
    /// The libraries that took part.
    pub(crate) libraries: Vec<Participant>,
    /// Every launch's lines.
    pub(crate) measurements: Vec<Measurement>,
    /// The failed launches.
    pub(crate) failures: Vec<Failure>,
    /// Cases that the lab cannot run, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<(String, String)>,
    /// Medians.
    pub(crate) summary: Vec<Row>,
    /// Targets, and whether they are met.
    pub(crate) targets: Vec<Target>,
}

impl Results {
    /// The record of a run that has measured nothing yet.
    pub(crate) fn begin(
        started: SystemTime,
        machine: Machine,
        libraries: Vec<Participant>,
        failures: Vec<Failure>,
    ) -> Self {
        Self {
            version: VERSION.to_owned(),
            commit: COMMIT.to_owned(),
            run: RunFacts::begin(started, machine),
            libraries,
            measurements: Vec::new(),
            failures,
            left_out: Vec::new(),
            summary: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// Medians over the rounds, a row a key; rows in the keys' order.
pub(crate) fn summarise(measurements: &[Measurement]) -> Vec<Row> {
    type Libraries<'a> = BTreeMap<&'a str, Vec<(f64, &'a Measurement)>>;
    let mut groups: BTreeMap<&Key, Libraries<'_>> = BTreeMap::new();
    for measurement in measurements.iter().filter(|m| m.line.wrong_bytes == 0) {
        let Some(value) = measurement.line.value else { continue };
        let libraries = groups.entry(&measurement.line.key).or_default();
        libraries.entry(&measurement.library).or_default().push((value, measurement));
    }
    let mut rows = Vec::new();
    for (key, libraries) in groups {
        let unit = libraries.values().flatten().next().map(|(_, m)| m.line.unit.clone()).unwrap_or_default();
        let figures = libraries
            .into_iter()
            .filter_map(|(name, list)| Some((name.to_owned(), figure(&list)?)))
            .collect();
        rows.push(Row { key: key.clone(), unit, figures });
    }
    rows
}

fn figure(values: &[(f64, &Measurement)]) -> Option<Figure> {
    let OverRounds { used, median: middle, low, high, interval, disturbed } =
        OverRounds::of(values, |measurement| measurement.load)?;
    Some(Figure {
        median: middle,
        low,
        high,
        interval,
        rounds: used.len(),
        disturbed,
        calm: median(used.iter().filter_map(|m| m.line.calm)),
        share_min: median(used.iter().filter_map(|m| m.line.share?.min)),
        more: further(&used),
        probe_ns: median(used.iter().flat_map(|m| m.line.probe_ns.iter().copied())),
    })
}

/// Medians of the further figures, by name.
fn further(measurements: &[&Measurement]) -> BTreeMap<String, f64> {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, value) in measurements.iter().flat_map(|m| &m.line.more) {
        values.entry(name).or_default().extend(value);
    }
    values.into_iter().filter_map(|(name, list)| Some((name.to_owned(), median(list.into_iter())?))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Line, Measurement, summarise};
    use crate::harness::load::Load;

    const LINE: &str = r#"{"bench":"rate","version":"X 1","level":"single","provided":"single","ranks":2,
        "pinned":true,"size":8,"threads":1,"comms":"shared","window":128,"op":"isend","seconds":0.4,"value":5,
        "unit":"msg/s","reps":[4,5,null],"share":{"min":1,"mean":1,"max":1},"more":{"jain":0.5,"longest_us":null},"wrong_bytes":0,
        "probe_ns":[90.0,110.0]}"#;

    fn measured(round: u32, value: f64) -> Measurement {
        let line = LINE.replace('\n', " ").replace("\"value\":5", &format!("\"value\":{value}"));
        let line = Line::parse_all(&line).remove(0);
        Measurement { library: "x".to_owned(), round, load: Load::default(), line }
    }

    #[test]
    fn noise_between_lines_is_left_out() {
        let text = format!("warning: something\n{}\nbye\n{{\"bench\":1}}\n", LINE.replace('\n', " "));
        assert_eq!(Line::parse_all(&text).len(), 1);
    }

    #[test]
    fn rounds_are_summarised_by_their_median() {
        let rows = summarise(&[measured(1, 3.0), measured(2, 100.0), measured(3, 4.0)]);
        assert_eq!(rows.len(), 1);
        let figure = &rows[0].figures["x"];
        assert_eq!((figure.median, figure.low, figure.high, figure.rounds), (4.0, 3.0, 100.0, 3));
        assert_eq!(figure.probe_ns, Some(100.0));
        assert_eq!(figure.more, [("jain".to_owned(), 0.5)].into());
    }

    #[test]
    fn a_result_with_wrong_payload_does_not_count() {
        let mut wrong = measured(1, 1000.0);
        wrong.line.wrong_bytes = 1;
        assert_eq!(summarise(&[wrong, measured(2, 7.0)])[0].figures["x"].median, 7.0);
    }
}
