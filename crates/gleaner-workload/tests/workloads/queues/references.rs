use super::{policy, run};
use crate::shared;
use gleaner_testkit::naive_queue::{Belief, Job, Machine, Order, Rule, starts};
use gleaner_workload::Reading;
use gleaner_workload::swf::{KeptJob, Log};

/// The logs, with the processors of their machines.
const LOGS: [(&str, u32); 6] = [
    ("KTH-SP2-filtered.swf.gz", 100),
    ("LLNL-Atlas-2006-2.1-cln.swf.gz", 9_216),
    ("NASA-iPSC-1993-3.1-cln.swf", 128),
    ("alea-hpc2n-subset.swf", 240),
    ("alea-jaros1.swf", 30),
    ("lublin_256.swf", 256),
];

/// The reference for conservative backfilling looks at everything for everybody: so many jobs are enough of it.
const CONSERVATIVE_JOBS: usize = 600;

fn job(job: &KeptJob) -> Job {
    let second = 1_000_000_000;
    let whole = |nanos: u64| {
        assert_eq!(nanos % second, 0, "the reference counts in seconds");
        nanos / second
    };
    Job {
        submit: whole(job.submit.nanos()),
        cores: job.processors,
        run: whole(job.run.nanos()),
        estimate: whole(job.estimate.nanos()),
        user: job.user.map_or(0, |user| user as usize + 1),
    }
}

/// Costs minutes for all rules and logs, and so each test takes one rule.
fn check(preset: &str, keys: &[(&str, &str)], rule: Rule, belief: Belief, jobs_most: usize) {
    for (name, cores) in LOGS {
        let Some(path) = shared(&format!("swf/{name}")) else { return };
        let whole = Log::load(path).expect("a log");
        let lines: Vec<&[u8]> =
            (0..whole.jobs().len().min(jobs_most)).map(|place| whole.line(place)).collect();
        let log = Log::parse(name, lines.join(&b'\n')).expect("a part of a log");
        let (kept, served) = run(&log, cores, &policy(preset, keys), Reading::default());
        let jobs: Vec<Job> = kept.iter().map(job).collect();
        let reference = starts(&jobs, &[Machine { cores, speed: 1 }], rule, belief);
        let differs =
            served.iter().zip(&reference).position(|(served, slow)| served.start.seconds() != slow.0);
        if let Some(at) = differs {
            panic!(
                "{name}, {rule:?}, {belief:?}: job {at} {:?} starts at {}, by the reference at {}",
                jobs[at], served[at].start, reference[at].0
            );
        }
    }
}

#[test]
fn fcfs() {
    check("queue/fcfs", &[], Rule::Fcfs, Belief::Estimate, usize::MAX);
}

#[test]
fn easy() {
    check("queue/easy", &[], Rule::Easy(Order::Arrival), Belief::Estimate, usize::MAX);
}

#[test]
fn easy_the_shortest_first() {
    let keys = [("fill", "shortest")];
    check("queue/easy", &keys, Rule::Easy(Order::Shortest), Belief::Estimate, usize::MAX);
}

#[test]
fn easy_the_smallest_area_first() {
    let keys = [("fill", "smallest-area")];
    check("queue/easy", &keys, Rule::Easy(Order::Area), Belief::Estimate, usize::MAX);
}

#[test]
fn easy_by_the_last_two() {
    let keys = [("fill", "shortest"), ("lengths", "last-two")];
    check("queue/easy", &keys, Rule::Easy(Order::Shortest), Belief::LastTwoThenEstimate, usize::MAX);
}

#[test]
fn easy_by_the_last_two_keeps_its_promise() {
    let keys = [("fill", "shortest"), ("lengths", "last-two"), ("correction", "firm")];
    check("queue/easy", &keys, Rule::Easy(Order::Shortest), Belief::LastTwo, usize::MAX);
}

#[test]
fn conservative() {
    check("queue/conservative", &[], Rule::Conservative, Belief::Estimate, CONSERVATIVE_JOBS);
}
