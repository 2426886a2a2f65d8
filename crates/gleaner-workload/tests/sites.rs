//! Scenarios of jobs over sites: what is refused and where, and that what is drawn is what was asked for.

use gleaner_workload::sites::SitesScenario;

const WHOLE: &str = include_str!("../../../examples/sites/scenario.toml");

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
        ("[run]", "[protocol]\nloss = 1\n[run]", "protocol.loss", "without 1"),
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
fn a_seed_draws_the_same_and_the_load_is_what_was_asked_for() {
    let scenario = parse(WHOLE).expect("the example is whole");
    assert_eq!(scenario.setup(3), scenario.setup(3));
    assert_ne!(scenario.setup(3), scenario.setup(4));
    for seed in 1..=5 {
        let setup = scenario.setup(seed);
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
