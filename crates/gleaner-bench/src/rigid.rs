//! Rigid jobs on one machine: a log drawn from a seed, with as much work as is asked for.

use crate::processor_seconds;
use gleaner_core::{Needs, Tags, TaskClass};
use gleaner_papers::Stream;
use gleaner_policy::{Backfill, Recipe};
use gleaner_sim::{Setup, Simulation, Tasks};
use gleaner_units::{Ops, TaskClassId, Time, UserId};
use std::collections::BTreeMap;

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
        composition: vec![1.0],
        needs: Needs { cores, ..Needs::default() },
        priority: 0,
        restarts: true,
        payer: UserId::new(user),
        requires: Tags::new(),
        ad: None,
    }
}

/// The processor time of a whole run.
pub fn seconds(setup: &Setup, backfill: Backfill) -> f64 {
    processor_seconds(|| Simulation::new(setup, Recipe::in_line(backfill).build()).run())
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
