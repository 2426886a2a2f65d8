//! Jobs of ten peers under both rules, drawn: a row is a peer.

use super::instances::{READINGS, instance};
use super::table_2::{CELLS, Cell};
use crate::drawn;
use gleaner_policy::Recipe;
use gleaner_report::{Bar, Gantt, Report, numbers};
use gleaner_sim::peers::{Outcome, PeersSetup, peers};

/// Jobs that are run, and drawn.
const JOBS: u32 = 300;

pub(super) fn section(report: Report) -> Report {
    let medium = |cell: &&Cell| cell.peers == 10 && cell.months == 3 && cell.band.name() == "medium";
    let cell = CELLS.iter().find(medium).expect("a cell of table 2");
    let setup = instance(cell, &READINGS[0], 1, JOBS);
    let [traditional, greedy] = READINGS[0].recipes();
    let schedules = vec![schedule(&setup, "traditional", traditional), schedule(&setup, "greedy", greedy)];
    let what = "The first 300 jobs of ten peers of the medium band, seed 1, on whosever workers. A row is a peer that hands \
                jobs in; a bar is a job from its coming to the end of its last task.";
    drawn::section(report, what, schedules)
}

fn schedule(setup: &PeersSetup, name: &str, recipe: Recipe) -> Gantt {
    let mut run = peers(setup, |_| recipe.build());
    run.run();
    let rows = setup.peers.iter().zip(1..);
    let rows = rows.map(|(peer, number)| format!("peer {number}, {} workers", peer.workers.len()));
    gantt(setup, name, rows, &run.outside().outcome())
}

/// What came of jobs among peers: a row for each peer, a bar for a job of it from its coming to its end.
pub fn gantt(setup: &PeersSetup, name: &str, rows: impl Iterator<Item = String>, outcome: &Outcome) -> Gantt {
    let jobs = setup.jobs.iter().zip(&outcome.ended).zip(1..);
    let bars = jobs.filter_map(|((job, ended), number): (_, usize)| {
        let (came, ended) = (*ended)?;
        Some(Bar {
            row: job.peer.index(),
            rows: None,
            from_s: came.seconds(),
            to_s: ended.seconds(),
            group: number,
            name: format!("job {number}, {} tasks", job.tasks),
        })
    });
    let caption = format!("{name}: a job takes {} s on average.", numbers::decimals(outcome.mean_job_s(), 0));
    Gantt::new(caption, name, rows, bars).counting("job", "peer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_schedule() {
        assert_eq!(drawn::schedules(&section(Report::new("r"))), 2);
    }
}
