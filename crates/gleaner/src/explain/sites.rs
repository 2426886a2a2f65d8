//! A job over sites: where its sites lie on its virtual map when it arrives, and where it goes.

use crate::cli::ExplainArguments;
use crate::columns::rough_size;
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_core::{Change, Decision, Grid, Occasion, Policy};
use gleaner_policy::parts::sites::SiteRule;
use gleaner_policy::sites::HeldBackOverSites;
use gleaner_policy::sites::map::nearest_first;
use gleaner_policy::sites::maps::{Coordinates, Demand, demand, virtual_map};
use gleaner_policy::{AnyPolicy, PolicySpec, Recipe};
use gleaner_report::numbers;
use gleaner_report::{Axis, Plot, Series, Svg};
use gleaner_sim::sites::{SitesSetup, parties};
use gleaner_units::{MachineId, PartyId, TaskId, Time};
use gleaner_workload::sites::{Jobs, SitesScenario};
use serde::Serialize;
use std::fmt::Write as _;

/// A job, its map, and what became of it when it arrived.
#[derive(Serialize)]
struct Explained {
    version: u32,
    /// Its place in order of submission, from 1.
    job: usize,
    /// As its table calls it, or its number.
    name: String,
    policy: String,
    processors: u32,
    /// At a speed of 1.
    estimate_s: f64,
    /// The run time that equation (2) divides by: that at the mean speed of the sites that can run it.
    map_run_s: f64,
    /// What equation (1) takes it to ask for, in `GFlops`: its processors at that speed.
    map_gflops: f64,
    data_bytes: u64,
    /// The site of its data, counted from 1.
    source: usize,
    source_name: String,
    submitted_s: f64,
    /// The nearest first.
    sites: Vec<OnMap>,
    /// None if it starts as it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back_by: Option<Back>,
}

#[derive(Serialize)]
struct OnMap {
    /// Counted from 1.
    site: usize,
    /// As its table calls it, or its number.
    name: String,
    /// The processors that were free there when the map was made, as far as was known.
    free: Option<u32>,
    computation: f64,
    data: f64,
    /// Where the rule counts the quality of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<f64>,
    /// Where the rule counts the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    distance: f64,
    taken: bool,
}

/// Why it waits.
#[derive(Serialize)]
struct Back {
    /// One of `no-room`, `turn` and `delays`.
    why: &'static str,
    /// The job for which a moment is kept, or that may not be overtaken.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<usize>,
    /// The moment that is kept for it, if one is, and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_s: Option<f64>,
    #[serde(skip)]
    words: String,
}

pub(super) fn run(arguments: &ExplainArguments, scenario: &SitesScenario, task: &str) -> Outcome {
    let setup = scenario.setup(scenario.seed)?;
    let count = setup.jobs.len();
    let index = (0..count).find(|index| scenario.job_name(*index) == task).ok_or_else(|| {
        let expected = match &scenario.jobs {
            Jobs::Drawn(_) => format!("its number, from 1 to {count}"),
            Jobs::Listed(_) => "an id of the table of jobs".to_owned(),
        };
        Failure::Usage(format!("found the job \"{task}\"; expected {expected}"))
    })?;
    let policy = scenario.policy.as_ref();
    let rule = rule_of(policy)?;
    let Arrival { map, demand, taken, held_back_by } = arrival(scenario, &setup, &rule, index)?;
    if let Some(file) = &arguments.svg {
        let svg = draw(task, &map, &taken, |site| scenario.site_name(site.index()));
        let (folder, name) = (files::folder_of(file), file.file_name().unwrap_or_default().to_string_lossy());
        files::write_text(folder, &name, svg.as_str())?;
    }
    let job = &setup.jobs[index];
    let on_map = |at: Coordinates| OnMap {
        site: at.site.index() + 1,
        name: scenario.site_name(at.site.index()),
        free: at.free,
        computation: at.x,
        data: at.y,
        quality: at.quality,
        cost: at.cost,
        distance: at.distance,
        taken: taken.contains(&at.site),
    };
    let explained = Explained {
        version: 1,
        job: index + 1,
        name: task.to_owned(),
        policy: policy.map_or("khoo/mrs", PolicySpec::name).to_owned(),
        processors: job.processors,
        estimate_s: job.estimate_s,
        map_run_s: demand.run_s,
        map_gflops: demand.compute,
        data_bytes: job.data,
        source: job.source + 1,
        source_name: scenario.site_name(job.source),
        submitted_s: job.submitted.seconds(),
        sites: in_order(&map).into_iter().map(on_map).collect(),
        held_back_by,
    };
    if arguments.grid.json { stdout::print_json(&explained) } else { stdout::print(describe(&explained)) }
}

