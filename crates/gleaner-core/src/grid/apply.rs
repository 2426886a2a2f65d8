use super::{Grid, Machine, Task, TaskState};
use crate::{Cause, Change, Event, Occasion};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};

impl Grid {
    /// Writes a fact into the grid and says what changed. Costs O(log tasks).
    ///
    /// # Panics
    /// Where ids are not the next of their kind or name nothing: the outside checks before it reports.
    pub(crate) fn apply(&mut self, now: Time, event: &Event, changes: &mut Vec<Change>) {
        match *event {
            Event::MachineClassMet(ref class) => {
                let id = self.classes.add_machine_class(class.clone());
                changes.push(Change::MachineClassMet(id));
            }
            Event::TaskClassMet(ref class) => {
                let id = self.classes.add_task_class(class.clone());
                self.placed.push(0);
                changes.push(Change::TaskClassMet(id));
            }
            Event::MachineJoined { machine, class } => {
                assert_eq!(machine.index(), self.machines.len(), "{machine} is not the next machine");
                self.machines.push(Machine::new(class, self.classes.machine_class(class).cores));
                changes.push(Change::MachineJoined(machine));
                self.ask(Cause::Joined(machine));
            }
            Event::TaskSubmitted { task, class } => self.submitted(task, class, changes),
            Event::OwnerLoadReported { machine, load } => self.load_reported(machine, load, changes),
            Event::AttemptStarted { task, attempt } => self.started(now, task, attempt, changes),
            Event::AttemptFinished { task, attempt } => self.finished(task, attempt, changes),
            Event::WokeUp => {
                self.wake_at = None;
                changes.push(Change::WakeChanged);
                self.ask(Cause::WokeUp);
            }
        }
    }

    fn ask(&mut self, cause: Cause) {
        self.occasions.push_back(Occasion { cause, moves: 0 });
    }

    fn submitted(&mut self, task: TaskId, class: TaskClassId, changes: &mut Vec<Change>) {
        assert_eq!(task.index(), self.tasks.len(), "{task} is not the next task");
        self.tasks.push(Task::new(class));
        self.waiting.add(class, task);
        changes.push(Change::Waits(task));
        self.ask(Cause::Submitted(task));
    }

    fn load_reported(&mut self, machine: MachineId, load: f64, changes: &mut Vec<Change>) {
        let before = self.machine(machine).load();
        if load == before {
            return;
        }
        self.machines[machine.index()].set_load(load);
        changes.push(Change::LoadChanged(machine));
        self.ask(if load > before { Cause::LoadRose(machine) } else { Cause::LoadFell(machine) });
    }

    fn started(&mut self, now: Time, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        let task = &mut self.tasks[id.index()];
        match task.state {
            TaskState::Sent(on) if task.attempt == attempt => {
                task.state = TaskState::Running(on);
                task.started = task.started.min(now);
                changes.push(Change::Started(id));
            }
            _ => changes.push(Change::StaleReply { task: id, attempt }),
        }
    }

    fn finished(&mut self, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        let task = &mut self.tasks[id.index()];
        match task.state {
            TaskState::Running(on) if task.attempt == attempt => {
                task.state = TaskState::Finished(on);
                let class = task.class;
                self.machines[on.index()].remove(class, id);
                self.placed[class.index()] -= 1;
                self.placed_total -= 1;
                changes.push(Change::Finished(id));
                changes.push(Change::ResidentsChanged(on));
                self.ask(Cause::Freed(on));
            }
            _ => changes.push(Change::StaleReply { task: id, attempt }),
        }
    }
}
