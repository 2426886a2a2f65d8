//! Scenarios of jobs over sites: what is refused and where, and that what is drawn is what was asked for.

use gleaner_policy::parts::sites::Split;
use gleaner_sim::sites::SitesSetup;
use gleaner_workload::sites::{self, OverSites, SitesScenario};
use std::fs;

const WHOLE: &str = include_str!("../../../../examples/sites/scenario.toml");

fn parse(text: &str) -> Result<SitesScenario, String> {
    SitesScenario::parse("sites.toml", text).map_err(|error| error.to_string())
}

#[test]
fn what_is_no_scenario_is_refused_with_line_and_key() {
    let rows = [
        ("count = 6", "count = 0", "sites.count", "a whole number from 1"),
        ("count = 6", "count = 1001", "sites.count", "to 1000"),
        ("count = 60", "count = 1000001", "work.count", "to 1000000"),
        ("count = 6", "cout = 6", "sites.cout", "count"),
        (
            "processors = [8, 16, 32]",
            "processors = []",
            "sites.processors",
            "a list of finite numbers above 0",
        ),
        ("gflops = [1, 2]", "gflops = [1, -2]", "sites.gflops", "above 0"),
        ("load = 0.8", "load = 0", "sites.load", "above 0"),
        ("model = \"lublin\"", "model = \"lubin\"", "work.model", "lublin"),
        ("model = \"lublin\"", "model = \"log\"", "work.log", "a log of jobs"),
        ("data_share = 0.25", "data_share = -1", "work.data_share", "0 or more"),
        ("staging = \"share\"", "staging = \"half\"", "network.staging", "share"),
        ("crossing = 0.3", "crossing = \"much\"", "network.crossing", "0 or more"),
        ("preset = \"khoo/mrs\"", "preset = \"khoo/msr\"", "policy.preset", "khoo/mrs"),
        (
            "preset = \"khoo/mrs\"",
            "preset = \"khoo/mrs\"\nsites = { again_s = 1e-6 }",
            "policy.sites.again_s",
            "found 1e-6; expected seconds, 0.1 or more",
        ),
        (
            "preset = \"khoo/mrs\"",
            "preset = \"khoo/mrs\"\nsites = { patience_s = 1e-12 }",
            "policy.sites.patience_s",
            "found 1e-12; expected seconds above 0, from a nanosecond",
        ),
        (
            "model = \"lublin\"",
            "model = \"lublin\"\nlog = 3",
            "work.log",
            "found 3; expected the name of a log of jobs",
        ),
        ("[run]", "[protocol]\nloss = 1\n[run]", "protocol.loss", "without 1"),
        (
            "[run]",
            "[protocol]\npatience_s = 0\n[run]",
            "protocol.patience_s",
            "found 0; expected seconds above 0",
        ),
        ("[run]", "[protocol]\npatience_s = 1e-12\n[run]", "protocol.patience_s", "from a nanosecond"),
        (
            "[run]",
            "[protocol]\ndelay_s = 0.5\npatience_s = 1e-6\n[run]",
            "protocol.patience_s",
            "found 1e-6; expected more than 1 s, twice protocol.delay_s, as no answer comes before",
        ),
    ];
    for (whole, broken, key, expected) in rows {
        assert!(WHOLE.contains(whole), "{whole}");
        let error = parse(&WHOLE.replacen(whole, broken, 1)).expect_err(broken);
        let line = 1 + WHOLE[..WHOLE.find(whole).expect("it is there")].matches('\n').count();
        assert!(error.contains(key) && error.contains(expected), "{broken}: {error}");
        let is_placed = error.contains("sites.toml:")
            && (key == "work.log" || broken.contains('\n') || error.contains(&format!(":{line}")));
        assert!(is_placed, "{broken}: {error}");
    }
}

