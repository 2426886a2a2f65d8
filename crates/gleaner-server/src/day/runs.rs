//! The latest runs: what ran where, and when.

use crate::ledger::Ledger;
use crate::limits::RUNS_KEPT;
use gleaner_units::{MachineId, RunId, Time};
use gleaner_wire::JobId;
use gleaner_wire::day::{RunState, RunView};
use gleaner_wire::session::{Obstacle, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Runs {
    /// In order of their ends.
    over: VecDeque<Told>,
    going_on: BTreeMap<RunId, Told>,
    /// Those that had begun on a machine that was lost, and of which nothing was heard since: where that was, and when.
    #[serde(default)]
    silent: BTreeMap<RunId, (MachineId, Time)>,
    /// In order of their ends.
    left_out: VecDeque<LeftOut>,
    /// By machine.
    names: BTreeMap<MachineId, Arc<str>>,
}

/// Runs that are no longer kept, counted together: those that ended within an hour of the first.
#[derive(Debug, Serialize, Deserialize)]
struct LeftOut {
    /// When the first and the last of them ended.
    from_s: f64,
    to_s: f64,
    runs: u64,
}

const HOUR_S: f64 = 3_600.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Told {
    user: Arc<str>,
    job: JobId,
    task: u32,
    run: u32,
    on: MachineId,
    machine: Arc<str>,
    from_s: f64,
    to_s: Option<f64>,
    state: RunState,
}

/// How a run ended, of a job that says "run me again" by that exit code, if by any.
pub(super) fn state(outcome: &Outcome, again: Option<i32>) -> RunState {
    match outcome {
        Outcome::Exited { code: 0 } => RunState::Done,
        Outcome::Exited { code } if Some(*code) == again => RunState::Stopped,
        Outcome::Exited { .. }
        | Outcome::Signalled { .. }
        | Outcome::TimedOut
        | Outcome::OverLimit { .. }
        | Outcome::NotStarted { obstacle: Obstacle::Task | Obstacle::NotThere, .. } => RunState::Failed,
        Outcome::Stopped => RunState::Stopped,
        Outcome::Abandoned { .. } | Outcome::NotStarted { obstacle: Obstacle::Machine, .. } => RunState::Lost,
    }
}

impl Runs {
    pub(super) fn started(&mut self, ledger: &Ledger, at: Time, run: RunId, on: MachineId) {
        let told = self.told(ledger, run, on, at.seconds());
        self.going_on.extend(told.map(|told| (run, told)));
    }

    /// Whether it began, and nobody knows of its end.
    pub(super) fn is_going_on(&self, run: RunId) -> bool {
        self.going_on.contains_key(&run)
    }

    /// A run is over. Whether it ever began.
    pub(super) fn ended(
        &mut self,
        ledger: &Ledger,
        at: Time,
        (run, on): (RunId, MachineId),
        (state, elapsed_s): (RunState, f64),
    ) -> bool {
        let was_silent = self.silent.remove(&run).is_some();
        let going_on = self.going_on.remove(&run);
        let began = was_silent || going_on.is_some() || elapsed_s > 0.0;
        let told = match going_on {
            Some(told) => Some(told),
            // It never ran: nothing to show.
            None if elapsed_s <= 0.0 => None,
            None => self.told(ledger, run, on, at.seconds() - elapsed_s),
        };
        if let Some(told) = told {
            self.keep(Told { to_s: Some(at.seconds()), state, ..told });
        }
        began
    }

    /// An end is told that does not count. Whether it is the first that is heard of the end of a run that began there: **what else a
    /// machine says of runs is its word alone**, and is shown to nobody.
    pub(super) fn refused(
        &mut self,
        ledger: &Ledger,
        at: Time,
        (run, on): (RunId, MachineId),
        end: (RunState, f64),
    ) -> bool {
        let goes_on = self.going_on.get(&run).is_some_and(|told| told.on == on);
        let is_silent = self.silent.get(&run).is_some_and(|(there, _)| *there == on);
        if goes_on || is_silent {
            self.ended(ledger, at, (run, on), end);
        }
        goes_on || is_silent
    }

    /// Whatever ran on a machine has ended, and nothing is heard of it but of what is brought.
    pub(super) fn lost(&mut self, at: Time, on: MachineId, brings: &[RunId]) {
        let is_gone = |(run, told): &(&RunId, &Told)| told.on == on && !brings.contains(run);
        let gone: Vec<RunId> = self.going_on.iter().filter(is_gone).map(|(run, _)| *run).collect();
        for run in gone {
            let told = self.going_on.remove(&run).expect("it was just there");
            if self.silent.len() == RUNS_KEPT {
                self.silent.pop_first();
            }
            self.silent.insert(run, (on, at));
            self.keep(Told { to_s: Some(at.seconds()), state: RunState::Lost, ..told });
        }
    }

    /// What was over before a moment.
    pub(super) fn forget(&mut self, until: Time) {
        let is_past = |told: &Told| told.to_s.is_some_and(|to_s| to_s < until.seconds());
        while self.over.front().is_some_and(is_past) {
            self.over.pop_front();
        }
        self.silent.retain(|_, (_, since)| *since >= until);
        while self.left_out.front().is_some_and(|hour| hour.to_s < until.seconds()) {
            self.left_out.pop_front();
        }
    }

    fn keep(&mut self, told: Told) {
        if self.over.len() == RUNS_KEPT
            && let Some(Told { to_s: Some(to_s), .. }) = self.over.pop_front()
        {
            self.leave_out(to_s);
        }
        self.over.push_back(told);
    }

    fn leave_out(&mut self, to_s: f64) {
        if let Some(hour) = self.left_out.back_mut().filter(|hour| to_s < hour.from_s + HOUR_S) {
            hour.to_s = to_s;
            hour.runs += 1;
        } else {
            self.left_out.push_back(LeftOut { from_s: to_s, to_s, runs: 1 });
        }
    }

    /// Nothing of a task whose job is retired: what comes so late is no news.
    fn told(&mut self, ledger: &Ledger, run: RunId, on: MachineId, from_s: f64) -> Option<Told> {
        let (id, job) = ledger.find_job_of(run.task)?;
        let machine = self.names.entry(on).or_insert_with(|| ledger.agent(on).name.as_str().into());
        Some(Told {
            user: job.user.as_str().into(),
            job: id,
            task: job.number(run.task),
            run: run.number,
            on,
            machine: Arc::clone(machine),
            from_s,
            to_s: None,
            state: RunState::Running,
        })
    }

    /// The latest, and how many were left out.
    pub(super) fn view(&self, user: Option<&str>, limit: usize) -> (Vec<RunView>, u64) {
        let is_shown = |told: &&Told| user.is_none_or(|user| *told.user == *user);
        // What goes on is shown first of all: there are at most as many as the grid has slots.
        let latest = self.going_on.values().chain(self.over.iter().rev()).filter(is_shown);
        let mut runs: Vec<RunView> = latest.clone().take(limit).map(Told::view).collect();
        let hidden = latest.skip(limit).count() as u64;
        runs.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
        // How many runs there are of others is theirs.
        let left_out = if user.is_none() { self.left_out.iter().map(|hour| hour.runs).sum() } else { 0 };
        (runs, hidden + left_out)
    }
}

impl Told {
    fn view(&self) -> RunView {
        RunView {
            job: self.job,
            task: self.task,
            run: self.run,
            machine: self.machine.to_string(),
            from_s: self.from_s,
            to_s: self.to_s,
            state: self.state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_started_failed_unless_its_machine_is_at_fault() {
        for (obstacle, expected) in [
            (Obstacle::Task, RunState::Failed),
            (Obstacle::NotThere, RunState::Failed),
            (Obstacle::Machine, RunState::Lost),
        ] {
            let outcome = Outcome::NotStarted { why: String::new(), obstacle };
            assert_eq!(state(&outcome, None), expected, "{obstacle:?}");
        }
    }

    #[test]
    fn so_many_runs_are_kept_the_latest() {
        let told = |number: u32| Told {
            user: "ada".into(),
            job: JobId(1),
            task: number,
            run: 1,
            on: MachineId::new(0),
            machine: "m".into(),
            from_s: f64::from(number),
            to_s: Some(f64::from(number)),
            state: RunState::Done,
        };
        let mut runs = Runs::default();
        let most = RUNS_KEPT as u32;
        (0..most).for_each(|number| runs.keep(told(number)));
        let seen = |runs: &Runs| {
            let (seen, left_out) = runs.view(None, 2 * RUNS_KEPT);
            (seen.len(), seen[0].task, left_out)
        };
        assert_eq!(seen(&runs), (RUNS_KEPT, 0, 0));
        runs.keep(told(most));
        assert_eq!(seen(&runs), (RUNS_KEPT, 1, 1));
        // A second lies between their ends. What ended in the first hour is no longer of the day, nor what was left out of it.
        (most + 1..most + 7_200).for_each(|number| runs.keep(told(number)));
        assert_eq!(seen(&runs), (RUNS_KEPT, 7_200, 7_200));
        runs.forget(Time::from_nanos(3_600_000_000_000));
        assert_eq!(seen(&runs), (RUNS_KEPT, 7_200, 3_600));
        runs.forget(Time::from_nanos(8_000_000_000_000));
        assert_eq!(seen(&runs), (RUNS_KEPT - 800, 8_000, 0));
    }
}
