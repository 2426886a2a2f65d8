//! A job over sites: where its sites lie on its virtual map when it arrives, and where it goes.

use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_policy::PolicySpec;
use gleaner_policy::parts::sites::SiteRule;
use gleaner_policy::sites::map::nearest_first;
use gleaner_policy::sites::maps::{Coordinates, virtual_map};
use gleaner_report::{Axis, Plot, Series, Style, Svg};
use gleaner_sim::sites::{SitesSetup, parties};
use gleaner_units::{MachineId, PartyId, TaskId};
use gleaner_workload::sites::SitesScenario;
use std::fmt::Write as _;

pub(super) fn run(arguments: &ExplainArguments, scenario: &SitesScenario, task: &str) -> Outcome {
    let setup = scenario.setup(scenario.seed);
    let count = setup.jobs.len();
    let known = task.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let number = known.ok_or_else(|| {
        Failure::Usage(format!("found the job \"{task}\"; expected its number, from 1 to {count}"))
    })?;
    let rule = rule_of(scenario.policy.as_ref())?;
    let (map, taken) = map_of(&setup, scenario.policy.as_ref(), &rule, number - 1)?;
    if let Some(file) = &arguments.svg {
        let svg = draw(number, &map, &taken);
        std::fs::write(file, svg.as_str()).map_err(|error| Failure::io("draw the map in", file, error))?;
    }
    stdout::print(describe(&setup, number, &map, &taken))
}

/// How the map is read: as the policy does, or else as MRS.
fn rule_of(policy: Option<&PolicySpec>) -> Result<SiteRule, Failure> {
    let Some(policy) = policy else { return Ok(SiteRule::MRS) };
    let unknown = || {
        Failure::Usage(format!("policy.preset: found {}; expected one for sites, as khoo/mrs", policy.name()))
    };
    policy.recipe().site_rule().ok_or_else(unknown)
}

/// As things stand when the job arrives, and the sites that it is then given, if it is given any at once.
fn map_of(
    setup: &SitesSetup,
    policy: Option<&PolicySpec>,
    rule: &SiteRule,
    job: usize,
) -> Result<(Vec<Coordinates>, Vec<MachineId>), Failure> {
    let of = setup.jobs[job].scheduler;
    let party = PartyId::new(of);
    let earlier = setup.jobs[..job].iter().filter(|other| other.scheduler == of).count();
    let task = TaskId::new(earlier);
    let recipe = policy.map_or(gleaner_policy::Recipe::over_sites(*rule), PolicySpec::recipe);
    let mut parties = parties(setup, &mut || recipe.build());
    while parties.scheduler(party).grid().task_count() <= earlier {
        if !parties.step() {
            return Err(Failure::Usage("the job never arrives".to_owned()));
        }
    }
    let map = virtual_map(parties.scheduler(party).grid(), rule, task);
    let arrived = parties.now();
    while parties.now() == arrived && parties.step() {}
    let grid = parties.scheduler(party).grid();
    let taken = grid.runs_of(task).flat_map(|run| grid.parts_of(run)).map(|part| part.on).collect();
    Ok((map, taken))
}

fn in_order(map: &[Coordinates]) -> Vec<Coordinates> {
    let mut sorted: Vec<(f64, MachineId)> = map.iter().map(|at| (at.distance, at.site)).collect();
    sorted.sort_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b)));
    nearest_first(&sorted).map(|site| map[site.index()]).collect()
}

fn describe(setup: &SitesSetup, number: usize, map: &[Coordinates], taken: &[MachineId]) -> String {
    let job = &setup.jobs[number - 1];
    let mut text = format!(
        "job {number}: {} processors, {:.0} s, {:.2} GB of data at site {}, submitted at {:.0} s\n\n",
        job.processors,
        job.estimate_s,
        job.data as f64 / 1e9,
        job.source + 1,
        job.submitted.seconds()
    );
    text += "site  computation  data    distance\n";
    for at in in_order(map) {
        let mark = if taken.contains(&at.site) { "  goes here" } else { "" };
        writeln!(text, "{:4}  {:11.4}  {:6.4}  {:8.4}{mark}", at.site.index() + 1, at.x, at.y, at.distance)
            .expect("a string takes all");
    }
    if taken.is_empty() {
        text += "\nit does not start when it arrives: there is not enough room, or another job goes first\n";
    }
    text
}

fn draw(number: usize, map: &[Coordinates], taken: &[MachineId]) -> Svg {
    let points = |is_taken: bool| {
        let of = map.iter().filter(move |at| taken.contains(&at.site) == is_taken);
        of.map(|at| (at.x, at.y)).collect::<Vec<_>>()
    };
    Plot::new(
        format!("Virtual map of job {number}"),
        Axis::linear("computation index, equation (1)"),
        Axis::linear("data index, equation (2)"),
    )
    .with(Series::new("sites", Style::Points, points(false)))
    .with(Series::new("where it goes", Style::Points, points(true)))
    .svg()
}
