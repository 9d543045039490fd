//! The page of a run: for each experiment the paper's statements beside the figures, the picture, and a
//! table a picture.

use std::fmt::Write as _;

use super::experiment::Experiment;
use super::measured::{Measured, Point};
use super::results::Results;
use super::system::{BEST_PEER, DEFAULT};
use super::view::View;
use crate::report::target::number;
use crate::report::verdict::Verdict;

/// An experiment and the paper's statements, without figures.
pub(super) fn listing(experiment: &Experiment) -> String {
    let mut text = String::new();
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ =
        writeln!(text, "{} {}: {}", experiment.paper.name(), experiment.names.join(" "), experiment.title);
    let systems: Vec<&str> = experiment.systems.iter().map(|system| system.label).collect();
    let _ = writeln!(text, "    systems: {}", systems.join(", "));
    for claim in experiment.claims {
        let _ = writeln!(text, "    {}: {}", claim.figure, claim.text);
    }
    text
}

/// The whole page.
pub(super) fn render(all: &[(&Experiment, Results)]) -> String {
    let mut page = String::from("# The papers' experiments\n\n");
    let Some((_, first)) = all.first() else { return page };
    let record = &first.record;
    let _ = writeln!(
        page,
        "{}; {} UTC. Medians over the rounds; in brackets the interval of 95 % confidence, where there are enough \
         rounds for one. A statement is *not testable here* if the machine has too few cores for its threads, or no levels \
         of them where it is about such; the figures then stand beside it all the same.\n",
        record.machine.sentence(),
        record.started.replace('T', " ").chars().take(16).collect::<String>()
    );
    page.push_str(&counts(all));
    for (experiment, results) in all {
        of_experiment(&mut page, experiment, results);
    }
    page
}

/// A line an experiment, for the terminal.
pub(super) fn summary(all: &[(&Experiment, Results)]) -> String {
    let mut text = String::new();
    for (experiment, results) in all {
        let _ = writeln!(
            text,
            "{} {}: {}",
            experiment.paper.name(),
            experiment.names.join(" "),
            verdicts(results)
        );
    }
    text
}

/// The number of statements with each verdict, in words.
fn verdicts(results: &Results) -> String {
    let count = |verdict| results.statements.iter().filter(|it| it.verdict == verdict).count();
    let some = Verdict::ALL.iter().map(|&verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    some.map(|(verdict, count)| format!("{count} {}", verdict.name().trim_matches('*')))
        .collect::<Vec<_>>()
        .join(", ")
}

fn counts(all: &[(&Experiment, Results)]) -> String {
    let mut table = String::from("| paper | experiment | statements |\n|---|---|---|\n");
    for (experiment, results) in all {
        let _ = writeln!(
            table,
            "| {} | {} | {} |",
            experiment.paper.name(),
            experiment.names.join(", "),
            verdicts(results)
        );
    }
    table.push('\n');
    table
}

fn of_experiment(page: &mut String, experiment: &Experiment, results: &Results) {
    let _ = writeln!(page, "## {}: {}\n", experiment.paper.name(), experiment.title);
    let _ = writeln!(page, "{}. {}\n", experiment.paper.title(), experiment.note);
    page.push_str("| | the paper | here | |\n|---|---|---|---|\n");
    for it in &results.statements {
        let _ = writeln!(page, "| {} | {} | {} | {} |", it.figure, it.paper, it.here, it.verdict.name());
    }
    let name = experiment.file_name();
    let _ =
        writeln!(page, "\n![{}]({name}.svg)\n\nAll figures: [{name}.json]({name}.json).\n", experiment.title);
    let systems = experiment.systems.iter().filter(|system| system.label != system.settings);
    let settings: Vec<String> =
        systems.map(|system| format!("{}: `{}`", system.label, system.settings)).collect();
    let _ = writeln!(page, "Systems: {}.\n", settings.join("; "));
    let measured = Measured { systems: experiment.systems, rows: &results.record.summary };
    experiment.views.iter().for_each(|view| table(page, &measured, view));
    for failure in &results.record.failures {
        let _ = writeln!(
            page,
            "Failed: {}, round {}, {}: {}",
            failure.library, failure.round, failure.case, failure.how
        );
    }
}

/// A table of a view: a row a system, a column a place.
fn table(page: &mut String, measured: &Measured<'_>, view: &View) {
    let places = measured.places(view);
    if places.is_empty() {
        return;
    }
    let names: Vec<String> = places.iter().map(|&place| view.place_name(place)).collect();
    let _ = writeln!(page, "| {}; {} | {} |", view.title, view.axis(), names.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(places.len()));
    let labels = measured.systems.iter().map(|system| system.label);
    for label in std::iter::once(DEFAULT).chain(labels) {
        let cells: Vec<String> =
            places.iter().map(|&place| cell(measured.point(label, view, place))).collect();
        if cells.iter().any(|cell| cell != "-") {
            let _ = writeln!(page, "| {label} | {} |", cells.join(" | "));
        }
    }
    let best = |&place: &u64| match measured.best_peer(view, place) {
        Some((name, point)) => format!("{} ({name})", cell(Some(point))),
        None => "-".to_owned(),
    };
    let peers: Vec<String> = places.iter().map(best).collect();
    if peers.iter().any(|cell| cell != "-") {
        let _ = writeln!(page, "| {BEST_PEER} | {} |", peers.join(" | "));
    }
    page.push('\n');
}

fn cell(point: Option<Point>) -> String {
    match point {
        Some((value, Some((low, high)))) => format!("{} [{}, {}]", number(value), number(low), number(high)),
        Some((value, None)) => number(value),
        None => "-".to_owned(),
    }
}
