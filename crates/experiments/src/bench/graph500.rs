//! The Graph500 search of `examples/graph500` as a subject: a separate program, with other
//! options and other results.

use serde::Deserialize;

use super::case::{Case, Effort, LEAST_SECONDS, SHORT};
use super::record::{Key, Line};

/// The logarithm of the number of vertices, and the searches in a launch: seconds on two cores.
const USUAL: (u32, u32) = (15, 16);
/// The same where repetitions are shorter than [`SHORT`].
const FEW: (u32, u32) = (12, 4);

/// The same in the lab.
const IN_LAB: (u32, u32) = (12, 2);

/// The program's command line.
pub(crate) fn arguments(case: &Case, effort: &Effort) -> Vec<String> {
    let (scale, searches) = match effort.seconds {
        simulated if simulated < LEAST_SECONDS => IN_LAB,
        short if short < SHORT => FEW,
        _ => USUAL,
    };
    let words = format!(
        "--scale {scale} --roots {searches} --threads {} --comms {} --no-progress --json -",
        case.threads,
        case.comms.name()
    );
    words.split(' ').map(str::to_owned).collect()
}

/// The part of the program's report that is used.
#[derive(Debug, Deserialize)]
struct SearchReport {
    library: String,
    ranks: u32,
    threads: u32,
    comms: String,
    #[serde(rename = "NBFS")]
    searches: u32,
    validated: u32,
    #[serde(rename = "harmonic_mean_TEPS")]
    teps: f64,
    mpi_time_share: f64,
    mpi_tests: f64,
    messages: f64,
}

/// The line of a run's output; `None` if it is no report of a run whose searches were all right.
pub(crate) fn line(output: &str) -> Option<Line> {
    let report: SearchReport = serde_json::from_str(output).ok()?;
    if report.validated != report.searches {
        return None;
    }
    let more = [
        ("mpi_time_share", report.mpi_time_share),
        ("tests_each", report.mpi_tests / report.messages.max(1.0)),
    ];
    let key = Key {
        ranks: report.ranks,
        ..Key::new("graph500", "multiple", 0).op("bfs").threads(report.threads, &report.comms)
    };
    Some(Line::of_program(key, report.library, report.teps, "edges/s", &more))
}

#[cfg(test)]
mod tests {
    use super::{arguments, line};
    use crate::bench::case::{Case, Comms, Effort, IN_LAB};
    use crate::bench::subject::Subject;

    const REPORT: &str = r#"{"library": "L 1", "ranks": 2, "threads": 4, "comms": "shared", "NBFS": 2, "validated": VALID,
        "harmonic_mean_TEPS": 2.5e7, "mpi_time_share": 0.25, "mpi_tests": 30, "messages": 10, "searches": []}"#;

    #[test]
    fn searches_are_small_in_the_lab() {
        let case = Case::new(Subject::Graph500, 2, &[0]).threads(4, Comms::Shared);
        let scale = |seconds| {
            let words = arguments(&case, &Effort { seconds, ..IN_LAB });
            words.iter().skip_while(|word| *word != "--scale").nth(1).cloned().expect("a scale")
        };
        assert_eq!([0.001, 0.01, 0.2].map(scale), ["12", "12", "15"]);
    }

    #[test]
    fn a_report_becomes_a_line() {
        let line = line(&REPORT.replace("VALID", "2")).expect("a report");
        assert_eq!((line.value, line.key.threads, line.key.comms.as_str()), (Some(2.5e7), 4, "shared"));
        assert_eq!(line.more["tests_each"], Some(3.0));
    }

    #[test]
    fn a_wrong_search_is_no_result() {
        assert!(line(&REPORT.replace("VALID", "1")).is_none());
        assert!(line("mpiexec: no").is_none());
    }
}
