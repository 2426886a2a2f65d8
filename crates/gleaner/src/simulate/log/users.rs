//! How a log's users fared.

use gleaner_report::{Axis, Cell, Plot, Series, Style, Svg, Table, numbers};
use gleaner_workload::swf::{Service, Services};
use std::cmp::Reverse;
use std::io::{self, Write};

/// A longer table is for `users.csv`.
const USERS_LISTED: usize = 50;

pub(super) fn table(out: &mut dyn Write, services: &Services) -> io::Result<()> {
    writeln!(
        out,
        "user,jobs,wait_mean_s,wait_max_s,flow_mean_s,flow_max_s,bounded_slowdown_mean,bounded_slowdown_max,utilisation"
    )?;
    for (user, of) in &services.users {
        let Service { jobs, wait_s, flow_s, bounded_slowdown, utilisation } = of;
        writeln!(
            out,
            "{user},{jobs},{},{},{},{},{},{},{utilisation}",
            wait_s.mean, wait_s.max, flow_s.mean, flow_s.max, bounded_slowdown.mean, bounded_slowdown.max
        )?;
    }
    Ok(())
}

/// Those with the most jobs.
pub(super) fn listed(services: &Services) -> Table {
    let mut users: Vec<(&i64, &Service)> = services.users.iter().collect();
    users.sort_by_key(|(_, of)| Reverse(of.jobs));
    let count = users.len();
    let caption = if count > USERS_LISTED {
        format!("The {USERS_LISTED} of {count} users with the most jobs; users.csv has them all")
    } else {
        "How each user was served".to_owned()
    };
    let header = ["user", "jobs", "mean wait", "longest wait", "mean slowdown", "largest", "of the machine"];
    users.into_iter().take(USERS_LISTED).fold(Table::new(caption, header), |table, (user, of)| {
        let name = if *user < 0 { "not known".to_owned() } else { user.to_string() };
        table.row([
            Cell::text(name),
            Cell::number(numbers::grouped(of.jobs as u64)),
            Cell::number(numbers::seconds(of.wait_s.mean)),
            Cell::number(numbers::seconds(of.wait_s.max)),
            Cell::number(numbers::decimals(of.bounded_slowdown.mean, 2)),
            Cell::number(numbers::decimals(of.bounded_slowdown.max, 1)),
            Cell::number(numbers::decimals(100.0 * of.utilisation, 2) + " %"),
        ])
    })
}

/// Users by how many jobs they had, and by their slowdown.
pub(super) fn figure(services: &Services) -> (&'static str, &'static str, Svg) {
    let points = services.users.values().map(|of| (of.jobs as f64, of.bounded_slowdown.mean));
    let plot = Plot::new("Users", Axis::log("jobs"), Axis::log("mean bounded slowdown")).with(Series::new(
        "users",
        Style::Points,
        points,
    ));
    ("users", "The mean bounded slowdown of each user, by how many jobs he handed in.", plot.svg())
}
