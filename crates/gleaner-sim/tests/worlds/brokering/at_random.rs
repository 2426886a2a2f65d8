//! Runs drawn from a seed: saved and restored, and among letters that make no sense.

use super::{class, setup};
use crate::basics::seconds;
use gleaner_policy::{Belief, Choose, Rank, Recipe};
use gleaner_sim::RestoreError;
use gleaner_sim::brokering::{
    Brokerage, BrokeringSetup, File, IndexNode, JobClass, Model, RankSource, Storage, Word,
};
use gleaner_testkit::random::Choices;
use gleaner_units::{FileId, PartyId, SiteId, Span, TaskClassId};
use std::collections::BTreeMap;

/// Sites, files, brokers and jobs drawn from a seed.
fn random(seed: u64) -> (BrokeringSetup, Recipe) {
    let draw = &mut Choices::seeded(seed ^ 0x6d61_726b);
    let speeds: Vec<f64> = (0..2 + draw.below(5)).map(|_| [1.0, 2.0, 3.0][draw.below(3)]).collect();
    let mut at = 0.0;
    let jobs: Vec<(f64, f64)> = (0..40)
        .map(|_| {
            at += 4.0 * draw.unit();
            (at, 5.0 + 20.0 * draw.unit())
        })
        .collect();
    let mut setup = setup(&speeds, 20.0, &jobs);
    setup.brokers = 1 + draw.below(3);
    setup.files = (0..3)
        .map(|_| File { bytes: 50 + draw.below(300) as u64, at: vec![SiteId::new(draw.below(speeds.len()))] })
        .collect();
    setup.classes[0].inputs = vec![FileId::new(0), FileId::new(2)];
    setup.classes.push(JobClass { inputs: vec![FileId::new(1)], ..class("") });
    for job in &mut setup.jobs {
        job.class = TaskClassId::new(draw.below(2));
        job.broker = draw.below(setup.brokers);
    }
    setup.elements.iter_mut().for_each(|element| element.cpus = 1 + draw.below(3) as u32);
    setup.index = vec![
        IndexNode { ttl: seconds(1.0 + 20.0 * draw.unit()), above: Some(1) },
        IndexNode { ttl: seconds(1.0 + 20.0 * draw.unit()), above: None },
    ];
    setup.storage.iter_mut().for_each(|storage| {
        *storage = Storage { bytes_per_s: 100.0, quota: Some(1500) };
    });
    setup.model = Model {
        rank_source: if draw.one_in(3) { RankSource::Element } else { RankSource::Index },
        keeps_replicas: draw.one_in(2),
        delay: if draw.one_in(2) { Span::ZERO } else { seconds(0.3) },
        ..Model::default()
    };
    let choose = [Choose::Proportional { power: 1 }, Choose::TwoChoices, Choose::BestByLot][draw.below(3)];
    let belief = [Belief::AsPublished, Belief::OwnDispatches { brokers: 2 }][draw.below(2)];
    (setup, Recipe::brokering(Rank { alpha: 0.75, beta: 0.25, ..Rank::default() }, choose, belief))
}

#[test]
fn a_run_that_was_saved_goes_on_as_if_it_had_not_been() {
    for seed in 1..=40 {
        let (setup, rule) = random(seed);
        let mut unbroken = Brokerage::new(&setup, rule, seed).expect("a setup that makes sense");
        unbroken.run();
        assert_eq!(unbroken.finished(), setup.jobs.len(), "seed {seed}: every job ends");
        assert_eq!(unbroken.refused(), [], "seed {seed}");
        let mut run = Brokerage::new(&setup, rule, seed).expect("a setup that makes sense");
        let draw = &mut Choices::seeded(seed);
        loop {
            let goes_on = (0..=draw.below(60)).all(|_| run.step());
            run = Brokerage::restore(&setup, rule, &run.save()).expect("what was saved");
            for broker in 0..setup.brokers {
                run.broker(broker).check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            }
            if !goes_on {
                break;
            }
        }
        assert_eq!(run.records(), unbroken.records(), "seed {seed}");
        assert_eq!(run.seed(), seed, "and so it draws the same");
        let other = Recipe { belief: Belief::OwnDispatches { brokers: 3 }, ..rule };
        let other = Brokerage::restore(&setup, other, &run.save()).err();
        assert!(matches!(other, Some(RestoreError::OtherPolicy { .. })), "{other:?}");
        let mut torn = run.save();
        torn.pop();
        assert_eq!(Brokerage::restore(&setup, rule, &torn).err(), Some(RestoreError::Damaged));
        assert_eq!(Brokerage::restore(&setup, rule, b"x").err(), Some(RestoreError::NoCheckpoint));
    }
}

/// Whatever anybody writes, each job runs once and to its end; what makes no sense is refused, and nothing else is.
#[test]
fn letters_that_make_no_sense_change_nothing() {
    let mut why = BTreeMap::<String, usize>::new();
    for seed in 1..=100 {
        let (setup, rule) = random(seed);
        let mut run = Brokerage::new(&setup, rule, seed).expect("a setup that makes sense");
        let draw = &mut Choices::seeded(seed);
        let (parties, jobs) = (setup.brokers + setup.elements.len(), setup.jobs.len());
        let mut steps = 0;
        while run.step() {
            steps += 1;
            assert!(steps < 1_000_000, "seed {seed}: a run without an end");
            for _ in 0..if steps < 1_000 { draw.below(3) } else { 0 } {
                let word = [Word::Job, Word::Arrived, Word::Started, Word::Ended][draw.below(4)];
                let job = draw.below(jobs);
                match run.records()[job].element {
                    // A job that is between the two, told of out of turn.
                    Some(element) if !draw.one_in(4) => {
                        let [from, to] = [setup.brokers + element as usize, setup.jobs[job].broker];
                        let (from, to) = if draw.one_in(4) { (to, from) } else { (from, to) };
                        run.send(PartyId::new(from), PartyId::new(to), word(job as u32));
                    }
                    _ => {
                        let [from, to] = [(); 2].map(|()| PartyId::new(draw.below(parties)));
                        let job = if draw.one_in(2) { job as u32 } else { u32::MAX - draw.below(2) as u32 };
                        run.send(from, to, word(job));
                    }
                }
            }
            for broker in 0..setup.brokers {
                run.broker(broker).check().unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            }
        }
        assert_eq!(run.finished(), jobs, "seed {seed}: every job ends");
        for refused in run.refused() {
            *why.entry(refused.why.to_string()).or_default() += 1;
        }
    }
    assert!(why.len() == 3 && why.values().all(|count| *count > 100), "{why:#?}");
}
