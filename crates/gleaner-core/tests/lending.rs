//! What happens to machines that change hands, event by event and wish by wish.

use gleaner_core::{
    Availability, Change, Command, Decision, Event, Grid, GridConfig, Lending, LendingEvent, LendingRefusal,
    MachineClass, Migration, Occasion, Policy, Refusal, Scheduler, Seek, TaskClass, TaskState, Want,
};
use gleaner_units::{MachineClassId, MachineId, PartyId, Span, TaskClassId, TaskId, Time};

/// Wishes what a test tells it to.
#[derive(Clone, Debug, Default)]
struct Told(Option<Decision>);

impl Policy for Told {
    fn observe(&mut self, _: &Grid, _: &Change) {}
    fn propose(&mut self, _: &Grid, _: Time, _: Occasion) -> Option<Decision> {
        self.0.take()
    }
    fn rebuild(&mut self, _: &Grid) {}
    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

const CLASS: TaskClassId = TaskClassId::FIRST;
const KIND: MachineClassId = MachineClassId::FIRST;

fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

fn peer(index: usize) -> PartyId {
    PartyId::new(index)
}

fn hear(scheduler: &mut Scheduler<Told>, event: &Event) {
    scheduler.apply(Time::ZERO, event);
    scheduler.check().unwrap_or_else(|broken| panic!("after {event:?}: {broken}"));
}

fn hear_of(scheduler: &mut Scheduler<Told>, event: LendingEvent) {
    hear(scheduler, &Event::Lending(event));
}

/// A site with so many machines of its own.
fn site(machines: usize) -> Scheduler<Told> {
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut site = Scheduler::new(grid, Told::default());
    let class = MachineClass::plain(vec![1.0], 1);
    let tasks = TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) };
    hear(&mut site, &Event::MachineClassMet(Box::new(class)));
    hear(&mut site, &Event::TaskClassMet(Box::new(tasks)));
    for index in 0..machines {
        hear(&mut site, &Event::MachineJoined { machine: machine(index), class: KIND });
    }
    site
}

/// What a wish comes to, with the orders.
fn wish(site: &mut Scheduler<Told>, decision: &Decision) -> Result<Vec<Command>, Refusal> {
    let mut decisions = Vec::new();
    site.decide(Time::ZERO, &mut decisions);
    let _ = site.take_orders();
    // An event that changes nothing but asks the policy.
    hear(site, &Event::RuleChanged);
    let mut told = site.clone();
    told.set_policy(Told(Some(decision.clone())));
    let before = told.grid().clone();
    told.decide(Time::ZERO, &mut decisions);
    if decisions != [decision.clone()] {
        let refused = before;
        let mut again = Scheduler::new(refused, Told(None));
        let outcome =
            again.carry_out(Time::ZERO, std::slice::from_ref(decision), gleaner_core::Settled::default());
        let Err(gleaner_core::Diverged::Refused { refusal, .. }) = outcome else {
            panic!("{decision:?} was neither admitted nor refused")
        };
        return Err(refusal);
    }
    told.check().unwrap_or_else(|broken| panic!("after {decision:?}: {broken}"));
    let orders = told.take_orders().collect();
    *site = told;
    Ok(orders)
}

fn lend(site: &mut Scheduler<Told>, wished: Lending) -> Result<Vec<Command>, Refusal> {
    wish(site, &Decision::Lending(wished))
}

fn wants(by: usize, workers: u32) -> Want {
    Want { by: peer(by), class: CLASS, workers, seek: Seek::First }
}

fn refused<T>(why: LendingRefusal) -> Result<T, Refusal> {
    Err(Refusal::Lending(why))
}

