//! One or more parties, each a [`Scheduler`], what surrounds them, and the mail between them.
//!
//! What is an order here is an event there: [`Outside`] carries out what a party orders, and turns what it hears from
//! another into events. So a broker and a site's own queue, or two peers, run the same scheduler.
//!
//! # Invariants
//! - **Within an instant**: what the outside does by itself, then letters in the order in which they were sent, then
//!   alarms, the lowest party's first. What follows from any of these at once is done before the next.
//! - **No party sees another's grid.** All that one knows of another it was told by an event.
//! - **The same setup and seed give the same run**, also when it was saved in between.

use crate::clock::Clock;
use crate::mail::{Letter, Mail};
use gleaner_core::{Command, Decision, Event, Policy, Scheduler};
use gleaner_policy::Tournament;
use gleaner_units::{PartyId, Time};

/// What surrounds the parties: machines, users, networks. It never sees a grid.
pub trait Outside {
    /// What happens by itself.
    type Happening;
    /// What parties and services say to each other.
    type Letter;

    /// Whether nothing is left that anybody waits for.
    fn is_over(&self) -> bool;

    /// What happens next by itself.
    fn next(&self) -> Option<(Time, Self::Happening)>;

    /// Lets it happen.
    fn take(&mut self, now: Time, happening: Self::Happening, out: &mut Out<Self::Letter>);

    /// Carries out an order of a party.
    fn obey(&mut self, now: Time, party: PartyId, order: Command, out: &mut Out<Self::Letter>);

    /// A letter comes to whom it was sent.
    fn deliver(&mut self, now: Time, letter: Letter<Self::Letter>, out: &mut Out<Self::Letter>);
}

/// What comes of something that happened: events for parties, at once and in order, and letters.
#[derive(Debug)]
pub struct Out<L> {
    /// What is to be done at this instant, the next one last; behind it what the outside is telling now, in order.
    due: Vec<Due>,
    /// What follows from an order, in order.
    answers: Vec<(PartyId, Event)>,
    letters: Vec<(PartyId, PartyId, L)>,
}

/// What is to be done at this instant.
#[derive(Debug)]
enum Due {
    Hear(PartyId, Event),
    Obey(PartyId, Command),
}

impl<L> Out<L> {
    fn new() -> Self {
        Self { due: Vec::new(), answers: Vec::new(), letters: Vec::new() }
    }

    /// A party hears of a fact now.
    pub fn tell(&mut self, party: PartyId, event: Event) {
        self.due.push(Due::Hear(party, event));
    }

    /// A party hears what came of its order as soon as the orders that it gave with it are carried out: what it orders then is
    /// newer than these.
    pub fn answer(&mut self, party: PartyId, event: Event) {
        self.answers.push((party, event));
    }

    /// A letter leaves now.
    pub fn send(&mut self, from: PartyId, to: PartyId, letter: L) {
        self.letters.push((from, to, letter));
    }

    /// Letters leave now, if there are any.
    pub fn send_all(&mut self, from: PartyId, to: PartyId, letters: impl IntoIterator<Item = L>) {
        self.letters.extend(letters.into_iter().map(|letter| (from, to, letter)));
    }
}

/// Sees everything that passes between the outside and the schedulers, as a journal would.
pub trait Observer {
    /// A fact went in.
    fn event(&mut self, now: Time, party: PartyId, event: &Event);
    /// The policy answered, after the latest fact.
    fn decision(&mut self, now: Time, party: PartyId, decision: &Decision);
    /// An order came out.
    fn command(&mut self, now: Time, party: PartyId, command: &Command);
}

/// The schedulers, what surrounds them, and what is between them.
pub struct Parties<'a, P, O: Outside> {
    schedulers: Vec<Scheduler<P>>,
    outside: O,
    mail: Mail<O::Letter>,
    clock: Clock,
    /// When each party wants to be asked.
    alarms: Tournament<Alarm>,
    out: Out<O::Letter>,
    decisions: Vec<Decision>,
    observer: Option<&'a mut dyn Observer>,
}

/// When a party wants to be asked; those that do not, after all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Alarm {
    is_off: bool,
    at: Time,
    party: PartyId,
}

impl Alarm {
    fn off(party: PartyId) -> Self {
        Self { is_off: true, at: Time::NEVER, party }
    }

    #[inline]
    fn of<P: Policy>(party: PartyId, scheduler: &Scheduler<P>) -> Self {
        let next = scheduler.grid().next_alarm();
        next.map_or(Self::off(party), |(at, _)| Self { is_off: false, at, party })
    }
}