#[test]
fn a_message_waits_for_its_answer_longer_than_that_takes() {
    let patience = |protocol: &str| {
        let protocol = format!("[protocol]\n{protocol}\n[run]");
        parse(&WHOLE.replacen("[run]", &protocol, 1)).expect("a scenario").protocol.patience.seconds()
    };
    assert!((patience("delay_s = 0.4") - 1.0).abs() < 1e-9);
    assert!((patience("delay_s = 20") - 41.0).abs() < 1e-9);
    assert!((patience("delay_s = 0.5\npatience_s = 1.25") - 1.25).abs() < 1e-9);
}

#[test]
fn a_seed_draws_the_same_and_the_load_is_what_was_asked_for() {
    let scenario = parse(WHOLE).expect("the example is whole");
    let setup = |seed| scenario.setup(seed).expect("jobs that fit");
    assert_eq!(setup(3), setup(3));
    assert_ne!(setup(3), setup(4));
    for seed in 1..=5 {
        let setup = setup(seed);
        assert_eq!((setup.sites.len(), setup.jobs.len()), (6, 60));
        assert!(setup.jobs.is_sorted_by_key(|job| job.submitted));
        let power: f64 = setup.sites.iter().map(|site| f64::from(site.processors) * site.gflops).sum();
        let asked: f64 = setup.jobs.iter().map(|job| f64::from(job.processors) * job.run_s).sum();
        let load = asked / power / 86_400.0;
        // Sites have whole processors, and no job takes more than half of them.
        assert!(load < 0.9 && load > 0.3, "seed {seed}: load {load}");
        let half = setup.processors() / 2;
        assert!(setup.jobs.iter().all(|job| u64::from(job.processors) <= half && job.run_s >= 1.0));
    }
}

const SITES: &str =
    "id,processors,memory,upload_mbit,download_mbit,price,quality\nsouth,4,8GB,8,16,2,0.9\nnorth,8,,16,8,,\n";
const JOBS: &str = "id,arrival_s,processors,run_s,estimate_s,memory,data,source,quality,would_pay\n\
                    a,0,2,10,30,1GB,1000,north,0.5,3\nb,5,12,20,5,,,,,\n";
const LISTED: &str =
    "[sites]\ntable = \"sites.csv\"\n[work]\njobs = \"jobs.csv\"\n[policy]\npreset = \"khoo/mrs\"\n";
/// Of four jobs one has no submit time, one no run time.
const LOG: &str = "1 100 -1 50 2 -1 -1 2 80 -1 1 1 -1 -1 -1 -1 -1 -1\n2 -1 -1 50 2 -1 -1 2 80 -1 1 1 -1 -1 -1 -1 -1 -1\n\
                   3 160 -1 -1 2 -1 -1 2 80 -1 1 1 -1 -1 -1 -1 -1 -1\n4 170 -1 30 4 -1 -1 4 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n";

/// Its job has no run time.
const IDLE: &str = "3 160 -1 -1 2 -1 -1 2 80 -1 1 1 -1 -1 -1 -1 -1 -1\n";

/// What these files are read as, with these settings, and drawn with seed 1.
fn listed(files: [&str; 2], scenario: &str, set: &[&str]) -> Result<SitesSetup, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [
        ("sites.csv", files[0]),
        ("jobs.csv", files[1]),
        ("own.toml", scenario),
        ("log.swf", LOG),
        ("empty.swf", ""),
        ("idle.swf", IDLE),
    ];
    for (name, text) in all {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    let path = folder.path().join("own.toml");
    let OverSites::Split(scenario) = sites::load(&path, &set).map_err(|error| error.to_string())? else {
        panic!("no brokers are there");
    };
    scenario.setup(1).map_err(|error| error.to_string())
}

