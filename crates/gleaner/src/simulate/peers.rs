//! `gleaner simulate` of a scenario of peers.

use super::choice::shake;
use super::compare::{self, Measured, Metric};
use super::figures::Figures;
use super::service::{self, ServiceSummary};
use super::steps::{Steps, advance, check_places, conclude, finish, read_saved, what_is_kept};
use super::tables::field;
use super::text::{aligned, makespan};
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, progress};
use gleaner_papers::dasilva::gantt;
use gleaner_policy::{AnyPolicy, Recipe};
use gleaner_report::numbers::{self, decimals, grouped};
use gleaner_report::{Axis, Block, Cell, Figure, Plot, Report, Series, Style, Table, histogram};
use gleaner_sim::peers::{PeersOutcome, PeersSetup, RUNS_KEPT_MAX, World, peers};
use gleaner_sim::{Parties, Refused, restore, save};
use gleaner_units::{Ops, Time};
use gleaner_workload::PeersScenario;
use gleaner_workload::swf::{Served, Services};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Summary {
    version: u32,
    policy: String,
    rule: String,
    seed: u64,
    peers: usize,
    workers: usize,
    jobs: usize,
    /// Jobs that did not end.
    unfinished: usize,
    tasks: u64,
    /// Of jobs: each begins with the first of its tasks, and ends with the last.
    #[serde(flatten)]
    service: ServiceSummary,
    /// The time of a task on its worker.
    task_mean_s: Option<f64>,
    /// The part of the tasks that ended on another peer's worker.
    remote_share: f64,
    /// The standard deviation of the time that workers ran something, relative to its mean.
    load_deviation: f64,
    /// Runs that were stopped where they were.
    stopped: u64,
    /// Runs that failed.
    failed: u64,
    /// What workers took while they ran something.
    energy_kwh: f64,
    makespan_s: Option<f64>,
    /// Letters that crossed others.
    late: u64,
    /// Letters that made no sense.
    refused: u64,
}

impl Measured for Summary {
    fn metrics() -> Vec<Metric> {
        let rest = [
            Metric { name: "task_mean_s", unit: "s", decimals: 1 },
            Metric { name: "makespan_s", unit: "s", decimals: 0 },
            Metric { name: "remote_share", unit: "", decimals: 3 },
            Metric { name: "load_deviation", unit: "", decimals: 3 },
            Metric { name: "stopped", unit: "runs", decimals: 1 },
            Metric { name: "failed", unit: "runs", decimals: 1 },
            Metric { name: "energy_kwh", unit: "kWh", decimals: 3 },
            Metric { name: "unfinished", unit: "jobs", decimals: 1 },
        ];
        ServiceSummary::METRICS.into_iter().chain(rest).collect()
    }

    fn values(&self) -> Vec<Option<f64>> {
        let counted = [
            self.remote_share,
            self.load_deviation,
            self.stopped as f64,
            self.failed as f64,
            self.energy_kwh,
            self.unfinished as f64,
        ];
        let times = [self.task_mean_s, self.makespan_s];
        self.service.values().into_iter().chain(times).chain(counted.map(Some)).collect()
    }
}

/// The scenario under each policy.
pub(super) fn run(arguments: &SimulateArguments, scenarios: &[PeersScenario]) -> Outcome {
    if !compare::is_wanted(arguments) {
        check_places(arguments)?;
        return run_once(arguments, &scenarios[0]);
    }
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.policy.clone()).collect();
    let seeds = compare::seeds(arguments, scenarios[0].seed)?;
    compare::run(arguments, &names, seeds, |at, seed| {
        let shaken = shake(arguments, seed).map(|shake| scenarios[at].shaken(shake));
        let scenario = shaken.as_ref().unwrap_or(&scenarios[at]);
        run_seed(scenario, seed, compare::folder(arguments, &scenario.policy, seed).as_deref())
    })
}

/// A run, with what it takes to go on.
struct Run<'a> {
    setup: &'a PeersSetup,
    parties: Parties<'a, AnyPolicy, World<'a>>,
    rule: String,
    patience_s: f64,
}

