//! The machines around the groups, and what becomes of orders and letters.

use super::books::{Book, Place, Unanswered};
use super::letters::Word;
use super::news::News;
use super::places::Places;
use super::results::GroupsOutcome;
use super::setup::GroupsSetup;
use crate::agenda::Next;
use crate::given::Given;
use crate::history::History;
use crate::mail::Letter;
use crate::parties::{Out, Outside};
use crate::refused::{Refusals, Refused};
use crate::saving::Lasting;
use crate::world::World;
use gleaner_core::{Chance, Command, Event, Purpose, StopReason};
use gleaner_units::{MachineId, PartyId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What happens by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Happening(What);

/// Of one instant, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    /// On a machine, to an owner, or to a user.
    World(Next),
    /// A group says how its machines are.
    Turn(PartyId),
    /// What was not answered is said again.
    Again(Unanswered),
}

/// Machines, tasks, owners, and each group's book.
#[derive(Clone, Debug)]
pub struct Neighbourhood<'a> {
    pub(super) setup: &'a GroupsSetup,
    /// What is given of its machines and tasks.
    pub(super) given: Given<'a>,
    pub(super) places: Places,
    pub(super) state: State,
}

/// All that changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub(super) world: World,
    pub(super) books: Vec<Book>,
    pub(super) news: News,
    pub(super) unanswered: BTreeSet<(Time, Unanswered)>,
    /// By task: who has a run of it on a machine, and how many it was given so far, wherever.
    runs: Vec<(Option<(PartyId, RunId)>, u32)>,
    pub(super) outcome: GroupsOutcome,
    refused: Refusals,
}

/// Letters and events that leave a deed.
pub(super) type Leaves<'b> = &'b mut Out<Word>;

impl<'a> Neighbourhood<'a> {
    pub(super) fn new(setup: &'a GroupsSetup) -> Self {
        let places = Places::of(setup);
        let groups = (0..setup.count()).map(PartyId::new);
        let news = News::of(setup, groups.map(|group| places.seen(group).len()));
        let state = State {
            world: World::new(&setup.grid),
            books: vec![Book::default(); setup.count()],
            news,
            unanswered: BTreeSet::new(),
            runs: vec![(None, 0); setup.grid.tasks.len()],
            outcome: GroupsOutcome::default(),
            refused: Refusals::default(),
        };
        Self { setup, given: Given::of(&setup.grid), places, state }
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// What was said and done besides.
    pub fn outcome(&self) -> &GroupsOutcome {
        &self.state.outcome
    }

    /// What groups wrote that made no sense, up to [`REFUSED_MAX`](crate::REFUSED_MAX) of it.
    pub fn refused(&self) -> &[Refused] {
        self.state.refused.kept()
    }

    /// What became of tasks and machines.
    pub fn history(&self) -> &History {
        self.state.world.history()
    }

    /// For how long a machine had something to run and could, until `now`.
    pub fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        self.state.world.busy_seconds(machine, now)
    }

    /// Keeps, from now on, how many tasks each machine runs over time, and where runs were.
    pub(crate) fn keep_timeline(&mut self) {
        self.state.world.history_mut().keep_timeline();
    }

    /// Where a task is handed in: at a machine that is drawn.
    fn home(&self, task: TaskId) -> PartyId {
        let machines = self.setup.groups.len() as u32;
        let drawn = Chance::of(self.setup.seed, Purpose::Home, RunId::new(task, 1)).below(machines);
        self.setup.groups[drawn as usize]
    }

    /// Something else than news happens. Whoever knows a group that was quiet knows what it would have told in the meantime.
    fn stirred(&mut self, now: Time) {
        let (every, delay) = (self.setup.every, self.setup.way.delay);
        for (group, last) in self.state.news.stirred(now, every) {
            let on_the_way = (last + delay).since(now).nanos().div_ceil(every.nanos());
            let told = last.nanos().saturating_sub(every.nanos().saturating_mul(on_the_way));
            for &reader in self.places.audience(group) {
                for own in (0..self.places.own(group).count()).map(MachineId::new) {
                    let machine = self.places.id_of(reader, group, own);
                    let known_at = &mut self.state.news.known_at[reader.index()][machine.index()];
                    *known_at = Time::from_nanos(told).max(*known_at);
                }
            }
        }
    }

    /// Something happened on a machine, to an owner or to a user.
    fn heard(&mut self, now: Time, event: &Event, out: Leaves<'_>) {
        match *event {
            Event::TasksSubmitted { first, .. } => self.comes(self.home(first), (first, 0), None, out),
            Event::OwnerLoadReported { machine, load } => {
                let (party, own) = self.places.owner(machine.index());
                self.state.news.now[machine.index()].load = load;
                out.tell(party, Event::OwnerLoadReported { machine: own, load });
                self.changed(now, machine.index());
            }
            Event::RunStarted(run) => {
                let (party, own) = self.state.runs[run.task.index()].0.expect("what begins was ordered");
                out.tell(party, Event::RunStarted(own));
            }
            Event::RunEnded { run, end } => {
                let (party, own) = self.state.runs[run.task.index()].0.take().expect("what ends was ordered");
                let entry = self.state.books[party.index()].tasks[own.task.index()];
                let Place::Here(_, machine) = entry.place else { unreachable!("it is on a machine") };
                let class = self.setup.grid.tasks.classes[run.task.index()];
                self.state.news.now[machine].residents.take(class);
                self.run_over(now, (party, own), end, out);
                self.changed(now, machine);
            }
            _ => unreachable!("machines in groups are always there"),
        }
    }

