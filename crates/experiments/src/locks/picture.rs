//! The results as one picture: a panel per experiment, a colour per lock.

use std::path::Path;

use plotters::style::RGBColor;

use super::contender::{CONTENDERS, Family};
use super::experiments::{LockExperiment, Metric};
use super::record::{LockResults, LockRow};
use crate::error::BenchError;
use crate::report::chart::{PANEL, Panel, Picture, Series, of_circle};

/// The experiments that are shown, the figure of each, and whether its axis begins at zero.
const PANELS: [(LockExperiment, Metric, bool); 9] = [
    (LockExperiment::Uncontended, Metric::CostNs, false),
    (LockExperiment::Empty, Metric::Rate, false),
    (LockExperiment::Mixed, Metric::Rate, false),
    (LockExperiment::Lines, Metric::LatencyNs, false),
    (LockExperiment::Lines, Metric::Rate, false),
    (LockExperiment::Fifo, Metric::Rate, false),
    (LockExperiment::Fairness, Metric::Jain, true),
    (LockExperiment::Fairness, Metric::LongestWaitUs, false),
    (LockExperiment::Handover, Metric::HandoverNs, false),
];

/// Draws the picture into the SVG file `path`; without a figure there is no picture.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn draw(results: &LockResults, path: &Path) -> Result<(), BenchError> {
    let panels = PANELS.iter().filter_map(|&(experiment, metric, from_zero)| {
        let of_it = |row: &&LockRow| row.experiment == experiment && row.metric == metric;
        panel(results, results.summary.iter().filter(of_it).collect(), from_zero)
    });
    let legend = results.locks.iter().map(|lock| (lock.name.clone(), colour(&lock.name))).collect();
    Picture { heading: results.run.machine.sentence(), legend, panel: PANEL, panels: panels.collect() }
        .draw(path)
}

/// One panel; nothing if nothing was measured for it.
fn panel(results: &LockResults, rows: Vec<&LockRow>, from_zero: bool) -> Option<Panel> {
    let first = rows.first()?;
    let mut series = Vec::new();
    for lock in &results.locks {
        let points: Vec<(f64, f64)> = rows
            .iter()
            .enumerate()
            .filter_map(|(place, row)| Some((place as f64, row.figures.get(&lock.name)?.median)))
            .collect();
        if !points.is_empty() {
            series.push(Series { colour: colour(&lock.name), points, intervals: Vec::new() });
        }
    }
    Some(Panel {
        title: format!("{}: {}", first.experiment.name(), first.metric.title()),
        axis: "threads",
        places: rows.iter().map(|row| row.threads.to_string()).collect(),
        from_zero,
        series,
    })
}

/// The colour of a lock, the same in every picture: greys for the others, the circle of colours for Heddle's.
fn colour(name: &str) -> RGBColor {
    let place = CONTENDERS.iter().position(|contender| contender.name == name).unwrap_or(0);
    let ours: Vec<usize> =
        (0..CONTENDERS.len()).filter(|&index| CONTENDERS[index].family.is_ours()).collect();
    if let Some(number) = ours.iter().position(|&index| index == place) {
        let lightness = if number % 2 == 0 { 0.42 } else { 0.56 };
        let hue = number as f64 / ours.len() as f64;
        return of_circle(hue, 0.75, lightness);
    }
    let others = CONTENDERS[..place].iter().filter(|contender| !contender.family.is_ours()).count() as u8;
    let grey = if CONTENDERS[place].family == Family::Peer { 20 + 35 * others } else { 120 + 15 * others };
    RGBColor(grey, grey, grey)
}
