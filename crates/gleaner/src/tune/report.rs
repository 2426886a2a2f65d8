//! A sweep for people: a curve or a heat map, a table, and a page with both.

use super::findings::{Findings, Tried};
use super::parameter::Plain;
use crate::trials::Interval;
use gleaner_report::numbers::significant;
use gleaner_report::{Axis, Block, Cell, Figure, HeatCell, HeatMap, Plot, Report, Series, Style, Svg, Table};

/// A longer table is for `settings.csv`.
const LISTED: usize = 200;
const ONE_RUN: &str = "that is one run each";

/// Its name and the drawing.
pub(super) fn drawing(findings: &Findings) -> (&'static str, Svg) {
    match &findings.sweep.axes[..] {
        [(key, _)] => ("curve.svg", curve(findings, key)),
        [..] => ("heat.svg", heat(findings)),
    }
}

fn curve(findings: &Findings, key: &str) -> Svg {
    let known =
        findings.settings.iter().filter_map(|tried| Some((tried.setting.0[0], tried.ranked.measured?)));
    let known: Vec<_> = known.collect();
    let points = known.iter().map(|(value, measured)| (*value, measured.mean));
    let bounds =
        known.iter().map(|(_, found)| (found.low.unwrap_or(found.mean), found.high.unwrap_or(found.mean)));
    let series = Series::new(&findings.measure, Style::Marked, points).bounds(bounds);
    let (x, y) = (Axis::linear(key), Axis::linear(&findings.measure));
    let plot = Plot::new(format!("{} by {key}", findings.measure), x, y).with(series);
    if findings.seeds > 1 { plot.note("Bars are 95 % intervals.").svg() } else { plot.svg() }
}

/// By the first two parameters; of further ones the values of the best setting.
fn heat(findings: &Findings) -> Svg {
    let axes = &findings.sweep.axes;
    let (x, y) = (&axes[0], &axes[1]);
    let best = &findings.settings[findings.best.unwrap_or(0)].setting.0;
    let cell = |x: f64, y: f64| {
        let here = |tried: &&Tried| {
            let values = &tried.setting.0;
            values[0] == x && values[1] == y && values[2..] == best[2..]
        };
        let tried = findings.settings.iter().find(here).expect("every combination is a setting");
        match &tried.ranked.measured {
            None => HeatCell {
                value: f64::NAN,
                lines: vec![format!("{} left", tried.ranked.unfinished)],
                framed: false,
            },
            Some(measured) => {
                let reach = measured.reach().map(|reach| format!("± {}", significant(reach, 2)));
                let lines = [significant(measured.mean, 4)].into_iter().chain(reach);
                HeatCell { value: measured.mean, lines: lines.collect(), framed: tried.ranked.is_alike }
            }
        }
    };
    let names = |values: &[f64]| values.iter().map(|value| Plain(*value).to_string()).collect();
    let rows = y.1.iter().map(|y| x.1.iter().map(|x| cell(*x, *y)).collect()).collect();
    let note = if findings.seeds > 1 {
        "Framed: the best, and what cannot be told from it with 95 % confidence. ± is the 95 % interval."
    } else {
        "Framed: the best of one run each."
    };
    let map = HeatMap::new(&findings.measure, (&x.0, names(&x.1)), (&y.0, names(&y.1)), rows).note(note);
    let others = findings.sweep.axes.iter().zip(best).skip(2);
    let others: Vec<String> = others.map(|((key, _), value)| format!("{key} = {}", Plain(*value))).collect();
    if others.is_empty() { map.svg() } else { map.note(format!("Where {}.", others.join(", "))).svg() }
}

pub(super) fn page(findings: &Findings, scenario: &str, svg: Svg) -> String {
    let shown = findings.settings.len().min(LISTED);
    let caption = if shown < findings.settings.len() {
        format!("The first {shown} of {} settings; settings.csv has them all", findings.settings.len())
    } else {
        "Every setting".to_owned()
    };
    let keys = findings.sweep.axes.iter().map(|(key, _)| key.clone());
    let columns = [findings.measure.clone(), "above the best".to_owned(), "unfinished".to_owned()];
    let table = findings.settings.iter().take(LISTED).fold(
        Table::new(caption, keys.chain(columns)),
        |table, tried| {
            let values = tried.setting.0.iter().map(|value| Cell::number(Plain(*value).to_string()));
            let said = |interval: Option<Interval>| {
                Cell::number(interval.map_or("–".to_owned(), |interval| interval.said()))
            };
            let more = [
                said(tried.ranked.measured),
                said(tried.ranked.above_best),
                Cell::number(tried.ranked.unfinished.to_string()),
            ];
            table.row(values.chain(more))
        },
    );
    Report::new(format!("Settings for {scenario}"))
        .lead(lead(findings))
        .with(Block::heading("What it hangs on"))
        .with(Figure::new(format!("{} by what was varied.", findings.measure), svg))
        .with(Block::heading("Settings"))
        .with(table)
        .html()
}

/// The setting to use, in a sentence.
pub(super) fn lead(findings: &Findings) -> String {
    let Some(best) = findings.best else {
        return "Every setting left work unfinished: none is better than another.".to_owned();
    };
    let said = findings.settings[best].ranked.measured.as_ref().map_or(String::new(), Interval::said);
    let alike = match findings.alike {
        0 if findings.seeds == 1 => format!("every other setting is worse; {ONE_RUN}"),
        1 if findings.seeds == 1 => format!("one other setting is as good; {ONE_RUN}"),
        many if findings.seeds == 1 => format!("{many} other settings are as good; {ONE_RUN}"),
        0 => "with 95 % confidence every other setting is worse".to_owned(),
        1 => "one other setting cannot be told from it".to_owned(),
        many => format!("{many} other settings cannot be told from it"),
    };
    format!("Use {}: {} is {said} there, and {alike}.", findings.set.join(", "), findings.measure)
}
