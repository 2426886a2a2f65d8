use super::progress::Resident;
use super::runs::{Run, Stage};
use super::{Grid, TaskState};
use crate::effects::Effects;
use crate::parts::make_up;
use crate::{Availability, Change, Command, Decision, Part, Queue, Refusal, StopReason};
use gleaner_units::{MachineId, RunId, TaskId, Time};

impl Grid {
    /// Grants a wish and gives the orders that it takes, if nothing stands in its way; otherwise nothing changes. Costs
    /// O(log tasks), and for a run of several parts O(parts).
    pub(crate) fn admit(
        &mut self,
        now: Time,
        decision: &Decision,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        match *decision {
            Decision::Start { task, on } => self.start(now, task, on, effects),
            Decision::Relocate { task, to } => self.relocate(now, task, to, effects),
            Decision::Wake { at, .. } if at < now => Err(Refusal::Passed(at)),
            Decision::Wake { alarm, at } => {
                self.alarms.set(alarm, at);
                effects.changes.push(Change::AlarmChanged(alarm));
                Ok(())
            }
            _ => self.admit_other(now, decision, effects),
        }
    }

    /// What does not come with every task: apart, so that what does fits into a processor's cache of instructions.
    #[inline(never)]
    fn admit_other(&mut self, now: Time, decision: &Decision, effects: &mut Effects) -> Result<(), Refusal> {
        match *decision {
            Decision::Follow { task, on, after } => self.follow(now, task, (on, after), effects),
            Decision::TakeBack { task } => self.take_back(now, task, effects),
            Decision::StartWide { task, ref parts } => {
                let run = self.first_of_parts(now, (task, parts), Stage::Sent, effects)?;
                self.order_start(run, effects);
                Ok(())
            }
            Decision::Replicate { task, on } => self.replicate(now, task, on, effects),
            Decision::ReplicateWide { task, ref parts } => {
                let run = self.copy_of_parts(now, (task, parts), Stage::Sent, effects)?;
                self.order_start(run, effects);
                Ok(())
            }
            Decision::Ask { task, ref parts, until } => self.ask_for(now, (task, parts), until, effects),
            Decision::Survey { until } => self.survey(now, until, effects),
            Decision::Collect => self.collect(now, effects),
            Decision::Plan { task, on } => self.plan(now, task, on, effects),
            Decision::Lending(wish) => self.lend(wish, effects),
            Decision::Start { .. } | Decision::Relocate { .. } | Decision::Wake { .. } => {
                unreachable!("it was admitted or refused")
            }
        }
    }

    /// Where running costs credits, a run of several parts has no others beside it.
    pub(super) fn copy_of_parts(
        &mut self,
        now: Time,
        (id, parts): (TaskId, &[Part]),
        stage: Stage,
        effects: &mut Effects,
    ) -> Result<RunId, Refusal> {
        let any = |what: &dyn Fn(&Run) -> bool| self.runs_of(id).any(what);
        if any(&|run| matches!(run.stage, Stage::Held | Stage::Stopping)) {
            return Err(Refusal::SeveralRuns(id));
        }
        if !any(&Run::goes_on) {
            return Err(Refusal::NotRunning(id));
        }
        if self.accounts.is_some() {
            return Err(Refusal::SeveralParts(id));
        }
        let cores = self.needs(self.task(id).class).cores;
        if !make_up(parts, cores) {
            return Err(Refusal::Parts { task: id, cores });
        }
        self.check_cap(id)?;
        parts.iter().try_for_each(|part| self.check_can_run_part(id, *part))?;
        Ok(self.place_parts(now, id, parts, (stage, self.kept(id)), effects))
    }

    fn order_start(&self, run: RunId, effects: &mut Effects) {
        let run = self.find_run(run).expect("it was just placed");
        effects.orders.push(self.start_order(run));
    }

    /// Costs O(planned tasks).
    fn collect(&mut self, now: Time, effects: &mut Effects) -> Result<(), Refusal> {
        if self.plans.collected_at() == Some(now) {
            return Err(Refusal::AlreadyCollected(now));
        }
        for task in self.plans.collect(now) {
            self.give_back(now, task);
            effects.changes.push(Change::Unplanned(task));
        }
        Ok(())
    }

    fn plan(&mut self, now: Time, id: TaskId, on: Queue, effects: &mut Effects) -> Result<(), Refusal> {
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
        effects.changes.push(Change::Planned(id, on));
        Ok(())
    }

    fn start(&mut self, now: Time, id: TaskId, on: MachineId, effects: &mut Effects) -> Result<(), Refusal> {
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        self.check_cap(id)?;
        self.check_can_run(id, on)?;
        self.pay(now, id, on)?;
        self.dequeue(id);
        // What a machine out of reach may still have of it counts no more.
        self.forget_runs(id);
        self.tasks.get_mut(id).state = TaskState::Placed;
        let run = self.place(now, id, on, (Stage::Sent, self.kept(id)), effects);
        self.begin_comparison(run, on);
        effects.orders.push(Command::Start { run, on });
        Ok(())
    }

