//! The results as one picture: a panel a question, a colour a library.

use std::collections::BTreeSet;
use std::path::Path;

use plotters::style::RGBColor;

use super::case::Beside;
use super::record::{Figure, Key, Results, Row};
use crate::error::BenchError;
use crate::report::chart::{self, PANEL, Picture, Series};

/// The quantity along a panel's horizontal axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axis {
    Size,
    Threads,
    Pairs,
}

impl Axis {
    fn of(self, key: &Key) -> u64 {
        match self {
            Self::Size => key.size,
            Self::Threads => u64::from(key.threads),
            Self::Pairs => u64::from(key.ranks / 2),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Size => "bytes",
            Self::Threads => "threads per process",
            Self::Pairs => "pairs of processes",
        }
    }

    fn label(self, value: u64) -> String {
        match (self, value) {
            (Self::Size, v) if v >= 1 << 20 => format!("{}M", v >> 20),
            (Self::Size, v) if v >= 1 << 10 => format!("{}K", v >> 10),
            (_, v) => v.to_string(),
        }
    }
}

/// The quantity that is plotted.
#[derive(Debug, Clone, Copy)]
enum Plotted {
    /// The figure itself.
    Value,
    /// The slowest thread's share in the mean.
    Share,
    /// A further figure.
    Further(&'static str),
}

impl Plotted {
    fn of(self, figure: &Figure) -> Option<f64> {
        match self {
            Self::Value => Some(figure.median),
            Self::Share => figure.share_min,
            Self::Further(name) => figure.more.get(name).copied(),
        }
    }
}

/// A question: which rows, along which axis.
pub(super) struct Question {
    title: &'static str,
    axis: Axis,
    takes: fn(&Key) -> bool,
    plots: Plotted,
}

pub(super) fn threads_row(key: &Key, bench: &str, comms: &str, size: u64) -> bool {
    key.bench == bench && key.comms == comms && key.size == size && key.level == "multiple"
}

pub(super) fn one_thread(key: &Key, bench: &str, level: &str) -> bool {
    key.bench == bench && key.threads == 1 && key.level == level && key.comms == "shared"
}

pub(super) const fn question(title: &'static str, axis: Axis, takes: fn(&Key) -> bool) -> Question {
    Question { title, axis, takes, plots: Plotted::Value }
}

const QUESTIONS: &[Question] = &[
    question("latency, SINGLE (us)", Axis::Size, |key| one_thread(key, "latency", "single")),
    question("latency, MULTIPLE (us)", Axis::Size, |key| one_thread(key, "latency", "multiple")),
    question("message rate, SINGLE (msg/s)", Axis::Size, |key| one_thread(key, "rate", "single")),
    question("message rate, MULTIPLE (msg/s)", Axis::Size, |key| one_thread(key, "rate", "multiple")),
    question("bandwidth, SINGLE (MB/s)", Axis::Size, |key| one_thread(key, "bandwidth", "single")),
    question("bandwidth, MULTIPLE (MB/s)", Axis::Size, |key| one_thread(key, "bandwidth", "multiple")),
    question("message rate 8 B, one communicator (msg/s)", Axis::Threads, |key| {
        threads_row(key, "rate", "shared", 8)
    }),
    question("message rate 8 B, a communicator per thread (msg/s)", Axis::Threads, |key| {
        threads_row(key, "rate", "per-thread", 8)
    }),
    question("message rate 8 B, pairs of processes (msg/s)", Axis::Pairs, |key| key.bench == "pairs"),
    question("clients to one server 8 B (req/s)", Axis::Threads, |key| {
        threads_row(key, "clients", "shared", 8)
    }),
    Question {
        title: "clients: slowest thread's share",
        axis: Axis::Threads,
        takes: |key| threads_row(key, "clients", "shared", 8),
        plots: Plotted::Share,
    },
    question("latency 8 B, one communicator (us)", Axis::Threads, |key| {
        threads_row(key, "latency", "shared", 8)
    }),
    question("threads to themselves, one communicator (msg/s)", Axis::Threads, |key| {
        threads_row(key, "self", "shared", 8) && key.op == "isend"
    }),
    question("threads to themselves, one each (msg/s)", Axis::Threads, |key| {
        threads_row(key, "self", "per-thread", 8) && key.op == "isend"
    }),
    question("neighbors 0 B, predefined objects (msg/s)", Axis::Threads, |key| {
        threads_row(key, "neighbor", "shared", 0) && key.op == "predefined"
    }),
    question("neighbors 0 B, derived objects (msg/s)", Axis::Threads, |key| {
        threads_row(key, "neighbor", "shared", 0) && key.op == "derived"
    }),
    question("completion by MPI_Test, one each (msg/s)", Axis::Threads, |key| {
        threads_row(key, "testing", "per-thread", 8) && key.op == "test"
    }),
    Question {
        title: "tests a completion",
        axis: Axis::Threads,
        takes: |key| threads_row(key, "testing", "per-thread", 8) && key.op == "test",
        plots: Plotted::Further("tests_each"),
    },
    question("MPI_Test, complete (ns of processor time)", Axis::Threads, |key| {
        threads_row(key, "testcost", "per-thread", 8) && key.op == "done"
    }),
    question("MPI_Test, pending (ns of processor time)", Axis::Threads, |key| {
        threads_row(key, "testcost", "per-thread", 8) && key.op == "pending"
    }),
    question("requests beside a stalled thread, 99 % (us)", Axis::Threads, |key| {
        threads_row(key, "stall", "per-thread", 8) && key.op == "stall"
    }),
    Question {
        title: "requests beside a stalled thread, longest (us)",
        axis: Axis::Threads,
        takes: |key| threads_row(key, "stall", "per-thread", 8) && key.op == "stall",
        plots: Plotted::Further("max_us"),
    },
    question("MPI_Comm_dup and free, one each (us)", Axis::Threads, |key| key.bench == "dup"),
    question("threads that come and go (us per thread)", Axis::Threads, |key| key.bench == "churn"),
    question("Graph500 search, one each (edges/s)", Axis::Threads, |key| key.bench == "graph500"),
    question("isend to MPI_PROC_NULL (msg/s)", Axis::Threads, |key| {
        key.bench == "procnull" && key.op == "isend"
    }),
];

/// A colour that stays the library's in every picture.
pub(super) fn colour(library: &str) -> RGBColor {
    match library {
        "heddle" => RGBColor(200, 30, 45),
        "mpich" => RGBColor(35, 100, 180),
        "mpich-vci" => RGBColor(120, 175, 235),
        "openmpi" => RGBColor(40, 140, 70),
        "impi" => RGBColor(225, 140, 20),
        "impi-split" => RGBColor(235, 190, 105),
        other => {
            // Heddle's other models: shades that differ by name.
            let sum = other.bytes().fold(0_u8, u8::wrapping_add);
            RGBColor(150 + sum % 80, 60 + sum % 110, 120 + sum % 130)
        }
    }
}

/// Draws the picture into the SVG file `path`; without a figure there is no picture.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn draw(results: &Results, path: &Path) -> Result<(), BenchError> {
    let panels = QUESTIONS.iter().filter_map(|question| question.panel(&results.summary)).collect();
    let names = results.libraries.iter().map(|library| &library.name);
    let legend = names.map(|name| (name.clone(), colour(name))).collect();
    Picture { heading: results.run.machine.sentence(), legend, panel: PANEL, panels }.draw(path)
}