#[test]
fn a_lent_machine_takes_nothing_until_it_is_back() {
    let mut site = site(2);
    let lending = Lending::Lend { machine: machine(0), to: peer(7) };
    assert_eq!(lend(&mut site, lending), refused(LendingRefusal::NotWanted(peer(7))));
    hear_of(&mut site, LendingEvent::Wanted(vec![wants(7, 1), wants(8, 0)]));
    assert_eq!(site.grid().loans().wants(), [wants(7, 1)], "who wants none wants nothing");
    assert_eq!(lend(&mut site, lending), Ok(vec![Command::Lending(lending)]));
    assert!(site.grid().loans().wants().is_empty());
    let away = || site.grid().machine(machine(0)).availability();
    assert_eq!(away(), Availability::Lent);

    hear(&mut site, &Event::TasksSubmitted { first: TaskId::new(0), count: 1, class: CLASS, length: None });
    let start = Decision::Start { task: TaskId::new(0), on: machine(0) };
    assert_eq!(wish(&mut site, &start.clone()), Err(Refusal::Closed(machine(0))));

    let recall = Lending::Recall { machine: machine(0) };
    assert_eq!(lend(&mut site, recall), Ok(vec![Command::Lending(recall)]));
    assert_eq!(lend(&mut site, recall), refused(LendingRefusal::NotLent(machine(0))), "once");
    hear_of(&mut site, LendingEvent::Returned { machine: machine(0) });
    assert!(wish(&mut site, &start).is_ok());
    hear_of(&mut site, LendingEvent::Returned { machine: machine(0) });
    assert_eq!(site.grid().machine(machine(0)).count(), 1, "a second return is no event");
}

#[test]
fn a_borrowed_machine_is_one_that_joined_and_is_lost() {
    let mut site = site(1);
    hear_of(&mut site, LendingEvent::Borrowed { machine: machine(1), class: KIND, from: peer(3) });
    assert_eq!((site.grid().own_machines(), site.grid().loans().borrowed_ids()), (1, 1));
    hear_of(&mut site, LendingEvent::Wanted(vec![wants(4, 1)]));
    let lending = Lending::Lend { machine: machine(1), to: peer(4) };
    assert_eq!(lend(&mut site, lending), refused(LendingRefusal::NotOwn(machine(1))));

    hear(&mut site, &Event::TasksSubmitted { first: TaskId::new(0), count: 1, class: CLASS, length: None });
    let start = Decision::Start { task: TaskId::new(0), on: machine(1) };
    assert!(wish(&mut site, &start).is_ok());
    let give_back = Lending::GiveBack { machine: machine(1) };
    assert_eq!(lend(&mut site, give_back), refused(LendingRefusal::NotIdle(machine(1))));
    hear(&mut site, &Event::MachineLost { machine: machine(1) });
    assert_eq!(site.grid().task(TaskId::new(0)).state(), TaskState::Waiting, "it runs again");
    hear(&mut site, &Event::MachineReturned { machine: machine(1) });
    assert_eq!(
        site.grid().machine(machine(1)).availability(),
        Availability::Lost,
        "only its peer brings it back"
    );
    assert_eq!(lend(&mut site, give_back), refused(LendingRefusal::NotBorrowed(machine(1))));

    // The same id, for the next of its kind.
    hear_of(&mut site, LendingEvent::Borrowed { machine: machine(1), class: KIND, from: peer(5) });
    assert_eq!(lend(&mut site, give_back), Ok(vec![Command::Lending(give_back)]));
    assert_eq!(site.grid().machine(machine(1)).availability(), Availability::Lost);
    assert_eq!(
        lend(&mut site, Lending::GiveBack { machine: machine(0) }),
        refused(LendingRefusal::NotBorrowed(machine(0)))
    );
}

#[test]
fn a_machine_that_was_paused_while_lent_is_paused_when_it_is_back() {
    for (events, expected) in [
        (vec![Event::MachineClosed { machine: machine(0) }], Availability::Closed),
        (
            vec![Event::MachineClosed { machine: machine(0) }, Event::MachineOpened { machine: machine(0) }],
            Availability::Open,
        ),
    ] {
        let mut site = site(1);
        hear_of(&mut site, LendingEvent::Wanted(vec![wants(7, 1)]));
        lend(&mut site, Lending::Lend { machine: machine(0), to: peer(7) }).expect("it is idle and wanted");
        for event in events {
            hear(&mut site, &event);
        }
        hear_of(&mut site, LendingEvent::Returned { machine: machine(0) });
        assert_eq!(site.grid().machine(machine(0)).availability(), expected);
    }
}

