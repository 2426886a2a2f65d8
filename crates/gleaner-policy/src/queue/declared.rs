//! What counts where a belief has failed: until when runs end at the latest, and how long those that wait are at most, by what
//! users declared.

use super::ends::{End, Ends};
use super::holds::{ends_after, slots, stopped_by};
use super::line::Line;
use crate::forecast::Forecast;
use gleaner_core::{Grid, MachineClass};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    /// Who waits, by that length.
    pub(crate) line: Line,
    runs: BTreeMap<RunId, (MachineId, End)>,
    /// By machine.
    ends: Vec<Ends>,
}

impl Declared {
    /// Of a whole grid. Costs O(machines + runs + waiting tasks).
    pub(crate) fn of(grid: &Grid, forecast: &Forecast) -> Self {
        let mut declared = Self::default();
        for class in 0..grid.classes().task_classes().len() {
            declared.line.add_class(grid, TaskClassId::new(class));
        }
        for index in 0..grid.machines().len() {
            let machine = grid.machine(MachineId::new(index));
            declared.join(grid.classes().machine_class(machine.class()));
            let stopping = machine.stopping().iter().copied();
            machine.runs().chain(stopping).for_each(|run| declared.take(grid, forecast, run));
        }
        grid.waiting_tasks().for_each(|(_, id)| declared.add(grid, forecast, id));
        declared
    }

    pub(crate) fn join(&mut self, class: &MachineClass) {
        self.ends.push(Ends::of(slots(class.room)));
    }

    pub(crate) fn add(&mut self, grid: &Grid, forecast: &Forecast, id: TaskId) {
        self.line.add(grid, id, forecast.at_most(grid, id));
    }

    pub(crate) fn remove(&mut self, grid: &Grid, forecast: &Forecast, id: TaskId) {
        self.line.remove(grid, id, || forecast.at_most(grid, id));
    }

    /// A run takes its room.
    pub(crate) fn take(&mut self, grid: &Grid, forecast: &Forecast, id: RunId) {
        let Some(run) = grid.find_run(id) else { return };
        let class = grid.task(id.task).class();
        let seconds = forecast.at_most(grid, id.task).amount() * grid.seconds_per_op(class, run.on());
        let at = ends_after(run.since(), stopped_by(grid, class, seconds));
        let end = End { at, run: id, cores: grid.classes().demand(class).needs.cores };
        self.runs.insert(id, (run.on(), end));
        self.ends[run.on().index()].take(end);
    }

    /// A run takes its room no more.
    pub(crate) fn free(&mut self, id: RunId) {
        if let Some((on, end)) = self.runs.remove(&id) {
            self.ends[on.index()].give(end);
        }
    }

    /// When cores are free again there.
    pub(crate) fn ends(&self, on: MachineId) -> &Ends {
        &self.ends[on.index()]
    }

    /// When a run ends at the latest; never, if nothing says so or that is over.
    pub(crate) fn end_of(&self, now: Time, run: RunId) -> Time {
        self.runs.get(&run).map(|(_, end)| end.at).filter(|at| *at > now).unwrap_or(Time::NEVER)
    }

    /// What differs from what the grid says.
    pub(crate) fn check(&self, fresh: &Self) -> Result<(), String> {
        self.line.check(&fresh.line)?;
        if (&self.runs, &self.ends) == (&fresh.runs, &fresh.ends) {
            Ok(())
        } else {
            Err("when runs end at the latest is not what was declared".to_owned())
        }
    }
}
