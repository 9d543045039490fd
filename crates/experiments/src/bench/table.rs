//! The results as a page of Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::behind;
use super::case::Beside;
use super::columns::{Column, KEY, head, key_cells};
use super::figures::{best_peer, smaller_is_better};
use super::library::HEDDLE;
use super::record::{Figure, Results, Row};
use crate::harness::rounds::median;
use crate::report::target::{CheckResult, Target, number, shown};

/// The cell that compares Heddle with the best of the other libraries, which it names.
pub(super) fn ratio(heddle: Option<f64>, best: Option<(&str, f64)>) -> String {
    match (heddle, best) {
        (Some(heddle), Some((name, best))) => format!("{:.2} ({name})", heddle / best),
        (None, Some((name, _))) => format!("- ({name})"),
        _ => "-".to_owned(),
    }
}

/// Renders the whole page.
pub(crate) fn render(results: &Results) -> String {
    let simulated = results.run.machine.simulated.is_some();
    let mut page = String::from("# Heddle and other MPI libraries");
    page += if simulated { ", simulated\n\n" } else { "\n\n" };
    let rounds = results.measurements.iter().map(|m| m.round).max().unwrap_or(0);
    let state = if results.run.complete { "" } else { " **Interrupted: not every launch was made.**" };
    // A `String` takes whatever is written to it, so the results of these macros cannot be errors.
    let _ = writeln!(page, "{}\n", results.run.machine.sentence());
    let medians = if simulated {
        "each with another seed; medians. Targets are for real machines, and stand here for comparison."
    } else {
        "alternating; medians, without the rounds in which others used the machine where three or more remain, with `*` \
         where they had to be used (`~`: the value of the run's faster parts, an indication only)."
    };
    let _ = writeln!(
        page,
        "{}, {rounds} round(s) over all libraries, {medians}{state} In parentheses: the slowest thread's share of the \
         mean, where 1 is fair. Further figures, where several took part: Jain's index of their shares (`jain`, 1 is \
         fair), the longest unit of work (`longest_us`), and a subject's own.\n",
        results.run.started
    );
    versions(&mut page, results);
    targets(&mut page, &results.targets);
    behind::render(&mut page, &results.measurements);
    figures(&mut page, results);
    failures(&mut page, results);
    left_out(&mut page, results);
    page
}

/// The cases that the lab cannot run.
fn left_out(page: &mut String, results: &Results) {
    if !results.left_out.is_empty() {
        page.push_str("\n## Left out\n\n");
    }
    for (case, why) in &results.left_out {
        let _ = writeln!(page, "- {case}: {why}");
    }
}

fn versions(page: &mut String, results: &Results) {
    for library in &results.libraries {
        let version =
            results.measurements.iter().find(|m| m.library == library.name).map(|m| &m.line.version);
        let version = version.map_or("no results", String::as_str);
        let _ = writeln!(page, "- {}: {version}", library.name);
    }
    page.push('\n');
}

fn targets(page: &mut String, targets: &[Target]) {
    page.push_str("## Targets\n\n| target | Heddle | limit | from | |\n|---|---:|---:|---|---|\n");
    for target in targets {
        let verdict = match target.verdict {
            CheckResult::Pass => "pass",
            CheckResult::Fail => "**FAIL**",
            CheckResult::NotMeasured => "not measured",
        };
        let _ = writeln!(
            page,
            "| {} | {} {} | {} {} | {} | {verdict} |",
            target.what,
            shown(target.measured),
            target.unit,
            target.bound.sign(),
            shown(target.limit),
            target.basis
        );
    }
    page.push('\n');
}

fn figures(page: &mut String, results: &Results) {
    let mut rows: Vec<&Row> = results.summary.iter().collect();
    rows.sort_by_key(|row| (&row.key.bench, &row.unit));
    for rows in rows.chunk_by(|a, b| a.key.bench == b.key.bench) {
        let unit = &rows[0].unit;
        let better = if smaller_is_better(unit) { "smaller" } else { "larger" };
        let _ = writeln!(page, "## {} ({unit}, {better} is better)\n", rows[0].key.bench);
        head(
            page,
            &KEY,
            results.libraries.iter().map(|library| library.name.as_str()),
            &[Column::right("Heddle / best peer"), Column::right("probe ns")],
        );
        for row in rows {
            one_row(page, results, row);
        }
        page.push('\n');
        further(page, results, rows);
    }
}

