//! As much as a limit says is read; one more is refused.

use super::*;
use crate::ourgrid::{jdf, sdf};
use crate::sites::{self, SitesScenario};
use crate::submit::Source;
use crate::submit::condor::{self, Surroundings};
use crate::{InputError, PeersScenario};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reads a description with as much of something as it may have and so many more.
type Read<'a> = &'a dyn Fn(usize) -> Result<(), InputError>;

fn expect_limits(limits: &[(&str, &str, Read<'_>)]) {
    for (limit, said, read) in limits {
        if let Err(error) = read(0) {
            panic!("{limit}: as much as may be is refused: {error}");
        }
        let error = read(1).expect_err(limit).to_string();
        assert!(error.contains(said), "{limit}: {error}");
    }
}

/// A folder with these files; the first is the scenario.
fn in_folder<T>(files: &[(&str, &str)], read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    read(&folder.path().join(files[0].0))
}

const DRAWN: &str = include_str!("../../../../examples/sites/scenario.toml");

fn drawn(before: &str, after: &str) -> Result<(), InputError> {
    assert!(DRAWN.contains(before), "{before}");
    SitesScenario::parse("sites.toml", &DRAWN.replacen(before, after, 1)).map(drop)
}

#[test]
fn sites_and_brokers_of_a_scenario() {
    let brokers = |count: usize| {
        let scenario = format!(
            "[sites]\nelements = \"elements.csv\"\n[index]\nttl_s = [30]\n[work]\njobs = \"jobs.csv\"\n[protocol]\nbrokers = {count}\n\
             [policy]\npreset = \"cavalieri/stochastic\"\nalpha = 0.5\n"
        );
        let elements = "id,site,cpus,ops_per_s\nce1,roma,2,100\n";
        let jobs = "id,arrival_s,length,broker\na,0,1000,0\n";
        let files = [("grid.toml", &*scenario), ("elements.csv", elements), ("jobs.csv", jobs)];
        in_folder(&files, |path| sites::load(path, &[]).map(drop))
    };
    expect_limits(&[
        ("SITES_MAX", "to 1000", &|more| drawn("count = 6", &format!("count = {}", SITES_MAX + more))),
        ("SITE_JOBS_MAX", "to 1000000", &|more| {
            drawn("count = 60", &format!("count = {}", SITE_JOBS_MAX + more))
        }),
        ("BROKERS_MAX", "to 10000", &|more| brokers(BROKERS_MAX + more)),
    ]);
}

fn peers(workers: &str, jobs: &str) -> Result<(), InputError> {
    let scenario = "[peers]\nworkers = \"workers.csv\"\n[work]\njobs = \"jobs.csv\"\n\
                    [policy]\npreset = \"dasilva/greedy\"\n";
    let files = [("scenario.toml", scenario), ("workers.csv", workers), ("jobs.csv", jobs)];
    in_folder(&files, |path| PeersScenario::load(path, &[]).map(drop))
}

/// As many tasks as there may be are 400 MB: only what is above is tried.
#[test]
fn peers_of_a_scenario_their_workers_and_tasks() {
    let job = "id,peer,arrival_s,lengths\nj,p0,0,600\n";
    let named = |count: usize| (0..count).map(|peer| format!("p{peer},1000,1\n")).collect::<String>();
    let workers = |rows: &str| format!("peer,ops_per_s,count\n{rows}");
    expect_limits(&[
        ("PEERS_MAX", "more than 10000 peers", &|more| peers(&workers(&named(PEERS_MAX + more)), job)),
        ("PEER_WORKERS_MAX", "more than 1000000 workers", &|more| {
            peers(&workers(&format!("p0,1000,1\np0,1000,{}\n", PEER_WORKERS_MAX - 1 + more)), job)
        }),
        ("PEER_TASKS_MAX", "more than 50000000 tasks in all", &|more| {
            let last = if more > 0 { PEER_TASKS_MAX } else { 1 };
            peers(&workers("p0,1000,1\n"), &format!("id,peer,arrival_s,lengths\nj,p0,0,600 600x{last}\n"))
        }),
    ]);
}

/// Each process is a job where each has another priority.
#[test]
fn jobs_of_a_submit_file() {
    let read = |processes: usize| {
        let text = format!("executable = a\npriority = $(Process)\nqueue {processes}\n");
        let (folder, environment) = (Path::new(""), BTreeMap::new());
        let around = Surroundings { folder, environment: &environment, macros: &[], ignored: &[] };
        condor::read(&Source::new("a.sub", text), &around)
    };
    let submission = read(JOBS_PER_FILE_MAX).expect("as many as may be");
    assert_eq!(submission.jobs.len(), JOBS_PER_FILE_MAX);
    let error = read(200_000).expect_err("twenty times as many").to_string();
    let said =
        "a.sub:3: queue: found more than 10000 jobs, since processes differ in priority; expected processes";
    assert!(error.starts_with(said), "{error}");
}

#[test]
fn descriptions_of_other_grids() {
    let job = |text: String| jdf::read(&Source::new("a.jdf", text)).map(drop);
    let site = |text: String| sdf::read(&Source::new("a.sdf", text)).map(drop);
    let put = |name: &str| job(format!("job :\ntask :\ninit : put {name} {name}\nremote : x\n"));
    // So many bytes of names in a line, of 65,536 files that get one name, or of one.
    let files = |each: usize| format!("put {}{{10001-75536}} b\n", "x".repeat(each - 6));
    let file = |bytes: usize| format!("put {} b\n", "x".repeat(bytes - 1));
    expect_limits(&[
        ("CONDITION_DEPTH_MAX", "fewer parentheses within each other", &|more| {
            // The test within the parentheses is a level too.
            let depth = CONDITION_DEPTH_MAX - 1 + more;
            let (open, close) = ("( ".repeat(depth), " )".repeat(depth));
            job(format!("job :\nrequirements : {open}mem >= 4{close}\ntask :\nremote : x\n"))
        }),
        ("CONDITION_TERMS_MAX", "a condition of more than 10000 comparisons", &|more| {
            let terms = "a and ".repeat(CONDITION_TERMS_MAX - 1 + more);
            job(format!("job :\nrequirements : {terms}a\ntask :\nremote : x\n"))
        }),
        ("RANGE_MAX", "a range of more than 100000 names", &|more| {
            put(&format!("a{{1-{}}}", RANGE_MAX + more))
        }),
        ("WORKERS_MAX", "fewer workers", &|more| {
            let workers = |name: &str, count: usize| {
                format!("worker :\n username : {name}{{1-{count}}}\n servername : x\n")
            };
            site(workers("v", WORKERS_MAX / 2) + &workers("w", WORKERS_MAX / 2 + more))
        }),
        ("TRANSFER_BYTES_MAX", "at most 67108864 bytes", &|more| {
            let last = TRANSFER_BYTES_MAX - 65_536 * 1_023;
            let lines = files(512) + &files(511) + &file(last + more);
            job(format!("job :\ntask :\ninit : {lines}remote : x\n"))
        }),
        ("SITE_BYTES_MAX", "at most 268435456 bytes", &|more| {
            // Names and values of the attributes: username, servername and a, of two workers and of one.
            let named = "usernamewservernamexa".len();
            let half = "x".repeat(SITE_BYTES_MAX / 2 - named);
            let rest = "x".repeat(more);
            let worker = |rest| format!("worker :\n username : w\n servername : x\n a : {half}{rest}\n");
            site(worker("") + &worker(&rest))
        }),
    ]);
}
