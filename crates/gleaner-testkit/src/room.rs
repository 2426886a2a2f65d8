//! Whether any machine ever held more than it has, by what was ordered and what was said, and by nothing else.

use crate::record::{Entry, Record};
use gleaner_core::{Command, Event, Needs};
use gleaner_sim::Setup;
use gleaner_units::{MachineId, RunId};
use std::collections::BTreeMap;

/// The first moment at which a machine held more than it has, if there is one. A run is there from when it is ordered
/// there until its end is said.
pub fn overfull(setup: &Setup, record: &Record) -> Option<String> {
    let mut there: BTreeMap<MachineId, BTreeMap<RunId, [u64; 3]>> = BTreeMap::new();
    let mut behind: BTreeMap<RunId, (RunId, MachineId)> = BTreeMap::new();
    for (now, entry) in &record.0 {
        let ordered: Vec<(RunId, MachineId, u32)> = match entry {
            Entry::Command(Command::Start { run, on }) => vec![(*run, *on, needs(setup, *run).cores)],
            Entry::Command(Command::StartAfter { run, on, after }) => {
                behind.insert(*after, (*run, *on));
                Vec::new()
            }
            Entry::Command(Command::StartWide { run, parts }) => {
                parts.iter().map(|part| (*run, part.on, part.cores)).collect()
            }
            Entry::Event(Event::RunEnded { run, .. }) => {
                for runs in there.values_mut() {
                    runs.remove(run);
                }
                behind.retain(|_, (next, _)| next != run);
                let next = behind.remove(run);
                next.map(|(run, on)| (run, on, needs(setup, run).cores)).into_iter().collect()
            }
            Entry::Command(
                Command::Ask { .. }
                | Command::Survey { .. }
                | Command::Stop { .. }
                | Command::Recheck { .. }
                | Command::Close { .. }
                | Command::Lending(_),
            )
            | Entry::Event(_)
            | Entry::Decision(_) => Vec::new(),
        };
        for (run, on, cores) in ordered {
            let Needs { cores: all, memory, disk } = needs(setup, run);
            let share = |bytes: u64| (bytes as f64 * f64::from(cores) / f64::from(all)).ceil() as u64;
            let runs = there.entry(on).or_default();
            runs.insert(run, [u64::from(cores), share(memory), share(disk)]);
            let taken = |what: usize| runs.values().map(|takes| takes[what]).sum::<u64>();
            let room = setup.machine_classes[setup.machines[on.index()].index()].room;
            let fits = room.slots.is_none_or(|slots| taken(0) <= u64::from(slots))
                && room.memory.is_none_or(|bytes| taken(1) <= bytes)
                && room.disk.is_none_or(|bytes| taken(2) <= bytes);
            if !fits {
                return Some(format!("{on}, with {room}, at {now}: {runs:?}"));
            }
        }
    }
    None
}

fn needs(setup: &Setup, run: RunId) -> Needs {
    setup.task_classes[setup.tasks.classes[run.task.index()].index()].needs
}
