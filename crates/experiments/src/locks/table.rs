//! The results as a page of Markdown, and the last words on the terminal.

use std::fmt::Write as _;

use super::experiments::LockExperiment;
use super::record::{LockResults, LockRow};
use crate::harness::rounds::median;
use crate::report::target::{CheckResult, Target, count, number, shown};

/// Renders the whole page.
pub(crate) fn render(results: &LockResults) -> String {
    let mut page = String::from("# Heddle's locks and other mutexes\n\n");
    let state = if results.run.complete { "" } else { " **Interrupted: not every cell was measured.**" };
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(page, "{}\n", results.run.machine.sentence());
    let _ = writeln!(
        page,
        "{}, {} rounds over all cells, the locks of a cell one directly after the other; {} iterations where they are \
         counted, {} s where time is; medians, without the rounds in which others used the machine where three or \
         more remain, with `*` where they had to be used.{state} In parentheses: the figure as a multiple of the best \
         of pthread's, parking_lot's and std's mutex.\n",
        results.run.started, results.rounds, results.iterations, results.seconds
    );
    targets(&mut page, &results.targets);
    for rows in results.summary.chunk_by(|a, b| a.experiment == b.experiment) {
        experiment(&mut page, results, rows[0].experiment, rows);
    }
    page
}

/// The summary that is printed at the end of a run.
pub(crate) fn conclusion(results: &LockResults) -> String {
    let mut text = String::new();
    for target in results.targets.iter().filter(|target| target.verdict == CheckResult::Fail) {
        let _ = writeln!(text, "{} ({})", target.miss(), target.basis);
    }
    let count = |verdict| count(&results.targets, verdict);
    let _ = writeln!(text, "targets: {} met, {} missed", count(CheckResult::Pass), count(CheckResult::Fail));
    let figures = || results.summary.iter().flat_map(|row| row.figures.values());
    let doubtful = figures().filter(|figure| figure.doubtful()).count();
    if doubtful > 0 {
        let all = figures().count();
        let _ = writeln!(text, "others used the machine during {doubtful} of {all} figures: they say little");
    }
    text
}

fn targets(page: &mut String, targets: &[Target]) {
    if targets.is_empty() {
        return;
    }
    page.push_str("## Targets\n\n| target | measured | limit | from | |\n|---|---:|---:|---|---|\n");
    for target in targets {
        let verdict = if target.verdict == CheckResult::Pass { "met" } else { "**missed**" };
        let _ = writeln!(
            page,
            "| {} | {} | {} {} {} | {} | {verdict} |",
            target.what,
            shown(target.measured),
            target.bound.sign(),
            shown(target.limit),
            target.unit,
            target.basis
        );
    }
    page.push('\n');
}

fn experiment(page: &mut String, results: &LockResults, experiment: LockExperiment, rows: &[LockRow]) {
    let _ = writeln!(page, "## {}: {}\n", experiment.name(), experiment.question());
    for rows in rows.chunk_by(|a, b| a.metric == b.metric) {
        let metric = rows[0].metric;
        let better = if metric.smaller_is_better() { "smaller" } else { "larger" };
        let _ = write!(page, "{}, {better} is better\n\n| threads |", metric.title());
        for row in rows {
            let _ = write!(page, " {} |", row.threads);
        }
        let _ = writeln!(page, "\n|---|{}", "---:|".repeat(rows.len()));
        for lock in &results.locks {
            if rows.iter().any(|row| row.figures.contains_key(&lock.name)) {
                one_lock(page, &lock.name, rows);
            }
        }
        page.push_str("| *probe ns* |");
        for row in rows {
            let _ = write!(
                page,
                " {} |",
                shown(median(row.figures.values().filter_map(|figure| figure.probe_ns)))
            );
        }
        page.push_str("\n\n");
    }
}

fn one_lock(page: &mut String, name: &str, rows: &[LockRow]) {
    let _ = write!(page, "| {name} |");
    for row in rows {
        let Some(figure) = row.figures.get(name) else {
            page.push_str(" - |");
            continue;
        };
        let doubt = if figure.doubtful() { "*" } else { "" };
        let _ = write!(page, " {}{doubt}", number(figure.median));
        if let Some(ratio) = row.ratio(name).filter(|_| row.metric.is_compared()) {
            let _ = write!(page, " ({ratio:.2})");
        }
        page.push_str(" |");
    }
    page.push('\n');
}
