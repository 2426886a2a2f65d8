//! A broker and two queues, each a scheduler, with letters between them that take their time or are lost.

use crate::basics::empty;
use gleaner_core::{Command, Event, MachineClass, Room, RunEnd, Scheduler, SiteState, TaskClass};
use gleaner_policy::{AnyPolicy, Recipe, Score};
use gleaner_sim::{Letter, Mail, Out, Outside, Parties, Way};
use gleaner_units::{MachineClassId, MachineId, PartyId, RunId, Span, TaskClassId, TaskId, Time};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

const BROKER: PartyId = PartyId::FIRST;
const SITES: usize = 2;
const SECOND: u64 = 1_000_000_000;

/// What broker and sites say to each other. A run goes by the name that the broker gave it.
#[derive(Clone, Debug)]
enum Word {
    Run(RunId),
    Ended(RunId),
    State(SiteState),
}

/// Tasks of one second that arrive at the broker together; sites run one at a time.
struct World {
    arrivals: Option<u32>,
    ends: BTreeSet<(Time, PartyId, RunId)>,
    /// At each site: the broker's run behind a task of its own.
    theirs: BTreeMap<(PartyId, TaskId), RunId>,
    handed_in: Vec<usize>,
    finished: RefCell<Vec<(Time, RunId)>>,
    tasks: usize,
}

enum Happening {
    Arrival(u32),
    End(Time, PartyId, RunId),
}

impl Outside for World {
    type Happening = Happening;
    type Letter = Word;

    fn is_over(&self) -> bool {
        self.finished.borrow().len() == self.tasks
    }

    fn next(&self) -> Option<(Time, Happening)> {
        let arrival = self.arrivals.map(|count| (Time::ZERO, Happening::Arrival(count)));
        arrival.or_else(|| self.ends.first().map(|&(at, site, run)| (at, Happening::End(at, site, run))))
    }

    fn take(&mut self, now: Time, happening: Happening, out: &mut Out<Word>) {
        match happening {
            Happening::Arrival(count) => {
                self.arrivals = None;
                out.tell(BROKER, submitted(0, count));
            }
            Happening::End(at, site, run) => {
                self.ends.remove(&(at, site, run));
                out.tell(site, Event::RunEnded { run, end: RunEnd::Finished });
                let theirs = self.theirs[&(site, run.task)];
                self.finished.borrow_mut().push((now, theirs));
                out.send(site, BROKER, Word::Ended(theirs));
                out.send(site, BROKER, Word::State(SiteState::default()));
            }
        }
    }

    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: &mut Out<Word>) {
        let Command::Start { run, on } = order else { panic!("nothing is stopped here") };
        if party == BROKER {
            out.send(BROKER, site(on.index()), Word::Run(run));
        } else {
            self.ends.insert((now + Span::from_nanos(SECOND), party, run));
            out.tell(party, Event::RunStarted(run));
        }
    }

    fn deliver(&mut self, now: Time, letter: Letter<Word>, out: &mut Out<Word>) {
        match letter.body {
            Word::Run(run) => {
                let next = &mut self.handed_in[letter.to.index()];
                self.theirs.insert((letter.to, TaskId::new(*next)), run);
                out.tell(letter.to, submitted(*next, 1));
                *next += 1;
            }
            Word::Ended(run) => out.tell(BROKER, Event::RunEnded { run, end: RunEnd::Finished }),
            Word::State(state) => {
                let machine = MachineId::new(letter.from.index() - 1);
                assert!(letter.sent <= now);
                out.tell(BROKER, Event::StatePublished { machine, state, known_at: letter.sent });
            }
        }
    }
}

fn site(index: usize) -> PartyId {
    PartyId::new(index + 1)
}

fn submitted(first: usize, count: u32) -> Event {
    Event::TasksSubmitted { first: TaskId::new(first), count, class: TaskClassId::FIRST, length: None }
}

/// A scheduler whose machines have so many slots, or no bound.
fn scheduler(machines: usize, slots: Option<u32>) -> Scheduler<AnyPolicy> {
    let mut scheduler = Scheduler::new(empty(), Recipe::by(Score::MinNum).build());
    let room = Room { slots, memory: None, disk: None };
    let class = MachineClass { room, ..MachineClass::plain(vec![1.0], 1) };
    let tasks = TaskClass::plain(vec![1.0]);
    scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
    scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(tasks)));
    for machine in 0..machines {
        let machine = MachineId::new(machine);
        scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class: MachineClassId::FIRST });
    }
    scheduler
}

fn parties(tasks: u32, usual: Way) -> Parties<'static, AnyPolicy, World> {
    let world = World {
        arrivals: Some(tasks),
        ends: BTreeSet::new(),
        theirs: BTreeMap::new(),
        handed_in: vec![0; SITES + 1],
        finished: RefCell::default(),
        tasks: tasks as usize,
    };
    let sites = (0..SITES).map(|_| scheduler(1, Some(1)));
    let schedulers = std::iter::once(scheduler(SITES, None)).chain(sites).collect();
    Parties::new(schedulers, world, Mail::new(1, usual))
}

#[test]
fn what_is_an_order_here_is_an_event_there_after_its_delay() {
    let mut parties = parties(6, Way { delay: Span::from_nanos(SECOND / 4), loss: 0.0 });
    while parties.step() {
        for party in 0..=SITES {
            parties.scheduler(PartyId::new(party)).check().expect("a whole grid");
        }
    }
    let finished = parties.outside().finished.borrow();
    let ends: Vec<u64> = finished.iter().map(|(at, _)| at.nanos() * 4 / SECOND).collect();
    assert_eq!(
        ends,
        [5, 5, 9, 9, 13, 13],
        "in quarters of a second: a quarter on the way, then one after the other"
    );
    assert_eq!(parties.mail().sent(), 6 + 12, "a letter for each task, and two for each end");
}

#[test]
fn a_lost_letter_leaves_its_task_undone_and_nothing_waits_for_ever() {
    let mut parties = parties(40, Way { delay: Span::from_nanos(1), loss: 0.5 });
    parties.run();
    let finished = parties.outside().finished.borrow().len();
    assert!((5..35).contains(&finished), "{finished} of 40 came through");
    let again = {
        let mut again = self::parties(40, Way { delay: Span::from_nanos(1), loss: 0.5 });
        again.run();
        again.outside().finished.borrow().clone()
    };
    assert_eq!(*parties.outside().finished.borrow(), again, "the same seed loses the same letters");
}
