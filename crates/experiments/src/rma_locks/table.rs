//! The results as a page of Markdown.

use super::cases::{SimulatedFigure, SimulatedRow, SimulatedSubject, TUNED};
use super::results::SimulationResults;
use std::fmt::Write as _;

/// Renders the whole page.
pub(crate) fn render(results: &SimulationResults) -> String {
    let mut page = String::from("# The distributed locks on a simulated network\n\n");
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(
        page,
        "Virtual time, seed {}; {} acquisitions or more per case. Nothing here was measured on a network. {}\n",
        results.seed, results.acquisitions, results.machine
    );
    page.push_str(&statements(results));
    for figure in SimulatedFigure::ALL {
        let rows: Vec<&SimulatedRow> = results.rows.iter().filter(|row| row.figure == figure).collect();
        if !rows.is_empty() {
            let _ = writeln!(page, "## {}\n", figure.title());
            of_figure(&mut page, figure, &rows);
        }
    }
    page
}

/// The paper's statements, one a line.
pub(crate) fn statements(results: &SimulationResults) -> String {
    let mut page = String::new();
    if results.statements.is_empty() {
        return page;
    }
    page.push_str("| section | the paper | the simulation | |\n|---|---|---|---|\n");
    for statement in &results.statements {
        let verdict = statement.verdict.name();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {verdict} |",
            statement.section, statement.paper, statement.simulated
        );
    }
    page.push('\n');
    page
}

fn of_figure(page: &mut String, figure: SimulatedFigure, rows: &[&SimulatedRow]) {
    let rate = |row: &SimulatedRow| format!("{:.2}", row.throughput / 1e6);
    let mut groups: Vec<(SimulatedSubject, f64)> = Vec::new();
    for row in rows {
        if !groups.contains(&(row.subject, row.writers_percent)) {
            groups.push((row.subject, row.writers_percent));
        }
    }
    for (subject, percent) in groups {
        let rows: Vec<&SimulatedRow> = rows
            .iter()
            .copied()
            .filter(|row| row.subject == subject && row.writers_percent == percent)
            .collect();
        let share = format!("F_W = {percent} %");
        match (figure, subject) {
            (_, SimulatedSubject::Dht) => {
                let time = |row: &SimulatedRow| format!("{:.2}", row.time_us.unwrap_or(0.0) / 1000.0);
                series(page, &format!("DHT, {share}: total time in ms"), &rows, time);
            }
            (SimulatedFigure::MutualExclusion, SimulatedSubject::Ecsb) => {
                series(page, "LB: acquire and release, mean in µs", &rows, |row| {
                    format!("{:.1}", row.latency_us[0])
                });
                series(page, "ECSB: million acquisitions a second", &rows, rate);
            }
            (SimulatedFigure::MutualExclusion, _) => {
                series(page, &format!("{}: million acquisitions a second", subject.name()), &rows, rate);
            }
            (SimulatedFigure::Adaptive, _) => beside_the_best(page, &share, &rows),
            (SimulatedFigure::Locality, _) => {
                series(
                    page,
                    &format!("{}, {share}: million acquisitions a second", subject.name()),
                    &rows,
                    rate,
                );
                series(page, "mean latency of all in µs", &rows, |row| format!("{:.1}", row.latency_us[0]));
            }
            _ => {
                series(
                    page,
                    &format!("{}, {share}: million acquisitions a second", subject.name()),
                    &rows,
                    rate,
                );
                if subject == SimulatedSubject::Ecsb {
                    series(page, "LB: latency in µs of readers, of writers", &rows, |row| {
                        format!("{:.1}, {:.0}", row.latency_us[1], row.latency_us[2])
                    });
                }
            }
        }
    }
}

/// The tuned lock and the best of the fixed settings.
fn beside_the_best(page: &mut String, share: &str, rows: &[&SimulatedRow]) {
    let _ = writeln!(
        page,
        "ECSB, {share}: million acquisitions a second; latency in µs of readers, of writers\n"
    );
    page.push_str("| P | tuned | the best fixed setting | | ratio |\n|---:|---:|---:|---|---:|\n");
    let figures = |row: &SimulatedRow| {
        format!("{:.2}; {:.0}, {:.0}", row.throughput / 1e6, row.latency_us[1], row.latency_us[2])
    };
    for tuned in rows.iter().filter(|row| row.series == TUNED) {
        let fixed = rows.iter().filter(|row| row.processes == tuned.processes && row.series != TUNED);
        let Some(best) = fixed.max_by(|a, b| a.throughput.total_cmp(&b.throughput)) else { continue };
        let ratio = tuned.throughput / best.throughput;
        let (ours, theirs) = (figures(tuned), figures(best));
        let _ = writeln!(page, "| {} | {ours} | {theirs} | {} | {ratio:.2} |", tuned.processes, best.series);
    }
    page.push('\n');
}

fn series(page: &mut String, title: &str, rows: &[&SimulatedRow], show: impl Fn(&SimulatedRow) -> String) {
    let mut names: Vec<&str> = Vec::new();
    let mut processes: Vec<usize> = Vec::new();
    for row in rows {
        if !names.contains(&row.series.as_str()) {
            names.push(&row.series);
        }
        if !processes.contains(&row.processes) {
            processes.push(row.processes);
        }
    }
    let _ = write!(page, "{title}\n\n| P |");
    for p in &processes {
        let _ = write!(page, " {p} |");
    }
    let _ = writeln!(page, "\n|---|{}", "---:|".repeat(processes.len()));
    for name in names {
        let _ = write!(page, "| {name} |");
        for p in &processes {
            let row = rows.iter().find(|row| row.series == name && row.processes == *p);
            let _ = write!(page, " {} |", row.map_or("-".to_owned(), |row| show(row)));
        }
        page.push('\n');
    }
    page.push('\n');
}
