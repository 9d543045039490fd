//! The pictures of an experiment: a panel per figure of the paper, a colour per system.

use std::path::Path;

use plotters::style::RGBColor;

use super::experiment::Experiment;
use super::measured::{Measured, Point};
use super::results::PaperResults;
use super::system::{BEST_PEER, DEFAULT, Form, System};
use super::view::{Quantity, View};
use crate::error::BenchError;
use crate::report::chart::{PANEL, Panel, Picture, Series, of_circle};

/// Draws the pictures into the SVG file `path`.
///
/// # Errors
///
/// If the file cannot be written.
pub(super) fn draw(experiment: &Experiment, results: &PaperResults, path: &Path) -> Result<(), BenchError> {
    let measured = Measured { systems: experiment.systems, rows: &results.record.summary };
    let curves = curves(experiment);
    let panels: Vec<Panel> =
        experiment.views.iter().filter_map(|view| panel(&measured, view, &curves)).collect();
    let shown = |colour| panels.iter().flat_map(|panel| &panel.series).any(|one| one.colour == colour);
    let machine = results.record.run.machine.short();
    let heading = format!("{}: {} ({machine})", experiment.paper.name(), experiment.title);
    let legend = curves.iter().filter(|(_, colour)| shown(*colour));
    let name = |label: &str| {
        experiment.systems.iter().find(|system| system.label == label).map_or(label.to_owned(), System::name)
    };
    let legend = legend.map(|(label, colour)| (name(label), *colour)).collect();
    Picture { heading, legend, panel: PANEL, panels }.draw(path)
}

/// The labels and their colours: the default red, processes and the other libraries grey, the circle of
/// colours for the paper's systems, and lighter for Heddle's forms.
fn curves(experiment: &Experiment) -> Vec<(&'static str, RGBColor)> {
    let count = |form| experiment.systems.iter().filter(|system| system.form == form).count() as f64;
    let (papers, heddles) = (count(Form::Paper) + count(Form::Alone), count(Form::Heddle));
    let (mut paper, mut heddle) = (0.0, 0.0);
    let mut curves = vec![(DEFAULT, RGBColor(200, 30, 45))];
    for system in experiment.systems {
        let colour = match system.form {
            Form::Processes => RGBColor(120, 120, 120),
            Form::Paper | Form::Alone => {
                paper += 1.0;
                of_circle(0.08 + 0.8 * (paper - 0.5) / papers, 0.85, 0.38)
            }
            Form::Heddle => {
                heddle += 1.0;
                of_circle(0.1 + 0.8 * (heddle - 0.5) / heddles, 0.75, 0.72)
            }
        };
        curves.push((system.label, colour));
    }
    curves.push((BEST_PEER, RGBColor(30, 30, 30)));
    curves
}

/// A panel; nothing if nothing was measured for it.
fn panel(measured: &Measured<'_>, view: &View, curves: &[(&str, RGBColor)]) -> Option<Panel> {
    let places = measured.places(view);
    let mut series = Vec::new();
    for (label, colour) in curves {
        let point = |place: u64| -> Option<Point> {
            if *label == BEST_PEER {
                Some(measured.best_peer(view, place)?.1)
            } else {
                measured.point(label, view, place)
            }
        };
        let mut one = Series { colour: *colour, points: Vec::new(), intervals: Vec::new() };
        for (number, &place) in places.iter().enumerate() {
            let Some((value, interval)) = point(place) else { continue };
            one.points.push((number as f64, value));
            one.intervals.extend(interval.map(|(low, high)| (number as f64, low, high)));
        }
        if !one.points.is_empty() {
            series.push(one);
        }
    }
    (!series.is_empty()).then(|| Panel {
        title: view.title.to_owned(),
        axis: view.axis(),
        places: places.iter().map(|&place| view.place_name(place)).collect(),
        from_zero: matches!(view.shows, Quantity::Share(..) | Quantity::Over(_)),
        series,
    })
}
