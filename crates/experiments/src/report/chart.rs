//! Charts: panels with lines or bars beside each other in one SVG file, a colour a participant.
//!
//! A logarithmic axis has no place for zero: it leaves such values out, and the axis says how many.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::target::number;
use crate::error::BenchError;

/// The usual width and height of a panel, in pixels.
pub(crate) const PANEL: (u32, u32) = (460, 320);
const COLUMNS: usize = 3;
/// The height of a line of the legend.
const LEGEND_LINE: u32 = 28;

/// A picture.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The line above everything.
    pub(crate) heading: String,
    /// The participants and their colours.
    pub(crate) legend: Vec<(String, RGBColor)>,
    /// The width and height of each panel, in pixels.
    pub(crate) panel: (u32, u32),
    /// The panels, row by row.
    pub(crate) panels: Vec<Panel>,
}

/// A question: figures of several participants along one axis.
#[derive(Debug)]
pub(crate) struct Panel {
    /// The quantity shown, with its unit.
    pub(crate) title: String,
    /// The quantity along the horizontal axis.
    pub(crate) axis: &'static str,
    /// The places on the horizontal axis.
    pub(crate) places: Vec<String>,
    /// True if the vertical axis begins at zero in any case.
    pub(crate) from_zero: bool,
    /// One participant each.
    pub(crate) series: Vec<Series>,
}

/// A participant's figures in a panel.
#[derive(Debug)]
pub(crate) struct Series {
    /// Its colour.
    pub(crate) colour: RGBColor,
    /// Number of the place, and value, in the order of the places.
    pub(crate) points: Vec<(f64, f64)>,
    /// Number of the place, and the ends of the interval in which the value lies, where they are known.
    pub(crate) intervals: Vec<(f64, f64, f64)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;
type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

impl Picture {
    /// Draws it into the SVG file `path`; without a panel there is no picture.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn draw(&self, path: &Path) -> Result<(), BenchError> {
        if self.panels.is_empty() {
            return Ok(());
        }
        let failed =
            |why: &dyn std::fmt::Display| BenchError::Picture { path: path.into(), why: why.to_string() };
        let columns = COLUMNS.min(self.panels.len());
        let lines = self.panels.len().div_ceil(columns);
        let width = self.panel.0 * columns as u32;
        let names = self.names();
        let legend = legend_places(&names, width);
        let header = LEGEND_LINE * (2 + legend.last().map_or(0, |place| place.1));
        let size = (width, self.panel.1 * lines as u32 + header);
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE).map_err(|e| failed(&e))?;
        let (top, body) = root.split_vertically(header);
        self.draw_legend(&top, &names, &legend).map_err(|e| failed(&e))?;
        for (area, panel) in body.split_evenly((lines, columns)).iter().zip(&self.panels) {
            panel.draw(area).map_err(|e| failed(&e))?;
        }
        root.present().map_err(|e| failed(&e))
    }

    /// The legend's names, each once.
    fn names(&self) -> Vec<(&str, RGBColor)> {
        let mut names: Vec<(&str, RGBColor)> = Vec::new();
        for (name, colour) in &self.legend {
            if names.iter().all(|(known, _)| known != name) {
                names.push((name, *colour));
            }
        }
        names
    }

    fn draw_legend(&self, area: &Area<'_>, names: &[(&str, RGBColor)], places: &[(u32, u32)]) -> Drawn {
        area.draw_text(&self.heading, &("sans-serif", 14).into_text_style(area), (12, 8))?;
        for ((name, colour), &(x, line)) in names.iter().zip(places) {
            let (x, y) = (x as i32, (36 + LEGEND_LINE * line) as i32);
            area.draw(&Rectangle::new([(x, y), (x + 14, y + 14)], colour.filled()))?;
            area.draw_text(name, &("sans-serif", 15).into_text_style(area), (x + 20, y))?;
        }
        Ok(())
    }
}

/// A colour of the circle of colours, on which `hue` goes from 0 to 1.
pub(crate) fn of_circle(hue: f64, saturation: f64, lightness: f64) -> RGBColor {
    let (red, green, blue) = HSLColor(hue, saturation, lightness).to_backend_color().rgb;
    RGBColor(red, green, blue)
}

