//! A point of figure 3 under the three rules of the figures, drawn: a row is a computing element.

use super::case::{Case, Work};
use super::rule::Rule;
use super::sites::setup;
use crate::drawn;
use gleaner_report::{Bar, Gantt, Report};
use gleaner_sim::brokering::{Brokerage, BrokeringSetup, JobRecord};

/// Mean seconds between two jobs: sites have work, and do not saturate.
const INTER_S: f64 = 60.0;
/// Jobs that are run, and drawn.
const SHOWN: usize = 300;

pub(super) fn section(report: Report) -> Report {
    let case = Case::of(Work::Balanced, INTER_S);
    let mut setup = setup(&case, 1);
    setup.jobs.truncate(SHOWN);
    let schedules = Rule::FIGURES.map(|rule| schedule(&setup, &case, rule));
    let what = "The first 300 jobs of the light, balanced case with a job every minute, seed 1. A row is a computing \
                element; a bar is a job from its start to its end, without its time in the queue.";
    drawn::section(report, what, schedules.into())
}

fn schedule(setup: &BrokeringSetup, case: &Case, rule: Rule) -> Gantt {
    let mut run = Brokerage::new(setup, rule.recipe(case), 1).expect("the paper's sites make sense");
    run.run();
    let rows = setup.elements.iter().zip(1..);
    let rows = rows.map(|(element, number)| format!("element {number}, {} processors", element.cpus));
    gantt(&rule.name(), rows, |job| format!("job {}", job + 1), run.records())
}

/// What came of jobs: a row for each element, a bar for a job from its start to its end.
pub fn gantt(
    label: &str,
    rows: impl Iterator<Item = String>,
    name: impl Fn(usize) -> String,
    jobs: &[JobRecord],
) -> Gantt {
    let bars = jobs.iter().enumerate().filter_map(|(number, job)| {
        let (row, from, to) = (job.element?, job.started?, job.finished?);
        let waited = job.queued.map_or(0.0, |queued| from.since(queued).seconds());
        Some(Bar {
            row: row as usize,
            rows: None,
            from_s: from.seconds(),
            to_s: to.seconds(),
            group: number,
            name: format!("{}, {waited:.0} s in the queue", name(number)),
        })
    });
    Gantt::new(format!("{label}."), label, rows, bars).counting("job", "element")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_schedule() {
        assert_eq!(drawn::schedules(&section(Report::new("r"))), 3);
    }
}
