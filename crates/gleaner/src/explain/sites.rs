//! A job over sites: where its sites lie on its virtual map when it arrives, and where it goes.

use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_policy::parts::sites::SiteRule;
use gleaner_policy::sites::HeldBackOverSites;
use gleaner_policy::sites::map::nearest_first;
use gleaner_policy::sites::maps::{Coordinates, virtual_map};
use gleaner_policy::{AnyPolicy, PolicySpec};
use gleaner_report::{Axis, Plot, Series, Style, Svg};
use gleaner_sim::sites::{SitesSetup, parties};
use gleaner_units::{MachineId, PartyId, TaskId, Time};
use gleaner_workload::sites::SitesScenario;
use serde::Serialize;
use std::fmt::Write as _;

/// A job, its map, and what became of it when it arrived.
#[derive(Serialize)]
struct Explained {
    version: u32,
    job: usize,
    policy: String,
    processors: u32,
    estimate_s: f64,
    data_bytes: u64,
    /// The site of its data, counted from 1.
    source: usize,
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
    computation: f64,
    data: f64,
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
    let setup = scenario.setup(scenario.seed);
    let count = setup.jobs.len();
    let known = task.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let number = known.ok_or_else(|| {
        Failure::Usage(format!("found the job \"{task}\"; expected its number, from 1 to {count}"))
    })?;
    let policy = scenario.policy.as_ref();
    let rule = rule_of(policy)?;
    let Arrival { map, taken, held_back_by } = arrival(&setup, policy, &rule, number - 1)?;
    if let Some(file) = &arguments.svg {
        let svg = draw(number, &map, &taken);
        let (folder, name) = (files::folder_of(file), file.file_name().unwrap_or_default().to_string_lossy());
        files::write_text(folder, &name, svg.as_str())?;
    }
    let job = &setup.jobs[number - 1];
    let on_map = |at: Coordinates| OnMap {
        site: at.site.index() + 1,
        computation: at.x,
        data: at.y,
        distance: at.distance,
        taken: taken.contains(&at.site),
    };
    let explained = Explained {
        version: 1,
        job: number,
        policy: policy.map_or("khoo/mrs", PolicySpec::name).to_owned(),
        processors: job.processors,
        estimate_s: job.estimate_s,
        data_bytes: job.data,
        source: job.source + 1,
        submitted_s: job.submitted.seconds(),
        sites: in_order(&map).into_iter().map(on_map).collect(),
        held_back_by,
    };
    if arguments.grid.json { stdout::print_json(&explained) } else { stdout::print(describe(&explained)) }
}

/// What was so when a job arrived.
struct Arrival {
    map: Vec<Coordinates>,
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
    setup: &SitesSetup,
    policy: Option<&PolicySpec>,
    rule: &SiteRule,
    job: usize,
) -> Result<Arrival, Failure> {
    let of = setup.jobs[job].scheduler;
    let party = PartyId::new(of);
    let of_party: Vec<usize> = (0..setup.jobs.len()).filter(|job| setup.jobs[*job].scheduler == of).collect();
    let earlier = of_party.partition_point(|other| *other < job);
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
    while parties.next_at() == Some(arrived) && parties.step() {}
    let (grid, rule) = (parties.scheduler(party).grid(), parties.scheduler(party).policy());
    let taken: Vec<MachineId> =
        grid.runs_of(task).flat_map(|run| grid.parts_of(run)).map(|part| part.on).collect();
    let held_back_by = match rule {
        AnyPolicy::Dispatcher(dispatcher) if taken.is_empty() => dispatcher.holds_back(grid, arrived, task),
        _ => None,
    };
    let number = |task: TaskId| of_party[task.index()] + 1;
    Ok(Arrival { map, taken, held_back_by: held_back_by.map(|back| Back::of(back, number)) })
}

impl Back {
    fn of(back: HeldBackOverSites, number: impl Fn(TaskId) -> usize) -> Self {
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
                ("turn", Some(first), None, format!("nobody starts before job {first}, which does not fit"))
            }
            HeldBackOverSites::Delays(first, at) => {
                let first = number(first);
                let words = format!("it may not delay job {first}, for which room is kept {}", when(at));
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
    let Explained { job, processors, estimate_s, data_bytes, source, submitted_s, .. } = explained;
    let data = *data_bytes as f64 / 1e9;
    let mut text = format!(
        "job {job}: {processors} processors, {estimate_s:.0} s, {data:.2} GB of data at site {source}, submitted at \
         {submitted_s:.0} s\n\nsite  computation  data    distance\n"
    );
    for OnMap { site, computation, data, distance, taken } in &explained.sites {
        let mark = if *taken { "  goes here" } else { "" };
        writeln!(text, "{site:4}  {computation:11.4}  {data:6.4}  {distance:8.4}{mark}")
            .expect("a string takes all");
    }
    if !explained.sites.iter().any(|site| site.taken) {
        let why = explained.held_back_by.as_ref().map_or("its site is asked first", |back| &back.words);
        text += &format!("\nunder {} it does not start when it arrives: {why}\n", explained.policy);
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
