//! The tables and the report of a run of peers, and what it prints.

use super::summary::Summary;
use crate::simulate::figures::Figures;
use crate::simulate::service;
use crate::simulate::tables::field;
use crate::simulate::text::{aligned, makespan};
use crate::{Outcome, files};
use gleaner_papers::dasilva::gantt;
use gleaner_report::numbers::{self, decimals, grouped};
use gleaner_report::{Axis, Block, Cell, Figure, Plot, Report, Series, Style, Table, histogram};
use gleaner_sim::Refused;
use gleaner_sim::peers::{PeersOutcome, PeersSetup, PeersWorld, RUNS_KEPT_MAX};
use gleaner_workload::PeersScenario;
use std::fmt::Write as _;
use std::path::Path;

/// A longer table is for `peers.csv`.
const PEERS_LISTED: usize = 100;

fn responses(came: &PeersOutcome) -> impl Iterator<Item = f64> + '_ {
    came.ended.iter().flatten().map(|(submitted, ended)| ended.since(*submitted).seconds())
}

pub(super) fn write(
    dir: &Path,
    scenario: &PeersScenario,
    (setup, came): (&PeersSetup, &PeersOutcome),
    (summary, world): (&Summary, &PeersWorld<'_>),
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
    (summary, world): (&Summary, &PeersWorld<'_>),
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

pub(super) fn describe(summary: &Summary, out: Option<&Path>) -> String {
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
