//! Runs of ten peers under both rules, drawn: a row is a worker.

use super::instances::{READINGS, instance};
use super::table_2::{CELLS, Cell};
use crate::drawn;
use gleaner_policy::Recipe;
use gleaner_report::{Bar, Gantt, Report, numbers};
use gleaner_sim::peers::{Ended, PeersSetup, PeersWorld, Ran, peers};
use std::collections::{BTreeMap, BTreeSet};

/// Jobs that are run, and drawn.
const JOBS: u32 = 300;

pub(super) fn section(report: Report) -> Report {
    let medium = |cell: &&Cell| cell.peers == 10 && cell.months == 3 && cell.band.name() == "medium";
    let cell = CELLS.iter().find(medium).expect("a cell of table 2");
    let setup = instance(cell, &READINGS[0], 1, JOBS);
    let [traditional, greedy] = READINGS[0].recipes();
    let schedules = vec![schedule(&setup, "traditional", traditional), schedule(&setup, "greedy", greedy)];
    let what = "The first 300 jobs of ten peers of the medium band, seed 1. A row is a worker that ran something; a bar is a run, \
                in the colour of the peer whose task it is: another colour in a peer's rows is a lent worker.";
    drawn::section(report, what, schedules)
}

fn schedule(setup: &PeersSetup, name: &str, recipe: Recipe) -> Gantt {
    let mut run = peers(setup, |_| recipe.build());
    run.run();
    let names: Vec<String> = (1..=setup.peers.len()).map(|number| format!("peer {number}")).collect();
    gantt(setup, name, &names, |job| format!("job {}", job + 1), run.outside())
}

/// What ran on workers: a row for each that ran something, a bar for each run, in the colour of the peer whose task it is.
pub fn gantt(
    setup: &PeersSetup,
    name: &str,
    peers: &[String],
    job: impl Fn(usize) -> String,
    world: &PeersWorld<'_>,
) -> Gantt {
    let outcome = world.outcome();
    let workers = setup.peers.iter().enumerate();
    let workers = workers.flat_map(|(peer, site)| (1..=site.workers.len()).map(move |number| (peer, number)));
    let workers: Vec<(usize, usize)> = workers.collect();
    let used: BTreeSet<usize> = world.ran().map(|(ran, _)| ran.worker).collect();
    let rows: BTreeMap<usize, usize> = used.iter().zip(0..).map(|(worker, row)| (*worker, row)).collect();
    let bars = world.ran().map(|(ran, number): (Ran, usize)| {
        let (owner, _) = workers[ran.worker];
        let lent = if ran.is_lent { format!(", lent by {}", peers[owner]) } else { String::new() };
        let again = if ran.run.number > 1 { format!(", run {}", ran.run.number) } else { String::new() };
        let ended = match ran.ended {
            Ended::Done => "",
            Ended::Failed => ", failed",
            Ended::Stopped => ", stopped",
        };
        Bar {
            row: rows[&ran.worker],
            rows: None,
            from_s: ran.from.seconds(),
            to_s: ran.until.seconds(),
            group: ran.party.index(),
            name: format!("{} of {}{again}{lent}{ended}", job(number), peers[ran.party.index()]),
        }
    });
    let labels = used.iter().map(|worker| {
        let (peer, number) = workers[*worker];
        format!("{} {number}", peers[peer])
    });
    let caption = format!("{name}: a job takes {} s on average.", numbers::decimals(outcome.mean_job_s(), 0));
    Gantt::new(caption, name, labels, bars).counting("run", "worker")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_schedule() {
        assert_eq!(drawn::schedules(&section(Report::new("r"))), 2);
    }
}
