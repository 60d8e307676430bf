//! A figure: lines over a common axis, written as a table (CSV) and as a plot (SVG and PNG).
//!
//! The font is embedded, so that plots look the same on a machine without fonts. Colours are those of Okabe
//! and Ito, which people with any colour vision can tell apart.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Once;

/// Lines over a common axis.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files, such as `000-fig04`.
    pub name: String,
    /// What stands over the plot.
    pub title: String,
    /// What runs to the right.
    pub x: Axis,
    /// What runs upwards.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it says.
    pub label: String,
    /// The names of 0, 1, 2…, where it has names and not numbers.
    pub names: Vec<String>,
    /// Whether equal distances are equal ratios.
    pub log: bool,
}

/// One line of a figure.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it shows.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
];

const SIZE: (u32, u32) = (860, 560);
const GREY: RGBColor = RGBColor(90, 90, 90);

impl Axis {
    /// An axis of numbers.
    pub fn of(label: &str) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// An axis of numbers whose equal distances are equal ratios.
    pub fn log(label: &str) -> Axis {
        Axis { log: true, ..Axis::of(label) }
    }

    /// An axis of names.
    pub fn named(label: &str, names: &[&str]) -> Axis {
        Axis { names: names.iter().map(|name| name.to_string()).collect(), ..Axis::of(label) }
    }

    /// How a number of this axis is printed.
    pub fn text(&self, value: f64) -> String {
        let name = (value >= 0.0 && value.fract() == 0.0).then(|| self.names.get(value as usize)).flatten();
        name.cloned().unwrap_or_else(|| if self.names.is_empty() { number(value) } else { String::new() })
    }

    fn place(&self, value: f64) -> f64 {
        if self.log { value.max(1e-9).log10() } else { value }
    }
}

impl Line {
    /// A line.
    pub fn new(name: &str, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), points }
    }

    /// Its value at `x`.
    ///
    /// # Panics
    /// If it has none there.
    pub fn at(&self, x: f64) -> f64 {
        self.points.iter().find(|point| point.0 == x).expect("the line has a point there").1
    }

    /// Its values.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.1)
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.values().fold(f64::MIN, f64::max)
    }

    /// The smallest value.
    pub fn min(&self) -> f64 {
        self.values().fold(f64::MAX, f64::min)
    }

    /// The mean value.
    pub fn mean(&self) -> f64 {
        self.values().sum::<f64>() / self.points.len().max(1) as f64
    }
}

/// Lines by number, and where each begins.
type LegendRow = Vec<(usize, i32)>;

