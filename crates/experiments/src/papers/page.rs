//! The page of a run: for each experiment the paper's statements beside the figures, the picture, and a
//! table a picture.

use std::fmt::Write as _;

use super::conditions::{self, DOUBTFUL};
use super::experiment::{Experiment, Within};
use super::measured::{Measured, Point};
use super::results::PaperResults;
use super::system::{BEST_PEER, DEFAULT, System};
use super::view::View;
use crate::report::target::number;
use crate::report::verdict::Verdict;

/// An experiment and the paper's statements, without figures.
pub(super) fn listing(experiment: &Experiment) -> String {
    let mut text = String::new();
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ =
        writeln!(text, "{} {}: {}", experiment.paper.name(), experiment.names.join(" "), experiment.title);
    let systems: Vec<String> = experiment.systems.iter().map(System::name).collect();
    let _ = writeln!(text, "    systems: {}", systems.join(", "));
    for claim in experiment.claims {
        let _ = writeln!(text, "    {}: {}", claim.figure, claim.text);
    }
    if let Within::Simulation(figure) = experiment.within {
        let _ = writeln!(
            text,
            "    simulated; the statements are those of `heddle bench rma-locks {}`",
            figure.name()
        );
    }
    text
}

/// The whole page; experiments that the lab leaves out are named.
pub(super) fn render(all: &[(&Experiment, PaperResults)], left_out: &[&Experiment]) -> String {
    let mut page = String::from("# The papers' experiments");
    let Some((_, first)) = all.first() else { return page };
    let record = &first.record;
    page += if record.run.machine.simulated.is_some() { ", simulated\n\n" } else { "\n\n" };
    let _ = writeln!(
        page,
        "{}; {} UTC. {}\n\nMedians over the rounds; in brackets the interval of 95 % confidence, where there are enough \
         rounds for one. A statement is *not testable here* if the machine has too few cores for its threads, or no levels \
         of them where it is about such; the figures then stand beside it all the same.\n",
        record.run.machine.sentence(),
        record.run.started.replace('T', " ").chars().take(16).collect::<String>(),
        conditions::of_run(&first.lengths, record)
    );
    page.push_str(&counts(all));
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|experiment| experiment.name()).collect();
        let _ = writeln!(
            page,
            "Left out: {}. Their locks run on a simulated network, whatever the machine (`heddle bench rma-locks`).\n",
            names.join(", ")
        );
    }
    for (experiment, results) in all {
        of_experiment(&mut page, experiment, results);
    }
    page
}

/// A line an experiment, for the terminal.
pub(super) fn summary(all: &[(&Experiment, PaperResults)]) -> String {
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
fn verdicts(results: &PaperResults) -> String {
    let count = |verdict| results.statements.iter().filter(|it| it.verdict == verdict).count();
    let some = Verdict::ALL.iter().map(|&verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    some.map(|(verdict, count)| format!("{count} {}", verdict.name().trim_matches('*')))
        .collect::<Vec<_>>()
        .join(", ")
}

fn counts(all: &[(&Experiment, PaperResults)]) -> String {
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

fn of_experiment(page: &mut String, experiment: &Experiment, results: &PaperResults) {
    let _ = writeln!(page, "## {}: {}\n", experiment.paper.name(), experiment.title);
    let _ = writeln!(page, "{}. {}\n", experiment.paper.title(), experiment.note);
    page.push_str("| | the paper | here | |\n|---|---|---|---|\n");
    for it in &results.statements {
        let _ = writeln!(page, "| {} | {} | {} | {} |", it.figure, it.paper, it.here, it.verdict.name());
    }
    let disturbance = conditions::disturbance(&results.record);
    // Nothing disturbs virtual time.
    let simulated =
        results.record.run.machine.simulated.is_some() || matches!(experiment.within, Within::Simulation(_));
    if !disturbance.is_empty() && !simulated {
        let _ = writeln!(page, "\n{disturbance}");
    }
    let name = experiment.name();
    let _ =
        writeln!(page, "\n![{}]({name}.svg)\n\nAll figures: [{name}.json]({name}.json).\n", experiment.title);
    let systems = experiment.systems.iter().filter(|system| system.label != system.settings);
    let settings: Vec<String> =
        systems.map(|system| format!("{}: `{}`", system.label, system.settings)).collect();
    if !settings.is_empty() {
        let _ = writeln!(page, "Systems: {}.\n", settings.join("; "));
    }
    let measured = Measured { systems: experiment.systems, rows: &results.record.summary };
    experiment.views.iter().for_each(|view| table(page, &measured, view));
    for (case, why) in &results.record.left_out {
        let _ = writeln!(page, "Left out: {case}: {why}\n");
    }
    for failure in &results.record.failures {
        let _ = writeln!(
            page,
            "Failed: {}, round {}, {}: {}",
            failure.system, failure.round, failure.case, failure.how
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
    let systems = measured.systems.iter().map(|system| (system.label, system.name()));
    for (label, name) in std::iter::once((DEFAULT, DEFAULT.to_owned())).chain(systems) {
        let shown = |&place: &u64| {
            let doubtful = measured.doubtful(&measured.name(label), view, place);
            cell(measured.point(label, view, place), doubtful)
        };
        let cells: Vec<String> = places.iter().map(shown).collect();
        if cells.iter().any(|cell| cell != "-") {
            let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
        }
    }
    let best = |&place: &u64| match measured.best_peer(view, place) {
        Some((name, point)) => {
            format!("{} ({name})", cell(Some(point), measured.doubtful(&name, view, place)))
        }
        None => "-".to_owned(),
    };
    let peers: Vec<String> = places.iter().map(best).collect();
    if peers.iter().any(|cell| cell != "-") {
        let _ = writeln!(page, "| {BEST_PEER} | {} |", peers.join(" | "));
    }
    page.push('\n');
}

fn cell(point: Option<Point>, doubtful: bool) -> String {
    let Some((value, interval)) = point else { return "-".to_owned() };
    let mut text = number(value);
    if doubtful {
        text.push('\\');
        text.push(DOUBTFUL);
    }
    if let Some((low, high)) = interval {
        let _ = write!(text, " [{}, {}]", number(low), number(high));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_marks_what_was_disturbed() {
        assert_eq!(cell(Some((2.0, Some((1.0, 3.0)))), false), "2.00 [1.00, 3.00]");
        assert_eq!(cell(Some((2.0, Some((1.0, 3.0)))), true), "2.00\\* [1.00, 3.00]");
        assert_eq!(cell(Some((2.0, None)), true), "2.00\\*");
        assert_eq!(cell(None, false), "-");
    }
}
