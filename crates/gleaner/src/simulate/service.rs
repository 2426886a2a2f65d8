//! How a run served those whose work it did: the same numbers in the summary of every kind of scenario.

use super::compare::{Measure, Metric};
use gleaner_report::{
    Axis, Block, Cell, Figure, Gantt, Plot, Report, Series, Style, Table, histogram, numbers,
};
use gleaner_workload::swf::{MeanMax, Services};
use serde::Serialize;

/// What a summary says of it. A number is none where nothing ended, fairness where there are no two to be fair to.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct ServiceSummary {
    /// From arrival to the first start.
    wait_mean_s: Option<f64>,
    wait_max_s: Option<f64>,
    /// From arrival to the end.
    flow_mean_s: Option<f64>,
    flow_max_s: Option<f64>,
    /// Flow time over the time alone on the fastest machine, or over 10 s where that is shorter; 1 at least.
    slowdown_mean: Option<f64>,
    slowdown_max: Option<f64>,
    /// The part of the machines' time, from the first arrival to the last end, in which they were in use.
    utilisation: f64,
    /// The part of what was done that was done in vain.
    lost_share: f64,
    /// Jain's index of the mean slowdowns of those who handed something in: 1 where all fare alike.
    fairness: Option<f64>,
    /// How many those are, and what they are called.
    #[serde(skip)]
    among: (usize, &'static str),
}

impl ServiceSummary {
    /// Of whatever ended, handed in by `users`.
    pub(super) fn of(services: &Services, lost_share: f64, users: &'static str) -> Self {
        let any = |value: f64| Some(value).filter(|_| services.all.jobs > 0);
        let [wait, flow, slowdown] =
            [services.all.wait_s, services.all.flow_s, services.all.bounded_slowdown]
                .map(|MeanMax { mean, max }| (any(mean), any(max)));
        Self {
            wait_mean_s: wait.0,
            wait_max_s: wait.1,
            flow_mean_s: flow.0,
            flow_max_s: flow.1,
            slowdown_mean: slowdown.0,
            slowdown_max: slowdown.1,
            utilisation: services.all.utilisation,
            lost_share,
            fairness: Some(services.fairness).filter(|_| services.users.len() > 1),
            among: (services.users.len(), users),
        }
    }

    /// The same where the machines' use is not that of what ended.
    pub(super) fn with_utilisation(self, utilisation: f64) -> Self {
        Self { utilisation, ..self }
    }

    /// What of it policies are held against each other by.
    pub(super) fn measures(&self) -> Vec<Measure> {
        vec![
            Metric::of("wait_mean_s", "s", 1, self.wait_mean_s),
            Metric::of("wait_max_s", "s", 1, self.wait_max_s),
            Metric::of("flow_mean_s", "s", 3, self.flow_mean_s),
            Metric::of("flow_max_s", "s", 3, self.flow_max_s),
            Metric::of("slowdown_mean", "", 3, self.slowdown_mean),
            Metric::of("slowdown_max", "", 1, self.slowdown_max),
            Metric::of("utilisation", "", 4, self.utilisation),
            Metric::of("lost_share", "", 4, self.lost_share),
            Metric::of("fairness", "", 3, self.fairness),
        ]
    }

    /// Lines for people.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let spread = |mean: Option<f64>, max: Option<f64>, unit: &str| match (mean, max) {
            (Some(mean), Some(max)) => format!("{mean:.3}{unit} on average, {max:.3}{unit} at most"),
            _ => "nothing ended".to_owned(),
        };
        let percent = |share: f64| numbers::decimals(100.0 * share, 2) + " %";
        let slowdown = spread(self.slowdown_mean, self.slowdown_max, "");
        let bounded = if self.slowdown_mean.is_some() { ", bounded at 10 s" } else { "" };
        let mut lines = vec![
            ("wait", spread(self.wait_mean_s, self.wait_max_s, " s")),
            ("flow time", spread(self.flow_mean_s, self.flow_max_s, " s")),
            ("slowdown", slowdown + bounded),
            ("utilisation", percent(self.utilisation)),
            ("work lost", percent(self.lost_share)),
        ];
        let (count, users) = self.among;
        lines.extend(self.fairness.map(|fairness| {
            let fairness = numbers::decimals(fairness, 3);
            ("fairness", format!("{fairness} among {count} {users}, by their slowdowns"))
        }));
        lines
    }
}

/// Two columns of a run's numbers.
pub(super) fn table<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> Table {
    rows.into_iter()
        .fold(Table::new("The run in a few numbers", ["what", "value"]), |table, (what, value)| {
            table.row([Cell::text(what), Cell::text(value)])
        })
}

const BINS: usize = 40;

/// The page of a run over sites or elements: its numbers, how long its jobs took, and what ran where.
pub(super) fn report(title: String, rows: Vec<(&str, String)>, flows_s: &[f64], schedule: Gantt) -> String {
    let times = Plot::new("From arrival to end", Axis::linear("time (s)"), Axis::linear("jobs"))
        .with(Series::new("jobs", Style::Bars, histogram(flows_s, BINS)));
    Report::new(title)
        .with(Block::heading("Summary"))
        .with(table(rows))
        .with(Block::heading("Times"))
        .with(Figure::new("How long jobs took from arrival to end.", times.svg()))
        .with(Block::heading("Schedule"))
        .with(schedule)
        .html()
}