/// The position of each participant's name: pixels from the left, and line.
fn legend_places(names: &[(&str, RGBColor)], width: u32) -> Vec<(u32, u32)> {
    let (mut x, mut line) = (12, 0);
    let mut places = Vec::new();
    for (name, _) in names {
        let needed = 50 + 9 * name.len() as u32;
        if x > 12 && x + needed > width {
            (x, line) = (12, line + 1);
        }
        places.push((x, line));
        x += needed;
    }
    places
}

impl Series {
    /// The part of the series that lies on an axis whose values are all above `floor`.
    fn above(&self, floor: f64) -> Self {
        let intervals = self.intervals.iter().filter(|&&(_, _, high)| high > floor);
        Self {
            colour: self.colour,
            points: self.points.iter().copied().filter(|&(_, value)| value > floor).collect(),
            intervals: intervals.map(|&(place, low, high)| (place, low.max(floor), high)).collect(),
        }
    }

    /// The points in runs of neighbouring places: no line goes over a place without a value.
    fn runs(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        self.points.chunk_by(|one, next| next.0 - one.0 < 1.5)
    }
}

impl Panel {
    fn draw(&self, area: &Area<'_>) -> Drawn {
        let values = || self.series.iter().flat_map(|one| one.points.iter().map(|point| point.1));
        let positive = || values().filter(|&value| value > 0.0);
        let high = positive().reduce(f64::max).unwrap_or(1.0);
        let low = positive().fold(high, f64::min);
        let across = -0.5..self.places.len() as f64 - 0.5;
        let mut chart = ChartBuilder::on(area);
        chart.caption(&self.title, ("sans-serif", 16)).margin(8).x_label_area_size(38).y_label_area_size(60);
        let bars = self.places.len() == 1;
        // Within a factor of three a linear axis shows more; beyond it only a logarithmic one shows all. Bars
        // begin at zero while the shortest can be seen.
        let linear = if bars { high < 50.0 * low } else { high < 3.0 * low };
        if self.from_zero || linear {
            let mut chart = chart.build_cartesian_2d(across, 0.0..high * 1.15)?;
            self.draw_axes(&mut chart, self.axis)?;
            if bars { draw_bars(&self.series, &mut chart, 0.0) } else { draw_lines(&self.series, &mut chart) }
        } else {
            let range = low / 1.4..high * 1.4;
            let (marks, base) = (log_marks(&range), range.start);
            let mut chart = chart.build_cartesian_2d(across, range.log_scale().with_key_points(marks))?;
            let series: Vec<Series> = self.series.iter().map(|one| one.above(base)).collect();
            let zeros = values().filter(|&value| value <= 0.0).count();
            self.draw_axes(&mut chart, &axis_without(self.axis, zeros))?;
            if bars { draw_bars(&series, &mut chart, base) } else { draw_lines(&series, &mut chart) }
        }
    }

    fn draw_axes<Y>(&self, chart: &mut Chart<'_, '_, Y>, axis: &str) -> Drawn
    where
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let place_name = |x: &f64| {
            let nearest = x.round();
            let on_place = (x - nearest).abs() < 0.01 && nearest >= 0.0;
            let place = if on_place { self.places.get(nearest as usize) } else { None };
            place.map_or(String::new(), Clone::clone)
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(2 * self.places.len() + 2)
            .y_labels(6)
            .x_label_formatter(&place_name)
            .y_label_formatter(&|&value| number(value))
            .x_desc(axis)
            .draw()?;
        Ok(())
    }
}

fn draw_lines<Y>(series: &[Series], chart: &mut Chart<'_, '_, Y>) -> Drawn
where
    Y: Ranged<ValueType = f64>,
{
    for one in series {
        for run in one.runs() {
            chart.draw_series(LineSeries::new(run.iter().copied(), one.colour.stroke_width(2)))?;
        }
        chart.draw_series(one.points.iter().map(|&point| Circle::new(point, 3, one.colour.filled())))?;
        let bar = |&(place, low, high): &(f64, f64, f64)| {
            PathElement::new([(place, low), (place, high)], one.colour.mix(0.5).stroke_width(2))
        };
        chart.draw_series(one.intervals.iter().map(bar))?;
    }
    Ok(())
}