/// What comes next.
enum Next<H> {
    Happening(H),
    Letter,
    Alarm(PartyId),
}

impl<'a, P: Policy, O: Outside> Parties<'a, P, O> {
    /// These schedulers, in order of their ids, in the middle of a run.
    pub(crate) fn at(schedulers: Vec<Scheduler<P>>, outside: O, mail: Mail<O::Letter>, clock: Clock) -> Self {
        let mut alarms = Tournament::default();
        for (index, scheduler) in schedulers.iter().enumerate() {
            alarms.push(Alarm::off(PartyId::new(index)));
            alarms.set(index, Alarm::of(PartyId::new(index), scheduler));
        }
        let (out, decisions) = (Out::new(), Vec::new());
        Self { schedulers, outside, mail, clock, alarms, out, decisions, observer: None }
    }

    /// These schedulers, before anything happened.
    pub fn new(schedulers: Vec<Scheduler<P>>, outside: O, mail: Mail<O::Letter>) -> Self {
        let clock = Clock::default();
        Self::at(schedulers, outside, mail, clock)
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
        self.pass(time, next);
        true
    }

    /// The same of what comes before a moment at which more is [told](Self::tell_at): wake-ups that changed nothing so far are part of
    /// that. False when nothing is left before it.
    pub(crate) fn step_before(&mut self, at: Time) -> bool {
        if self.outside.is_over() {
            return false;
        }
        let next = self.or_alarm(self.next_without_alarms()).filter(|(time, _)| *time < at);
        let Some((time, next)) = next else { return false };
        self.pass(time, next);
        true
    }

    #[inline]
    fn pass(&mut self, time: Time, next: Next<O::Happening>) {
        self.clock.begin(time);
        match next {
            Next::Happening(happening) => {
                self.clock.stirred();
                self.outside.take(time, happening, &mut self.out);
            }
            Next::Letter => {
                self.clock.stirred();
                let letter = self.mail.take();
                self.outside.deliver(time, letter, &mut self.out);
            }
            Next::Alarm(party) => {
                // Where part of the budget is spent, a later wake-up finds more of it.
                let grid = self.schedulers[party.index()].grid();
                let (_, alarm) = grid.next_alarm().expect("what is next is an alarm");
                let is_idle = grid.accounts().is_none_or(|accounts| accounts.is_untouched(time));
                self.clock.woke(party, alarm, is_idle);
                self.hear(party, &Event::WokeUp { alarm });
                self.follow();
                return;
            }
        }
        self.settle();
    }

    /// To the end.
    pub fn run(&mut self) {
        while self.step() {}
    }

    /// A party hears of something that nothing here led to.
    pub fn tell(&mut self, party: PartyId, event: Event) {
        self.out.tell(party, event);
        self.settle();
    }

    /// The same at a later moment, before which nothing else [happens](Self::step_before).
    pub(crate) fn tell_at(&mut self, at: Time, party: PartyId, event: Event) {
        self.clock.begin(at);
        self.clock.stirred();
        self.tell(party, event);
    }

    #[inline]
    fn next(&self) -> Option<(Time, Next<O::Happening>)> {
        if self.outside.is_over() {
            return None;
        }
        let next = self.next_without_alarms();
        // Wake-ups that changed nothing would change nothing again while nothing else can happen.
        let is_idle = |(party, scheduler): (usize, &Scheduler<P>)| {
            scheduler.grid().alarms().all(|(_, alarm)| self.clock.is_idle(PartyId::new(party), alarm))
        };
        if next.is_none() && self.schedulers.iter().enumerate().all(is_idle) {
            return None;
        }
        self.or_alarm(next)
    }

    #[inline]
    fn next_without_alarms(&self) -> Option<(Time, Next<O::Happening>)> {
        let next = self.outside.next().map(|(time, happening)| (time, Next::Happening(happening)));
        if let Some(time) = self.mail.next()
            && next.as_ref().is_none_or(|(before, _)| time < *before)
        {
            return Some((time, Next::Letter));
        }
        next
    }