/// What was so when a job arrived.
struct Arrival {
    /// By which its sites were chosen; of a job that waits, as it was when all that happened at that instant was over.
    map: Vec<Coordinates>,
    demand: Demand,
    /// The sites that it is then given, if it is given any at once.
    taken: Vec<MachineId>,
    held_back_by: Option<Back>,
}

/// How the map is read: as the policy does, or else as MRS.
fn rule_of(policy: Option<&PolicySpec>) -> Result<SiteRule, Failure> {
    let Some(policy) = policy else { return Ok(SiteRule::MRS) };
    let unknown = || {
        Failure::Usage(format!("policy.preset: found {}; expected one for sites, as khoo/mrs", policy.name()))
    };
    policy.recipe().site_rule().ok_or_else(unknown)
}

fn arrival(
    scenario: &SitesScenario,
    setup: &SitesSetup,
    rule: &SiteRule,
    job: usize,
) -> Result<Arrival, Failure> {
    let of = setup.jobs[job].scheduler;
    let party = PartyId::new(of);
    let of_party: Vec<usize> = (0..setup.jobs.len()).filter(|job| setup.jobs[*job].scheduler == of).collect();
    let earlier = of_party.partition_point(|other| *other < job);
    let task = TaskId::new(earlier);
    let recipe = scenario.policy.as_ref().map_or(Recipe::over_sites(*rule), PolicySpec::recipe);
    let mut parties =
        parties(setup, &mut || Watched { policy: recipe.build(), rule: *rule, task, last: None });
    while parties.scheduler(party).grid().task_count() <= earlier {
        if !parties.step() {
            return Err(Failure::Usage("the job never arrives".to_owned()));
        }
    }
    let arrived = parties.now();
    while parties.next_at() == Some(arrived) && parties.step() {}
    let (grid, watched) = (parties.scheduler(party).grid(), parties.scheduler(party).policy());
    let taken: Vec<MachineId> =
        grid.runs_of(task).flat_map(|run| grid.parts_of(run)).map(|part| part.on).collect();
    let chosen = watched.last.clone().filter(|_| !taken.is_empty());
    let map = chosen.unwrap_or_else(|| virtual_map(grid, rule, task));
    let held_back_by =
        taken.is_empty().then(|| watched.policy.holds_back_over_sites(grid, arrived, task)).flatten();
    let number = |task: TaskId| of_party[task.index()] + 1;
    let name = |number: usize| scenario.job_name(number - 1);
    Ok(Arrival {
        map,
        demand: demand(grid, task),
        taken,
        held_back_by: held_back_by.map(|back| Back::of(back, (&number, &name))),
    })
}

/// A policy that remembers the map by which it last chose a job's sites: what another job took at the same instant, before its
/// turn, is not free on it.
struct Watched {
    policy: AnyPolicy,
    rule: SiteRule,
    task: TaskId,
    last: Option<Vec<Coordinates>>,
}

impl Policy for Watched {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.policy.observe(grid, change);
    }

    fn observe_all(&mut self, grid: &Grid, changes: &[Change]) {
        self.policy.observe_all(grid, changes);
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let decision = self.policy.propose(grid, now, occasion);
        // Its first copy, where it has several.
        let is_about_it = matches!(&decision, Some(Decision::Ask { task, .. }) if *task == self.task);
        if is_about_it && grid.runs_of(self.task).next().is_none() {
            self.last = Some(virtual_map(grid, &self.rule, self.task));
        }
        decision
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.policy.rebuild(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.policy.check(grid)
    }
}

