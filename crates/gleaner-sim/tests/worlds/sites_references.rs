//! The rules for sites equal their naive reference, decision for decision, on random sites; a fault put in on purpose is
//! noticed; and several meta-schedulers book nothing twice, whatever their letters meet with.

use crate::basics::seeds;
use gleaner_core::{Needs, Policy, SiteState};
use gleaner_policy::parts::sites::{Behind, Copies, Has, Nearness, News, Split};
use gleaner_policy::sites::map::{AtSource, Axes, Bandwidth, Direction, Reading, Root, Weights};
use gleaner_policy::{AnyPolicy, Recipe, SiteRule};
use gleaner_sim::sites::{Job, Protocol, Site, SitesSetup, SitesWorld, Slip, Staging, Word, parties};
use gleaner_sim::{Division, Parties, restore, save};
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive_sites::NaiveSites;
use gleaner_testkit::random::Choices;
use gleaner_testkit::record::{Record, first_difference};
use gleaner_units::{PartyId, RunId, Span, TaskId, Time};
use std::collections::BTreeMap;

/// As many as are usual.
const SEEDS: u64 = 60;

/// A few sites, some of them alike, and jobs that come close upon each other.
fn setup(seed: u64, schedulers: usize, protocol: Protocol) -> SitesSetup {
    let choices = &mut Choices::seeded(seed);
    let sites: Vec<Site> = (0..2 + choices.below(5))
        .map(|_| {
            let processors = 1 + choices.below(8) as u32;
            Site {
                processors,
                gflops: [0.5, 1.0, 1.0, 2.0][choices.below(4)],
                memory: u64::from(processors) * [10, 10, 30][choices.below(3)],
                disk: 1000,
                upload: [1.0, 2.0, 2.0, 5.0][choices.below(4)],
                download: [1.0, 2.0, 2.0, 5.0][choices.below(4)],
                price: [0.0, 1.0, 3.0][choices.below(3)],
                quality: [0.0, 0.5, 0.9][choices.below(3)],
            }
        })
        .collect();
    let all: u32 = sites.iter().map(|site| site.processors).sum();
    let mut at = 0.0;
    let jobs = (0..25)
        .map(|job| {
            at += [0.0, 0.0, 1.0, 7.5][choices.below(4)];
            let run_s = [5.0, 5.0, 20.0, 60.0][choices.below(4)];
            Job {
                submitted: Time::from_seconds(at).expect("a moment"),
                processors: (1 + choices.below(all as usize) as u32).min(1 + choices.below(12) as u32),
                run_s,
                estimate_s: run_s * [1.0, 1.0, 3.0][choices.below(3)],
                memory: [0, 1, 7, 10][choices.below(4)],
                disk: choices.below(3) as u64,
                data: [0, 0, 10, 100][choices.below(4)],
                source: choices.below(sites.len()),
                result: [0, 5][choices.below(2)],
                scheduler: job % schedulers,
                quality: [0.0, 0.6, 0.95][choices.below(3)],
                would_pay: [1.0, 2.0, f64::INFINITY][choices.below(3)],
            }
        })
        .collect();
    SitesSetup {
        sites,
        jobs,
        staging: [Staging::Share, Staging::Whole][choices.below(2)],
        division: [Division::Fair, Division::Unshared][choices.below(2)],
        crossing: 0.3,
        schedulers,
        protocol,
        seed,
    }
}

fn rule(seed: u64) -> SiteRule {
    let choices = &mut Choices::seeded(seed ^ 0x517e5);
    SiteRule {
        nearness: [Nearness::Map, Nearness::Map, Nearness::MostFree, Nearness::Listed][choices.below(4)],
        behind: [Behind::Starts, Behind::Waits, Behind::Easy, Behind::Easy][choices.below(4)],
        split: [Split::Nearest, Split::Nearest, Split::WholeIfItFits][choices.below(3)],
        copies: 1 + choices.below(3) as u32,
        extra: [Copies::Strict, Copies::WhenIdle][choices.below(2)],
        apart: choices.one_in(2),
        reading: Reading {
            root: [Root::Whole, Root::AsPrinted][choices.below(2)],
            at_source: [AtSource::Nothing, AtSource::Infinite][choices.below(2)],
            direction: [Direction::Obtaining, Direction::Sending][choices.below(2)],
            bandwidth: [Bandwidth::Idle, Bandwidth::Left][choices.below(2)],
        },
        weights: Weights::EVEN,
        axes: Axes { quality: choices.one_in(2), cost: choices.one_in(2) },
        has: [Has::Free, Has::Total][choices.below(2)],
        news: [News::Published, News::Broadcast][choices.below(2)],
        again_s: [3.0, 60.0][choices.below(2)],
        ..SiteRule::MRS
    }
}

