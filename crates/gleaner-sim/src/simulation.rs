use crate::agenda::Next;
use crate::clock::Clock;
use crate::history::History;
use crate::saved::{RestoreError, Saved};
use crate::setup::Setup;
use crate::world::World;
use gleaner_core::{Command, Decision, Event, Grid, Policy, Scheduler};
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

/// A simulated world and the scheduler that a live grid has.
pub struct Simulation<'a, P> {
    setup: &'a Setup,
    scheduler: Scheduler<P>,
    world: World,
    clock: Clock,
    /// Orders that were not carried out yet, the next one last.
    orders: Vec<Command>,
    decisions: Vec<Decision>,
    observer: Option<&'a mut dyn Observer>,
}

/// Sees everything that passes between the world and the scheduler, as a journal would.
pub trait Observer {
    /// A fact went in.
    fn event(&mut self, now: Time, event: &Event);
    /// The policy answered, after the latest fact.
    fn decision(&mut self, now: Time, decision: &Decision);
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
        Self::at(setup, scheduler, World::new(setup), Clock::default())
    }

    /// Lets every class be met and every machine join.
    pub fn open(&mut self) {
        for event in self.setup.opening() {
            self.tell(&event);
        }
    }

    fn at(setup: &'a Setup, scheduler: Scheduler<P>, world: World, clock: Clock) -> Self {
        let (orders, decisions) = (Vec::new(), Vec::new());
        Self { setup, scheduler, world, clock, orders, decisions, observer: None }
    }

    /// Goes on where a run of the same setup was saved under a policy of the same name.
    pub fn restore(setup: &'a Setup, policy: P, name: &str, saved: Saved) -> Result<Self, RestoreError> {
        saved.check(setup, name)?;
        let Saved { grid, world, clock, .. } = saved;
        Ok(Self::at(setup, Scheduler::new(grid, policy), world, clock))
    }

    /// Everything needed to go on later; `name` tells this policy from others.
    pub fn save(&self, name: &str) -> Saved {
        Saved::new(self.setup, name, self.scheduler.grid().clone(), self.world.clone(), self.clock.clone())
    }

    /// Keeps, from now on, how many tasks each machine runs over time.
    #[must_use]
    pub fn with_timeline(mut self) -> Self {
        self.world.history_mut().keep_timeline();
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
        let Some((time, next)) = self.next() else { return false };
        self.clock.now = time;
        self.clock.events += 1;
        let event = if let Some(next) = next {
            self.clock.idle_alarms.clear();
            self.world.take(self.setup, time, next)
        } else {
            let (_, alarm) = self.scheduler.grid().next_alarm().expect("what is next is an alarm");
            // Where part of the budget is spent, a later wake-up finds more of it.
            let accounts = self.scheduler.grid().accounts();
            if accounts.is_none_or(|accounts| accounts.is_untouched(time)) {
                self.clock.idle_alarms.insert(alarm);
            } else {
                self.clock.idle_alarms.clear();
            }
            Some(Event::WokeUp { alarm })
        };
        if let Some(event) = event {
            self.tell(&event);
        }
        true
    }

    /// What happens next, or the wake-up that the policy asked for, which comes last at its instant; nothing once every
    /// task ended, or when those left can never go on.
    #[inline]
    fn next(&self) -> Option<(Time, Option<Next>)> {
        if self.history().unfinished() == 0 {
            return None;
        }
        let by_itself = self.world.next(self.setup);
        let grid = self.scheduler.grid();
        let is_idle = |alarm| self.clock.idle_alarms.contains(&alarm);
        match (by_itself, grid.next_alarm().map(|(at, _)| at)) {
            // Alarms that changed nothing would change nothing again while nothing else can happen.
            (None, _) if grid.alarms().all(|(_, alarm)| is_idle(alarm)) => None,
            (Some((time, next)), wake) if wake.is_none_or(|wake| time <= wake) => Some((time, Some(next))),
            (_, wake) => Some((wake?, None)),
        }
    }

    /// Someone says something to the scheduler that nothing here led to: late, twice, or of a run that never was.
    pub fn hearsay(&mut self, event: &Event) {
        self.tell(event);
    }

    /// To just before a task is submitted, or to the end if that never happens.
    pub fn run_until_submission(&mut self, task: TaskId) {
        let is_next = |simulation: &Self| {
            simulation.world.is_next_to_arrive(task)
                && matches!(simulation.next(), Some((_, Some(Next::Arrival))))
        };
        while !is_next(self) && self.step() {}
    }

    /// To the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let history = self.history();
        Progress {
            now: self.clock.now,
            events: self.clock.events,
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
        self.world.busy_seconds(machine, self.clock.now)
    }

    /// The scheduler, as a live server would hold it.
    pub fn scheduler(&self) -> &Scheduler<P> {
        &self.scheduler
    }

    /// A fact goes in, orders come out and are carried out, and so on with what that makes happen at once.
    fn tell(&mut self, event: &Event) {
        self.hear(event);
        while let Some(order) = self.orders.pop() {
            self.clock.idle_alarms.clear();
            if let Some(reply) = self.world.obey(self.setup, self.clock.now, order) {
                self.hear(&reply);
            }
        }
        if let Some(accounts) = self.scheduler.grid().accounts() {
            self.world.history_mut().spent(self.clock.now, accounts);
        }
    }

    /// The scheduler takes in a fact and answers it; its orders come before those that were given earlier.
    fn hear(&mut self, event: &Event) {
        let now = self.clock.now;
        if let Some(observer) = &mut self.observer {
            observer.event(now, event);
        }
        self.scheduler.apply(now, event);
        while self.scheduler.is_asked() {
            self.scheduler.decide(now, &mut self.decisions);
        }
        let earlier = self.orders.len();
        self.orders.extend(self.scheduler.take_orders());
        if let Some(observer) = &mut self.observer {
            self.decisions.iter().for_each(|decision| observer.decision(now, decision));
            self.orders[earlier..].iter().for_each(|order| observer.command(now, order));
        }
        self.decisions.clear();
        self.orders[earlier..].reverse();
    }
}
