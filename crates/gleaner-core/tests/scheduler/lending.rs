//! What happens to machines that change hands, event by event and wish by wish.

use crate::plain::{empty, joined, machine, submitted, task};
use crate::puppet::{self, Puppet, orders, tell};
use gleaner_core::{
    Availability, Command, Decision, Event, Lending, LendingEvent, LendingRefusal, MachineClass, Refusal,
    Scheduler, Seek, TaskClass, TaskState, Want,
};
use gleaner_units::{MachineClassId, MachineId, PartyId, Span, TaskClassId};

const CLASS: TaskClassId = TaskClassId::FIRST;
const KIND: MachineClassId = MachineClassId::FIRST;

fn peer(index: usize) -> PartyId {
    PartyId::new(index)
}

fn hear_of(scheduler: &mut Scheduler<Puppet>, event: LendingEvent) {
    tell(scheduler, &Event::Lending(event));
}

/// A site with so many machines of its own.
fn site(machines: usize) -> Scheduler<Puppet> {
    let mut site = Scheduler::new(empty(), Puppet::default());
    let class = MachineClass::plain(vec![1.0], 1);
    let tasks = TaskClass { restarts: true, ..TaskClass::plain(vec![1.0]) };
    tell(&mut site, &Event::MachineClassMet(Box::new(class)));
    tell(&mut site, &Event::TaskClassMet(Box::new(tasks)));
    for index in 0..machines {
        tell(&mut site, &joined(index, 0));
    }
    site
}

/// What a wish comes to, with the orders.
fn wish(site: &mut Scheduler<Puppet>, decision: Decision) -> Result<Vec<Command>, Refusal> {
    let _ = site.take_orders();
    match puppet::wish(site, decision) {
        Some(refusal) => Err(refusal),
        None => Ok(orders(site)),
    }
}

fn lend(site: &mut Scheduler<Puppet>, wished: Lending) -> Result<Vec<Command>, Refusal> {
    wish(site, Decision::Lending(wished))
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

    tell(&mut site, &submitted(0, 1, 0));
    let start = Decision::Start { task: task(0), on: machine(0) };
    assert_eq!(wish(&mut site, start.clone()), Err(Refusal::Closed(machine(0))));

    let recall = Lending::Recall { machine: machine(0) };
    assert_eq!(lend(&mut site, recall), Ok(vec![Command::Lending(recall)]));
    assert_eq!(lend(&mut site, recall), refused(LendingRefusal::NotLent(machine(0))), "once");
    hear_of(&mut site, LendingEvent::Returned { machine: machine(0) });
    assert!(wish(&mut site, start).is_ok());
    hear_of(&mut site, LendingEvent::Returned { machine: machine(0) });
    assert_eq!(site.grid().machine(machine(0)).count(), 1, "a second return is no event");
}

#[test]
fn a_borrowed_machine_is_one_that_joined_and_is_lost() {
    let mut site = site(1);
    hear_of(&mut site, LendingEvent::Borrowed { machine: machine(1), class: KIND, from: peer(3) });
    assert_eq!(site.grid().own_machines(), 1);
    hear_of(&mut site, LendingEvent::Wanted(vec![wants(4, 1)]));
    let lending = Lending::Lend { machine: machine(1), to: peer(4) };
    assert_eq!(lend(&mut site, lending), refused(LendingRefusal::NotOwn(machine(1))));

    tell(&mut site, &submitted(0, 1, 0));
    let start = Decision::Start { task: task(0), on: machine(1) };
    assert!(wish(&mut site, start).is_ok());
    let give_back = Lending::GiveBack { machine: machine(1) };
    assert_eq!(lend(&mut site, give_back), refused(LendingRefusal::NotIdle(machine(1))));
    tell(&mut site, &Event::MachineLost { machine: machine(1) });
    assert_eq!(site.grid().task(task(0)).state(), TaskState::Waiting, "it runs again");
    tell(&mut site, &Event::MachineReturned { machine: machine(1) });
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
            tell(&mut site, &event);
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
