use super::progress::Resident;
use super::{Grid, TaskState};
use crate::{Availability, Change, Command, Decision, Queue, Refusal};
use gleaner_units::{MachineId, TaskId, Time};

impl Grid {
    /// Turns a wish into an order if nothing stands in its way; otherwise nothing changes. Costs O(log tasks).
    pub(crate) fn admit(
        &mut self,
        now: Time,
        decision: Decision,
        changes: &mut Vec<Change>,
    ) -> Result<Command, Refusal> {
        match decision {
            Decision::Start { task, on } => self.start(now, task, on, changes),
            Decision::Relocate { task, to } => self.relocate(now, task, to, changes),
            Decision::Collect => self.collect(now, changes),
            Decision::Plan { task, on } => self.plan(now, task, on, changes),
            Decision::Wake { at } if at <= now => Err(Refusal::Passed(at)),
            Decision::Wake { at } => {
                self.wake_at = Some(at);
                changes.push(Change::WakeChanged);
                Ok(Command::WakeAt { at })
            }
        }
    }

    /// Costs O(planned tasks).
    fn collect(&mut self, now: Time, changes: &mut Vec<Change>) -> Result<Command, Refusal> {
        if self.plans.collected_at() == Some(now) {
            return Err(Refusal::AlreadyCollected(now));
        }
        for task in self.plans.collect(now) {
            self.give_back(now, task);
            changes.push(Change::Unplanned(task));
        }
        Ok(Command::Collect)
    }

    fn plan(
        &mut self,
        now: Time,
        id: TaskId,
        on: Queue,
        changes: &mut Vec<Change>,
    ) -> Result<Command, Refusal> {
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        if self.plans.queue_of(id).is_some() {
            return Err(Refusal::AlreadyPlanned(id));
        }
        let class = match on {
            Queue::Machine(machine) if self.machine(machine).availability() != Availability::Open => {
                return Err(Refusal::Closed(machine));
            }
            Queue::Machine(machine) => self.machine(machine).class(),
            Queue::Class(class) => class,
        };
        if !self.classes.seconds_per_op(self.task(id).class, class).is_finite() {
            return Err(Refusal::WrongClass(id, class));
        }
        if self.accounts.is_some() {
            let (payer, bill) = (self.payer(id), self.bill(id, class)?);
            let planned =
                self.accounts.as_mut().map_or(Ok(()), |accounts| accounts.of_mut(payer).plan(now, id, bill));
            planned.map_err(|left| Refusal::TooDear { task: id, cost: bill.credits, left })?;
        }
        self.plans.push(id, on);
        changes.push(Change::Planned(id, on));
        Ok(Command::Plan { task: id, on })
    }

    fn start(
        &mut self,
        now: Time,
        id: TaskId,
        on: MachineId,
        changes: &mut Vec<Change>,
    ) -> Result<Command, Refusal> {
        let class = self.task(id).class;
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        self.check_can_run(id, on)?;
        self.pay(now, id, on)?;
        self.dequeue(id);
        self.placed[class.index()] += 1;
        self.placed_total += 1;
        let attempt = self.send(now, Resident::sent(id, 0.0), on, changes);
        Ok(Command::Start { task: id, attempt, on })
    }

    fn relocate(
        &mut self,
        now: Time,
        id: TaskId,
        to: MachineId,
        changes: &mut Vec<Change>,
    ) -> Result<Command, Refusal> {
        let class = self.task(id).class;
        let TaskState::Running(from) = self.task(id).state else {
            return Err(Refusal::NotRunning(id));
        };
        if from == to {
            return Err(Refusal::AlreadyThere(id, to));
        }
        self.check_can_run(id, to)?;
        self.pay(now, id, to)?;
        let restarts = self.classes.task_class(class).restarts;
        let done = if restarts { 0.0 } else { self.ops_done(now, id) };
        let needs = self.needs(class);
        self.machines[from.index()].remove(now, class, id, needs);
        changes.push(Change::ResidentsChanged(from));
        let attempt = self.send(now, Resident::sent(id, done), to, changes);
        if let Some(occasion) = self.occasions.front_mut() {
            occasion.moves += 1;
        }
        self.vacated(from);
        Ok(Command::Move { task: id, attempt, from, to })
    }

    /// A new attempt begins on its way; replies about the one before no longer count.
    fn send(&mut self, now: Time, resident: Resident, on: MachineId, changes: &mut Vec<Change>) -> u32 {
        let task = self.tasks.get_mut(resident.task());
        task.send(on);
        let (class, attempt) = (task.class, task.attempt);
        let needs = self.needs(class);
        self.machines[on.index()].add(now, class, resident, needs);
        changes.push(Change::ResidentsChanged(on));
        attempt
    }
}
