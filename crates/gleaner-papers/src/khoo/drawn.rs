//! The scenario as it was chosen under each rule, drawn: a row is a site.

use super::case::{base, rules};
use crate::drawn;
use gleaner_policy::Recipe;
use gleaner_report::{Bar, Gantt, Report, numbers};
use gleaner_sim::sites::{JobOutcome, SitesOutcome, SitesSetup, simulate};
use gleaner_units::Time;
use gleaner_workload::sites::SitesScenario;

pub(super) fn section(report: Report) -> Report {
    let scenario = base();
    let setup = scenario.setup(1).expect("jobs that fit the sites of the experiment");
    let schedules = rules().into_iter().map(|(name, rule)| {
        gantt((&scenario, &setup), name, &simulate(&setup, || Recipe::over_sites(rule).build()))
    });
    let what = "The scenario as it was chosen, seed 1. A row is a site; a job that is split has a bar at each of its sites, \
                from the beginning of its transmission to its result's return.";
    drawn::section(report, what, schedules.collect())
}

/// What came of a run over sites: a row for each, a bar for a job's part there.
pub fn gantt((scenario, setup): (&SitesScenario, &SitesSetup), name: &str, outcome: &SitesOutcome) -> Gantt {
    let jobs = outcome.jobs.iter().zip(1..).filter(|(job, _)| job.ended != Time::NEVER);
    let bars = jobs.flat_map(|(job, number): (&JobOutcome, usize)| {
        let (sites, called) = (job.parts.len(), scenario.job_name(number - 1));
        job.parts.iter().map(move |part| Bar {
            row: part.on.index(),
            rows: None,
            from_s: job.dispatched_last.seconds(),
            to_s: job.ended.seconds(),
            group: number,
            name: format!("job {called}, {} processors here, at {sites} sites", part.cores),
        })
    });
    let rows = setup.sites.iter().enumerate();
    let rows = rows
        .map(|(index, site)| format!("site {}, {} processors", scenario.site_name(index), site.processors));
    let caption = format!(
        "{name}: jobs wait {} s on average, the last ends after {} s.",
        numbers::decimals(outcome.wait_s(), 0),
        numbers::decimals(outcome.completion_s(), 0)
    );
    Gantt::new(caption, name, rows, bars).counting("part of a job", "site")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_schedule() {
        assert_eq!(drawn::schedules(&section(Report::new("r"))), 4);
    }
}
