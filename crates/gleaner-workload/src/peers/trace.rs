//! Jobs from a trace of bags of tasks, as OurGrid's simulator reads them.

use super::tables::{Jobs, Workers};
use crate::InputError;
use crate::error::quoted;
use crate::limits::PEER_TASKS_MAX;
use crate::names::one_of;
use crate::ourgrid::trace::Workload;
use crate::section::{Key, Section};
use crate::settings::{SPEED, is_speed};
use gleaner_sim::peers::Job;
use gleaner_units::{Ops, PartyId, TaskClassId, Time};
use std::path::Path;

/// What a user waits for after a job, as the trace has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// The time between two arrivals, less what the earlier job's longest task took.
    Think,
    /// All the time between two arrivals.
    Between,
}

pub(super) fn read(
    base: &Path,
    section: &Section<'_>,
    trace: &Key<'_>,
    workers: &Workers,
) -> Result<Jobs, InputError> {
    let peers = &workers.peers;
    let file = "the name of a trace, as \"trace.txt.gz\"";
    let workload = Workload::load(&base.join(trace.text(file)?))?;
    let gaps = [("think", Gap::Think), ("between", Gap::Between)];
    let gap = section.find("gap").map_or(Ok(Gap::Think), |key| key.choice(&gaps))?;
    let speed = section.find("ops_per_s").map_or(Ok(1.0), |key| key.number(SPEED, is_speed))?;
    if workload.runs.len() > PEER_TASKS_MAX {
        let found = format!("{} tasks", workload.runs.len());
        return Err(trace.error_found(found, format!("at most {PEER_TASKS_MAX}")));
    }
    let peer_of = |name: &String| {
        let known = || one_of(name, peers.names.iter().map(String::as_str));
        peers.find(name).ok_or_else(|| {
            trace.error_found(
                format!("jobs of the peer {}, which has no line of workers", quoted(name)),
                known(),
            )
        })
    };
    let of: Vec<usize> = workload.peers.iter().map(peer_of).collect::<Result<_, InputError>>()?;
    let (names, rows, lengths) = jobs(&workload, &of, gap, speed);
    let longest = lengths.iter().map(|length| length.amount()).fold(0.0, f64::max);
    if Time::ZERO.after_seconds(longest / workers.fastest()) == Time::NEVER {
        let found = format!("a task of {longest} operations");
        return Err(trace.error_found(found, "tasks that some worker can do in less than 584 years"));
    }
    let users = workload.users.iter().zip(0..);
    let brokers = users.map(|(user, broker)| ((of[user.peer], user.name.clone()), broker)).collect();
    Ok(Jobs { names, rows, lengths, brokers })
}

/// The jobs' names, themselves, and their tasks' lengths; the trace's peers are those of `of`, in its order.
pub fn jobs(workload: &Workload, of: &[usize], gap: Gap, speed: f64) -> (Vec<String>, Vec<Job>, Vec<Ops>) {
    // A user's later jobs come when the one before ended: the first one's moment is the earliest of all.
    let mut order: Vec<(Time, usize, usize)> = Vec::new();
    for (user, whose) in workload.users.iter().enumerate() {
        let Some(first) = whose.jobs.first() else { continue };
        order.extend((0..whose.jobs.len()).map(|at| (workload.jobs[*first].submit, user, at)));
    }
    order.sort_unstable();
    let (mut names, mut rows, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for (submitted, user, at) in order {
        let whose = &workload.users[user];
        let job = &workload.jobs[whose.jobs[at]];
        let waits = match gap {
            Gap::Think => job.think,
            Gap::Between => job.gap,
        };
        let before = rows.len().wrapping_sub(1) as u32;
        names.push(job.name.clone());
        lengths.extend(
            // A task that ran for no time at all took something.
            workload.runs_of(job).iter().filter_map(|run| Ops::new(run.seconds().max(1e-9) * speed)),
        );
        rows.push(Job {
            submitted,
            peer: PartyId::new(of[whose.peer]),
            broker: user as u32,
            class: TaskClassId::FIRST,
            tasks: u32::try_from(job.tasks).expect("no more than a trace may have"),
            after: (at > 0).then_some((before, waits)),
        });
    }
    (names, rows, lengths)
}
