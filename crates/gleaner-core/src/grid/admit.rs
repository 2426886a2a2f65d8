use super::{Grid, TaskState};
use crate::{Change, Command, Decision, Refusal};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};

impl Grid {
    /// Turns a wish into an order if nothing stands in its way; otherwise nothing changes. Costs O(log tasks).
    pub(crate) fn admit(
        &mut self,
        now: Time,
        decision: Decision,
        changes: &mut Vec<Change>,
    ) -> Result<Command, Refusal> {
        match decision {
            Decision::Start { task, on } => self.start(task, on, changes),
            Decision::Relocate { task, to } => self.relocate(task, to, changes),
            Decision::Wake { at } if at <= now => Err(Refusal::Passed(at)),
            Decision::Wake { at } => {
                self.wake_at = Some(at);
                changes.push(Change::WakeChanged);
                Ok(Command::WakeAt { at })
            }
        }
    }

    fn start(&mut self, id: TaskId, on: MachineId, changes: &mut Vec<Change>) -> Result<Command, Refusal> {
        let class = self.task(id).class;
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        self.check_can_run(id, on)?;
        self.waiting.remove(class, id);
        self.placed[class.index()] += 1;
        self.placed_total += 1;
        let attempt = self.send(id, class, on, changes);
        Ok(Command::Start { task: id, attempt, on })
    }

    fn relocate(&mut self, id: TaskId, to: MachineId, changes: &mut Vec<Change>) -> Result<Command, Refusal> {
        let class = self.task(id).class;
        let TaskState::Running(from) = self.task(id).state else {
            return Err(Refusal::NotRunning(id));
        };
        if from == to {
            return Err(Refusal::AlreadyThere(id, to));
        }
        self.check_can_run(id, to)?;
        let needs = self.needs(class);
        self.machines[from.index()].remove(class, id, needs);
        changes.push(Change::ResidentsChanged(from));
        let attempt = self.send(id, class, to, changes);
        if let Some(occasion) = self.occasions.front_mut() {
            occasion.moves += 1;
        }
        self.vacated(from);
        Ok(Command::Move { task: id, attempt, from, to })
    }

    /// A new attempt begins on its way; replies about the one before no longer count.
    fn send(&mut self, id: TaskId, class: TaskClassId, on: MachineId, changes: &mut Vec<Change>) -> u32 {
        let task = self.tasks.get_mut(id);
        task.send(on);
        let attempt = task.attempt;
        let needs = self.needs(class);
        self.machines[on.index()].add(class, id, needs);
        changes.push(Change::ResidentsChanged(on));
        attempt
    }
}