/// The further figures of a subject's rows, where several threads or processes took part, or others computed.
fn further(page: &mut String, results: &Results, rows: &[&Row]) {
    let several = |row: &&&Row| row.key.threads > 1 || row.key.ranks > 2 || row.key.beside != Beside::Nothing;
    let mut lines = String::new();
    for row in rows.iter().filter(several) {
        let names: BTreeSet<&String> = row.figures.values().flat_map(|figure| figure.more.keys()).collect();
        for name in names {
            let key = &row.key;
            let _ = write!(
                lines,
                "| {} | {} | {} | {} | {} | {} |",
                key.op,
                key.comms,
                key.beside.name(),
                key.ranks,
                key.threads,
                key.size
            );
            let _ = write!(lines, " {name} |");
            for library in &results.libraries {
                let value = row.figures.get(&library.name).and_then(|figure| figure.more.get(name));
                let _ = write!(lines, " {} |", value.map_or("-".to_owned(), |&value| number(value)));
            }
            lines.push('\n');
        }
    }
    if lines.is_empty() {
        return;
    }
    head(
        page,
        // Without the level.
        &[&KEY[1..], &[Column::left("further figure")]].concat(),
        results.libraries.iter().map(|library| library.name.as_str()),
        &[],
    );
    let _ = writeln!(page, "{lines}");
}

fn one_row(page: &mut String, results: &Results, row: &Row) {
    let key = &row.key;
    let _ = write!(page, "| {} |", key_cells(key));
    for library in &results.libraries {
        let shown = row.figures.get(&library.name).map_or("-".to_owned(), |figure| cell(figure, key.threads));
        let _ = write!(page, " {shown} |");
    }
    let heddle = row.figures.get(HEDDLE).map(|figure| figure.median);
    let ratio = ratio(heddle, best_peer(row));
    let probe = median(row.figures.values().filter_map(|figure| figure.probe_ns));
    let _ = writeln!(page, " {ratio} | {} |", shown(probe));
}

fn cell(figure: &Figure, threads: u32) -> String {
    let mut text = number(figure.median);
    if let Some(share) = figure.share_min.filter(|_| threads > 1) {
        let _ = write!(text, " ({share:.2})");
    }
    if figure.doubtful() {
        text.push('*');
        if let Some(calm) = figure.calm {
            let _ = write!(text, " ~{}", number(calm));
        }
    }
    text
}

fn failures(page: &mut String, results: &Results) {
    let wrong = results.measurements.iter().filter(|m| m.line.wrong_bytes > 0);
    let wrong: Vec<String> = wrong
        .map(|m| format!("{}: {} bytes of payload wrong in {:?}", m.library, m.line.wrong_bytes, m.line.key))
        .collect();
    if results.failures.is_empty() && wrong.is_empty() {
        return;
    }
    page.push_str("## Failures\n\n");
    for failure in &results.failures {
        let how = failure.how.replace('\n', " / ");
        let _ = writeln!(page, "- {} round {}, {}: {how}", failure.system, failure.round, failure.case);
    }
    for line in wrong {
        let _ = writeln!(page, "- {line}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::render;
    use crate::bench::record::Results;
    use crate::harness::machine::Machine;

    #[test]
    fn a_page_from_the_lab_says_so_and_names_what_it_lacks() {
        let page = |machine| {
            let mut results = Results::begin(SystemTime::UNIX_EPOCH, machine, Vec::new(), Vec::new());
            if results.run.machine.simulated.is_some() {
                results.left_out =
                    vec![("startup multiple 16 ranks".to_owned(), "it is real time".to_owned())];
            }
            render(&results)
        };
        let simulated = page(Machine::simulated("2x44", 2, 44));
        assert!(
            simulated.starts_with("# Heddle and other MPI libraries, simulated\n\nSimulated: 2x44"),
            "{simulated}"
        );
        assert!(
            simulated.ends_with("## Left out\n\n- startup multiple 16 ranks: it is real time\n"),
            "{simulated}"
        );
        let real = page(Machine::read());
        assert!(real.contains("alternating") && !real.to_lowercase().contains("simulated"), "{real}");
    }
}