impl<'a> Run<'a> {
    fn new(setup: &'a PeersSetup, recipe: Recipe) -> Self {
        Self::at(setup, recipe, peers(setup, |_| recipe.build()))
    }

    /// Where a checkpoint left off.
    fn go_on(setup: &'a PeersSetup, recipe: Recipe, file: &Path) -> Result<Self, Failure> {
        let rule = (&*recipe.to_string(), |_| recipe.build());
        let parties = restore(setup, rule, &read_saved(file)?)
            .map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))?;
        Ok(Self::at(setup, recipe, parties))
    }

    fn at(setup: &'a PeersSetup, recipe: Recipe, parties: Parties<'a, AnyPolicy, World<'a>>) -> Self {
        Self { setup, parties, rule: recipe.to_string(), patience_s: patience_s(setup) }
    }
}

impl Steps for Run<'_> {
    fn step(&mut self) -> bool {
        // Heartbeats go on for ever, also where nobody lends to a peer that has no workers.
        let waits = self.parties.now().since(self.parties.outside().last_end());
        waits.seconds() <= self.patience_s && self.parties.step()
    }

    fn done(&self) -> (usize, Time) {
        let left = self.parties.outside().tasks_left() as usize;
        (self.setup.lengths.len() - left, self.parties.now())
    }

    fn saved(&self) -> Vec<u8> {
        save(&self.parties, &self.rule)
    }
}

fn run_once(arguments: &SimulateArguments, scenario: &PeersScenario) -> Outcome {
    let (setup, recipe) = (scenario.seeded(scenario.seed), scenario.recipe);
    let mut run = match &arguments.resume {
        None => Run::new(&setup, recipe),
        Some(file) => Run::go_on(&setup, recipe, file)?,
    };
    let tasks = setup.lengths.len();
    let bar = progress::bar(tasks as u64, "tasks");
    let ended = advance(arguments, &mut run, &bar)?;
    bar.finish_and_clear();
    let out = arguments.out.as_deref();
    let summary = finished(scenario, scenario.seed, &run, out)?;
    let (done, now) = run.done();
    let kept = what_is_kept(arguments, (done, tasks), "tasks", now);
    conclude(arguments, &summary, describe(&summary, out), (ended, kept))
}

/// One run; its results go to a folder, if one is named.
pub(super) fn run_seed(scenario: &PeersScenario, seed: u64, out: Option<&Path>) -> Result<Summary, Failure> {
    let setup = scenario.seeded(seed);
    let mut run = Run::new(&setup, scenario.recipe);
    finish(|| run.step())?;
    finished(scenario, seed, &run, out)
}

/// What came of it so far.
fn finished(
    scenario: &PeersScenario,
    seed: u64,
    run: &Run<'_>,
    out: Option<&Path>,
) -> Result<Summary, Failure> {
    let came = run.parties.outside().outcome();
    let until = if run.parties.outside().tasks_left() > 0 { run.parties.now() } else { came.makespan };
    let summary = summary((scenario, run.setup), seed, &came, until);
    if let Some(dir) = out {
        write(dir, scenario, (run.setup, &came), (&summary, run.parties.outside()))?;
    }
    Ok(summary)
}

/// A run in which no task ends for so long ends itself: longer than all users wait and all absences last, and ten times what
/// the longest task takes on the slowest worker.
fn patience_s(setup: &PeersSetup) -> f64 {
    let slowest = setup.machine_classes.iter().map(|class| class.speeds[0]).fold(f64::INFINITY, f64::min);
    let longest = setup.lengths.iter().map(|length| Ops::amount(*length)).fold(0.0, f64::max);
    let comes = setup.jobs.last().map_or(0.0, |job| job.submitted.seconds());
    let thinks = setup.jobs.iter().filter_map(|job| Some(job.after?.1.seconds())).fold(0.0, f64::max);
    let away = setup.outages.iter().map(|outage| outage.until);
    let away = away.chain(setup.silences.iter().map(|silence| silence.until));
    let away = away.chain(setup.absences.iter().map(|absence| absence.until));
    let away = away.chain(setup.brokers_away.iter().map(|broker| broker.until)).max().unwrap_or_default();
    // One in half a million lasts longer than 13 times the mean.
    let gone = setup.turnover.map_or(0.0, |turnover| 13.0 * turnover.away.seconds());
    gone + comes + thinks + away.seconds() + 10.0 * (longest / slowest + setup.inputs.seconds()) + 86_400.0
}

