//! Scenarios of brokers and sites: read and run, or refused with file, line, field and reason.

use gleaner_sim::brokering::Brokerage;
use gleaner_workload::BrokeringScenario;
use gleaner_workload::sites::{self, OverSites};
use std::path::Path;
use tempfile::TempDir;

const FILES: [(&str, &str); 6] = [
    (
        "grid.toml",
        "[sites]\nelements = \"elements.csv\"\nstorage = \"storage.csv\"\nlinks = \"links.csv\"\nfiles = \"files.csv\"\n\
         [index]\nparts = [\n{ name = \"south\", ttl_s = 30, above = \"top\" },\n{ name = \"top\", ttl_s = 50 } ]\n\
         [work]\njobs = \"jobs.csv\"\n[protocol]\nbrokers = 2\n[policy]\npreset = \"cavalieri/stochastic\"\nalpha = 0.5\n[run]\nseed = 3\n",
    ),
    (
        "elements.csv",
        "id,site,cpus,ops_per_s,provides,ad,index\nce1,roma,2,100,cms,[Memory = 8],south\nce2,napoli,1,300,,[Memory = 16],top\n",
    ),
    ("storage.csv", "site,bytes_per_s,quota\nroma,1000,5000\nnapoli,,\n"),
    ("links.csv", "from,to,bytes_per_s\nroma,hub,100\nhub,napoli,50\n"),
    ("files.csv", "id,bytes,sites\nraw,1000,roma\ncuts,200,roma napoli\n"),
    (
        "jobs.csv",
        "id,arrival_s,length,inputs,requires,ad,broker\na,0,1000,raw cuts,,,0\nb,10,1000,raw,cms,,1\n\
         c,10,500,,,[Requirements = TARGET.Memory >= 10],0\n",
    ),
];

/// The scenario with a text in one file replaced by another.
fn folder(file: &str, before: &str, after: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in FILES {
        let changed = if name == file { text.replacen(before, after, 1) } else { text.to_owned() };
        assert!(name != file || before.is_empty() || changed != text, "{file} has no {before}");
        std::fs::write(folder.path().join(name), changed).expect("a file is written");
    }
    folder
}

fn load(folder: &Path) -> Result<BrokeringScenario, String> {
    match sites::load(&folder.join("grid.toml"), &[]).map_err(|error| error.to_string())? {
        OverSites::Brokered(scenario) => Ok(*scenario),
        OverSites::Split(_) => panic!("its jobs go to brokers"),
    }
}

#[test]
fn an_ad_knows_what_the_row_of_an_element_says() {
    let wanted = "[Requirements = TARGET.Machine == \"ce1\" && TARGET.Site == \"roma\" && TARGET.Cpus == 2 && TARGET.OpsPerSecond == 100 && TARGET.Memory == 8]";
    let folder = folder(
        "jobs.csv",
        "c,10,500,,,[Requirements = TARGET.Memory >= 10],0",
        &format!("c,10,500,,,{wanted},0"),
    );
    let scenario = load(folder.path()).expect("a scenario");
    let mut run = Brokerage::new(&scenario.setup, scenario.recipe, scenario.seed).expect("a setup");
    run.run();
    assert_eq!(run.records()[2].element, Some(0));
}

#[test]
fn a_scenario_is_read_and_every_job_ends_where_it_may_run() {
    let folder = folder("", "", "");
    assert!(sites::is_at(&folder.path().join("grid.toml")).expect("a document"));
    let scenario = load(folder.path()).expect("a scenario");
    assert_eq!((scenario.seed, scenario.policy.as_str()), (3, "cavalieri/stochastic"));
    assert_eq!(scenario.element_names, ["ce1", "ce2"]);
    assert_eq!((scenario.setup.brokers, scenario.setup.classes.len()), (2, 3));
    let mut run = Brokerage::new(&scenario.setup, scenario.recipe, scenario.seed).expect("a setup");
    run.run();
    assert_eq!(run.finished(), 3);
    assert_eq!(run.records()[1].element, Some(0), "only ce1 takes jobs of cms");
    assert_eq!(run.records()[2].element, Some(1), "only ce2 has the memory");
}