impl Question {
    /// Its panel; nothing if nothing was measured for it.
    pub(super) fn panel(&self, rows: &[Row]) -> Option<chart::Panel> {
        let alone = rows.iter().filter(|row| row.key.beside == Beside::Nothing);
        let rows: Vec<&Row> = alone.filter(|row| (self.takes)(&row.key)).collect();
        let places: Vec<u64> =
            rows.iter().map(|row| self.axis.of(&row.key)).collect::<BTreeSet<_>>().into_iter().collect();
        let libraries: BTreeSet<_> = rows.iter().flat_map(|row| row.figures.keys()).collect();
        let mut series = Vec::new();
        for library in libraries {
            let mut points = Vec::new();
            for row in &rows {
                let Some(figure) = row.figures.get(library) else { continue };
                let Some(value) = self.plots.of(figure) else { continue };
                let place = places.iter().position(|&place| place == self.axis.of(&row.key)).unwrap_or(0);
                points.push((place as f64, value));
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            series.push(Series { colour: colour(library), points, intervals: Vec::new() });
        }
        (!rows.is_empty()).then(|| chart::Panel {
            title: self.title.to_owned(),
            axis: self.axis.title(),
            places: places.iter().map(|&place| self.axis.label(place)).collect(),
            from_zero: matches!(self.plots, Plotted::Share),
            series,
        })
    }
}
