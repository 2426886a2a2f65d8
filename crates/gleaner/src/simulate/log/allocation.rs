//! Which processors each job of a run had: the simulator counts them, and a Gantt chart names them.

use gleaner_sim::History;
use gleaner_units::Time;
use gleaner_workload::LogExperiment;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Ranges of processors, each with the last, which is in it.
pub(super) type Processors = Vec<(u32, u32)>;

/// What a job does at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Ends,
    Passes,
    Stays,
}

/// The lowest that are free, for each job as it starts; by job. None for those that did not start.
pub(super) fn of(experiment: &LogExperiment, history: &History, cores: u32) -> Vec<Processors> {
    let jobs = &experiment.kept.jobs;
    let started = history.tasks().iter().enumerate().filter(|(_, task)| task.started != Time::NEVER);
    // At each instant: what ends, then what takes no time, each alone, since it may have come before whatever stays; then that.
    let mut moments: Vec<(Time, Turn, usize)> = started
        .flat_map(|(job, task)| {
            let turns =
                if task.finished > task.started { [Turn::Stays, Turn::Ends] } else { [Turn::Passes; 2] };
            [(task.started, turns[0], job), (task.finished, turns[1], job)]
        })
        .collect();
    moments.sort_unstable();
    let mut free = BTreeMap::from([(0, cores - 1)]);
    let mut given: Vec<Processors> = vec![Vec::new(); jobs.len()];
    let mut is_there = vec![false; jobs.len()];
    for (.., job) in moments {
        if std::mem::replace(&mut is_there[job], true) {
            given[job].iter().for_each(|&range| give_back(&mut free, range));
        } else {
            given[job] = take(&mut free, jobs[job].processors);
        }
    }
    given
}

fn take(free: &mut BTreeMap<u32, u32>, mut wanted: u32) -> Processors {
    let mut taken = Vec::new();
    while wanted > 0
        && let Some((first, last)) = free.pop_first()
    {
        let end = last.min(first + (wanted - 1));
        taken.push((first, end));
        wanted -= end - first + 1;
        if end < last {
            free.insert(end + 1, last);
        }
    }
    taken
}

fn give_back(free: &mut BTreeMap<u32, u32>, (mut first, mut last): (u32, u32)) {
    if let Some((&before, &end)) = free.range(..first).next_back()
        && end + 1 == first
    {
        first = before;
    }
    if let Some(end) = free.remove(&(last + 1)) {
        last = end;
    }
    free.insert(first, last);
}

/// As Batsim writes them: `0-3 7`.
pub(super) fn text(processors: &Processors) -> String {
    let mut text = String::new();
    for &(first, last) in processors {
        let blank = if text.is_empty() { "" } else { " " };
        if first == last { write!(text, "{blank}{first}") } else { write!(text, "{blank}{first}-{last}") }
            .expect("a string takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_are_taken_and_neighbours_are_one_range_again() {
        let mut free = BTreeMap::from([(0, 9)]);
        let [a, b, c] = [3, 2, 4].map(|wanted| take(&mut free, wanted));
        assert_eq!([&a, &b, &c].map(text), ["0-2", "3-4", "5-8"]);
        a.iter().chain(&c).for_each(|&range| give_back(&mut free, range));
        assert_eq!(free, BTreeMap::from([(0, 2), (5, 9)]));
        assert_eq!(text(&take(&mut free, 5)), "0-2 5-6");
        give_back(&mut free, (3, 4));
        give_back(&mut free, (0, 2));
        give_back(&mut free, (5, 6));
        assert_eq!(free, BTreeMap::from([(0, 9)]));
    }
}