#[test]
fn bad_input_is_refused_where_it_is() {
    let rows = [
        ("files.csv", "roma napoli", "roma napli", "files.csv:3: sites: found \"napli\"; expected one of"),
        (
            "files.csv",
            "raw,1000,roma",
            "raw,1000,",
            "jobs.csv:2: inputs: found \"raw\", of which no site holds a copy",
        ),
        (
            "grid.toml",
            "name = \"top\", ttl_s = 50",
            "name = \"top\", ttl_s = 50, above = \"south\"",
            "above itself",
        ),
        ("grid.toml", "above = \"top\"", "above = \"top\", ttl = 2", "an unknown key"),
        ("grid.toml", "ttl_s = 50", "ttl_s = 0", "seconds above 0"),
        (
            "grid.toml",
            "alpha = 0.5",
            "alpha = 1.5",
            "grid.toml:16: policy.alpha: found 1.5; expected a weight, from 0 to 1",
        ),
        (
            "grid.toml",
            "elements = \"elements.csv\"",
            "elements = \"elements.csv\"\ncount = 6",
            "grid.toml:2: sites.elements: found sites that are listed beside sites.count; expected one of the two",
        ),
        (
            "grid.toml",
            "elements = \"elements.csv\"",
            "",
            "grid.toml:1: sites.count: found nothing; expected how many sites are drawn; or sites.table",
        ),
        (
            "grid.toml",
            "jobs = \"jobs.csv\"",
            "jobs = \"jobs.csv\"\nmodel = \"lublin\"",
            "work.model: found an unknown key",
        ),
        (
            "grid.toml",
            "brokers = 2",
            "loss = 0.1",
            "protocol.loss: found an unknown key; expected one of brokers, delay_s",
        ),
        ("grid.toml", "brokers = 2", "brokers = 0", "a whole number, from 1 to 10000"),
        ("storage.csv", "1000,5000", "1000,500", "1200 bytes of files at \"roma\", which has room for 500"),
        ("storage.csv", "napoli", "milano", "storage.csv:3: site: found \"milano\""),
        (
            "elements.csv",
            "300,",
            "0,",
            "elements.csv:3: ops_per_s: found \"0\"; expected operations a second, from 1e-9 to 1e18",
        ),
        ("elements.csv", "ce2,", "ce1,", "a second time"),
        ("elements.csv", "[Memory = 16]", "[Memory = ]", "elements.csv:3: ad"),
        ("links.csv", "hub,napoli", "napoli,napoli", "another place"),
        (
            "jobs.csv",
            "raw,cms,,1",
            "raw,cms,,2",
            "jobs.csv:3: broker: found \"2\"; expected a broker's number, from 0 to 1",
        ),
        ("jobs.csv", "raw,cms", "row,cms", "jobs.csv:3: inputs: found \"row\"; expected one of"),
        ("jobs.csv", "10,1000", "1e99,1000", "where time ends"),
        (
            "jobs.csv",
            "0,1000",
            "0,1e13",
            "jobs.csv:2: length: found \"1e13\"; expected a length that some element can do in less than 584 years",
        ),
        ("jobs.csv", "Memory >= 10", "Memory >= 99", "jobs.csv:4: found a job that no element can run"),
    ];
    let other = |(file, before, after, expected): (&str, &str, &str, &str)| {
        let folder = folder(file, before, after);
        let error = load(folder.path()).expect_err(after);
        (!error.contains(expected)).then(|| format!("{file} with {after}: {error}, and not {expected}"))
    };
    let others: Vec<String> = rows.into_iter().filter_map(other).collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn requirements_that_match_nothing_say_which_clause_excludes_how_many() {
    let folder = folder("jobs.csv", "TARGET.Memory >= 10", "TARGET.Memory >= 99 && TARGET.Memory >= 1");
    let error = load(folder.path()).expect_err("no element has so much");
    assert!(error.contains("TARGET.Memory >= 99") && error.contains('2'), "{error}");
}

#[test]
fn a_job_that_names_an_element_goes_there_whatever_it_requires_and_ranks() {
    let jobs = "id,arrival_s,length,inputs,requires,ad,element\n\
                a,0,1000,raw,,,ce2\nb,10,1000,,lhcb,[Rank = \"fast\"; Requirements = false],ce1\nc,10,500,,cms,,\n";
    let folder = folder("", "", "");
    std::fs::write(folder.path().join("jobs.csv"), jobs).expect("a file is written");
    let scenario = load(folder.path()).expect("a scenario");
    let mut run = Brokerage::new(&scenario.setup, scenario.recipe, scenario.seed).expect("a setup");
    run.run();
    let went: Vec<Option<u32>> = run.records().iter().map(|job| job.element).collect();
    assert_eq!(went, [Some(1), Some(0), Some(0)]);
    std::fs::write(folder.path().join("jobs.csv"), jobs.replace("ce2", "ce9")).expect("a file is written");
    let error = load(folder.path()).expect_err("there is no such element");
    assert!(error.contains("jobs.csv:2: element: found \"ce9\"; expected one of ce1, ce2"), "{error}");
}

#[test]
fn a_rule_by_which_brokers_cannot_go_is_refused() {
    let rules = [
        ("bertasi/greedy", "replicate = 2"),
        ("bertasi/greedy", "relocate = { score = \"greedy\" }"),
        ("queue/easy", ""),
        ("elleuch/min-min", ""),
        ("dasilva/greedy", ""),
        ("khoo/mrs", ""),
    ];
    for (preset, more) in rules {
        let written = format!("preset = \"{preset}\"\n{more}");
        let folder = folder("grid.toml", "preset = \"cavalieri/stochastic\"\nalpha = 0.5", &written);
        let error = load(folder.path()).expect_err(preset);
        assert!(error.contains("policy.preset: found") && error.contains("gleaner/broker"), "{error}");
    }
    let folder =
        folder("grid.toml", "preset = \"cavalieri/stochastic\"\nalpha = 0.5", "preset = \"bertasi/greedy\"");
    assert!(load(folder.path()).is_ok(), "it sends each job once");
}
