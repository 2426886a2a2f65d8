//! Whether any machine ever held more than it has, by what was ordered and what was said, and by nothing else.

use crate::record::{Entry, Record};
use gleaner_core::{Command, Event};
use gleaner_sim::Setup;
use gleaner_units::{MachineId, RunId};
use std::collections::BTreeMap;

/// The first moment at which a machine held more than it has, if there is one. A run is there from when it is ordered
/// there until its end is said.
pub fn overfull(setup: &Setup, record: &Record) -> Option<String> {
    let mut there: BTreeMap<MachineId, BTreeMap<RunId, (u64, u64)>> = BTreeMap::new();
    for (now, entry) in &record.0 {
        match entry {
            Entry::Command(Command::Start { run, on }) => {
                let needs = setup.task_classes[setup.tasks.classes[run.task.index()].index()].needs;
                let runs = there.entry(*on).or_default();
                runs.insert(*run, (u64::from(needs.cores), needs.memory));
                let cores: u64 = runs.values().map(|(cores, _)| cores).sum();
                let memory: u64 = runs.values().map(|(_, memory)| memory).sum();
                let room = setup.machine_classes[setup.machines[on.index()].index()].room;
                let fits = room.slots.is_none_or(|slots| cores <= u64::from(slots))
                    && room.memory.is_none_or(|bytes| memory <= bytes);
                if !fits {
                    return Some(format!("{on}, with {room}, at {now}: {runs:?}"));
                }
            }
            Entry::Event(Event::RunEnded { run, .. }) => {
                for runs in there.values_mut() {
                    runs.remove(run);
                }
            }
            Entry::Command(Command::Stop { .. } | Command::Lending(_))
            | Entry::Event(_)
            | Entry::Decision(_) => {}
        }
    }
    None
}