fn summary(
    (scenario, setup): (&PeersScenario, &PeersSetup),
    seed: u64,
    came: &PeersOutcome,
    until: Time,
) -> Summary {
    let ended = came.ended.iter().flatten().count();
    let busy_s: f64 = came.busy_s.iter().sum();
    let cores = |site: &gleaner_sim::peers::Site| {
        site.workers.iter().map(|kind| f64::from(setup.machine_classes[kind.index()].cores)).sum::<f64>()
    };
    let first = setup.jobs.iter().map(|job| job.submitted).min().unwrap_or_default();
    let all_s = until.since(first).seconds() * setup.peers.iter().map(cores).sum::<f64>();
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed,
        peers: setup.peers.len(),
        workers: came.busy_s.len(),
        jobs: setup.jobs.len(),
        unfinished: setup.jobs.len() - ended,
        tasks: came.tasks,
        service: ServiceSummary::of(
            &Services::of(&served(setup, came), 1),
            share(came.lost_s, busy_s),
            "peers",
        )
        .with_utilisation(share(busy_s, all_s)),
        task_mean_s: (came.tasks > 0).then(|| came.mean_task_s()),
        remote_share: share(came.remote as f64, came.tasks as f64),
        load_deviation: if busy_s > 0.0 { came.load_deviation() } else { 0.0 },
        stopped: came.stopped,
        failed: came.failed,
        energy_kwh: came.energy_j / JOULES_PER_KWH,
        makespan_s: (came.tasks > 0).then(|| came.makespan.seconds()),
        late: came.late,
        refused: came.refused,
    }
}

/// The jobs that ended. Alone, one takes as long as its longest task does on the fastest worker.
fn served(setup: &PeersSetup, came: &PeersOutcome) -> Vec<Served> {
    let fastest = setup.machine_classes.iter().map(|class| class.speeds[0]).fold(0.0, f64::max);
    let mut lengths = setup.lengths.iter();
    let jobs = setup.jobs.iter().zip(&came.ended).zip(&came.started);
    let served = jobs.filter_map(|((job, ended), started)| {
        let own = lengths.by_ref().take(job.tasks as usize);
        let longest = own.map(|length| Ops::amount(*length)).fold(0.0, f64::max);
        let ((submit, end), start) = ((*ended)?, (*started)?);
        Some(Served {
            submit,
            start,
            run: end.since(start),
            alone_s: setup.weights[0] * longest / fastest,
            processors: 1,
            user: Some(job.peer.index() as u64),
        })
    });
    served.collect()
}

fn responses(came: &PeersOutcome) -> impl Iterator<Item = f64> + '_ {
    came.ended.iter().flatten().map(|(submitted, ended)| ended.since(*submitted).seconds())
}