    /// Or the first alarm, if that comes before.
    #[inline]
    fn or_alarm(&self, next: Option<(Time, Next<O::Happening>)>) -> Option<(Time, Next<O::Happening>)> {
        let alarm = self.alarms.first().filter(|alarm| !alarm.is_off);
        let next = match (next, alarm) {
            (Some((time, next)), alarm) if alarm.is_none_or(|alarm| time <= alarm.at) => Some((time, next)),
            (_, alarm) => alarm.map(|alarm| (alarm.at, Next::Alarm(alarm.party))),
        };
        // What is due where time ends would be due there again and again.
        next.filter(|(at, _)| *at < Time::NEVER)
    }

    /// Does what there is to do at this instant: what follows from a fact or an order comes before what was due earlier.
    fn settle(&mut self) {
        self.take_out(0);
        self.follow();
    }

    fn follow(&mut self) {
        while let Some(due) = self.out.due.pop() {
            match due {
                Due::Hear(party, event) => self.hear(party, &event),
                Due::Obey(party, order) => {
                    let earlier = self.out.due.len();
                    self.clock.stirred();
                    self.outside.obey(self.clock.now, party, order, &mut self.out);
                    self.take_out(earlier);
                }
            }
        }
    }

    /// What came of the latest deed of the outside, behind so much that was due `earlier`.
    #[inline]
    fn take_out(&mut self, earlier: usize) {
        self.out.due[earlier..].reverse();
        if !self.out.answers.is_empty() {
            self.take_answers(earlier);
        }
        if !self.out.letters.is_empty() {
            for (from, to, letter) in self.out.letters.drain(..) {
                self.mail.post(self.clock.now, (from, to), letter);
            }
        }
    }

    /// Answers come behind what is still due of the orders of the same party.
    fn take_answers(&mut self, earlier: usize) {
        let Out { due, answers, .. } = &mut self.out;
        for (party, event) in answers.drain(..).rev() {
            let is_ordered = |due: &&Due| matches!(due, Due::Obey(by, _) if *by == party);
            let ordered = due[..earlier].iter().rev().take_while(is_ordered).count();
            due.insert(earlier - ordered, Due::Hear(party, event));
        }
    }

    /// A scheduler takes in a fact and answers it.
    fn hear(&mut self, party: PartyId, event: &Event) {
        let now = self.clock.now;
        if let Some(observer) = &mut self.observer {
            observer.event(now, party, event);
        }
        let scheduler = &mut self.schedulers[party.index()];
        scheduler.apply(now, event);
        while scheduler.is_asked() {
            scheduler.decide(now, &mut self.decisions);
        }
        let earlier = self.out.due.len();
        if scheduler.has_orders() {
            let orders = scheduler.take_orders().rev().map(|order| Due::Obey(party, order));
            self.out.due.extend(orders);
        }
        if let Some(observer) = &mut self.observer {
            self.decisions.iter().for_each(|decision| observer.decision(now, party, decision));
            for due in self.out.due[earlier..].iter().rev() {
                if let Due::Obey(_, order) = due {
                    observer.command(now, party, order);
                }
            }
        }
        self.decisions.clear();
        self.set_alarm(party);
    }

    #[inline]
    fn set_alarm(&mut self, party: PartyId) {
        let alarm = Alarm::of(party, &self.schedulers[party.index()]);
        if self.alarms.get(party.index()) != alarm {
            self.alarms.set(party.index(), alarm);
        }
    }

    /// The simulated moment.
    pub fn now(&self) -> Time {
        self.clock.now
    }

    /// A letter leaves that nothing here led to.
    pub fn send(&mut self, from: PartyId, to: PartyId, letter: O::Letter) {
        self.mail.post(self.clock.now, (from, to), letter);
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The schedulers, in order of their parties' ids.
    pub(crate) fn schedulers(&self) -> &[Scheduler<P>] {
        &self.schedulers
    }

    /// A party's scheduler.
    pub fn scheduler(&self, party: PartyId) -> &Scheduler<P> {
        &self.schedulers[party.index()]
    }

    /// What surrounds them.
    pub fn outside(&self) -> &O {
        &self.outside
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }

    /// Whether what the outside does by itself comes next.
    pub(crate) fn next_happening(&self) -> Option<O::Happening> {
        match self.next() {
            Some((_, Next::Happening(happening))) => Some(happening),
            _ => None,
        }
    }

    /// The schedulers, and what surrounds them to write into.
    pub(crate) fn both(&mut self) -> (&[Scheduler<P>], &mut O) {
        (&self.schedulers, &mut self.outside)
    }

    /// Letters on their way, for whoever saves the run.
    pub fn mail(&self) -> &Mail<O::Letter> {
        &self.mail
    }
}