fn record<P: Policy>(
    setup: &SitesSetup,
    mut policy: impl FnMut() -> P,
    is_checked: bool,
) -> Result<Record, String> {
    let mut record = Record::default();
    let mut parties = parties(setup, &mut policy).observed_by(&mut record);
    let mut steps = 0;
    while parties.step() {
        steps += 1;
        assert!(steps < 200_000, "it does not end");
        parties.outside().check();
        if is_checked {
            parties.scheduler(PartyId::FIRST).check()?;
        }
    }
    assert_eq!(parties.outside().outcome().unfinished(), 0, "every job ends");
    drop(parties);
    Ok(record)
}

#[test]
fn rules_for_sites_equal_their_reference() {
    for seed in seeds(SEEDS) {
        let (setup, rule) = (setup(seed, 1, Protocol::AT_ONCE), rule(seed));
        let fast = record(&setup, || Recipe::over_sites(rule).build(), true);
        let fast = fast.unwrap_or_else(|broken| panic!("seed {seed}, {rule}: {broken}"));
        let naive = record(&setup, || NaiveSites(rule), false).expect("nothing to check");
        if let Some(difference) = first_difference(&fast, &naive) {
            panic!("seed {seed}, {rule}: {difference}");
        }
    }
}

#[test]
fn a_policy_that_misses_changes_is_noticed() {
    let asking = SiteRule { news: News::Broadcast, ..SiteRule::MRS };
    let rules = [SiteRule::MRS, SiteRule::BACKFILL, SiteRule::REP, asking];
    for rule in rules {
        let differs = |seed: u64| {
            let setup = setup(seed, 1, Protocol::AT_ONCE);
            let mutant = || Mutant::new(Recipe::over_sites(rule).build(), Fault::Deaf(7), seed);
            let mut mutated = Record::default();
            let mut one = parties(&setup, &mut { mutant }).observed_by(&mut mutated);
            // A policy that is deaf may leave jobs waiting for ever.
            (0..20_000).take_while(|_| one.step()).for_each(drop);
            drop(one);
            let naive = record(&setup, || NaiveSites(rule), false).expect("nothing to check");
            first_difference(&mutated, &naive).is_some()
        };
        assert!((1..=60).any(differs), "{rule} with a fault went unnoticed");
    }
}

#[test]
fn rules_that_are_ours_let_every_job_end() {
    for seed in seeds(SEEDS) {
        let setup = setup(seed, 1, Protocol::AT_ONCE);
        let informed = SiteRule { nearness: Nearness::Data, staging: true, ..SiteRule::BACKFILL };
        for rule in [SiteRule::SITES, informed] {
            let ran = record(&setup, || Recipe::over_sites(rule).build(), true);
            ran.unwrap_or_else(|broken| panic!("seed {seed}, {rule}: {broken}"));
        }
    }
}

#[test]
fn several_meta_schedulers_book_nothing_twice_whatever_letters_meet_with() {
    let (mut refused, mut lost, mut known) = (0, 0, 0);
    for seed in seeds(SEEDS) {
        let asking = SiteRule { news: News::Broadcast, ..SiteRule::MRS };
        for rule in [SiteRule::MRS, SiteRule::BACKFILL, asking] {
            let protocol = Protocol {
                delay: Span::from_nanos(300_000_000),
                loss: [0.0, 0.1, 0.3][(seed % 3) as usize],
                patience: Span::from_nanos(2_000_000_000),
                publishes: rule.news == News::Published,
            };
            let setup = setup(seed, 3, protocol);
            let mut parties = parties(&setup, &mut || Recipe::over_sites(rule).build());
            let mut kept = None;
            let mut steps = 0;
            while parties.step() {
                // At each site, no more is held than there is.
                parties.outside().check();
                steps += 1;
                assert!(steps < 2_000_000, "seed {seed}: it does not end");
                if steps == 200 {
                    kept = Some(save(&parties, "mrs"));
                }
            }
            let outcome = parties.outside().outcome();
            let mut resumed: Parties<'_, AnyPolicy, SitesWorld<'_>> = restore(
                &setup,
                ("mrs", |_| Recipe::over_sites(rule).build()),
                &kept.expect("more than 200 steps"),
            )
            .expect("what was saved");
            resumed.run();
            assert_eq!(
                save(&resumed, "mrs"),
                save(&parties, "mrs"),
                "seed {seed}: it goes on to the same end"
            );
            assert_eq!(outcome.unfinished(), 0, "seed {seed}: every job ends");
            assert_eq!(parties.outside().refused(), [], "seed {seed}");
            for (job, of) in outcome.jobs.iter().zip(&setup.jobs) {
                let cores: u32 = job.parts.iter().map(|part| part.cores).sum();
                assert_eq!(cores, of.processors, "seed {seed}: all of a job, or nothing");
            }
            refused += outcome.refused;
            known += outcome.requirements.1;
            lost += parties.mail().lost();
        }
    }
    assert!(refused > 0 && lost > 0, "{refused} refused, {lost} lost: nothing stood in anybody's way");
    assert!(known > 0, "no site knew a job that it was asked for again");
}