#[test]
fn what_is_said_twice_is_said_once() {
    let mut site = site(1);
    let ask = |workers| Lending::Ask { class: CLASS, workers, seek: Seek::First };
    assert_eq!(lend(&mut site, ask(0)), refused(LendingRefusal::NothingNew));
    assert!(lend(&mut site, ask(2)).is_ok());
    assert_eq!(lend(&mut site, ask(2)), refused(LendingRefusal::NothingNew));
    assert!(lend(&mut site, ask(0)).is_ok());
    assert_eq!(lend(&mut site, Lending::Offer { best: None }), refused(LendingRefusal::NothingNew));
    assert_eq!(lend(&mut site, Lending::Refuse), refused(LendingRefusal::NothingNew));
}

/// Six machines lent in turn to 7, 8, 7, 8, 8, 9, whose favours are given.
fn recalled(favours: [u64; 3]) -> Option<usize> {
    let mut site = site(6);
    for (index, to) in [7, 8, 7, 8, 8, 9].into_iter().enumerate() {
        hear_of(&mut site, LendingEvent::Wanted(vec![wants(to, 1)]));
        lend(&mut site, Lending::Lend { machine: machine(index), to: peer(to) })
            .expect("it is idle and wanted");
    }
    for (from, nanos) in (7..).zip(favours) {
        hear_of(&mut site, LendingEvent::FavourReceived { from: peer(from), worth: Span::from_nanos(nanos) });
    }
    site.grid().loans().first_to_recall(|_| true).map(MachineId::index)
}

#[test]
fn the_newest_loan_of_whoever_holds_most_beyond_its_share_comes_back_first() {
    assert_eq!(recalled([0, 0, 0]), Some(4), "8 holds three of six");
    assert_eq!(recalled([1, 2, 0]), Some(5), "7 and 8 hold what they earned, 9 holds one too many");
    assert_eq!(recalled([1, 8, 3]), Some(2), "7 earned half a machine, 8 four, 9 one and a half");
    assert_eq!(recalled([0, 100, 0]), Some(2), "7 holds two too many");
}

#[test]
fn an_answer_is_to_what_is_asked_for_now() {
    let mut site = site(1);
    let ask = |workers, seek| Lending::Ask { class: CLASS, workers, seek };
    assert!(lend(&mut site, ask(2, Seek::Above(KIND))).is_ok());
    let answer = |seek| LendingEvent::NothingLent { class: CLASS, seek };
    hear_of(&mut site, answer(Seek::MostPowerful));
    assert!(!site.grid().loans().asked(CLASS).in_vain, "it answers what was asked for before");
    hear_of(&mut site, answer(Seek::Above(KIND)));
    assert!(site.grid().loans().asked(CLASS).in_vain);
    assert!(lend(&mut site, ask(1, Seek::Above(KIND))).is_ok());
    assert!(!site.grid().loans().asked(CLASS).in_vain, "it is asked anew");
}

#[test]
fn a_loan_of_the_most_powerful_uses_up_the_offer() {
    for (seek, left) in [(Seek::First, Some(KIND)), (Seek::MostPowerful, None), (Seek::Above(KIND), None)] {
        let mut site = site(2);
        assert!(lend(&mut site, Lending::Offer { best: Some(KIND) }).is_ok());
        hear_of(&mut site, LendingEvent::Wanted(vec![Want { seek, ..wants(7, 1) }]));
        lend(&mut site, Lending::Lend { machine: machine(0), to: peer(7) }).expect("it is idle and wanted");
        assert_eq!(site.grid().loans().offers(), left, "{seek:?}");
    }
}
