//! The CSV files of the contract. Times have nine decimals, which is all there are.

use super::ran::Ran;
use super::summary::{BudgetUse, PeriodUse};
use gleaner_sim::History;
use gleaner_units::{MachineId, Time};
use gleaner_workload::Experiment;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::io::{self, Write};

/// A moment, or nothing if it never came.
pub(super) struct Moment(pub(super) Time);

impl Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Time::NEVER { Ok(()) } else { self.0.fmt(f) }
    }
}

/// A field as CSV has it: quoted where it must be.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

pub(super) fn tasks(out: &mut dyn Write, experiment: &Experiment, history: &History) -> io::Result<()> {
    let names: Vec<_> = experiment.machine_names.iter().map(|name| field(name)).collect();
    writeln!(out, "task,machine,arrived_s,started_s,finished_s,moves")?;
    for (index, task) in history.tasks().iter().enumerate() {
        let name = field(experiment.task_names.id(index));
        let machine = task.machine.map_or("", |machine| &names[machine.index()]);
        let arrived = experiment.setup.tasks.arrivals[index];
        let (started, finished) = (Moment(task.started), Moment(task.finished));
        writeln!(out, "{name},{machine},{arrived},{started},{finished},{}", task.moves)?;
    }
    Ok(())
}

pub(super) fn machines(out: &mut dyn Write, experiment: &Experiment, run: &impl Ran) -> io::Result<()> {
    writeln!(out, "machine,busy_s,tasks")?;
    let finished_on = run.history().finished_on();
    for (index, (name, tasks)) in experiment.machine_names.iter().zip(finished_on).enumerate() {
        let busy = run.busy_seconds(MachineId::new(index));
        writeln!(out, "{},{busy:.9},{tasks}", field(name))?;
    }
    Ok(())
}

/// The times in it are those of the periods' starts.
pub(super) fn spending(out: &mut dyn Write, budget: &BudgetUse) -> io::Result<()> {
    writeln!(out, "period_start_s,spent,left")?;
    for PeriodUse { start_s, spent, left } in &budget.periods {
        writeln!(out, "{start_s:.9},{spent},{left}")?;
    }
    Ok(())
}

pub(super) fn machines_over_time(
    out: &mut dyn Write,
    experiment: &Experiment,
    history: &History,
) -> io::Result<()> {
    let names: Vec<_> = experiment.machine_names.iter().map(|name| field(name)).collect();
    writeln!(out, "time_s,machine,tasks")?;
    for row in history.timeline() {
        writeln!(out, "{},{},{}", row.time, names[row.machine.index()], row.tasks)?;
    }
    Ok(())
}