    fn start(&mut self, now: Time, (party, run): (PartyId, RunId), on: MachineId, out: Leaves<'_>) {
        if !self.places.is_own(party, on) {
            self.hand_over(now, (party, run), on, out);
            return;
        }
        let machine = self.places.machine(party, on);
        let entry = &mut self.state.books[party.index()].tasks[run.task.index()];
        entry.place = Place::Here(run, machine);
        let task = entry.task;
        self.state.outcome.runs += 1;
        self.state.outcome.guests += u64::from(entry.guest.is_some());
        let (at, number) = &mut self.state.runs[task.index()];
        assert!(at.is_none(), "{task} is in one group's hands at a time, and has one run there");
        *at = Some((party, run));
        *number += 1;
        let run = RunId::new(task, *number);
        self.state.news.now[machine].residents.add(self.setup.grid.tasks.classes[task.index()]);
        let order = Command::Start { run, on: MachineId::new(machine) };
        if let Some(event) = self.state.world.obey(&self.given, now, order) {
            self.heard(now, &event, out);
        }
        self.changed(now, machine);
    }

    fn stop(&mut self, now: Time, (party, run): (PartyId, RunId), why: StopReason, out: Leaves<'_>) {
        let entry = self.state.books[party.index()].tasks[run.task.index()];
        match entry.place {
            // Its end was on its way when the order was given.
            Place::Nowhere => {}
            Place::Away(to, ticket) => self.take_back(now, party, (to, ticket), out),
            Place::Here(_, machine) => {
                // What a neighbour takes back goes on elsewhere: it is moved.
                let why = if why == StopReason::Withdrawn { StopReason::Moved } else { why };
                let run = RunId::new(entry.task, self.state.runs[entry.task.index()].1);
                let order = Command::Stop { run, on: MachineId::new(machine), why };
                let event =
                    self.state.world.obey(&self.given, now, order).expect("a stop is answered at once");
                self.heard(now, &event, out);
            }
        }
    }
}

impl<'a> Lasting<'a> for Neighbourhood<'a> {
    type Setup = GroupsSetup;
    type State = State;

    fn setup(&self) -> &GroupsSetup {
        self.setup
    }

    fn state(&self) -> State {
        self.state.clone()
    }

    fn at(setup: &'a GroupsSetup, state: State) -> Self {
        Self { setup, given: Given::of(&setup.grid), places: Places::of(setup), state }
    }
}

impl Outside for Neighbourhood<'_> {
    type Happening = Happening;
    type Letter = Word;

    /// Whether each end is known where its task was handed in.
    fn is_over(&self) -> bool {
        self.state.outcome.known == self.state.runs.len()
    }

    fn next(&self) -> Option<(Time, Happening)> {
        let world = self.state.world.next(&self.given).map(|(at, next)| (at, What::World(next)));
        let turn = self.state.news.next_turn().map(|(at, group)| (at, What::Turn(group)));
        let again = self.state.unanswered.first().map(|&(at, what)| (at, What::Again(what)));
        world.into_iter().chain(turn).chain(again).min().map(|(at, what)| (at, Happening(what)))
    }

    fn take(&mut self, now: Time, Happening(what): Happening, out: Leaves<'_>) {
        match what {
            What::World(next) => {
                self.stirred(now);
                if let Some(event) = self.state.world.take(&self.given, now, next) {
                    self.heard(now, &event, out);
                }
            }
            What::Turn(group) => self.tells(now, group, out),
            What::Again(what) => self.says_again(now, what, out),
        }
    }

    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: Leaves<'_>) {
        self.stirred(now);
        match order {
            Command::Start { run, on } => self.start(now, (party, run), on, out),
            Command::Stop { run, why, .. } => self.stop(now, (party, run), why, out),
            Command::StartAfter { .. }
            | Command::StartWide { .. }
            | Command::Ask { .. }
            | Command::Survey { .. }
            | Command::Recheck { .. }
            | Command::Close { .. }
            | Command::Lending(_) => {
                unreachable!("a group places each task by itself, on one machine")
            }
        }
    }

    fn deliver(&mut self, now: Time, letter: Letter<Word>, out: Leaves<'_>) {
        let Letter { from, to, sent, body } = letter;
        if let Err(why) = self.checked((from, to), &body) {
            self.state.refused.note(now, (to, from), why);
            return;
        }
        match body {
            Word::State(states) => self.hears((from, to), sent, states, out),
            word => {
                self.stirred(now);
                self.receive(now, (from, to), &word, out);
            }
        }
    }
}
