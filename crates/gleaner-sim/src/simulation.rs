use crate::history::History;
use crate::saved::{RestoreError, Saved};
use crate::setup::Setup;
use crate::world::World;
use gleaner_core::{Command, Event, Grid, Policy, Scheduler};
use gleaner_units::{MachineId, TaskId, Time};

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The simulated moment.
    pub now: Time,
    /// Events so far.
    pub events: u64,
    /// Tasks that ended.
    pub finished: usize,
    /// Tasks in all.
    pub tasks: usize,
}

/// One run: a simulated world and the scheduler that a live grid has.
pub struct Simulation<'a, P> {
    setup: &'a Setup,
    scheduler: Scheduler<P>,
    world: World,
    now: Time,
    events: u64,
    commands: Vec<Command>,
    observer: Option<&'a mut dyn Observer>,
}

/// Sees everything that passes between the world and the scheduler, as a journal would.
pub trait Observer {
    /// A fact went in.
    fn event(&mut self, now: Time, event: &Event);
    /// An order came out.
    fn command(&mut self, now: Time, command: &Command);
}

impl<'a, P: Policy> Simulation<'a, P> {
    /// At the start: every machine is there that does not come by a trace, and no task yet.
    pub fn new(setup: &'a Setup, policy: P) -> Self {
        let mut simulation = Self::unopened(setup, policy);
        simulation.open();
        simulation
    }

    /// Before the machines are there, for an observer that is to see them [join](Self::open).
    pub fn unopened(setup: &'a Setup, policy: P) -> Self {
        let scheduler = Scheduler::new(Grid::new(setup.config.clone()), policy);
        Self::at(setup, scheduler, World::new(setup), Time::ZERO, 0)
    }

    /// Lets every class be met and every machine join.
    pub fn open(&mut self) {
        for event in self.setup.opening() {
            self.tell(&event);
        }
    }

    fn at(setup: &'a Setup, scheduler: Scheduler<P>, world: World, now: Time, events: u64) -> Self {
        Self { setup, scheduler, world, now, events, commands: Vec::new(), observer: None }
    }

    /// Goes on where a run of the same setup was saved under a policy of the same name.
    pub fn restore(setup: &'a Setup, policy: P, name: &str, saved: Saved) -> Result<Self, RestoreError> {
        saved.check(setup, name)?;
        let Saved { grid, world, now, events, .. } = saved;
        Ok(Self::at(setup, Scheduler::new(grid, policy), world, now, events))
    }

    /// Everything needed to go on later; `name` tells this policy from others.
    pub fn save(&self, name: &str) -> Saved {
        Saved::new(self.setup, name, self.scheduler.grid().clone(), self.world.clone(), self.now, self.events)
    }

    /// Keeps, from now on, how many tasks each machine runs over time.
    #[must_use]
    pub fn with_timeline(mut self) -> Self {
        self.world.keep_timeline();
        self
    }

    /// Shows `observer` what passes from now on.
    #[must_use]
    pub fn observed_by(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// One event and what follows from it at once; false when nothing more can happen.
    pub fn step(&mut self) -> bool {
        let Some((time, next)) = self.world.next(self.setup) else { return false };
        self.now = time;
        self.events += 1;
        let event = self.world.take(self.setup, time, next, self.scheduler.grid());
        if let Some(event) = event {
            self.tell(&event);
        }
        true
    }

    /// To just before a task is submitted, or to the end if that never happens.
    pub fn run_until_submission(&mut self, task: TaskId) {
        while !self.world.is_about_to_submit(self.setup, task) && self.step() {}
    }

    /// To the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let history = self.history();
        Progress {
            now: self.now,
            events: self.events,
            finished: history.finished(),
            tasks: history.tasks().len(),
        }
    }

    /// What happened so far.
    pub fn history(&self) -> &History {
        self.world.history()
    }

    /// For how long a machine had something to run and could, so far; 0 for one that did not come yet.
    pub fn busy_seconds(&self, machine: MachineId) -> f64 {
        self.world.busy_seconds(machine, self.now)
    }

    /// The scheduler, as a live server would hold it.
    pub fn scheduler(&self) -> &Scheduler<P> {
        &self.scheduler
    }

    /// A fact goes in, orders come out and are carried out, and so on with what that makes happen at once.
    fn tell(&mut self, event: &Event) {
        self.apply(event);
        let mut carried_out = 0;
        loop {
            if carried_out == self.commands.len() {
                self.commands.clear();
                carried_out = 0;
                self.scheduler.decide(self.now, &mut self.commands);
                if self.commands.is_empty() {
                    self.world.audit(self.now, self.scheduler.grid());
                    return;
                }
            }
            let command = self.commands[carried_out];
            carried_out += 1;
            if let Some(observer) = &mut self.observer {
                observer.command(self.now, &command);
            }
            let reply = self.world.obey(self.setup, self.now, command, self.scheduler.grid());
            if let Some(reply) = reply {
                self.apply(&reply);
            }
        }
    }

    fn apply(&mut self, event: &Event) {
        if let Some(observer) = &mut self.observer {
            observer.event(self.now, event);
        }
        self.scheduler.apply(self.now, event);
    }
}