impl Back {
    fn of(
        back: HeldBackOverSites,
        (number, name): (&dyn Fn(TaskId) -> usize, &dyn Fn(usize) -> String),
    ) -> Self {
        let known = |at: Time| Some(at.seconds()).filter(|_| at < Time::NEVER);
        let when = |at: Time| match known(at) {
            Some(at) => format!("from {at} s on, as far as is known"),
            None => "when what runs ends, and nobody knows when that is".to_owned(),
        };
        let (why, job, at_s, words) = match back {
            HeldBackOverSites::NoRoom(None) => {
                ("no-room", None, None, "too little is free for it".to_owned())
            }
            HeldBackOverSites::NoRoom(Some(at)) => {
                let words = format!("too little is free for it; room is kept for it {}", when(at));
                ("no-room", None, known(at), words)
            }
            HeldBackOverSites::Turn(first) => {
                let first = number(first);
                let words = format!("nobody starts before job {}, which does not fit", name(first));
                ("turn", Some(first), None, words)
            }
            HeldBackOverSites::Delays(first, at) => {
                let first = number(first);
                let words =
                    format!("it may not delay job {}, for which room is kept {}", name(first), when(at));
                ("delays", Some(first), known(at), words)
            }
        };
        Self { why, job, at_s, words }
    }
}

fn in_order(map: &[Coordinates]) -> Vec<Coordinates> {
    let mut sorted: Vec<(f64, MachineId)> = map.iter().map(|at| (at.distance, at.site)).collect();
    sorted.sort_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b)));
    nearest_first(&sorted).map(|site| map[site.index()]).collect()
}

fn describe(explained: &Explained) -> String {
    let Explained { name, processors, estimate_s, data_bytes, source_name, submitted_s, .. } = explained;
    let data = rough_size(*data_bytes);
    let mut text = format!(
        "job {name}: {processors} processors, {estimate_s:.0} s at a speed of 1, {data} of data at site {source_name}, submitted at \
         {submitted_s:.0} s\n"
    );
    let (run, gflops) =
        (numbers::significant(explained.map_run_s, 6), numbers::significant(explained.map_gflops, 6));
    text += &format!(
        "on the map, at the mean speed of the sites that can run it: {gflops} GFlops asked for, a run time of {run} s\n\n"
    );
    text += &axes(&explained.sites);
    if !explained.sites.iter().any(|site| site.taken) {
        let why = explained.held_back_by.as_ref().map_or("its site is asked first", |back| &back.words);
        text += &format!("\nunder {} it does not start when it arrives: {why}\n", explained.policy);
    }
    text
}

/// A line a site; a column for each axis that the rule counts.
fn axes(sites: &[OnMap]) -> String {
    let width = sites.iter().map(|site| site.name.chars().count()).max().unwrap_or(0).max(4);
    let column = |index: Option<f64>| index.map_or(String::new(), |index| format!("  {index:7.4}"));
    let header = |is_there: bool, name: &str| if is_there { format!("  {name:7}") } else { String::new() };
    let first = sites.first();
    let (quality, cost) = (first.and_then(|site| site.quality), first.and_then(|site| site.cost));
    let further = header(quality.is_some(), "quality") + &header(cost.is_some(), "cost");
    let mut text = format!("{:width$}    free  computation  data  {further}  distance\n", "site");
    for OnMap { name, free, computation, data, quality, cost, distance, taken, .. } in sites {
        let (further, mark) = (column(*quality) + &column(*cost), if *taken { "  goes here" } else { "" });
        let free = free.map_or("any".to_owned(), |free| free.to_string());
        writeln!(
            text,
            "{name:>width$}  {free:>6}  {computation:11.4}  {data:6.4}{further}  {distance:8.4}{mark}"
        )
        .expect("a string takes all");
    }
    text
}

fn draw(job: &str, map: &[Coordinates], taken: &[MachineId], name: impl Fn(MachineId) -> String) -> Svg {
    let sites = |series: &str, is_taken: bool| {
        let of = map.iter().filter(|at| taken.contains(&at.site) == is_taken);
        Series::named(series, "sites", of.map(|at| (name(at.site), (at.x, at.y))))
    };
    Plot::new(
        format!("Virtual map of job {job}"),
        Axis::linear("computation index, equation (1)"),
        Axis::linear("data index, equation (2)"),
    )
    .with(Series::named("all that the job asks for", "", [("origin".to_owned(), (0.0, 0.0))]))
    .with(sites("other sites", false))
    .with(sites("where it goes", true))
    .note("A site's distance is measured from the origin. Sites that lie on one place have one mark: point at it for all their names.")
    .svg()
}
