//! Brokers, elements and an index that is out of date: what comes of small setups, by hand, of elements with queues of their
//! own, and of setups at random.

mod at_random;
mod queues;

use crate::basics::{at, seconds};
use gleaner_core::{Ad, Tags, TaskClass};
use gleaner_policy::{Belief, Choose, Rank, Recipe};
use gleaner_sim::Division;
use gleaner_sim::brokering::{
    Brokerage, BrokeringError, BrokeringSetup, Element, File, IndexNode, Job, JobClass, LaterCopy, Link,
    Model, RankSource, Storage, first_come,
};
use gleaner_units::{FileId, MachineId, Ops, SiteId, TaskClassId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// An element for each speed, each at a site of its own, joined by links of so many bytes a second to one place.
fn setup(speeds: &[f64], bytes_per_s: f64, jobs: &[(f64, f64)]) -> BrokeringSetup {
    let element = |(site, speed): (usize, &f64)| Element {
        site: SiteId::new(site),
        cpus: 1,
        ops_per_s: *speed,
        provides: Tags::new(),
        ad: None,
        index: 0,
    };
    let job = |&(arrival, length): &(f64, f64)| Job {
        arrival: at(arrival),
        length: Ops::new(length).expect("a length"),
        estimate: Ops::new(length).expect("a length"),
        class: TaskClassId::FIRST,
        broker: 0,
    };
    BrokeringSetup {
        elements: speeds.iter().enumerate().map(element).collect(),
        storage: vec![Storage { bytes_per_s: f64::INFINITY, quota: None }; speeds.len()],
        files: Vec::new(),
        copies: Vec::new(),
        links: (0..speeds.len()).map(|site| Link { between: (site, speeds.len()), bytes_per_s }).collect(),
        index: vec![IndexNode { ttl: seconds(1e6), above: None }],
        classes: vec![class("")],
        jobs: jobs.iter().map(job).collect(),
        brokers: 1,
        queue: first_come(),
        model: Model::default(),
    }
}

fn class(ad: &str) -> JobClass {
    let task = TaskClass {
        ad: (!ad.is_empty()).then(|| Ad::parse(ad).expect("an ad")),
        ..TaskClass::plain(vec![1.0])
    };
    JobClass { task, inputs: Vec::new() }
}

fn current() -> Recipe {
    Recipe::brokering(Rank::default(), Choose::Best, Belief::AsPublished)
}

/// Where each job went, and how long it was there, from its arrival at the broker to its end.
fn lives(setup: &BrokeringSetup, rule: Recipe) -> Vec<(u32, f64)> {
    let mut run = Brokerage::new(setup, rule, 1).expect("a setup that makes sense");
    while run.step() {
        for broker in 0..setup.brokers {
            run.broker(broker).check().expect("a whole grid");
        }
    }
    let life = |(at, job): (usize, &gleaner_sim::brokering::JobRecord)| {
        let finished = job.finished.expect("a job that ended");
        (job.element.expect("an element"), finished.since(setup.jobs[at].arrival).seconds())
    };
    run.records().iter().enumerate().map(life).collect()
}

/// What becomes of two jobs, of which the second asks for something that is published.
fn ends(mut setup: BrokeringSetup, asks: &str) -> [Option<f64>; 2] {
    setup.classes.push(class(asks));
    setup.jobs[1].class = TaskClassId::new(1);
    let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
    while run.step() {}
    [0, 1].map(|job| run.records()[job].finished.map(|at| at.since(Time::ZERO).seconds()))
}

#[test]
fn a_run_is_not_over_while_a_job_is_on_its_way() {
    let mut setup = setup(&[1.0], 1.0, &[(0.0, 150.0), (0.0, 10.0)]);
    setup.model.delay = seconds(100.0);
    setup.index[0].ttl = seconds(1.0);
    assert_eq!(ends(setup, "[Requirements = TARGET.WaitingJobs >= 5]"), [Some(250.0), None]);
}

#[test]
fn a_run_is_not_over_before_the_slowest_part_of_the_index_was_heard() {
    for (low, high, end) in
        [(1.0, 100.0, 210.0), (100.0, 100.0, 210.0), (30.0, 50.0, 160.0), (100.0, 1.0, 210.0)]
    {
        let mut setup = setup(&[1.0], 1.0, &[(0.0, 150.0), (120.0, 10.0)]);
        let part = |ttl: f64, above| IndexNode { ttl: seconds(ttl), above };
        setup.index = vec![part(low, Some(1)), part(high, None)];
        assert_eq!(
            ends(setup, "[Requirements = TARGET.FreeCpus >= 1]"),
            [Some(150.0), Some(end)],
            "{low} {high}"
        );
    }
}

const BURST: [(f64, f64); 4] = [(1.0, 1e4), (2.0, 1e4), (3.0, 1e4), (4.0, 1e4)];

#[test]
fn a_burst_goes_to_one_element_where_the_index_is_old_and_is_spread_where_elements_are_asked() {
    let mut setup = setup(&[200.0, 100.0], 1.0, &BURST);
    assert_eq!(lives(&setup, current()), [(0, 50.0), (0, 99.0), (0, 148.0), (0, 197.0)]);
    setup.model.rank_source = RankSource::Element;
    // Waits 0 and 0; 49 and 0; 48 and 99; 97 and 98.
    assert_eq!(lives(&setup, current()), [(0, 50.0), (1, 100.0), (0, 98.0), (0, 147.0)]);
}

#[test]
fn what_a_broker_sent_itself_stands_for_news() {
    let setup = setup(&[200.0, 100.0], 1.0, &BURST);
    let own = Recipe::brokering(Rank::default(), Choose::Best, Belief::OwnDispatches { brokers: 1 });
    // 0 and 0; 50 and 0; 50 and 100; 100 and 100.
    assert_eq!(lives(&setup, own), [(0, 50.0), (1, 100.0), (0, 98.0), (0, 147.0)]);
}

/// The lower part takes in both elements at 60, when nothing is there yet, and the upper one takes that in at 100.
#[test]
fn what_was_sent_at_the_moment_of_a_state_is_not_in_it() {
    let own = Recipe::brokering(Rank::default(), Choose::Best, Belief::OwnDispatches { brokers: 1 });
    for first in [60.0, 60.001] {
        let mut setup = setup(&[100.0, 100.0], 1.0, &[(first, 1e5), (101.0, 1e5)]);
        let part = |ttl: f64, above| IndexNode { ttl: seconds(ttl), above };
        setup.index = vec![part(60.0, Some(1)), part(100.0, None)];
        assert_eq!(lives(&setup, own), [(0, 1000.0), (1, 1000.0)], "the first is sent at {first}");
    }
}

/// A letter takes 10 s: the job stands in the queue from 55 on, the state of 60 contains it, and its broker hears so at 65.
#[test]
fn a_state_may_be_known_before_it_is_heard_that_a_run_arrived() {
    let mut setup = setup(&[100.0], 1.0, &[(45.0, 1e5), (200.0, 1e5)]);
    setup.index[0].ttl = seconds(60.0);
    setup.model.delay = seconds(10.0);
    let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
    let mut sent = BTreeMap::new();
    while run.step() {
        let belief = run.broker(0).grid().belief(MachineId::FIRST);
        sent.insert(run.now(), belief.map_or(0, |belief| belief.sent_since().len()));
    }
    let sent_at = |seconds| sent.range(..=at(seconds)).next_back().map(|(_, runs)| *runs);
    assert_eq!([50.0, 60.0, 65.0, 120.0].map(sent_at), [Some(1), Some(1), Some(0), Some(0)]);
}

#[test]
fn brokers_draw_apart_from_each_other() {
    let mut setup = setup(&[1.0; 10], 1.0, &[(0.0, 100.0); 10]);
    setup.brokers = 10;
    for (broker, job) in setup.jobs.iter_mut().enumerate() {
        job.broker = broker;
    }
    let drawn = Recipe::brokering(Rank::default(), Choose::Proportional { power: 1 }, Belief::AsPublished);
    for seed in 0..100 {
        let mut run = Brokerage::new(&setup, drawn, seed).expect("a setup that makes sense");
        run.run();
        assert_eq!(run.seed(), seed);
        let elements: BTreeSet<Option<u32>> = run.records().iter().map(|job| job.element).collect();
        assert!(elements.len() > 1, "seed {seed}: all ten first jobs went to {elements:?}");
    }
}

/// Two fetches of 1000 bytes from site 1 to site 0, at 10 bytes a second, the second 50 s after the first.
fn fetches() -> BrokeringSetup {
    let mut setup = setup(&[100.0, 100.0], 10.0, &[(0.0, 1.0), (50.0, 1.0)]);
    setup.files = vec![File { bytes: 1000, at: vec![SiteId::new(1)] }];
    setup.classes[0].inputs = vec![FileId::FIRST];
    setup
}

#[test]
fn transfers_share_links_or_do_not() {
    let first = Recipe::brokering(Rank::default(), Choose::First, Belief::AsPublished);
    let mut setup = fetches();
    assert_eq!(lives(&setup, first), [(0, 150.01), (0, 150.01)]);
    setup.model.links = Division::Unshared;
    assert_eq!(lives(&setup, first), [(0, 100.01), (0, 100.01)]);
    // By rank, a job goes where its file is.
    let files = Rank { alpha: 0.75, beta: 0.25, ..Rank::default() };
    let deterministic = Recipe::brokering(files, Choose::Best, Belief::AsPublished);
    assert_eq!(lives(&setup, deterministic), [(1, 0.01), (1, 0.01)]);
}

#[test]
fn a_processor_is_held_while_a_job_reads() {
    let mut setup = fetches();
    setup.storage[1].bytes_per_s = 100.0;
    let most = Rank { candidates: gleaner_policy::Candidates::MostFiles, ..Rank::default() };
    let rule = Recipe::brokering(most, Choose::Best, Belief::AsPublished);
    setup.jobs[1].arrival = Time::ZERO;
    assert_eq!(lives(&setup, rule), [(1, 10.01), (1, 20.02)]);
    setup.model.reading_holds_cpu = false;
    assert_eq!(lives(&setup, rule), [(1, 0.01), (1, 0.02)]);
}

#[test]
fn a_replica_stays_within_the_quota_and_the_oldest_goes_first() {
    let mut setup =
        setup(&[100.0, 100.0], 10.0, &[(0.0, 1.0), (200.0, 1.0), (400.0, 1.0), (600.0, 1.0), (800.0, 1.0)]);
    setup.files = vec![File { bytes: 1000, at: vec![SiteId::new(1)] }; 3];
    setup.classes = (0..3).map(|file| JobClass { inputs: vec![FileId::new(file)], ..class("") }).collect();
    for (job, class) in setup.jobs.iter_mut().zip([0, 1, 2, 1, 0]) {
        job.class = TaskClassId::new(class);
    }
    setup.model.keeps_replicas = true;
    setup.storage[0].quota = Some(2500);
    let first = Recipe::brokering(Rank::default(), Choose::First, Belief::AsPublished);
    // The third takes the place of the first.
    assert_eq!(lives(&setup, first), [100.01, 100.01, 100.01, 0.01, 100.01].map(|life| (0, life)));
    setup.storage[0].quota = Some(500);
    assert_eq!(
        lives(&setup, first),
        [(0, 100.01); 5],
        "nothing fits, and every job has its file all the same"
    );
}

#[test]
fn a_site_without_a_quota_holds_more_bytes_than_can_be_counted() {
    let mut setup = setup(&[100.0, 100.0], 10.0, &[(0.0, 1.0), (200.0, 1.0)]);
    let huge = File { bytes: 12_000_000_000_000_000_000, at: vec![SiteId::FIRST] };
    setup.files = vec![huge.clone(), huge, File { bytes: 1000, at: vec![SiteId::new(1)] }];
    setup.classes[0].inputs = vec![FileId::new(2)];
    setup.model.keeps_replicas = true;
    let first = Recipe::brokering(Rank::default(), Choose::First, Belief::AsPublished);
    assert_eq!(lives(&setup, first), [(0, 100.01), (0, 0.01)], "it is brought, and stays");
    setup.copies = vec![LaterCopy { at: Time::ZERO, file: FileId::new(2), site: SiteId::FIRST }];
    assert_eq!(lives(&setup, first), [(0, 0.01); 2], "it comes by itself");
}

#[test]
fn groups_and_the_place_for_the_output_are_requirements_like_any_other() {
    let mut setup = setup(&[300.0, 200.0, 100.0], 1.0, &BURST);
    setup.elements[1].provides = ["cms".to_owned()].into();
    setup.elements[2].ad = Some(Ad::parse("[ CloseSE = \"napoli\" ]").expect("an ad"));
    setup.classes[0].task.requires = ["cms".to_owned()].into();
    setup.classes.push(class("[ Requirements = TARGET.CloseSE == \"napoli\" ]"));
    setup.jobs[2].class = TaskClassId::new(1);
    let elements: Vec<u32> = lives(&setup, current()).into_iter().map(|(element, _)| element).collect();
    assert_eq!(elements, [1, 1, 2, 1]);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    type Spoil = fn(&mut BrokeringSetup);
    let rows: [(Spoil, &str); 8] = [
        (|setup| setup.files[0].at.push(SiteId::new(7)), "a copy at site 7, which is not there; there are 2"),
        (|setup| setup.files[0].at.clear(), "no site holds file 0, which jobs of class 0 read"),
        (|setup| setup.index[0].above = Some(0), "part 0 of the index is above itself"),
        (|setup| setup.index.push(setup.index[0]), "2 parts of the index have nothing above them"),
        (|setup| setup.storage[1].quota = Some(10), "stores 1000 bytes, and has room for 10"),
        (|setup| setup.elements.clear(), "no element; expected at least one"),
        (|setup| setup.links.clear(), ""),
        (
            |setup| {
                setup.classes[0] = JobClass {
                    inputs: vec![FileId::FIRST],
                    ..class("[ Requirements = TARGET.Memory >= 8 && TARGET.Os == \"plan9\" ]")
                };
            },
            "no element can run jobs of class 0",
        ),
    ];
    for (spoil, expected) in rows {
        let mut setup = fetches();
        spoil(&mut setup);
        match Brokerage::new(&setup, current(), 1) {
            Ok(_) => assert_eq!(expected, "", "the other site still has its file"),
            Err(error) => assert!(!expected.is_empty() && error.to_string().contains(expected), "{error}"),
        }
    }
    let mut setup = fetches();
    setup.classes[0].task.ad = Some(Ad::parse("[ Requirements = TARGET.Memory >= 8 ]").expect("an ad"));
    let Err(BrokeringError::Stuck { why, .. }) = Brokerage::new(&setup, current(), 1) else {
        panic!("it can run")
    };
    assert!(why.contains("Memory >= 8") && why.contains('2'), "which clause excludes how many: {why}");
}

#[test]
fn a_user_s_own_rank_sees_what_elements_published_and_has_to_be_a_number() {
    let went = |rank: &str| {
        let mut setup = setup(&[200.0, 100.0, 50.0], 1.0, &BURST);
        setup.model.rank_source = RankSource::Element;
        for (element, memory) in setup.elements.iter_mut().zip([4, 8, 16]) {
            element.ad = Some(Ad::parse(&format!("[ Memory = {memory} ]")).expect("an ad"));
        }
        setup.elements[0].ad = None;
        setup.classes[0] = class(&format!("[ Rank = {rank} ]"));
        let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
        run.run();
        run.records().iter().map(|job| job.element).collect::<Vec<Option<u32>>>()
    };
    assert_eq!(went("TARGET.Memory"), [Some(2); 4], "it is undefined at the first, which is no candidate");
    assert_eq!(went("-TARGET.EstimatedTraversalTime"), [Some(0), Some(1), Some(2), Some(0)]);
    assert_eq!(went("TARGET.FreeCpus * 100 + TARGET.Memory"), [Some(2), Some(1), Some(2), Some(2)]);
    for rank in ["TARGET.Nothing", "\"fast\"", "real(\"NaN\")", "1 / 0", "error"] {
        assert_eq!(went(rank), [None; 4], "{rank} is no number: the jobs wait, and nothing is lost");
    }
}

#[test]
fn what_keeps_a_job_from_every_element_is_said() {
    let held = |ad: &str| {
        let mut setup = setup(&[200.0, 100.0, 50.0], 1.0, &BURST);
        setup.elements[1].ad =
            Some(Ad::parse("[ Memory = 8; Requirements = TARGET.Owner == \"ada\" ]").expect("an ad"));
        setup.classes[0] = class(ad);
        let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
        assert!(run.held().is_empty(), "nothing came yet");
        run.run();
        run.held().into_iter().map(|held| format!("{}: {}", held.jobs, held.why)).collect::<Vec<_>>()
    };
    assert!(held("[ Rank = 1 ]").is_empty());
    assert_eq!(
        held("[ Rank = \"fast\" ]"),
        ["4: 2 of 3 elements have no place in its own rank, which is no number there"],
        "the third does not take it at all"
    );
    assert_eq!(
        held("[ Requirements = TARGET.FreeCpus > 100 ]"),
        ["4: 2 of 3 elements publish values that fail its requirements"]
    );
}

#[test]
fn requirements_see_what_elements_published_machine_by_machine() {
    let went = |requirements: &str| {
        let mut setup = setup(&[200.0, 100.0, 50.0], 1.0, &BURST);
        setup.model.rank_source = RankSource::Element;
        setup.index[0].ttl = seconds(1.0);
        for (element, memory) in setup.elements.iter_mut().zip([4, 8, 16]) {
            element.ad = Some(Ad::parse(&format!("[ Memory = {memory} ]")).expect("an ad"));
        }
        setup.classes[0] = class(&format!("[ Requirements = {requirements} ]"));
        let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
        let classes = run.broker(0).grid().classes().machine_classes().len();
        run.run();
        run.broker(0).check().expect("what is kept is what is derived afresh");
        assert_eq!(
            run.broker(0).grid().classes().machine_classes().len(),
            classes,
            "no class for each value"
        );
        run.records().iter().map(|job| job.element).collect::<Vec<Option<u32>>>()
    };
    assert_eq!(went("TARGET.Memory >= 8 && TARGET.FreeCpus > 0"), [Some(1), Some(2), Some(1), Some(1)]);
    assert_eq!(went("TARGET.EstimatedTraversalTime < 1000 && TARGET.WaitingJobs < 1"), went("true"));
    assert_eq!(went("TARGET.FreeCpus > 1"), [None; 4], "they wait, and nothing is lost");
    assert_eq!(went("TARGET.FreeDisk > \"much\""), [None; 4]);
}

#[test]
fn a_copy_that_comes_later_wakes_the_jobs_that_wait_for_it() {
    let mut setup = setup(&[100.0, 100.0], 10.0, &[(0.0, 100.0), (50.0, 100.0)]);
    setup.links.clear();
    setup.files = vec![File { bytes: 1000, at: Vec::new() }];
    setup.classes[0].inputs = vec![FileId::FIRST];
    let lost = Brokerage::new(&setup, current(), 1).err();
    assert!(matches!(lost, Some(BrokeringError::NobodyHolds { file: 0, class: 0 })), "{lost:?}");
    let copy = |seconds: f64, site: usize| LaterCopy {
        at: at(seconds),
        file: FileId::FIRST,
        site: SiteId::new(site),
    };
    setup.copies = vec![copy(70.0, 1), copy(70.0, 1), copy(90.0, 0)];
    let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
    run.run();
    let went: Vec<(Option<u32>, Option<Time>)> =
        run.records().iter().map(|job| (job.element, job.finished)).collect();
    assert_eq!(went, [(Some(1), Some(at(71.0))), (Some(1), Some(at(72.0)))], "at its site, in turn");
    setup.storage[1].quota = Some(999);
    let full = Brokerage::new(&setup, current(), 1).err();
    assert!(matches!(full, Some(BrokeringError::Full { site: 1, stored: 1000, .. })), "{full:?}");
}
