//! Jobs over sites: worked schedules, and what holds whatever the letters meet with.

use gleaner_policy::parts::sites::{Behind, Copies, GiveUp, Split};
use gleaner_policy::sites::map::{AtSource, Root};
use gleaner_policy::{AnyPolicy, Recipe, SiteRule};
use gleaner_sim::sites::{
    Job, Protocol, Site, SitesOutcome, SitesSetup, SitesWorld, Staging, parties, simulate,
};
use gleaner_sim::{Division, Parties, restore, save};
use gleaner_units::Time;

fn site(processors: u32, memory: u64, upload: f64, download: f64) -> Site {
    Site { processors, gflops: 1.0, memory, disk: 1_000_000, upload, download }
}

/// Submission, processors, run time, memory for each process, source, data.
type Row = (f64, u32, f64, u64, usize, u64);

fn jobs(rows: &[Row]) -> Vec<Job> {
    let job = |&(submitted, processors, run_s, memory, source, data): &Row| Job {
        submitted: Time::from_seconds(submitted).expect("a moment"),
        processors,
        run_s,
        estimate_s: run_s,
        memory,
        disk: 0,
        data,
        source,
        result: 0,
        scheduler: 0,
    };
    rows.iter().map(job).collect()
}

fn setup(sites: Vec<Site>, rows: &[Row]) -> SitesSetup {
    SitesSetup {
        sites,
        jobs: jobs(rows),
        staging: Staging::Share,
        division: Division::Unshared,
        crossing: 0.0,
        schedulers: 1,
        protocol: Protocol::AT_ONCE,
        seed: 1,
    }
}

fn policy(rule: SiteRule) -> AnyPolicy {
    Recipe::over_sites(rule).build()
}

fn run(setup: &SitesSetup, rule: SiteRule) -> SitesOutcome {
    let mut parties = parties(setup, &mut || policy(rule));
    let mut steps = 0;
    while parties.step() {
        steps += 1;
        parties.scheduler(gleaner_units::PartyId::FIRST).check().expect("a whole grid");
        parties.outside().check();
    }
    let outcome = parties.outside().outcome();
    assert_eq!(outcome, simulate(setup, || policy(rule)), "the same again");
    assert_eq!(outcome, run_in_two(setup, rule, steps / 2), "saved in the middle");
    outcome
}

/// The same, saved after so many steps.
fn run_in_two(setup: &SitesSetup, rule: SiteRule, steps: usize) -> SitesOutcome {
    let mut before = parties(setup, &mut || policy(rule));
    (0..steps).for_each(|_| assert!(before.step()));
    let name = Recipe::over_sites(rule).to_string();
    let kept = save(&before, &name);
    let mut after: Parties<'_, _, SitesWorld<'_>> =
        restore(setup, (&name, |_| policy(rule)), &kept).expect("what was saved");
    assert_eq!(save(&after, &name), kept, "nothing is missing");
    after.run();
    after.outside().outcome()
}

/// Job by job: start, parts, end.
fn told(outcome: &SitesOutcome) -> Vec<String> {
    let job = |job: &gleaner_sim::sites::JobOutcome| {
        let parts: Vec<String> =
            job.parts.iter().map(|part| format!("{}x{}", part.on.index(), part.cores)).collect();
        format!("{} {} {}", job.dispatched.seconds(), parts.join("+"), job.ended.seconds())
    };
    outcome.jobs.iter().map(job).collect()
}

const AS_PRINTED: SiteRule = SiteRule {
    reading: gleaner_policy::sites::map::Reading { root: Root::AsPrinted, ..SiteRule::MRS.reading },
    ..SiteRule::MRS
};

#[test]
fn the_contracts_job_of_twelve_processors_ends_at_104() {
    let mut setup = setup(
        vec![site(4, 8, 10.0, 10.0), site(8, 16, 10.0, 10.0), site(2, 2, 5.0, 5.0)],
        &[(0.0, 12, 100.0, 1, 0, 60)],
    );
    setup.sites.iter_mut().for_each(|site| site.disk = 1000);
    setup.jobs[0].disk = 5;
    let outcome = run(&setup, SiteRule::MRS);
    assert_eq!(told(&outcome), ["0 0x4+1x8 104"]);
}

fn two_sites() -> Vec<Site> {
    vec![site(4, 100, 1.0, 2.0), site(4, 100, 2.0, 4.0)]
}

