//! Rigid jobs on one machine: a log drawn from a seed, with as much work as is asked for.

use crate::processor_seconds;
use gleaner_core::{Needs, TaskClass};
use gleaner_papers::Stream;
use gleaner_policy::{Backfill, PolicySpec, Recipe};
use gleaner_sim::{Setup, Simulation, Tasks};
use gleaner_units::{Ops, TaskClassId, Time, UserId};
use gleaner_workload::swf::{Log, Services};
use gleaner_workload::{LogExperiment, Reading};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Tells this stream from others.
const STREAM: u64 = 0x7269_6769;
/// Jobs run from 2³ to 2¹⁵ s.
const RUN_EXPONENTS: (f64, f64) = (3.0, 15.0);
/// Estimates are up to so many times the run time.
const ESTIMATE_TIMES: f64 = 5.0;
const USERS: f64 = 100.0;

/// `jobs` jobs on a machine of `cores` cores, of which they ask for the share `load`.
pub fn setup(jobs: usize, cores: u32, load: f64) -> Setup {
    let mut stream = Stream::new(1, STREAM);
    let mut classes: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    let (mut task_classes, mut tasks) = (Vec::new(), Tasks::default());
    let mut area = 0.0;
    let mut drawn = Vec::with_capacity(jobs);
    for _ in 0..jobs {
        let exponent = stream.uniform(RUN_EXPONENTS.0, RUN_EXPONENTS.1) as i32;
        let run = (stream.uniform(1.0, 2.0) * f64::from(1 << exponent)).round();
        let most = 1_u32 << (stream.uniform(0.0, f64::from(cores.ilog2() + 1)) as u32);
        let size = if stream.uniform(0.0, 1.0) < 0.75 {
            most
        } else {
            1 + stream.uniform(0.0, f64::from(most)) as u32
        };
        let size = size.min(cores);
        let estimate = (run * stream.uniform(1.0, ESTIMATE_TIMES)).ceil();
        let user = stream.uniform(0.0, USERS) as usize;
        let class = *classes.entry((size, user)).or_insert(task_classes.len());
        if class == task_classes.len() {
            task_classes.push(task_class(size, user));
        }
        area += run * f64::from(size);
        drawn.push((run, estimate, class));
    }
    let between = area / f64::from(cores) / load / jobs as f64;
    for (index, (run, estimate, class)) in drawn.into_iter().enumerate() {
        let arrival = (between * (index as f64 + stream.uniform(0.0, 1.0))).floor();
        tasks.push(Time::from_seconds(arrival).expect("not huge"), ops(run), TaskClassId::new(class));
        tasks.declared[index] = Some(ops(estimate));
    }
    Setup::one_machine(cores, task_classes, tasks)
}

fn ops(seconds: f64) -> Ops {
    Ops::new(seconds).expect("at least 1")
}

fn task_class(cores: u32, user: usize) -> TaskClass {
    TaskClass {
        needs: Needs { cores, ..Needs::default() },
        restarts: true,
        payer: UserId::new(user),
        ..TaskClass::plain(vec![1.0])
    }
}

/// The processor time of a whole run.
pub fn seconds(setup: &Setup, backfill: Backfill) -> f64 {
    processor_seconds(|| Simulation::new(setup, Recipe::in_line(backfill).build()).run())
}

/// The jobs of [`setup`] as a log in the Standard Workload Format, of a user each of a hundred.
pub fn log(setup: &Setup, cores: u32) -> Vec<u8> {
    let mut text = format!("; MaxProcs: {cores}\n");
    let Tasks { arrivals, lengths, declared, classes } = &setup.tasks;
    for (place, arrival) in arrivals.iter().enumerate() {
        let class = &setup.task_classes[classes[place].index()];
        let declared = declared[place].map_or(-1.0, Ops::amount);
        let (size, user, run) = (class.needs.cores, class.payer.index(), lengths[place].amount());
        let submit = arrival.seconds();
        writeln!(
            text,
            "{} {submit} -1 {run} {size} -1 -1 {size} {declared} -1 1 {user} 1 -1 -1 -1 -1 -1",
            place + 1
        )
        .expect("a string takes all");
    }
    text.into_bytes()
}

/// The processor time from the bytes of a log to how its jobs were served, under EASY.
pub fn seconds_from_bytes(log: &[u8]) -> f64 {
    let bytes = log.to_vec();
    processor_seconds(|| {
        let log = Log::parse("bench.swf", bytes).expect("a log of ours");
        let cores = log.processors().expect("its header says so");
        let policy = PolicySpec::preset("queue/easy").expect("a preset");
        let of_log = LogExperiment::of(&log, cores, &policy, Reading::default(), 1);
        let mut run = Simulation::new(&of_log.experiment.setup, of_log.experiment.recipe.build());
        run.run();
        let services = Services::of(&of_log.served(run.history()), cores.into());
        assert_eq!(services.all.jobs, of_log.kept.jobs.len(), "every job ends");
    })
}

/// The processor time of a look at each byte of a log, for the ends of lines: nothing that reads it takes less.
pub fn seconds_of_bytes(log: &[u8]) -> f64 {
    processor_seconds(|| {
        std::hint::black_box(log.split(|byte| *byte == b'\n').count());
    })
}

/// How many bytes more the process had at most during a run than before it, as far as the system tells.
pub fn peak_bytes(setup: &Setup, backfill: Backfill) -> Option<u64> {
    // From now on the peak is what there is.
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = status_bytes("VmRSS:")?;
    seconds(setup, backfill);
    Some(status_bytes("VmHWM:")?.saturating_sub(before))
}

fn status_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
