use crate::availability::MachineTraces;
use crate::liars::Liars;
use gleaner_core::{
    Answer, Budget, Checking, Classes, Event, Grid, GridConfig, InvalidClass, MachineClass, Migration, Owner,
    Room, TaskClass,
};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

/// An owner's load from a moment on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadChange {
    /// From when.
    pub time: Time,
    /// Whose owner.
    pub machine: MachineId,
    /// λ.
    pub load: f64,
}

/// The tasks of a run, in order of arrival: one entry each in every column.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tasks {
    /// When each is submitted; never decreasing.
    pub arrivals: Vec<Time>,
    /// How much work each is, which the scheduler is not told.
    pub lengths: Vec<Ops>,
    /// What is declared of each, where anything is.
    pub declared: Vec<Option<Ops>>,
    /// What kind each is.
    pub classes: Vec<TaskClassId>,
}

impl Tasks {
    /// Tasks of which the true lengths are declared.
    pub fn truly_declared(arrivals: Vec<Time>, lengths: Vec<Ops>, classes: Vec<TaskClassId>) -> Self {
        Self { declared: lengths.iter().copied().map(Some).collect(), arrivals, lengths, classes }
    }

    /// One more, of which the true length is declared.
    pub fn push(&mut self, arrival: Time, length: Ops, class: TaskClassId) {
        self.arrivals.push(arrival);
        self.lengths.push(length);
        self.declared.push(Some(length));
        self.classes.push(class);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }
}

/// Whose answers are believed, and who lies.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answers {
    /// How many machines have to agree; without it, one is believed.
    pub checking: Option<Checking>,
    /// Who lies; without it, nobody.
    pub liars: Option<Liars>,
    /// How many machines in a row the grid knows to be one owner's; without it, each is its own.
    pub owned: Option<usize>,
}

impl Answers {
    /// Whether anybody asks what machines answer.
    pub(crate) fn matter(&self) -> bool {
        self.checking.is_some() || self.liars.is_some()
    }

    /// What a machine answers to a task: all those that do not lie the same.
    pub(crate) fn of(&self, task: TaskId, on: MachineId) -> Answer {
        self.liars.as_ref().map_or(Answer(0), |liars| liars.answer(task, on))
    }
}

/// All that a run is given, besides the policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// Weights and the cost of migration.
    pub config: GridConfig,
    /// The kinds of machines.
    pub machine_classes: Vec<MachineClass>,
    /// The machines that are there from the beginning to the end, each by its kind; none where a trace has them.
    pub machines: Vec<MachineClassId>,
    /// Where machines come and go: what has them instead. All have exclusive cores and one kind of operation.
    pub availability: Option<MachineTraces>,
    /// The kinds of tasks.
    pub task_classes: Vec<TaskClass>,
    /// The tasks.
    pub tasks: Tasks,
    /// Owners' loads; times never decrease.
    pub loads: Vec<LoadChange>,
    /// What may be spent; without it, running costs nothing.
    pub budget: Option<Budget>,
    /// Whose answers are believed, and who lies.
    pub answers: Answers,
}

impl Setup {
    /// One machine that does an operation a second on each of so many cores, and gives them to one task at a time.
    pub fn one_machine(cores: u32, task_classes: Vec<TaskClass>, tasks: Tasks) -> Self {
        let room = Room { slots: Some(cores), ..Room::default() };
        let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], cores) };
        Self {
            config: GridConfig { weights: vec![1.0], migration: Migration::default() },
            machine_classes: vec![machine],
            machines: vec![MachineClassId::FIRST],
            availability: None,
            task_classes,
            tasks,
            loads: Vec::new(),
            budget: None,
            answers: Answers::default(),
        }
    }

    /// Whether every class means something with these weights.
    pub fn check(&self) -> Result<(), InvalidClass> {
        let grid = Grid::new(self.config.clone());
        let classes: &Classes = grid.classes();
        self.machine_classes.iter().try_for_each(|class| classes.check_machine_class(class))?;
        self.task_classes.iter().try_for_each(|class| classes.check_task_class(class))
    }

    /// The grid before the first task and the first owner's load.
    pub fn idle_grid(&self) -> Grid {
        Grid::idle(self.config.clone(), &self.machine_classes, &self.task_classes, &self.machines)
    }

    /// How many machines there ever are: one that returns is a new one.
    pub fn machine_count(&self) -> usize {
        self.availability
            .as_ref()
            .map_or(self.machines.len(), |availability| availability.trace.intervals().len())
    }

    /// What happens before time begins: every class is met and every machine joins.
    pub(crate) fn opening(&self) -> impl Iterator<Item = Event> + '_ {
        let machine_classes = self.machine_classes.iter().cloned().map(Box::new).map(Event::MachineClassMet);
        let task_classes = self.task_classes.iter().cloned().map(Box::new).map(Event::TaskClassMet);
        let machines = self.machines.iter().enumerate();
        let joins =
            machines.map(|(index, &class)| Event::MachineJoined { machine: MachineId::new(index), class });
        let budget = self.budget.map(|budget| Event::BudgetSet(Some(budget)));
        let checking = self.answers.checking.map(|checking| Event::CheckingSet(Some(checking)));
        let owned = (0..self.machines.len()).filter_map(|index| {
            let owner = Some(Owner((index / self.answers.owned?) as u32));
            Some(Event::MachineOwned { machine: MachineId::new(index), owner })
        });
        budget
            .into_iter()
            .chain(checking)
            .chain(machine_classes)
            .chain(task_classes)
            .chain(joins)
            .chain(owned)
    }
}
