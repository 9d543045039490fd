//! Simulates the distributed locks for an experiment: rows of `heddle bench rma-locks` as lines like those of
//! the C program, and its statements.

use super::distributed::BENCH;
use super::experiment::Statement;
use crate::bench::case::{Effort, SHORT};
use crate::bench::record::{Key, Line, Measurement};
use crate::error::BenchError;
use crate::harness::load::Load;
use crate::harness::record::VERSION;
use crate::rma_locks::{SimulatedFigure, SimulatedRow, check, simulate_usual};

/// The numbers of processes: the paper's.
const PROCESSES: [usize; 7] = [8, 16, 32, 64, 256, 512, 1024];
/// Those of runs that only try everything.
const FEW: [usize; 3] = [8, 16, 32];
/// Acquisitions of all processes in a second of our repetitions.
const ACQUISITIONS_A_SECOND: f64 = 1e5;

/// A line for each case of a figure, and the paper's statements.
///
/// # Errors
///
/// If a simulation comes to no end.
pub(super) fn measure(
    figure: SimulatedFigure,
    effort: &Effort,
) -> Result<(Vec<Measurement>, Vec<Statement>), BenchError> {
    let (processes, acquisitions) = if effort.seconds < SHORT {
        (&FEW[..], 500)
    } else {
        (&PROCESSES[..], (ACQUISITIONS_A_SECOND * effort.seconds).min(20_000.0) as usize)
    };
    let rows = simulate_usual(figure, processes, acquisitions)?;
    let statements = check(&rows).into_iter().map(|it| Statement {
        figure: it.section,
        paper: it.paper,
        here: it.simulated,
        verdict: it.verdict,
    });
    // Other programs have no part in virtual time.
    let measurement = |row: &SimulatedRow| Measurement {
        library: row.series.clone(),
        round: 1,
        load: Load::default(),
        line: line(row),
    };
    Ok((rows.iter().map(measurement).collect(), statements.collect()))
}

/// The form of the benchmark: the paper's name and F_W in percent.
fn op(row: &SimulatedRow) -> String {
    format!("{} {}", row.subject.name(), row.writers_percent)
}

fn line(row: &SimulatedRow) -> Line {
    let key = Key::new(BENCH, "multiple", 0).op(&op(row)).ranks(row.processes as u32);
    let time = row.time_us.map(|us| ("time_us", us));
    let latency = row.time_us.is_none().then_some(("latency_us", row.latency_us[0]));
    let more: Vec<(&str, f64)> = time.into_iter().chain(latency).collect();
    Line::of_program(key, VERSION.to_owned(), row.throughput, "1/s", &more)
}

#[cfg(test)]
mod tests {
    use super::measure;
    use crate::bench::case::Effort;
    use crate::bench::record::summarise;
    use crate::papers::distributed::EXPERIMENTS;
    use crate::papers::experiment::Within;
    use crate::papers::measured::Measured;

    /// Every picture has a point of each system at each number of processes, and some statement is checked.
    #[test]
    fn every_picture_of_the_simulation_has_all_its_points() {
        let effort = Effort { rounds: 1, reps: 1, seconds: 0.01, warm: 0.0 };
        for experiment in &EXPERIMENTS {
            let Within::Simulation(figure) = experiment.within else { panic!("{}", experiment.name()) };
            let (measurements, statements) = measure(figure, &effort).expect("simulated");
            let rows = summarise(&measurements);
            let measured = Measured { systems: experiment.systems, rows: &rows };
            for view in experiment.views {
                assert_eq!(measured.places(view), [8, 16, 32], "{}", view.title);
                for system in experiment.systems {
                    for place in [8, 16, 32] {
                        let value = measured.at(system.label, view, place);
                        assert!(
                            value.is_some_and(|it| it > 0.0),
                            "{}, {}: {value:?}",
                            view.title,
                            system.label
                        );
                    }
                }
            }
            // The statement about T_DC is about 512 processes and more.
            assert!(!statements.is_empty() || experiment.names == ["fig4a"], "{}", experiment.name());
        }
    }
}