fn draw_bars<Y>(series: &[Series], chart: &mut Chart<'_, '_, Y>, base: f64) -> Drawn
where
    Y: Ranged<ValueType = f64>,
{
    let width = 0.8 / series.len() as f64;
    for (index, one) in series.iter().enumerate() {
        let left = -0.4 + width * index as f64;
        chart.draw_series(one.points.iter().map(|&(_, value)| {
            Rectangle::new([(left, base), (left + width * 0.9, value)], one.colour.filled())
        }))?;
    }
    Ok(())
}

/// The title of the horizontal axis, with the number of values that a logarithmic axis leaves out.
fn axis_without(axis: &str, zeros: usize) -> Cow<'_, str> {
    match zeros {
        0 => axis.into(),
        1 => format!("{axis} (a value of zero is not drawn)").into(),
        _ => format!("{axis} ({zeros} values of zero are not drawn)").into(),
    }
}

/// The marks of a logarithmic axis: 1, 2 and 5 of each decade, over many decades only the 1.
fn log_marks(range: &Range<f64>) -> Vec<f64> {
    let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
    let steps: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all = (first..=last).flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
    all.filter(|mark| range.contains(mark)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use plotters::style::RGBColor;

    use super::{PANEL, Panel, Picture, Series};

    const RED: RGBColor = RGBColor(200, 0, 0);

    /// The SVG of a panel with one series of `values`, a place each.
    fn drawn(values: &[f64], from_zero: bool) -> String {
        let places = || (0..values.len()).map(|place| place as f64);
        let series = Series {
            colour: RED,
            points: places().zip(values.iter().copied()).collect(),
            intervals: places().zip(values).map(|(place, &value)| (place, 0.0, value)).collect(),
        };
        let panel = Panel {
            title: "rate".to_owned(),
            axis: "threads",
            places: places().map(|place| place.to_string()).collect(),
            from_zero,
            series: vec![series],
        };
        let legend = vec![("MCS".to_owned(), RED), ("MCS".to_owned(), RED)];
        let picture = Picture { heading: "test".to_owned(), legend, panel: PANEL, panels: vec![panel] };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("picture.svg");
        picture.draw(&path).expect("drawn");
        fs::read_to_string(path).expect("the file")
    }

    fn count(text: &str, part: &str) -> usize {
        text.matches(part).count()
    }

    #[test]
    fn a_logarithmic_axis_leaves_zeros_out_and_says_so() {
        let svg = drawn(&[1.0, 0.0, 100.0, 0.0, 1000.0, 2000.0], false);
        assert_eq!(count(&svg, "<circle"), 4);
        assert!(svg.contains("threads (2 values of zero are not drawn)"));
        // Ends of intervals at zero reach the lower end of the axis, and no further.
        assert!(!svg.contains("inf") && !svg.contains("NaN") && !svg.contains("-21474"), "{svg}");
    }

    #[test]
    fn a_linear_axis_draws_zeros() {
        let svg = drawn(&[1.0, 0.0, 2.0], false);
        assert_eq!(count(&svg, "<circle"), 3);
        assert!(!svg.contains("not drawn"));
        assert_eq!(count(&drawn(&[0.0, 0.0], false), "<circle"), 2);
        assert_eq!(count(&drawn(&[1.0, 0.0, 100.0], true), "<circle"), 3);
    }

    #[test]
    fn no_line_goes_over_a_place_without_a_value() {
        let of = |points| Series { colour: RED, points, intervals: Vec::new() };
        let gap = of(vec![(0.0, 1.0), (1.0, 1.0), (3.0, 1.0)]);
        assert_eq!(gap.runs().map(<[_]>::len).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_legend_has_each_name_once() {
        let svg = drawn(&[1.0, 2.0], false);
        assert_eq!(count(&svg, "MCS"), 1);
    }
}
