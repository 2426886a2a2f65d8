//! Jobs over sites: worked schedules, and what holds whatever the letters meet with.

use gleaner_policy::parts::sites::{Behind, Copies, GiveUp, Queues, Split};
use gleaner_policy::sites::map::{AtSource, Axes, Root};
use gleaner_policy::{AnyPolicy, Recipe, SiteRule};
use gleaner_sim::sites::{
    Job, Protocol, Site, SitesOutcome, SitesSetup, SitesWorld, Staging, parties, simulate,
};
use gleaner_sim::{Division, Parties, restore, save};
use gleaner_units::{Span, Time};
use std::collections::BTreeSet;

fn site(processors: u32, memory: u64, upload: f64, download: f64) -> Site {
    Site { processors, gflops: 1.0, memory, disk: 1_000_000, upload, download, price: 0.0, quality: 0.0 }
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
        quality: 0.0,
        would_pay: f64::INFINITY,
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
fn the_offered_load_is_that_of_the_jobs_as_they_are() {
    let rows = [(0.0, 3, 10.0, 1, 0, 4), (1.0, 4, 8.0, 1, 0, 6), (2.0, 2, 4.0, 1, 1, 2)];
    // 70 processor seconds of the 16 that there are in 2 s.
    assert_eq!(setup(two_sites(), &rows).offered_load(), Some(70.0 / 16.0));
    assert_eq!(setup(two_sites(), &rows[..1]).offered_load(), None);
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

#[test]
fn meta_schedulers_draw_apart_from_each_other() {
    let mut setup = setup(vec![site(1, 100, 1.0, 1.0); 10], &[(0.0, 1, 10.0, 0, 0, 0); 10]);
    setup.schedulers = 10;
    for (scheduler, job) in setup.jobs.iter_mut().enumerate() {
        job.scheduler = scheduler;
    }
    let rule = SiteRule { queues: Queues::Drawn, split: Split::Whole, ..SiteRule::BACKFILL };
    for seed in 0..100 {
        setup.seed = seed;
        let outcome = simulate(&setup, || policy(rule));
        let sites: BTreeSet<usize> = outcome.jobs.iter().map(|job| job.parts[0].on.index()).collect();
        assert!(sites.len() > 1, "seed {seed}: all ten first jobs went to {sites:?}");
    }
}

/// Ten processors, and jobs that go to two meta-schedulers.
fn handed_to_two(rows: &[(Row, usize)], delay_s: f64) -> SitesSetup {
    let jobs: Vec<Row> = rows.iter().map(|(row, _)| *row).collect();
    let mut setup = setup(vec![site(10, 100, 1.0, 1.0)], &jobs);
    for (job, (_, scheduler)) in setup.jobs.iter_mut().zip(rows) {
        job.scheduler = *scheduler;
    }
    let delay = Time::ZERO.after_seconds(delay_s).since(Time::ZERO);
    setup.schedulers = 2;
    setup.protocol = Protocol { delay, patience: Span::from_nanos(10_000_000_000), ..Protocol::AT_ONCE };
    setup
}

/// From second 10 on three of ten processors are free.
#[test]
fn what_was_sent_to_a_site_counts_once() {
    let rows = [
        ((0.0, 4, 1000.0, 0, 0, 0), 0),
        ((1.0, 1, 100_000.0, 0, 0, 0), 1),
        ((10.0, 2, 1000.0, 0, 0, 0), 0),
        ((20.0, 10, 10.0, 0, 0, 0), 1),
        ((20.0, 3, 100.0, 0, 0, 0), 0),
    ];
    for (delay_s, dispatched) in [(0.0, 20.0), (0.5, 21.0)] {
        let outcome = run(&handed_to_two(&rows, delay_s), SiteRule::MRS);
        let last = outcome.jobs[4].dispatched;
        assert_eq!(last, Time::ZERO.after_seconds(dispatched), "with a delay of {delay_s} s");
        assert_eq!(outcome.refused, 0);
    }
}

/// The site's first news, of the other's job, was on its way when the first job was sent there.
#[test]
fn what_a_site_said_before_it_heard_of_a_job_does_not_contain_it() {
    let rows =
        [((0.0, 1, 100.0, 0, 0, 0), 1), ((0.2, 4, 1000.0, 0, 0, 0), 0), ((1.05, 6, 100.0, 0, 0, 0), 0)];
    let outcome = run(&handed_to_two(&rows, 0.5), SiteRule::MRS);
    assert_eq!((outcome.refused, outcome.unfinished()), (0, 0), "nobody asked for more than there was");
}

/// A letter takes 100 s. Room is held from 100 s on, the job computes from 300 s to 310 s, and the copies on the slow sites hear
/// at 510 s that nobody needs them.
#[test]
fn what_copies_hold_after_the_last_end_is_no_use_until_then() {
    let mut setup = setup(vec![site(1, 100, 1.0, 1.0); 3], &[(0.0, 1, 10.0, 0, 0, 0)]);
    setup.sites[1].gflops = 0.001;
    setup.sites[2].gflops = 0.001;
    let [delay, patience] = [100, 1000].map(|seconds| Span::from_nanos(seconds * 1_000_000_000));
    setup.protocol = Protocol { delay, patience, ..Protocol::AT_ONCE };
    let outcome = run(&setup, SiteRule { copies: 3, patience_s: 1000.0, ..SiteRule::REP });
    assert_eq!(told(&outcome), ["200 0x1 310"]);
    for (what, share, expected) in [
        ("held", outcome.use_share(), 630.0 / 930.0),
        ("computed", outcome.compute_share(), 30.0 / 930.0),
        ("in use", outcome.sites_share(), 630.0 / 930.0),
    ] {
        assert!((share - expected).abs() < 1e-9, "{what}: {share}, not {expected}");
    }
    assert!((outcome.used.held - 1030.0).abs() < 1e-6, "{:?}", outcome.used);
}

#[test]
fn a_job_takes_longer_by_the_part_of_its_pairs_of_processes_that_are_apart() {
    // Processors of the sites, those of the job, and how long it takes where it takes 100 s on one site.
    let rows: [(&[u32], u32, f64); 5] = [
        (&[1], 1, 100.0),
        (&[2], 2, 100.0),
        (&[1, 1], 2, 130.0),
        (&[1, 1, 1], 3, 130.0),
        // Of the twelve pairs of four processes, eight are apart.
        (&[2, 2], 4, 120.0),
    ];
    for (sites, processors, seconds) in rows {
        let sites = sites.iter().map(|processors| site(*processors, 100, 1.0, 1.0)).collect();
        let setup = SitesSetup { crossing: 0.3, ..setup(sites, &[(0.0, processors, 100.0, 0, 0, 0)]) };
        assert_eq!(run(&setup, SiteRule::MRS).jobs[0].ended, Time::ZERO.after_seconds(seconds));
    }
}

#[test]
fn a_site_that_is_dear_or_poor_is_chosen_otherwise_where_the_map_has_these_axes() {
    let mut setup = setup(vec![site(4, 100, 1.0, 1.0); 3], &[(0.0, 4, 10.0, 0, 0, 0)]);
    (setup.sites[0].price, setup.sites[0].quality) = (3.0, 0.99);
    (setup.sites[1].price, setup.sites[1].quality) = (1.0, 0.5);
    (setup.sites[2].price, setup.sites[2].quality) = (1.5, 0.9);
    (setup.jobs[0].quality, setup.jobs[0].would_pay) = (0.95, 2.0);
    let chosen = |quality, cost| {
        let rule = SiteRule { axes: Axes { quality, cost }, ..SiteRule::MRS };
        run(&setup, rule).jobs[0].parts[0].on
    };
    assert_eq!(chosen(false, false).index(), 0, "all are alike, and the first is the lowest");
    assert_eq!(chosen(true, false).index(), 0, "it alone offers what is asked for");
    assert_eq!(chosen(false, true).index(), 1, "it asks for the least");
    // Distances: 1.5; 0.69, of which 0.47 are quality and 0.5 cost; 0.75, of which 0.05 and 0.75.
    assert_eq!(chosen(true, true).index(), 1, "what is poor and cheap is nearer than what is good and dear");
}

#[test]
fn what_lasts_beyond_the_end_of_time_leaves_its_job_unfinished() {
    let mut setup = setup(two_sites(), &[(0.0, 2, 10.0, 0, 0, 0), (0.0, 6, 10.0, 0, 0, u64::MAX)]);
    setup.protocol.loss = 0.1;
    let mut parties = parties(&setup, &mut || policy(SiteRule::MRS));
    assert!((0..10_000).any(|_| !parties.step()), "it ends");
    let outcome = parties.outside().outcome();
    assert_eq!((outcome.unfinished(), outcome.completion_s().to_bits()), (1, 10.0_f64.to_bits()));
}