/// A letter of any content: numbers that are in use, are not yet, or never are.
fn forged(choices: &mut Choices, (setup, written): (&SitesSetup, u64)) -> Slip {
    let strange = choices.one_in(6);
    let mut number = |below: usize| match choices.below(8) {
        0 if strange => usize::try_from(u32::MAX).expect("a number") - choices.below(2),
        1 if strange => below + choices.below(2),
        _ => choices.below(below.max(1)),
    };
    let letter = number(usize::try_from(written).expect("few letters")) as u64;
    let jobs = setup.jobs.len() / setup.schedulers;
    let run = RunId { task: TaskId::new(number(jobs)), number: number(4) as u32 };
    let site = setup.sites[number(setup.sites.len()) % setup.sites.len()];
    let job = setup.jobs[number(setup.jobs.len()) % setup.jobs.len()];
    let needs = Needs {
        cores: number(job.processors as usize + 1) as u32,
        memory: job.memory * number(job.processors as usize + 1) as u64,
        disk: [job.disk, u64::MAX][number(2) % 2],
    };
    let state = SiteState {
        cores_free: number(site.processors as usize + 1) as u32,
        memory_free: number(site.memory as usize) as u64,
        disk_free: [site.disk, u64::MAX][number(2) % 2],
        waiting: [0, 0, u32::MAX][number(3) % 3],
        traversal_s: [0.0, 0.0, f64::NAN, -1.0][number(4) % 4],
    };
    let at = [Time::ZERO, Time::NEVER, Time::from_nanos(number(1_000) as u64 * 1_000_000_000)][number(3) % 3];
    let tasks = (0..number(3).min(5)).map(|_| TaskId::new(number(jobs))).collect();
    let word = match choices.below(14) {
        0 | 1 => Word::Reserve(run, needs),
        2 => Word::Granted(run, at),
        3 => Word::Refused(run),
        4 => Word::Dispatch(run),
        5 => Word::Release(run),
        6 => Word::Released(run),
        7 => Word::Ended(run),
        8 => Word::State(state, at),
        9 => Word::Survey(run.number, tasks),
        10 => Word::Answer(run.number, state, at),
        11 => Word::Forget(run.task),
        _ => return Slip::Heard(letter),
    };
    Slip::Word(letter, word)
}

/// Whatever anybody writes, each job runs once and to its end; what makes no sense is refused, and nothing else is.
#[test]
fn letters_that_make_no_sense_change_nothing() {
    let mut why = BTreeMap::<String, usize>::new();
    for seed in 1..=100 {
        let news = [News::Published, News::Broadcast][(seed % 2) as usize];
        let rule = SiteRule { news, ..SiteRule::MRS };
        let protocol = Protocol {
            delay: Span::from_nanos(300_000_000),
            loss: [0.0, 0.2][(seed / 2 % 2) as usize],
            patience: Span::from_nanos(2_000_000_000),
            publishes: news == News::Published,
        };
        let setup = setup(seed, 3, protocol);
        let choices = &mut Choices::seeded(seed ^ 0x0006_6f72_6765);
        let mut parties = parties(&setup, &mut || Recipe::over_sites(rule).build());
        let mut steps = 0;
        while parties.step() {
            steps += 1;
            assert!(steps < 2_000_000, "seed {seed}: a run without an end");
            parties.outside().check();
            for _ in 0..if steps < 1_000 { choices.below(3) } else { 0 } {
                let party = choices.below(setup.schedulers);
                let site = setup.schedulers + choices.below(setup.sites.len());
                let (from, to) = match choices.below(8) {
                    0 => (party, choices.below(setup.schedulers)),
                    1 => (site, setup.schedulers + choices.below(setup.sites.len())),
                    2..=4 => (party, site),
                    _ => (site, party),
                };
                let written = parties.mail().sent();
                parties.send(PartyId::new(from), PartyId::new(to), forged(choices, (&setup, written)));
            }
        }
        for party in (0..setup.schedulers).map(PartyId::new) {
            parties.scheduler(party).check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        }
        let outcome = parties.outside().outcome();
        assert_eq!(outcome.unfinished(), 0, "seed {seed}: every job ends");
        for (job, of) in outcome.jobs.iter().zip(&setup.jobs) {
            let cores: u32 = job.parts.iter().map(|part| part.cores).sum();
            assert_eq!(cores, of.processors, "seed {seed}: all of a job, or nothing");
        }
        for refused in parties.outside().refused() {
            *why.entry(refused.why.to_string()).or_default() += 1;
        }
    }
    assert!(why.len() == 12 && why.values().all(|count| *count > 20), "{why:#?}");
}