#[test]
fn sites_and_jobs_are_listed_in_tables() {
    let setup = listed([SITES, JOBS], LISTED, &[]).expect("a whole scenario");
    let (south, north) = (&setup.sites[0], &setup.sites[1]);
    assert_eq!((south.processors, south.memory, south.disk), (4, 8 << 30, u64::MAX));
    assert_eq!((south.price.to_bits(), south.quality.to_bits()), (2.0_f64.to_bits(), 0.9_f64.to_bits()));
    assert_eq!((north.price.to_bits(), north.gflops.to_bits()), (0, 1.0_f64.to_bits()));
    assert_eq!(setup.bytes_per_s(0, 1).to_bits(), 1e6_f64.to_bits());
    let (a, b) = (&setup.jobs[0], &setup.jobs[1]);
    assert_eq!((a.processors, a.data, a.source, a.memory), (2, 1000, 1, 1 << 30));
    assert_eq!((a.quality.to_bits(), a.would_pay.to_bits()), (0.5_f64.to_bits(), 3.0_f64.to_bits()));
    assert_eq!(a.estimate_s.to_bits(), 30.0_f64.to_bits());
    assert_eq!(b.estimate_s.to_bits(), 20.0_f64.to_bits(), "an estimate below the run time is raised to it");
    assert!(b.would_pay.is_infinite());
}

#[test]
fn the_jobs_of_a_log_go_to_sites_of_ones_own_as_they_came() {
    let log =
        LISTED.replace("jobs = \"jobs.csv\"", "model = \"log\"\nlog = \"log.swf\"\nestimates = \"logged\"");
    let setup = listed([SITES, JOBS], &log, &[]).expect("a whole scenario");
    let told: Vec<(f64, u32, f64, f64)> = setup
        .jobs
        .iter()
        .map(|job| (job.submitted.seconds(), job.processors, job.run_s, job.estimate_s))
        .collect();
    assert_eq!(told, [(0.0, 2, 50.0, 80.0), (70.0, 4, 30.0, 30.0)]);
    let stretched = listed([SITES, JOBS], &log, &["work.days=1", "work.count=2"]).expect("a whole scenario");
    assert_eq!(stretched.jobs[1].submitted.seconds().to_bits(), 86_400.0_f64.to_bits());
}

