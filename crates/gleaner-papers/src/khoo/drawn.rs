//! The scenario as it was chosen under each rule, drawn: a row is a site.

use super::case::{base, rules};
use crate::drawn;
use gleaner_policy::{Recipe, SiteRule};
use gleaner_report::{Bar, Gantt, Report, numbers};
use gleaner_sim::sites::{JobOutcome, SitesOutcome, SitesSetup, simulate};
use gleaner_units::Time;

pub(super) fn section(report: Report) -> Report {
    let setup = base().setup(1);
    let schedules = rules().into_iter().map(|(name, rule)| schedule(&setup, name, rule));
    let what = "The scenario as it was chosen, seed 1. A row is a site; a job that is split has a bar at each of its sites, \
                from the beginning of its transmission to its result's return.";
    drawn::section(report, what, schedules.collect())
}

fn schedule(setup: &SitesSetup, name: &str, rule: SiteRule) -> Gantt {
    gantt(setup, name, &simulate(setup, || Recipe::over_sites(rule).build()))
}

/// What came of a run over sites: a row for each, a bar for a job's part there.
pub fn gantt(setup: &SitesSetup, name: &str, outcome: &SitesOutcome) -> Gantt {
    let jobs = outcome.jobs.iter().zip(1..).filter(|(job, _)| job.ended != Time::NEVER);
    let bars = jobs.flat_map(|(job, number): (&JobOutcome, usize)| {
        let sites = job.parts.len();
        job.parts.iter().map(move |part| Bar {
            row: part.on.index(),
            rows: None,
            from_s: job.dispatched_last.seconds(),
            to_s: job.ended.seconds(),
            group: number,
            name: format!("job {number}, {} processors here, at {sites} sites", part.cores),
        })
    });
    let rows = setup.sites.iter().zip(1..);
    let rows = rows.map(|(site, number)| format!("site {number}, {} processors", site.processors));
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