    pub(super) fn first_of_parts(
        &mut self,
        now: Time,
        (id, parts): (TaskId, &[Part]),
        stage: Stage,
        effects: &mut Effects,
    ) -> Result<RunId, Refusal> {
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        let cores = self.needs(self.task(id).class).cores;
        if !make_up(parts, cores) {
            return Err(Refusal::Parts { task: id, cores });
        }
        self.check_cap(id)?;
        if let [part] = *parts {
            self.check_can_run(id, part.on)?;
            self.pay(now, id, part.on)?;
        } else {
            parts.iter().try_for_each(|part| self.check_can_run_part(id, *part))?;
            self.pay_for_parts(now, id, parts)?;
        }
        self.dequeue(id);
        self.forget_runs(id);
        self.tasks.get_mut(id).state = TaskState::Placed;
        Ok(self.place_parts(now, id, parts, (stage, self.kept(id)), effects))
    }

    fn relocate(
        &mut self,
        now: Time,
        id: TaskId,
        to: MachineId,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let run = self.only_run(id)?;
        if run.on == to {
            return Err(Refusal::AlreadyThere(id, to));
        }
        self.check_can_run(id, to)?;
        self.pay(now, id, to)?;
        self.stop(now, &run, StopReason::Moved, effects);
        let done = self.run_mut(run.id).done;
        let held = self.place(now, id, to, (Stage::Held, done), effects);
        self.checks.compare_elsewhere(run.id, held);
        if let Some(occasion) = self.occasions.front_mut() {
            occasion.moves += 1;
        }
        Ok(())
    }

    fn replicate(
        &mut self,
        now: Time,
        id: TaskId,
        on: MachineId,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let any = |what: &dyn Fn(&Run) -> bool| self.runs_of(id).any(what);
        if any(&|run| matches!(run.stage, Stage::Held | Stage::Stopping)) {
            return Err(Refusal::SeveralRuns(id));
        }
        if any(&|run| run.is_wide) {
            return Err(Refusal::SeveralParts(id));
        }
        if !any(&Run::goes_on) && !self.has_answers(id) {
            return Err(Refusal::NotRunning(id));
        }
        if any(&|run| run.goes_on() && run.on == on) {
            return Err(Refusal::AlreadyThere(id, on));
        }
        self.check_cap(id)?;
        if self.was_asked_for(id, on) {
            return Err(Refusal::Answered(id, on));
        }
        self.check_can_run(id, on)?;
        let run = self.place(now, id, on, (Stage::Sent, self.kept(id)), effects);
        self.checks.begin_comparing(run);
        effects.orders.push(Command::Start { run, on });
        Ok(())
    }

    /// The run of a task that runs and has no other.
    fn only_run(&self, id: TaskId) -> Result<Run, Refusal> {
        let mut runs = self.runs_of(id).filter(|run| run.stage != Stage::Missing);
        match (runs.next(), runs.next()) {
            (Some(run), None) if run.is_wide => Err(Refusal::SeveralParts(id)),
            (Some(&run), None) if run.stage == Stage::Running => Ok(run),
            (_, None) => Err(Refusal::NotRunning(id)),
            (_, Some(_)) => Err(Refusal::SeveralRuns(id)),
        }
    }

    /// A new run takes its room, with so many operations done.
    fn place(
        &mut self,
        now: Time,
        id: TaskId,
        on: MachineId,
        from: (Stage, f64),
        effects: &mut Effects,
    ) -> RunId {
        let cores = self.needs(self.task(id).class).cores;
        self.place_parts(now, id, &[Part { on, cores }], from, effects)
    }

    /// Likewise on each machine.
    #[inline]
    fn place_parts(
        &mut self,
        now: Time,
        id: TaskId,
        parts: &[Part],
        (stage, done): (Stage, f64),
        effects: &mut Effects,
    ) -> RunId {
        let class = self.task(id).class;
        let needs = self.needs(class);
        let run = self.add_run(now, id, parts, stage);
        for &Part { on, cores } in parts {
            let needs = needs.of_part(cores);
            self.beliefs.sent(run, on);
            self.machines[on.index()].add(now, class, Resident::sent(run, done), needs);
            effects.changes.push(Change::ResidentsChanged(on));
        }
        self.placed[class.index()] += 1;
        self.placed_total += 1;
        self.caps.take(self.classes.demand(class).payer, needs.cores);
        effects.changes.push(Change::RoomTaken(run));
        run
    }
}
