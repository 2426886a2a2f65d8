//! Elements whose own schedulers go by rules for queues, and jobs of several processors.

use super::{class, current, lives, setup};
use crate::basics::seconds;
use gleaner_policy::Recipe;
use gleaner_sim::brokering::{Brokerage, BrokeringError, BrokeringSetup, RankSource};
use gleaner_testkit::random::Choices;
use gleaner_units::{Ops, TaskClassId};

fn queue(name: &str) -> Recipe {
    gleaner_policy::PolicySpec::preset(name).expect("a preset").recipe()
}

/// One element of ten processors, and jobs of (arrival, processors, seconds, estimate).
fn rigid(rows: &[(f64, u32, f64, f64)], by: &str) -> BrokeringSetup {
    let times: Vec<(f64, f64)> = rows.iter().map(|row| (row.0, row.2)).collect();
    let mut setup = setup(&[1.0], 1.0, &times);
    setup.elements[0].cpus = 10;
    setup.queue = queue(by);
    setup.classes = rows
        .iter()
        .map(|row| {
            let mut class = class("");
            class.task.needs.cores = row.1;
            class
        })
        .collect();
    for (at, (job, row)) in setup.jobs.iter_mut().zip(rows).enumerate() {
        (job.class, job.estimate) = (TaskClassId::new(at), Ops::new(row.3).expect("a length"));
    }
    setup
}

fn starts(setup: &BrokeringSetup) -> Vec<f64> {
    let mut run = Brokerage::new(setup, current(), 1).expect("a setup that makes sense");
    run.run();
    run.records().iter().map(|record| record.started.expect("it began").seconds()).collect()
}

#[test]
fn a_sites_own_scheduler_backfills() {
    let jobs = |last: f64| [(0.0, 6, 100.0, 100.0), (1.0, 8, 50.0, 50.0), (2.0, 4, last, last)];
    assert_eq!(starts(&rigid(&jobs(98.0), "queue/easy")), [0.0, 100.0, 2.0]);
    assert_eq!(starts(&rigid(&jobs(99.0), "queue/easy")), [0.0, 100.0, 150.0]);
    assert_eq!(starts(&rigid(&jobs(98.0), "queue/fcfs")), [0.0, 100.0, 150.0]);
    assert_eq!(starts(&rigid(&jobs(98.0), "queue/conservative")), [0.0, 100.0, 2.0]);
    let narrow = [(0.0, 6, 100.0, 100.0), (1.0, 6, 50.0, 50.0), (2.0, 4, 1000.0, 1000.0)];
    assert_eq!(starts(&rigid(&narrow, "queue/easy")), [0.0, 100.0, 2.0]);
    // It goes by what users say, and kills nobody who said too little.
    let said = [(0.0, 6, 100.0, 100.0), (1.0, 8, 50.0, 50.0), (2.0, 4, 500.0, 98.0)];
    assert_eq!(starts(&rigid(&said, "queue/easy")), [0.0, 502.0, 2.0]);
}

#[test]
fn jobs_of_one_processor_run_as_they_come_under_either_rule_for_that() {
    let choices = &mut Choices::seeded(5);
    for _ in 0..30 {
        let rows: Vec<(f64, f64)> =
            (0..40).map(|job| (f64::from(job * 3), 1.0 + choices.below(90) as f64)).collect();
        let mut setup = setup(&[1.0, 2.0, 1.0], 1.0, &rows);
        setup.index[0].ttl = seconds(7.0);
        setup.elements.iter_mut().for_each(|element| element.cpus = 2);
        let as_it_was = lives(&setup, current());
        setup.queue = queue("queue/fcfs");
        assert_eq!(lives(&setup, current()), as_it_was);
    }
}

#[test]
fn an_element_says_when_a_newcomer_would_begin_by_what_it_believes() {
    // Two elements, the first of which has one job that takes all of it for 100 s, said to take 300 s.
    let mut setup = setup(&[1.0, 1.0], 1.0, &[(0.0, 100.0), (1.0, 10.0)]);
    setup.model.rank_source = RankSource::Element;
    setup.queue = queue("queue/easy");
    setup.elements.iter_mut().for_each(|element| element.cpus = 4);
    let mut wide = class("");
    wide.task.needs.cores = 4;
    setup.classes.push(wide);
    setup.jobs[0].class = TaskClassId::new(1);
    setup.jobs[0].estimate = Ops::new(300.0).expect("a length");
    assert_eq!(lives(&setup, current()), [(0, 100.0), (1, 10.0)], "it goes where nothing is");
}

#[test]
fn a_job_goes_only_where_it_fits_and_queues_have_rules_for_that() {
    let mut setup = setup(&[9.0, 1.0], 1.0, &[(0.0, 5.0)]);
    setup.elements[1].cpus = 4;
    setup.classes[0].task.needs.cores = 3;
    let refused = |setup: &BrokeringSetup| Brokerage::new(setup, current(), 1).err();
    assert_eq!(refused(&setup), Some(BrokeringError::Wide { class: 0, cores: 3 }));
    setup.queue = Recipe::by(gleaner_policy::Score::Greedy);
    assert!(matches!(refused(&setup), Some(BrokeringError::Queue(_))));
    setup.queue = queue("queue/fcfs");
    assert_eq!(lives(&setup, current()), [(1, 5.0)]);
    setup.classes[0].task.needs.cores = 5;
    let stuck = refused(&setup).map(|error| error.to_string());
    assert!(stuck.as_ref().is_some_and(|why| why.contains("5 processors at a time")), "{stuck:?}");
}

#[test]
fn a_saved_run_with_queues_of_their_own_goes_on_as_it_would_have() {
    let rows: Vec<(f64, u32, f64, f64)> = (0..60)
        .map(|job| (f64::from(job) * 5.0, 1 + job as u32 % 7, 20.0 + f64::from(job * 7 % 50), 90.0))
        .collect();
    let setup = rigid(&rows, "queue/conservative");
    let whole = starts(&setup);
    let mut run = Brokerage::new(&setup, current(), 1).expect("a setup that makes sense");
    (0..150).for_each(|_| assert!(run.step()));
    let mut again = Brokerage::restore(&setup, current(), &run.save()).expect("what was just saved");
    again.run();
    let started: Vec<f64> =
        again.records().iter().map(|record| record.started.expect("it began").seconds()).collect();
    assert_eq!(started, whole);
}
