use crate::agenda::Next;
use crate::checkpoint::{RestoreError, fingerprint_of_machines};
use crate::given::Given;
use crate::history::History;
use crate::liars::Liars;
use crate::mail::{Letter, Mail, Way};
use crate::parties::{Observer, Out, Outside, Parties};
use crate::saving::{Lasting, restore, save};
use crate::setup::Setup;
use crate::world::World;
use gleaner_core::{Availability, Command, Event, Grid, Policy, Scheduler, SiteState, TaskState};
use gleaner_units::{MachineId, PartyId, TaskId, Time};
use serde::{Deserialize, Serialize};

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

/// What machines answered, and what of it was believed.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Answered {
    /// Machines that lie.
    pub liars: usize,
    /// Runs that came to an end with an answer.
    pub runs: u64,
    /// Tasks whose answer was accepted.
    pub accepted: usize,
    /// Those of them whose answer is wrong.
    pub wrong: usize,
    /// Tasks that were given up since too few machines agreed.
    pub disputed: usize,
    /// Answers that were outvoted.
    pub outvoted: u64,
    /// Tasks that were done and run again, since whoever had answered them alone was found to lie.
    pub run_again: u64,
    /// Machines that lie and are trusted all the same.
    pub liars_trusted: usize,
    /// Machines that were outvoted so often that they were closed.
    pub closed: usize,
    /// Those of them that do not lie: enough liars told the same lie.
    pub honest_closed: usize,
    /// All that was done, as a multiple of what the tasks need once.
    pub work: f64,
}

/// The only party has nobody to write to.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum NoLetter {}

/// The world of one setup, around the only party there.
struct Lab<'a> {
    given: Given<'a>,
    world: World,
}

impl<'a> Lasting<'a> for Lab<'a> {
    type Setup = Setup;
    type State = World;

    fn setup(&self) -> &Setup {
        self.given.setup()
    }

    fn state(&self) -> World {
        self.world.clone()
    }

    fn at(setup: &'a Setup, world: World) -> Self {
        Self { given: Given::of(setup), world }
    }

    fn fingerprint(setup: &Setup) -> u64 {
        fingerprint_of_machines(setup)
    }
}

impl Outside for Lab<'_> {
    type Happening = Next;
    type Letter = NoLetter;

    fn is_over(&self) -> bool {
        self.world.history().unfinished() == 0
    }

    #[inline]
    fn next(&self) -> Option<(Time, Next)> {
        self.world.next(&self.given)
    }

    #[inline]
    fn take(&mut self, now: Time, next: Next, out: &mut Out<NoLetter>) {
        if let Some(event) = self.world.take(&self.given, now, next) {
            out.tell(ONLY, event);
        }
    }

    #[inline]
    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: &mut Out<NoLetter>) {
        match order {
            // A machine has what its scheduler thinks it has: what is asked for is there, and nobody else takes anything.
            Command::Ask { run, parts } => {
                for part in &parts {
                    out.tell(party, Event::RunGranted { run, on: part.on, since: now });
                }
            }
            Command::Survey { number, sites } => {
                let (cores_free, memory_free, disk_free) = (u32::MAX, u64::MAX, u64::MAX);
                let state = SiteState { cores_free, memory_free, disk_free, ..SiteState::default() };
                for &machine in &sites {
                    out.tell(party, Event::SurveyAnswered { number, machine, state, known_at: now });
                }
            }
            Command::Start { .. }
            | Command::StartAfter { .. }
            | Command::StartWide { .. }
            | Command::Stop { .. }
            | Command::Recheck { .. }
            | Command::Close { .. }
            | Command::Lending(_) => {
                if let Some(reply) = self.world.obey(&self.given, now, order) {
                    out.tell(party, reply);
                }
            }
        }
    }

    fn deliver(&mut self, _: Time, letter: Letter<NoLetter>, _: &mut Out<NoLetter>) {
        match letter.body {}
    }
}

/// A simulated world and the one scheduler that a live grid has.
pub struct Simulation<'a, P> {
    parties: Parties<'a, P, Lab<'a>>,
}

