use super::answers::Asked;
use super::{Availability, Grid, Machine, Task};
use crate::effects::Effects;
use crate::{Alarm, Cause, Change, Event, MachineClass, Occasion, Part, Queue, TaskClass};
use gleaner_units::{FileId, MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

impl Grid {
    /// Writes a fact into the grid and says what changed. Costs O(log tasks), but for a lost or measured machine (O(tasks there)),
    /// a measured class (O(machine classes)), another rule for answers (O(comparisons)), and an array (see [`super::pages`]).
    ///
    /// # Panics
    /// Where ids are not the next of their kind or name nothing: the outside checks before it reports.
    pub(crate) fn apply(&mut self, now: Time, event: &Event, effects: &mut Effects) {
        match *event {
            Event::TasksSubmitted { first, count, class, length } => {
                self.submitted(now, (first, count), (class, length), effects);
            }
            Event::RunStarted(run) => self.run_started(now, run, effects),
            Event::RunEnded { run, end } => self.run_ended(now, run, end, effects),
            Event::OwnerLoadReported { machine, load } => self.load_reported(now, machine, load, effects),
            Event::WokeUp { alarm } => self.woke_up(now, alarm, effects),
            _ => self.apply_other(now, event, effects),
        }
    }

    /// What does not come with every task: apart, so that what does fits into a processor's cache of instructions.
    #[inline(never)]
    fn apply_other(&mut self, now: Time, event: &Event, effects: &mut Effects) {
        match *event {
            Event::MachineClassMet(ref class) => {
                let id = self.classes.add_machine_class(MachineClass::clone(class));
                effects.changes.push(Change::MachineClassMet(id));
            }
            Event::TaskClassMet(ref class) => self.class_met(TaskClass::clone(class), effects),
            Event::TaskClassesMeasured { ref classes, ref composition } => {
                self.classes_measured(classes, composition, effects);
            }
            Event::TaskClassReplaced { class, ref by } => {
                self.class_replaced(class, TaskClass::clone(by), effects);
            }
            Event::MachineJoined { machine, class } => {
                self.joined(machine, class, effects);
                self.staying.begin(now, machine, class);
            }
            Event::MachineMeasured { machine, class } => self.measured(now, machine, class, effects),
            Event::MachineClosed { machine } => self.closed(machine, effects),
            Event::MachineOpened { machine } => self.opened(machine, effects),
            Event::MachineLost { machine } => self.lost(now, machine, effects),
            Event::MachineReturned { machine } => self.returned(now, machine, effects),
            Event::TasksWithdrawn { first, count } => self.tasks_withdrawn(now, (first, count), effects),
            Event::TasksReturned { first, count } => self.tasks_returned((first, count), effects),
            Event::TasksRerun { ref tasks } => self.tasks_rerun(tasks, effects),
            Event::TasksReclassed { first, count, class } => self.tasks_reclassed((first, count), class),
            Event::TasksRetired { first, count } => self.tasks_retired(first, count),
            Event::TasksRevived { first, count, class, length, runs, submitted } => {
                self.tasks_revived((first, count), (class, length), (runs, submitted));
            }
            Event::FileMet { file, bytes } => {
                self.catalogue.file_met(file, bytes);
                effects.changes.push(Change::CatalogueChanged);
            }
            Event::FileStored { file, site } => {
                self.catalogue.stored(file, site);
                effects.changes.push(Change::CatalogueChanged);
                self.ask_whoever_reads(|files| files.contains(&file));
            }
            Event::FileRemoved { file, site } => {
                self.catalogue.removed(file, site);
                effects.changes.push(Change::CatalogueChanged);
            }
            Event::InputsNamed { class, ref files } => {
                self.catalogue.inputs_named(class, files);
                effects.changes.push(Change::CatalogueChanged);
            }
            Event::ClassLimited { class, limit } => {
                self.limits.insert(class, limit);
            }
            Event::MachineSited { machine, site } => {
                self.catalogue.sited(machine, site);
                effects.changes.push(Change::CatalogueChanged);
                self.ask_whoever_reads(|files| !files.is_empty());
            }
            Event::LinkMeasured { from, to, bytes_per_s } => {
                self.catalogue.link_measured((from, to), bytes_per_s);
                effects.changes.push(Change::CatalogueChanged);
                self.ask_whoever_reads(|files| !files.is_empty());
            }
            Event::StatePublished { machine, state, known_at } => {
                let is_known = machine.index() < self.machines.len();
                if is_known && self.beliefs.published(machine, state, known_at) {
                    effects.changes.push(Change::BeliefChanged(machine));
                    self.ask_whoever_waits(machine, Cause::Published(machine));
                }
            }
            Event::SurveyAnswered { number, machine, state, known_at } => {
                self.survey_answered(now, (number, machine), (state, known_at), effects);
            }
            Event::ResidentsPublished { machine, ref others, load, known_at } => {
                self.residents_published(now, machine, (others, load, known_at), effects);
            }
            Event::Lending(ref event) => self.heard_of_peers(event, effects),
            Event::RunGranted { run, on, since } => self.run_granted((run, on), since, effects),
            Event::RunRefused { run, on } => self.run_refused(now, (run, on), effects),
            Event::RunArrived { run, since } => self.run_arrived(run, since, effects),
            Event::CheckingSet(rule) => self.checking_set(rule, effects),
            Event::ClassChecked { class, quorum, by_program } => {
                self.checks.ask_for(class, Asked { quorum, by_program });
            }
            Event::MachineOwned { machine, owner } => self.checks.set_owner(machine, owner),
            Event::SeedDrawn(seed) => self.seed = seed,
            Event::RuleChanged => {
                self.drop_nobody(effects);
                self.ask(Cause::RuleChanged);
            }
            Event::BudgetSet(budget) => self.budget_set(now, budget, effects),
            Event::CoresCapped { user, cores } => self.cores_capped(user, cores, effects),
            Event::TasksSubmitted { .. }
            | Event::RunStarted(_)
            | Event::RunEnded { .. }
            | Event::OwnerLoadReported { .. }
            | Event::WokeUp { .. } => unreachable!("it was applied"),
        }
    }

    fn woke_up(&mut self, now: Time, alarm: Alarm, effects: &mut Effects) {
        let due = self.alarms.take(alarm).map_or(now, |at| at.min(now));
        effects.changes.push(Change::AlarmChanged(alarm));
        match alarm {
            Alarm::Silence(run) => self.not_held(now, run, effects),
            Alarm::Survey if self.is_surveying() => self.survey_is_over(now, effects),
            Alarm::Survey => {}
            Alarm::Batch | Alarm::Recharge | Alarm::Ahead | Alarm::Relocation | Alarm::Held => {
                self.ask(Cause::WokeUp { alarm, due });
            }
        }
    }

    pub(super) fn ask(&mut self, cause: Cause) {
        self.surveys.missed |= self.is_surveying();
        self.occasions.push_back(Occasion { cause, moves: 0 });
    }

    /// A machine has more room than before, though no task ended there. An occasion only where that helps a task that
    /// waits: machines without bounds are never short of room.
    pub(super) fn vacated(&mut self, machine: MachineId) {
        self.ask_whoever_waits(machine, Cause::Vacated(machine));
    }

    pub(super) fn ask_whoever_waits(&mut self, machine: MachineId, cause: Cause) {
        // What is too wide for it may have a part there.
        let part = Part { on: machine, cores: 1 };
        let helps = |class| self.can_run(class, machine) || self.can_run_part(class, part);
        if self.longest_waiting(helps).is_some() {
            self.ask(cause);
        }
    }

    /// An occasion only where a task waits whose input files are such.
    fn ask_whoever_reads(&mut self, such: impl Fn(&[FileId]) -> bool) {
        if self.longest_waiting(|class| such(self.catalogue.inputs(class))).is_some() {
            self.ask(Cause::DataCame);
        }
    }

    pub(super) fn joined(&mut self, machine: MachineId, class: MachineClassId, effects: &mut Effects) {
        assert_eq!(machine.index(), self.machines.len(), "{machine} is not the next machine");
        self.machines.push(Machine::new(class, self.classes.machine_class(class)));
        effects.changes.push(Change::MachineJoined(machine));
        self.ask(Cause::Joined(machine));
    }

    fn measured(&mut self, now: Time, machine: MachineId, class: MachineClassId, effects: &mut Effects) {
        let before = self.machine(machine).class();
        if before == class {
            return;
        }
        let classes = &self.classes;
        let seconds_per_op = |task| classes.seconds_per_op_in_parts(task, before);
        let known = (class, classes.machine_class(class));
        self.machines[machine.index()].set_class(now, known, seconds_per_op);
        if self.staying.end(now, machine, false) {
            self.staying.begin(now, machine, class);
        }
        effects.changes.push(Change::MachineMeasured(machine));
        if matches!(self.machine(machine).availability(), Availability::Open | Availability::Closed) {
            self.ask(Cause::Measured(machine));
        }
    }

    fn closed(&mut self, machine: MachineId, effects: &mut Effects) {
        if self.closed_while_lent(machine, true) {
            return;
        }
        if self.machine(machine).availability() == Availability::Open {
            self.set_availability(machine, Availability::Closed, effects);
            self.ask(Cause::Closed(machine));
        }
    }

    fn opened(&mut self, machine: MachineId, effects: &mut Effects) {
        if self.closed_while_lent(machine, false) {
            return;
        }
        if self.machine(machine).availability() == Availability::Closed {
            self.set_availability(machine, Availability::Open, effects);
            self.ask(Cause::Opened(machine));
        }
    }

    fn lost(&mut self, now: Time, machine: MachineId, effects: &mut Effects) {
        if self.machine(machine).availability() == Availability::Lost {
            return;
        }
        self.lose_runs(now, machine, effects);
        let classes = &self.classes;
        self.machines[machine.index()].believe(now, &[], |class| classes.demand(class).needs);
        self.lost_to_peers(machine);
        for task in self.plans.dissolve(Queue::Machine(machine)) {
            self.give_back(now, task);
            effects.changes.push(Change::Unplanned(task));
        }
        effects.changes.push(Change::ResidentsChanged(machine));
        self.set_availability(machine, Availability::Lost, effects);
        self.staying.end(now, machine, true);
        self.ask(Cause::Lost(machine));
    }

    fn returned(&mut self, now: Time, machine: MachineId, effects: &mut Effects) {
        // What is a peer's comes back when the peer lends it again.
        let is_own = !self.loans.is_borrowed(machine);
        if is_own && self.machine(machine).availability() == Availability::Lost {
            self.machines[machine.index()].set_load(now, 0.0);
            self.set_availability(machine, Availability::Open, effects);
            self.staying.begin(now, machine, self.machine(machine).class());
            self.ask(Cause::Opened(machine));
        }
    }

    pub(super) fn set_availability(&mut self, machine: MachineId, to: Availability, effects: &mut Effects) {
        self.machines[machine.index()].set_availability(to);
        effects.changes.push(Change::AvailabilityChanged(machine));
    }

    fn submitted(
        &mut self,
        now: Time,
        (first, count): (TaskId, u32),
        (class, length): (TaskClassId, Option<Ops>),
        effects: &mut Effects,
    ) {
        assert_eq!(first.index(), self.tasks.len(), "{first} is not the next task");
        if count == 0 {
            return;
        }
        self.tasks.extend(Task::new(class, now), count);
        self.lengths.extend(length.map_or(0.0, Ops::amount), count);
        self.enqueue(first, count);
        effects.changes.push(Change::Wait { first, count });
        self.ask(Cause::Submitted(class));
    }

    fn load_reported(&mut self, now: Time, machine: MachineId, load: f64, effects: &mut Effects) {
        let before = self.machine(machine).load();
        if load == before {
            return;
        }
        self.machines[machine.index()].set_load(now, load);
        effects.changes.push(Change::LoadChanged(machine));
        self.ask(if load > before { Cause::LoadRose(machine) } else { Cause::LoadFell(machine) });
    }

    /// A machine has so many tasks of others. What follows is as if it had happened here: a machine with fewer tasks may take some, one whose owner uses more of it
    /// may be left.
    fn residents_published(
        &mut self,
        now: Time,
        machine: MachineId,
        (others, load, known_at): (&[(TaskClassId, u32)], f64, Time),
        effects: &mut Effects,
    ) {
        if !self.beliefs.is_news(machine, known_at) {
            return;
        }
        let before = self.machine(machine).count();
        let classes = &self.classes;
        let needs = |class| classes.demand(class).needs;
        if self.machines[machine.index()].believe(now, others, needs) {
            effects.changes.push(Change::ResidentsChanged(machine));
        }
        let had_load = self.machine(machine).load();
        self.load_reported(now, machine, load, effects);
        if load == had_load && self.machine(machine).count() < before {
            self.ask(Cause::Freed(machine));
        }
    }
}
