//! What the paper says of its traces beside what was generated instead.

use crate::elleuch::case::{Month, Variant};
use crate::elleuch::setups::{TRACE_SEED, workers_and_classes};
use gleaner_report::{Cell, Table, numbers};
use gleaner_workload::availability::Statistics;

/// So much of each trace is looked at.
const DAYS: f64 = 30.0;

pub(super) fn table() -> Table {
    let columns = [
        (Month::September, Variant::Standard),
        (Month::June, Variant::Standard),
        (Month::September, Variant::ManyMachines),
        (Month::June, Variant::ManyMachines),
    ];
    let profiles = columns.map(|(month, variant)| month.profile(variant));
    let found = profiles.map(|profile| Statistics::of(&profile.draw(TRACE_SEED, DAYS * 86_400.0)));
    let header = ["What", "The paper", "September", "June", "September, many", "June, many"];
    let row = |what: &str, paper: &str, of: &dyn Fn(usize) -> String| {
        let cells = (0..columns.len()).map(|column| Cell::number(of(column)));
        [Cell::text(what), Cell::text(paper)].into_iter().chain(cells).collect::<Vec<Cell>>()
    };
    let speed = |value: f64| format!("{}·10³", numbers::decimals(value / 1e3, 1));
    let millions = |value: f64| format!("{}·10⁶", numbers::decimals(value / 1e6, 2));
    let crowds = [Month::September, Month::June].map(|month| workers_and_classes(month, 1));
    Table::new("The traces: what the paper says of its own, and those drawn here over 30 days", header)
        .row(row("workers there on average", "94 in September, 101 in June", &|at| {
            numbers::decimals(found[at].present_mean, 1)
        }))
        .row(row("cumulative speed (operations/s)", "almost 12·10⁶; June nearly half", &|at| {
            millions(found[at].cumulative_speed)
        }))
        .row(row("mean speed", "8.9·10³", &|at| speed(found[at].speed_mean)))
        .row(row("nine of ten speeds are below", "12·10³", &|at| speed(found[at].speed_90)))
        .row(row("the highest speed", "99·10³", &|at| speed(found[at].speed_max)))
        .row(row("an interval (s)", "nothing", &|at| numbers::decimals(found[at].interval_mean_s, 0)))
        .row(row("intervals that hold 12·10⁶ operations", "95 %", &|at| {
            format!("{} %", numbers::decimals(100.0 * found[at].long_intervals, 1))
        }))
        .row(row("computers that ever come", "4,309 in 404 days", &|at| {
            numbers::grouped(found[at].machines as u64)
        }))
        .row(row("CPU days in a day", "21,939 in 404 days: 54.3", &|at| {
            numbers::decimals(found[at].present_mean, 1)
        }))
        .row(row("what arrives, of the cumulative speed", "70 s of 120 s: 58 %", &|at| {
            format!("{} %", numbers::decimals(100.0 * 8.5e8 / 120.0 / found[at].cumulative_speed, 1))
        }))
        .row(row("representative speeds that are there", "201 at most", &|at| match crowds.get(at) {
            Some((_, classes)) => numbers::decimals(*classes, 1),
            None => "—".to_owned(),
        }))
}
