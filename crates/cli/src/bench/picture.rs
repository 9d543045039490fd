//! The results as one picture: a panel a question, a colour a library.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::error::BenchError;
use super::record::{Key, Results, Row};
use super::targets::number;

const PANEL: (u32, u32) = (460, 320);
const COLUMNS: usize = 3;
const HEADER: u32 = 64;

/// What lies along a panel's horizontal axis.
#[derive(Debug, Clone, Copy)]
enum Axis {
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
            Self::Threads => "threads a process",
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

/// A question: which rows, along which axis.
struct Panel {
    title: &'static str,
    axis: Axis,
    takes: fn(&Key) -> bool,
    /// Plots the slowest thread's share instead of the value.
    share: bool,
}

fn threads_row(key: &Key, bench: &str, comms: &str, size: u64) -> bool {
    key.bench == bench && key.comms == comms && key.size == size && key.level == "multiple"
}

fn one_thread(key: &Key, bench: &str, level: &str) -> bool {
    key.bench == bench && key.threads == 1 && key.level == level && key.comms == "shared"
}

const fn panel(title: &'static str, axis: Axis, takes: fn(&Key) -> bool) -> Panel {
    Panel { title, axis, takes, share: false }
}

const PANELS: &[Panel] = &[
    panel("latency, SINGLE (us)", Axis::Size, |key| one_thread(key, "latency", "single")),
    panel("latency, MULTIPLE (us)", Axis::Size, |key| one_thread(key, "latency", "multiple")),
    panel("message rate, SINGLE (msg/s)", Axis::Size, |key| one_thread(key, "rate", "single")),
    panel("message rate, MULTIPLE (msg/s)", Axis::Size, |key| one_thread(key, "rate", "multiple")),
    panel("bandwidth, SINGLE (MB/s)", Axis::Size, |key| one_thread(key, "bandwidth", "single")),
    panel("bandwidth, MULTIPLE (MB/s)", Axis::Size, |key| one_thread(key, "bandwidth", "multiple")),
    panel("message rate 8 B, one communicator (msg/s)", Axis::Threads, |key| {
        threads_row(key, "rate", "shared", 8)
    }),
    panel("message rate 8 B, a communicator a thread (msg/s)", Axis::Threads, |key| {
        threads_row(key, "rate", "per-thread", 8)
    }),
    panel("message rate 8 B, pairs of processes (msg/s)", Axis::Pairs, |key| key.bench == "pairs"),
    panel("clients to one server 8 B (req/s)", Axis::Threads, |key| threads_row(key, "clients", "shared", 8)),
    Panel {
        title: "clients: slowest thread's share",
        axis: Axis::Threads,
        takes: |key| threads_row(key, "clients", "shared", 8),
        share: true,
    },
    panel("latency 8 B, one communicator (us)", Axis::Threads, |key| {
        threads_row(key, "latency", "shared", 8)
    }),
    panel("threads to themselves, one communicator (msg/s)", Axis::Threads, |key| {
        threads_row(key, "self", "shared", 8)
    }),
    panel("threads to themselves, one each (msg/s)", Axis::Threads, |key| {
        threads_row(key, "self", "per-thread", 8)
    }),
    panel("isend to MPI_PROC_NULL (msg/s)", Axis::Threads, |key| {
        key.bench == "procnull" && key.op == "isend"
    }),
];

/// A colour that stays the library's in every picture.
fn colour(library: &str) -> RGBColor {
    match library {
        "heddle" => RGBColor(200, 30, 45),
        "mpich" => RGBColor(35, 100, 180),
        "openmpi" => RGBColor(40, 140, 70),
        "impi" => RGBColor(225, 140, 20),
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
    let panels: Vec<(&Panel, Vec<&Row>)> = PANELS
        .iter()
        .map(|panel| {
            (panel, results.summary.iter().filter(|row| (panel.takes)(&row.key)).collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if panels.is_empty() {
        return Ok(());
    }
    let failed =
        |why: &dyn std::fmt::Display| BenchError::Picture { path: path.into(), why: why.to_string() };
    let columns = COLUMNS.min(panels.len());
    let lines = panels.len().div_ceil(columns);
    let (width, height) = (PANEL.0 * columns as u32, PANEL.1 * lines as u32 + HEADER);
    let root = SVGBackend::new(path, (width, height)).into_drawing_area();
    root.fill(&WHITE).map_err(|e| failed(&e))?;
    let (header, body) = root.split_vertically(HEADER);
    legend(&header, results).map_err(|e| failed(&e))?;
    for (area, (panel, rows)) in body.split_evenly((lines, columns)).iter().zip(&panels) {
        draw_panel(area, panel, rows).map_err(|e| failed(&e))?;
    }
    root.present().map_err(|e| failed(&e))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn legend(area: &Area<'_>, results: &Results) -> Drawn {
    area.draw_text(&results.machine.sentence(), &("sans-serif", 14).into_text_style(area), (12, 8))?;
    let mut x = 12;
    for library in &results.libraries {
        area.draw(&Rectangle::new([(x, 36), (x + 14, 50)], colour(&library.name).filled()))?;
        area.draw_text(&library.name, &("sans-serif", 15).into_text_style(area), (x + 20, 36))?;
        x += 50 + 9 * library.name.len() as i32;
    }
    Ok(())
}

fn draw_panel(area: &Area<'_>, panel: &Panel, rows: &[&Row]) -> Drawn {
    let places: Vec<u64> =
        rows.iter().map(|row| panel.axis.of(&row.key)).collect::<BTreeSet<_>>().into_iter().collect();
    let libraries = rows.iter().flat_map(|row| row.figures.keys()).collect::<BTreeSet<_>>();
    let mut series = Vec::new();
    for library in libraries {
        let mut points = Vec::new();
        for row in rows {
            let Some(figure) = row.figures.get(library) else { continue };
            let value = if panel.share { figure.share_min.unwrap_or(0.0) } else { figure.median };
            let place = places.iter().position(|&place| place == panel.axis.of(&row.key)).unwrap_or(0);
            points.push((place as f64, value));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        series.push(Series { colour: colour(library), points });
    }
    let values = || series.iter().flat_map(|one| one.points.iter().map(|point| point.1));
    let high = values().fold(f64::MIN_POSITIVE, f64::max);
    let low = values().filter(|&value| value > 0.0).fold(high, f64::min);
    let across = -0.5..places.len() as f64 - 0.5;
    let mut chart = ChartBuilder::on(area);
    chart.caption(panel.title, ("sans-serif", 16)).margin(8).x_label_area_size(38).y_label_area_size(60);
    let bars = places.len() == 1;
    // Within a factor of three a linear axis shows more; beyond it only a logarithmic one shows all.
    if bars || panel.share || high < 3.0 * low {
        let mut chart = chart.build_cartesian_2d(across, 0.0..high * 1.15)?;
        draw_axes(&mut chart, panel.axis, &places)?;
        if bars { draw_bars(&mut chart, &series) } else { draw_lines(&mut chart, &series) }
    } else {
        let range = low / 1.4..high * 1.4;
        let marks = log_marks(&range);
        let mut chart = chart.build_cartesian_2d(across, range.log_scale().with_key_points(marks))?;
        draw_axes(&mut chart, panel.axis, &places)?;
        draw_lines(&mut chart, &series)
    }
}

/// Where a logarithmic axis has its marks: 1, 2 and 5 of each decade, over many decades only the 1.
fn log_marks(range: &Range<f64>) -> Vec<f64> {
    let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
    let steps: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all = (first..=last).flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
    all.filter(|mark| range.contains(mark)).collect()
}

/// A library's figures in a panel.
struct Series {
    colour: RGBColor,
    points: Vec<(f64, f64)>,
}

type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

fn draw_axes<Y>(chart: &mut Chart<'_, '_, Y>, axis: Axis, places: &[u64]) -> Drawn
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let place_name = |x: &f64| {
        let nearest = x.round();
        let on_place = (x - nearest).abs() < 0.01 && nearest >= 0.0;
        let place = if on_place { places.get(nearest as usize) } else { None };
        place.map_or(String::new(), |&place| axis.label(place))
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(2 * places.len() + 2)
        .y_labels(6)
        .x_label_formatter(&place_name)
        .y_label_formatter(&|&value| number(value))
        .x_desc(axis.title())
        .draw()?;
    Ok(())
}

fn draw_lines<Y>(chart: &mut Chart<'_, '_, Y>, series: &[Series]) -> Drawn
where
    Y: Ranged<ValueType = f64>,
{
    for one in series {
        chart.draw_series(LineSeries::new(one.points.iter().copied(), one.colour.stroke_width(2)))?;
        chart.draw_series(one.points.iter().map(|&point| Circle::new(point, 3, one.colour.filled())))?;
    }
    Ok(())
}

fn draw_bars<Y>(chart: &mut Chart<'_, '_, Y>, series: &[Series]) -> Drawn
where
    Y: Ranged<ValueType = f64>,
{
    let width = 0.8 / series.len() as f64;
    for (index, one) in series.iter().enumerate() {
        let left = -0.4 + width * index as f64;
        chart.draw_series(one.points.iter().map(|&(_, value)| {
            Rectangle::new([(left, 0.0), (left + width * 0.9, value)], one.colour.filled())
        }))?;
    }
    Ok(())
}