fn write(
    dir: &Path,
    scenario: &PeersScenario,
    (setup, came): (&PeersSetup, &PeersOutcome),
    (summary, world): (&Summary, &World<'_>),
) -> Outcome {
    let refused = world.refused();
    files::write_text(dir, "jobs.csv", &jobs(scenario, setup, came))?;
    files::write_text(dir, "peers.csv", &peers_table(scenario, setup, came))?;
    files::write_text(dir, "workers.csv", &workers(scenario, setup, came))?;
    if !refused.is_empty() {
        files::write_text(dir, "refused.csv", &refused_table(scenario, refused))?;
    }
    let figures = figures(scenario, came);
    for (name, _, svg) in &figures {
        files::write_text(dir, &format!("{name}.svg"), svg.as_str())?;
    }
    files::write_text(dir, "report.html", &report(scenario, (setup, came), (summary, world), figures))?;
    // Last, so that a folder with a summary has everything.
    files::write_json(dir, "summary.json", summary)?;
    Ok(())
}

/// A line each; what never came or ended is empty.
fn jobs(scenario: &PeersScenario, setup: &PeersSetup, came: &PeersOutcome) -> String {
    let mut text = "job,peer,tasks,arrived_s,finished_s,response_s\n".to_owned();
    for (at, (job, ended)) in setup.jobs.iter().zip(&came.ended).enumerate() {
        let (name, peer) = (field(&scenario.job_names[at]), field(&scenario.peer_names[job.peer.index()]));
        let moments = ended.map_or(",,".to_owned(), |(arrived, ended)| {
            format!("{arrived},{ended},{}", ended.since(arrived).seconds())
        });
        writeln!(text, "{name},{peer},{},{moments}", job.tasks).expect("a string takes all");
    }
    text
}

fn peers_table(scenario: &PeersScenario, setup: &PeersSetup, came: &PeersOutcome) -> String {
    let mut text = "peer,workers,jobs,tasks,response_mean_s,used_s,received_s,given_s\n".to_owned();
    for ((name, site), peer) in scenario.peer_names.iter().zip(&setup.peers).zip(&came.peers) {
        let response =
            if peer.jobs > 0 { (peer.job_response_s / peer.jobs as f64).to_string() } else { String::new() };
        let (name, workers, jobs, tasks) = (field(name), site.workers.len(), peer.jobs, peer.tasks);
        let (used, received, given) = (peer.used_s, peer.received_s, peer.given_s);
        writeln!(text, "{name},{workers},{jobs},{tasks},{response},{used},{received},{given}")
            .expect("a string takes all");
    }
    text
}

fn workers(scenario: &PeersScenario, setup: &PeersSetup, came: &PeersOutcome) -> String {
    let mut text = "peer,worker,ops_per_s,cores,watts,busy_s\n".to_owned();
    let mut busy_s = came.busy_s.iter();
    for (name, site) in scenario.peer_names.iter().map(|name| field(name)).zip(&setup.peers) {
        for (number, kind) in (1..).zip(&site.workers) {
            let class = &setup.machine_classes[kind.index()];
            let busy_s = busy_s.next().expect("one for each worker");
            let (speed, cores, watts) = (class.speeds[0], class.cores, class.watts());
            writeln!(text, "{name},{number},{speed},{cores},{watts},{busy_s}").expect("a string takes all");
        }
    }
    text
}

fn refused_table(scenario: &PeersScenario, refused: &[Refused]) -> String {
    let mut text = "time_s,by,from,why\n".to_owned();
    let name = |party: gleaner_units::PartyId| {
        field(scenario.peer_names.get(party.index()).map_or("discovery", String::as_str))
    };
    for Refused { at, by, from, why } in refused {
        let why = why.to_string();
        writeln!(text, "{at},{},{},{}", name(*by), name(*from), field(&why)).expect("a string takes all");
    }
    text
}

fn figures(scenario: &PeersScenario, came: &PeersOutcome) -> Figures {
    let favours = came.peers.iter().map(|peer| (peer.given_s, peer.received_s));
    let given = Plot::new(
        "What peers gave and received",
        Axis::linear("given to others (s of workers)"),
        Axis::linear("received (s of workers)"),
    )
    .with(Series::new(format!("{} peers", scenario.peer_names.len()), Style::Points, favours));
    let responses: Vec<f64> = responses(came).collect();
    let times = Plot::new("Responses", Axis::linear("from arrival to end (s)"), Axis::linear("jobs"))
        .with(Series::new("jobs", Style::Bars, histogram(&responses, 40)));
    vec![
        ("favours", "What each peer gave to others, and received from them.", given.svg()),
        ("responses", "How long jobs took from arrival to end.", times.svg()),
    ]
}

fn report(
    scenario: &PeersScenario,
    (setup, came): (&PeersSetup, &PeersOutcome),
    (summary, world): (&Summary, &World<'_>),
    figures: Figures,
) -> String {
    let percent = |share: f64| format!("{} %", decimals(100.0 * share, 1));
    let seconds = |value: Option<f64>| value.map_or("–".to_owned(), numbers::seconds);
    let rows = [
        ("policy", format!("{}: {}", summary.policy, summary.rule)),
        ("seed", summary.seed.to_string()),
        ("jobs", grouped(summary.jobs as u64)),
        ("of which unfinished", grouped(summary.unfinished as u64)),
        ("tasks that ended", grouped(summary.tasks)),
        ("mean time of a task on its worker", seconds(summary.task_mean_s)),
        ("tasks that ended at another peer", percent(summary.remote_share)),
        ("deviation of workers' load", percent(summary.load_deviation)),
        ("runs that were stopped", grouped(summary.stopped)),
        ("runs that failed", grouped(summary.failed)),
        ("energy of workers while they ran something", format!("{} kWh", decimals(summary.energy_kwh, 3))),
        ("letters that were refused", grouped(summary.refused)),
    ];
    let table = service::table(rows.into_iter().chain(summary.service.lines()));
    let columns = ["peer", "workers", "jobs", "mean response", "received", "given"];
    let listed = scenario.peer_names.iter().zip(&setup.peers).zip(&came.peers).take(PEERS_LISTED);
    let caption = if scenario.peer_names.len() > PEERS_LISTED {
        format!("The first {PEERS_LISTED} of {} peers; peers.csv has them all", scenario.peer_names.len())
    } else {
        "What each peer did".to_owned()
    };
    let by_peer = listed.fold(Table::new(caption, columns), |table, ((name, site), peer)| {
        let response = (peer.jobs > 0).then(|| peer.job_response_s / peer.jobs as f64);
        table.row([
            Cell::text(name),
            Cell::number(grouped(site.workers.len() as u64)),
            Cell::number(grouped(peer.jobs)),
            Cell::number(seconds(response)),
            Cell::number(numbers::seconds(peer.received_s)),
            Cell::number(numbers::seconds(peer.given_s)),
        ])
    });
    let lead = format!(
        "{} peers with {} workers; {} jobs.",
        grouped(summary.peers as u64),
        grouped(summary.workers as u64),
        grouped(summary.jobs as u64)
    );
    let mut report = Report::new(format!("A simulated run of peers under {}", summary.policy))
        .lead(lead)
        .with(Block::heading("Summary"))
        .with(table)
        .with(Block::heading("Favours and responses"));
    for (_, caption, svg) in figures {
        report = report.with(Figure::new(caption, svg));
    }
    let job = |number: usize| scenario.job_names[number].clone();
    let schedule = gantt(setup, &summary.policy, &scenario.peer_names, job, world);
    report
        .with(Block::heading("Schedule"))
        .with(Block::text(
            format!(
                "A row is a worker that ran something; a bar is a run, in the colour of the peer whose task it is: another colour in \
                 a peer's rows is a lent worker. The first {} runs that were over are drawn.",
                grouped(RUNS_KEPT_MAX as u64)
            ),
        ))
        .with(schedule)
        .with(Block::heading("Peers"))
        .with(by_peer)
        .html()
}

const JOULES_PER_KWH: f64 = 3.6e6;

/// A longer table is for `peers.csv`.
const PEERS_LISTED: usize = 100;

fn describe(summary: &Summary, out: Option<&Path>) -> String {
    let Summary { policy, rule, jobs, unfinished, .. } = summary;
    let mut lines = vec![
        ("policy", format!("{policy}: {rule}")),
        (
            "peers",
            format!("{}, with {} workers", grouped(summary.peers as u64), grouped(summary.workers as u64)),
        ),
        ("jobs", format!("{}, of which {} unfinished", grouped(*jobs as u64), grouped(*unfinished as u64))),
        (
            "tasks",
            format!(
                "{}, {:.1} % on other peers' workers",
                grouped(summary.tasks),
                100.0 * summary.remote_share
            ),
        ),
        ("makespan", makespan(summary.makespan_s)),
    ];
    lines.extend(summary.service.lines());
    if summary.failed > 0 {
        lines.push(("failed", format!("{} runs, which began again", grouped(summary.failed))));
    }
    lines.push(("energy", format!("{:.3} kWh of workers that ran something", summary.energy_kwh)));
    if summary.refused > 0 {
        lines.push(("refused", format!("{} letters that made no sense", grouped(summary.refused))));
    }
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}