#[test]
fn mrs_as_worked_by_hand() {
    let rows = [(0.0, 3, 10.0, 1, 0, 4), (1.0, 4, 8.0, 1, 0, 6), (2.0, 2, 4.0, 1, 1, 2)];
    let setup = setup(two_sites(), &rows);
    let list = run(&setup, AS_PRINTED);
    assert_eq!(told(&list), ["0 0x3 10", "1 0x1+1x3 13.5", "10 0x2 15"]);
    assert!((list.wait_s() - 2.666_666_667).abs() < 1e-9 && (list.completion_s() - 15.0).abs() < 1e-9);
    assert!((list.use_share() - 0.75).abs() < 1e-9, "{}", list.use_share());
    assert!((list.sites_share() - 0.916_666_666_7).abs() < 1e-9);
    let whole = run(&setup, SiteRule { split: Split::WholeIfItFits, ..AS_PRINTED });
    assert_eq!(told(&whole), ["0 0x3 10", "1 1x4 15", "10 0x2 15"]);
    assert!((whole.use_share() - 0.8).abs() < 1e-9);
    let mut literal = AS_PRINTED;
    literal.reading.at_source = AtSource::Infinite;
    let literal = run(&setup, literal);
    assert_eq!(told(&literal), ["0 1x3 14", "1 0x3+1x1 10.5", "10.5 0x2 15.5"]);
    assert!((literal.use_share() - 0.725_806_451_6).abs() < 1e-9);
}

#[test]
fn backfilling_on_one_site() {
    let rows =
        [(0.0, 3, 10.0, 1, 0, 0), (1.0, 4, 5.0, 1, 0, 0), (2.0, 1, 9.0, 1, 0, 0), (2.5, 1, 7.0, 1, 0, 0)];
    let setup = setup(vec![site(4, 100, 1.0, 1.0)], &rows);
    let told = |behind| told(&run(&setup, SiteRule { behind, ..SiteRule::BACKFILL }));
    assert_eq!(told(Behind::Easy), ["0 0x3 10", "10 0x4 15", "15 0x1 24", "2.5 0x1 9.5"]);
    assert_eq!(told(Behind::Waits), ["0 0x3 10", "10 0x4 15", "15 0x1 24", "15 0x1 22"]);
    assert_eq!(told(Behind::Starts), ["0 0x3 10", "17 0x4 22", "2 0x1 11", "10 0x1 17"]);
}

#[test]
fn the_contracts_backfilling() {
    let told = |third: f64, rest: [Row; 2]| {
        let rows = [(0.0, 6, 100.0, 0, 0, 0), rest[0], (rest[1].0, rest[1].1, third, 0, 0, 0)];
        let outcome = run(&setup(vec![site(10, 100, 1.0, 1.0)], &rows), SiteRule::BACKFILL);
        outcome.jobs.iter().map(|job| job.dispatched.seconds()).collect::<Vec<_>>()
    };
    let wide = [(1.0, 8, 50.0, 0, 0, 0), (2.0, 4, 0.0, 0, 0, 0)];
    assert_eq!(told(98.0, wide), [0.0, 100.0, 2.0]);
    assert_eq!(told(99.0, wide), [0.0, 100.0, 150.0]);
    let narrow = [(1.0, 6, 50.0, 0, 0, 0), (2.0, 4, 0.0, 0, 0, 0)];
    assert_eq!(told(1000.0, narrow), [0.0, 100.0, 2.0]);
}

#[test]
fn the_first_copy_to_end_counts_and_the_others_are_waste() {
    let rows = [(0.0, 4, 10.0, 1, 0, 4), (1.0, 4, 6.0, 1, 1, 4), (2.0, 2, 3.0, 1, 0, 0)];
    let setup = setup(two_sites(), &rows);
    let strict = run(&setup, SiteRule::REP);
    assert_eq!(told(&strict), ["0 0x4 10", "10 1x4 16", "16 0x2 19"]);
    assert!((strict.wait_s() - 7.666_666_667).abs() < 1e-9);
    assert!((strict.use_share() - 0.921_052_631_6).abs() < 1e-9, "{}", strict.use_share());
    // 4 processors for 10 s, 4 for 6 s and 2 for 3 s. Of the last two copies both end at once.
    assert!((strict.wasted - (40.0 + 24.0 + 6.0)).abs() < 1e-6, "{}", strict.wasted);
    let idle = run(&setup, SiteRule { extra: Copies::WhenIdle, ..SiteRule::REP });
    assert_eq!(told(&idle), ["0 0x4 10", "10 0x4 18", "10 1x2 13"]);
    assert!((idle.use_share() - 0.958_333_333_3).abs() < 1e-9);
    let at_start = run(&setup, SiteRule { give_up: GiveUp::AtStart, ..SiteRule::REP });
    assert_eq!(told(&at_start), ["0 0x4 10", "1 1x4 7", "7 1x2 10"]);
    assert_eq!(at_start.wasted.to_bits(), 0);
}