impl Figure {
    /// The line with this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn line(&self, name: &str) -> &Line {
        self.lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("no line {name}"))
    }

    /// Every place on the right-going axis, ascending.
    pub fn places(&self) -> Vec<f64> {
        let mut places: Vec<f64> = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The table: one row a place, one column per line.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let cell = |line: &Line, x: f64| {
            line.points.iter().find(|point| point.0 == x).map_or(String::new(), |point| number(point.1))
        };
        let mut rows =
            vec![std::iter::once(self.x.label.clone()).chain(self.lines.iter().map(|l| l.name.clone())).collect()];
        for x in self.places() {
            rows.push(std::iter::once(self.x.text(x)).chain(self.lines.iter().map(|line| cell(line, x))).collect());
        }
        rows
    }

    /// Writes the table and both plots.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut text = String::new();
        for row in self.rows() {
            let cells: Vec<String> = row.iter().map(|cell| csv_cell(cell)).collect();
            writeln!(text, "{}", cells.join(","))?;
        }
        fs::write(folder.join(format!("{}.csv", self.name)), text)?;
        let svg = folder.join(format!("{}.svg", self.name));
        self.draw(&SVGBackend::new(&svg, SIZE).into_drawing_area()).map_err(|error| anyhow!("{error}"))?;
        let png = folder.join(format!("{}.png", self.name));
        self.draw(&BitMapBackend::new(&png, SIZE).into_drawing_area()).map_err(|error| anyhow!("{error}"))?;
        Ok(())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        embed_font();
        area.fill(&WHITE)?;
        let rows = self.legend_rows(area)?;
        let (head, rest) = area.split_vertically(44);
        let (body, foot) = rest.split_vertically(SIZE.1 as i32 - 44 - 12 - 24 * rows.len() as i32);
        let title = ("sans-serif", 20).into_text_style(area).color(&BLACK).pos(Pos::new(HPos::Center, VPos::Center));
        head.draw_text(&self.title, &title, (SIZE.0 as i32 / 2, 24))?;
        let (across, up) = (self.range(true), self.range(false));
        let mut chart = ChartBuilder::on(&body)
            .margin_right(24)
            .margin_left(8)
            .x_label_area_size(48)
            .y_label_area_size(78)
            .build_cartesian_2d(across, up)?;
        let text = |axis: &Axis, place: f64| {
            let value = if axis.log { 10f64.powf(place) } else { place };
            axis.text(if value.abs() < 1e-12 { 0.0 } else { value })
        };
        let ticks = if self.x.names.is_empty() { 9 } else { self.x.names.len() + 2 };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(228, 228, 228))
            .axis_style(GREY)
            .x_labels(ticks)
            .y_labels(8)
            .x_desc(&self.x.label)
            .y_desc(if self.y.log { format!("{} (log)", self.y.label) } else { self.y.label.clone() })
            .x_label_formatter(&|&place| text(&self.x, place))
            .y_label_formatter(&|&place| text(&self.y, place))
            .label_style(("sans-serif", 15))
            .axis_desc_style(("sans-serif", 16))
            .draw()?;
        for (index, (line, colour)) in self.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let points: Vec<(f64, f64)> =
                line.points.iter().map(|point| (self.x.place(point.0), self.y.place(point.1))).collect();
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
            // Earlier lines have larger marks, which show as rings where a later line lies on them.
            let above = (self.lines.len() - 1 - index) as i32;
            let radius = if points.len() > 40 { 2 } else { 4 + above.min(3) };
            chart.draw_series(points.iter().map(|&point| Circle::new(point, radius, colour.filled())))?;
        }
        self.draw_legend(&foot, &rows)?;
        area.present()
    }

    /// From the lowest to the highest place, with some air; from 0 where nothing is below and no ratio is asked.
    fn range(&self, across: bool) -> std::ops::Range<f64> {
        let axis = if across { &self.x } else { &self.y };
        let value = |point: &(f64, f64)| axis.place(if across { point.0 } else { point.1 });
        let all = || self.lines.iter().flat_map(|line| line.points.iter().map(value));
        let (lo, hi) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        if lo > hi {
            return 0.0..1.0;
        }
        if !axis.names.is_empty() {
            return -0.4..axis.names.len() as f64 - 0.6;
        }
        let air = ((hi - lo) * 0.05).max(hi.abs() * 1e-3).max(1e-6);
        match (across, axis.log) {
            (true, _) => lo - air * 0.6..hi + air * 0.6,
            (false, true) => lo - air..hi + air,
            // A flat line high up is shown from 0 too; values that differ little are not.
            (false, false) if lo >= 0.0 && lo < 0.7 * hi || lo == hi => lo.min(0.0)..(hi + air * 2.0).max(1e-3),
            (false, false) => lo - 3.0 * air..hi + 3.0 * air,
        }
    }

    /// Which lines stand in which row of the legend, and where.
    fn legend_rows<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
    ) -> Result<Vec<LegendRow>, DrawingAreaErrorKind<B::ErrorType>> {
        let style = ("sans-serif", 15).into_text_style(area);
        let mut rows: Vec<LegendRow> = vec![Vec::new()];
        let mut at = 86;
        for (index, line) in self.lines.iter().enumerate() {
            let width = area.estimate_text_size(&line.name, &style)?.0 as i32 + 64;
            if at + width > SIZE.0 as i32 && at > 86 {
                rows.push(Vec::new());
                at = 86;
            }
            rows.last_mut().expect("there is a row").push((index, at));
            at += width;
        }
        Ok(rows)
    }

    fn draw_legend<B: DrawingBackend>(
        &self,
        foot: &DrawingArea<B, Shift>,
        rows: &[Vec<(usize, i32)>],
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let style = ("sans-serif", 15).into_text_style(foot).color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        for (row, entries) in rows.iter().enumerate() {
            let y = 12 + 24 * row as i32;
            for &(index, x) in entries {
                let colour = COLOURS[index % COLOURS.len()];
                foot.draw(&PathElement::new([(x, y), (x + 28, y)], colour.stroke_width(2)))?;
                foot.draw(&Circle::new((x + 14, y), 4, colour.filled()))?;
                foot.draw_text(&self.lines[index].name, &style, (x + 36, y))?;
            }
        }
        Ok(())
    }
}

fn embed_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let known = register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        assert!(known.is_ok(), "the embedded font is a font");
    });
}

/// A number as people write it: four digits that count, thousands apart from ten thousand.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..12).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - magnitude).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let texts = [0.0, 1.0, 12345.6, 0.012345, 99.96, 1e-7, 1.5].map(number);
        assert_eq!(texts, ["0", "1", "12346", "0.01235", "99.96", "1.00e-7", "1.5"]);
    }

    #[test]
    fn a_table_has_one_row_a_place() {
        let figure = Figure {
            name: "f".into(),
            title: "t".into(),
            x: Axis::named("requirement", &["Top1", "Top2"]),
            y: Axis::of("error"),
            lines: vec![Line::new("a", vec![(0.0, 1.0), (1.0, 2.0)]), Line::new("b, c", vec![(1.0, 3.0)])],
        };
        assert_eq!(figure.rows()[2], ["Top2", "2", "3"]);
        let folder = tempfile::tempdir().unwrap();
        figure.write(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("f.csv")).unwrap();
        assert_eq!(text, "requirement,a,\"b, c\"\nTop1,1,\nTop2,2,3\n");
        assert!(fs::metadata(folder.path().join("f.png")).unwrap().len() > 2000);
        assert!(fs::read_to_string(folder.path().join("f.svg")).unwrap().contains("Top2"));
    }
}
