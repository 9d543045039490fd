//! The conditions of a run, which belong beside its figures: its lengths, the commit of the program, and how
//! much other programs disturbed it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::bench::case::Effort;
use crate::bench::record;
use crate::harness::load::DISTURBED;

/// The mark of a figure that comes mostly from disturbed rounds.
pub(super) const DOUBTFUL: char = '*';

/// The lengths of a run, as they go into the JSON file.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Lengths {
    /// Rounds over all systems.
    rounds: u32,
    /// Repetitions in each launch.
    repetitions: u32,
    /// Seconds of a repetition.
    seconds: f64,
    /// Seconds of warm-up before each repetition.
    warm_up: f64,
}

impl From<Effort> for Lengths {
    fn from(effort: Effort) -> Self {
        let Effort { rounds, reps: repetitions, seconds, warm: warm_up } = effort;
        Self { rounds, repetitions, seconds, warm_up }
    }
}

impl Lengths {
    /// In one sentence.
    fn sentence(&self) -> String {
        let s = |count: u32| if count == 1 { "" } else { "s" };
        let Self { rounds, repetitions, seconds, warm_up } = *self;
        format!(
            "{rounds} round{}, in each {repetitions} repetition{} of {seconds} s after a warm-up of {warm_up} s (searches \
             and sweeps have a length of their own)",
            s(rounds),
            s(repetitions)
        )
    }
}

/// The lengths and the program of a run, in two sentences.
pub(super) fn of_run(lengths: &Lengths, record: &record::Results) -> String {
    let commit = match record.commit.as_str() {
        "unknown" | "" => "an unknown commit (built without git)".to_owned(),
        commit => format!("commit {commit}"),
    };
    let unfinished = if record.run.complete { "" } else { ", interrupted" };
    format!("{}{unfinished}. Heddle {}, built from {commit}.", lengths.sentence(), record.version)
}

/// The disturbance of a run by other programs, in one or two sentences; nothing if it measured nothing.
pub(super) fn disturbance(record: &record::Results) -> String {
    let all = record.measurements.len();
    if all == 0 {
        return String::new();
    }
    let limit = 100.0 * DISTURBED;
    let mut rounds: BTreeMap<u32, usize> = BTreeMap::new();
    let mut worst = 0.0;
    for measurement in record.measurements.iter().filter(|it| it.load.disturbs()) {
        *rounds.entry(measurement.round).or_default() += 1;
        worst = f64::max(worst, measurement.load.others + measurement.load.stolen);
    }
    if rounds.is_empty() {
        return format!(
            "Undisturbed: in none of {all} measurements did others take more than {limit} % of the cores."
        );
    }
    let disturbed: usize = rounds.values().sum();
    let rounds: Vec<String> =
        rounds.iter().map(|(round, count)| format!("{count} in round {round}")).collect();
    let figures = record.summary.iter().flat_map(|row| row.figures.values());
    let doubtful = figures.clone().filter(|figure| figure.doubtful()).count();
    format!(
        "Disturbed: in {disturbed} of {all} measurements ({}) other programs or the host took more than {limit} % of the \
         cores, at worst {:.0} %. {doubtful} of {} medians come mostly from disturbed rounds; the tables mark them with \
         \\{DOUBTFUL}.",
        rounds.join(", "),
        100.0 * worst,
        figures.count()
    )
}

#[cfg(test)]
mod tests {
    use super::{Lengths, disturbance, of_run};
    use crate::bench::case::Effort;
    use crate::bench::record::{Key, Line, Measurement, Results, summarise};
    use crate::harness::load::Load;
    use crate::harness::machine::Machine;

    /// A record with a measurement in each round, beside these shares of other programs.
    fn record(others: &[f64]) -> Results {
        let mut record =
            Results::begin(std::time::SystemTime::UNIX_EPOCH, Machine::read(), Vec::new(), Vec::new());
        record.measurements = (1..)
            .zip(others)
            .map(|(round, &others)| Measurement {
                library: "heddle".to_owned(),
                round,
                load: Load { others, stolen: 0.0 },
                line: Line::of_program(Key::new("rate", "multiple", 8), "1".to_owned(), 1.0, "msg/s", &[]),
            })
            .collect();
        record.summary = summarise(&record.measurements);
        record
    }

    #[test]
    fn the_lengths_and_the_commit_are_told() {
        let lengths = Lengths::from(Effort { rounds: 6, reps: 1, seconds: 0.2, warm: 0.05 });
        let mut record = record(&[]);
        (record.commit, record.run.complete) = ("0123abc".to_owned(), true);
        let text = of_run(&lengths, &record);
        assert!(text.contains("6 rounds, in each 1 repetition of 0.2 s"), "{text}");
        assert!(text.contains("commit 0123abc") && !text.contains("interrupted"), "{text}");
        (record.commit, record.run.complete) = ("unknown".to_owned(), false);
        let text = of_run(&lengths, &record);
        assert!(text.contains("unknown commit") && text.contains("interrupted"), "{text}");
    }

    #[test]
    fn disturbed_rounds_are_counted_and_named() {
        let text = disturbance(&record(&[0.0, 0.5, 0.0, 0.07]));
        assert!(text.contains("2 of 4 measurements (1 in round 2, 1 in round 4)"), "{text}");
        assert!(text.contains("at worst 50 %. 0 of 1 medians"), "{text}");
        assert!(disturbance(&record(&[0.5, 0.5])).contains("1 of 1 medians"));
    }

    #[test]
    fn a_quiet_run_says_so() {
        assert!(disturbance(&record(&[0.0, 0.05])).starts_with("Undisturbed: in none of 2 measurements"));
        assert_eq!(disturbance(&record(&[])), "");
    }
}