/// Its id.
const ONLY: PartyId = PartyId::FIRST;

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
        let mail = Mail::new(0, Way::default());
        Self { parties: Parties::new(vec![scheduler], Lab::at(setup, World::new(setup)), mail) }
    }

    /// Lets every class be met and every machine join.
    pub fn open(&mut self) {
        for event in self.setup().opening() {
            self.tell(event);
        }
    }

    /// What is left to chance goes by this seed, and not by 0.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.tell(Event::SeedDrawn(seed));
        self
    }

    /// Goes on where a run of the same setup was saved under a policy of the same name.
    pub fn restore(
        setup: &'a Setup,
        policy: impl Fn() -> P,
        name: &str,
        saved: &[u8],
    ) -> Result<Self, RestoreError> {
        Ok(Self { parties: restore(setup, (name, |_| policy()), saved)? })
    }

    /// Everything needed to go on later, as a file's contents; `name` tells this policy from others.
    pub fn save(&self, name: &str) -> Vec<u8> {
        save(&self.parties, name)
    }

    /// Keeps, from now on, how many tasks each machine runs over time, and where runs were.
    #[must_use]
    pub fn with_timeline(mut self) -> Self {
        self.parties.both().1.world.history_mut().keep_timeline();
        self
    }

    /// Shows `observer` what passes from now on.
    #[must_use]
    pub fn observed_by(self, observer: &'a mut dyn Observer) -> Self {
        Self { parties: self.parties.observed_by(observer) }
    }

    /// One event and what follows from it at once; false when nothing more can happen.
    pub fn step(&mut self) -> bool {
        let goes_on = self.parties.step();
        if goes_on {
            self.note();
        }
        goes_on
    }

    /// The scheduler hears of something; it may be what nothing here led to: late, twice, or of a run that never was.
    pub fn tell(&mut self, event: Event) {
        self.parties.tell(ONLY, event);
        self.note_spending();
    }

    /// To just before a task is submitted, or to the end if that never happens.
    pub fn run_until_submission(&mut self, task: TaskId) {
        let is_next = |simulation: &Self| {
            simulation.parties.outside().world.is_next_to_arrive(task)
                && matches!(simulation.parties.next_happening(), Some(Next::Arrival))
        };
        while !is_next(self) && self.step() {}
    }

    /// One event, and all that happens at the same instant.
    pub fn run_through_instant(&mut self) {
        self.step();
        let now = self.parties.now();
        while self.parties.next_at() == Some(now) && self.step() {}
    }

    /// To the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// To the end, while the scheduler hears of events that no part of the world leads to: at their moments, which never
    /// decrease, as long as any task is left.
    pub fn run_hearing(&mut self, events: impl IntoIterator<Item = (Time, Event)>) {
        for (at, event) in events {
            while self.parties.step_before(at) {
                self.note();
            }
            if self.parties.outside().is_over() {
                break;
            }
            self.parties.tell_at(at, ONLY, event);
            self.note();
        }
        self.run();
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let history = self.history();
        Progress {
            now: self.parties.now(),
            events: self.parties.clock().events,
            finished: history.finished(),
            tasks: history.tasks().len(),
        }
    }

    /// What happened so far.
    pub fn history(&self) -> &History {
        self.parties.outside().world.history()
    }

    /// For how long a machine had something to run and could, so far; 0 for one that did not come yet.
    pub fn busy_seconds(&self, machine: MachineId) -> f64 {
        self.parties.outside().world.busy_seconds(machine, self.parties.now())
    }

    /// What machines answered so far, and what of it was believed; none where nobody lies and one is believed.
    pub fn answered(&self) -> Option<Answered> {
        let (setup, grid) = (self.setup(), self.scheduler().grid());
        let liars = setup.answers.matter().then_some(setup.answers.liars.as_ref())?;
        let mut answered = Answered {
            liars: liars.map_or(0, Liars::count),
            runs: self.history().answered().runs,
            disputed: grid.disputed(),
            run_again: self.history().reopened(),
            ..Answered::default()
        };
        for (id, task) in grid.tasks() {
            let TaskState::Finished(on) = task.state() else { continue };
            if grid.is_disputed(id) {
                continue;
            }
            answered.accepted += 1;
            answered.wrong += usize::from(liars.is_some_and(|liars| liars.is_wrong(id, on)));
        }
        for machine in (0..grid.machines().len()).map(MachineId::new) {
            let is_liar = liars.is_some_and(|liars| liars.has(machine));
            let outvoted = grid.trust(machine).wrong;
            let is_closed = outvoted > 0 && grid.machine(machine).availability() == Availability::Closed;
            answered.outvoted += outvoted;
            answered.liars_trusted += usize::from(is_liar && grid.is_trusted(machine));
            answered.closed += usize::from(is_closed);
            answered.honest_closed += usize::from(is_closed && !is_liar);
        }
        let needed: f64 = setup.tasks.lengths.iter().map(|length| length.amount()).sum();
        let history = self.history();
        let done = history.answered().ops + history.wasted().ops + history.lost().ops;
        answered.work = done / needed;
        Some(answered)
    }

    /// The scheduler, as a live server would hold it.
    pub fn scheduler(&self) -> &Scheduler<P> {
        self.parties.scheduler(ONLY)
    }

    fn setup(&self) -> &'a Setup {
        self.parties.outside().given.setup()
    }

    /// Takes over what the scheduler alone knows.
    #[inline]
    fn note(&mut self) {
        self.note_spending();
        self.note_answers();
    }

    /// Whether a task is done with its last answer is known to the scheduler alone.
    #[inline]
    fn note_answers(&mut self) {
        if !self.setup().answers.matter() {
            return;
        }
        let now = self.parties.now();
        let (schedulers, lab) = self.parties.both();
        let grid = schedulers[ONLY.index()].grid();
        for task in lab.world.take_answered() {
            if let TaskState::Finished(on) = grid.task(task).state()
                && lab.world.history().tasks()[task.index()].finished == Time::NEVER
            {
                lab.world.history_mut().ended(now, task, on);
            }
        }
    }

    /// What is spent is known to the scheduler alone.
    #[inline]
    fn note_spending(&mut self) {
        let now = self.parties.now();
        let (schedulers, lab) = self.parties.both();
        if let Some(accounts) = schedulers[ONLY.index()].grid().accounts() {
            lab.world.history_mut().spent(now, accounts, lab.given.payers());
        }
    }
}