#[test]
fn what_is_wrong_with_tables_logs_and_sizes_is_said_with_its_place() {
    let log = LISTED.replace("jobs = \"jobs.csv\"", "model = \"log\"\nlog = \"log.swf\"");
    let whole = Split::Whole;
    let whole = format!("policy.sites={{split={:?}}}", gleaner_policy::parts::Choice::name(&whole));
    let with = |files: [&str; 2], set: &[&str]| listed(files, LISTED, set).expect_err("bad input");
    let of_log = |set: &[&str]| listed([SITES, JOBS], &log, set).expect_err("bad input");
    let drawn = |set: &[&str]| listed([SITES, JOBS], WHOLE, set).expect_err("bad input");
    let rows = [
        (with([&SITES.replace("south,4", "south,0"), JOBS], &[]), "sites.csv:2: processors: found \"0\""),
        (
            with([&SITES.replace("north", "south"), JOBS], &[]),
            "sites.csv:3: id: found \"south\" a second time",
        ),
        (
            with([&SITES.replace("quality", "qality"), JOBS], &[]),
            "sites.csv:1: qality: found an unknown column",
        ),
        (
            with([&SITES.replace("south,4,8GB,8", "south,4,8GB,0"), JOBS], &[]),
            "sites.csv:2: upload_mbit: found \"0\"",
        ),
        (with([SITES.lines().next().expect("a header"), JOBS], &[]), "sites.csv: found no sites"),
        (
            with([SITES, &JOBS.replace("north", "nroth")], &[]),
            "jobs.csv:2: source: found \"nroth\"; expected one of south, north; did you mean north?",
        ),
        (with([SITES, &JOBS.replace("1000,north", "1000,")], &[]), "jobs.csv:2: source: found \"\""),
        (with([SITES, &JOBS.replace("b,5", "a,5")], &[]), "jobs.csv:3: id: found \"a\" a second time"),
        (
            with([SITES, &JOBS.replace("b,5,12", "b,5,13")], &[]),
            "jobs.csv:3: found job b, which needs 13 processors",
        ),
        (with([SITES, &JOBS.replace("10,30,1GB", "10,30,9999999GB")], &[]), "jobs.csv:2: memory"),
        (
            with([SITES, &JOBS.replace("2,10,30", "2,1e12,30")], &[]),
            "jobs.csv:2: run_s: found \"1e12\"; expected a length that some site can do in less than 584 years",
        ),
        (with([SITES, JOBS], &[&whole]), "jobs.csv:3: found job b, which needs 12 processors"),
        (
            with([SITES, &JOBS.replace("b,5,12", "b,5,5")], &["policy.preset=khoo/rep"]),
            "jobs.csv:3: found job b, which needs 5 processors with 0 bytes of memory and 0 bytes of disk each, of which the \
             sites never have room for 2 copies",
        ),
        (with([SITES, JOBS], &["work.count=3"]), "work.count: found an unknown key"),
        (
            with([SITES, JOBS], &["sites.count=3"]),
            "sites.table: found sites that are listed beside sites.count",
        ),
        (of_log(&["work.count=3"]), "work.count: found 3 jobs of a log that has 2"),
        (of_log(&["work.log=\"idle.swf\""]), "work.log: found a log of 1 jobs, none of which can run"),
        (of_log(&["work.log=\"empty.swf\""]), "empty.swf: found no jobs"),
        (drawn(&["work.jobs=\"jobs.csv\""]), "work.jobs: found a table of jobs beside sites.count"),
        (drawn(&["work.memory_gb=[1e9]"]), "work: found job 1, which needs"),
        (drawn(&["work.disk_gb=1e6"]), "work: found job 1, which needs"),
        (drawn(&["work.estimates=\"logged\""]), "work.estimates: found \"logged\""),
        (drawn(&["sites.price=[-1]"]), "sites.price"),
        (drawn(&["policy.preset=khoo/mrs", "protocol.delay_s=1e10"]), "sites.patience_s: found"),
        (
            drawn(&["work.would_pay=[]"]),
            "work.would_pay: found a list; expected a list of finite numbers, 0 or more",
        ),
    ];
    for (error, says) in rows {
        assert!(error.contains(says), "{says}: {error}");
    }
}

/// Copies share no site, so both sites have one.
#[test]
fn a_job_of_which_there_is_room_for_all_copies_is_none_of_them() {
    let jobs = JOBS.replace("b,5,12", "b,5,4");
    listed([SITES, &jobs], LISTED, &["policy.preset=khoo/rep"]).expect("a whole scenario");
    let more = ["policy.preset=khoo/rep", "policy.sites.copies=3"];
    let error = listed([SITES, &jobs], LISTED, &more).expect_err("bad input");
    assert!(error.contains("never have room for 3 copies"), "{error}");
}

#[test]
fn prices_and_qualities_are_drawn_and_change_nothing_else_that_is_drawn() {
    let draw = |set: &[&str]| listed([SITES, JOBS], WHOLE, set).expect("a whole scenario");
    let (plain, offers) = (
        draw(&[]),
        draw(&["sites.price=[1, 2]", "sites.quality=[0.9]", "work.quality=[0.5]", "work.would_pay=[0, 4]"]),
    );
    let processors = |setup: &SitesSetup| setup.sites.iter().map(|site| site.processors).collect::<Vec<_>>();
    assert_eq!(processors(&plain), processors(&offers));
    assert!(
        plain
            .jobs
            .iter()
            .zip(&offers.jobs)
            .all(|(one, other)| (one.data, one.memory) == (other.data, other.memory))
    );
    let prices: Vec<f64> = offers.sites.iter().map(|site| site.price).collect();
    assert!(
        prices.contains(&1.0) && prices.contains(&2.0) && plain.sites.iter().all(|site| site.price == 0.0),
        "{prices:?}"
    );
    assert!(
        offers.jobs.iter().any(|job| job.would_pay == 0.0)
            && offers.jobs.iter().any(|job| job.would_pay == 4.0)
    );
}
