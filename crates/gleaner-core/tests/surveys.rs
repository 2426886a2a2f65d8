//! Sites that are asked how things are: who answers is believed, who is silent is dropped until the next time.

use gleaner_core::{
    Alarm, Cause, Change, Command, Decision, Event, Grid, GridConfig, MachineClass, Migration, Occasion,
    Policy, Refusal, Room, Scheduler, SiteState,
};
use gleaner_units::{MachineClassId, MachineId, Time};

const NOW: Time = Time::from_nanos(5);
const UNTIL: Time = Time::from_nanos(9);

/// Wishes what it is told, and remembers what it was asked about.
#[derive(Clone, Default)]
struct Puppet {
    wish: Option<Decision>,
    refusal: Option<Refusal>,
    asked: Vec<Cause>,
}

impl Policy for Puppet {
    fn observe(&mut self, _: &Grid, change: &Change) {
        if let Change::Refused(refusal) = change {
            self.refusal = Some(*refusal);
        }
    }

    fn propose(&mut self, _: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        self.asked.push(occasion.cause);
        self.wish.take()
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

fn on(index: usize) -> MachineId {
    MachineId::new(index)
}

fn tell(scheduler: &mut Scheduler<Puppet>, now: Time, event: &Event) -> Vec<Change> {
    let changes = scheduler.apply(now, event).to_vec();
    scheduler.decide(now, &mut Vec::new());
    scheduler.check().expect("a whole grid");
    changes
}

fn survey(scheduler: &mut Scheduler<Puppet>, until: Time) -> Option<Refusal> {
    scheduler.set_policy(Puppet { wish: Some(Decision::Survey { until }), ..Puppet::default() });
    // What is there already wakes whoever has a wish.
    tell(scheduler, NOW, &Event::WokeUp { alarm: Alarm::Relocation });
    scheduler.policy().refusal
}

fn orders(scheduler: &mut Scheduler<Puppet>) -> Vec<Command> {
    scheduler.take_orders().collect()
}

fn answer(number: u32, site: usize, cores_free: u32) -> Event {
    let state = SiteState { cores_free, ..SiteState::default() };
    Event::SurveyAnswered { number, machine: on(site), state, known_at: NOW }
}

fn dropped(scheduler: &Scheduler<Puppet>) -> Vec<usize> {
    (0..3).filter(|site| scheduler.grid().is_dropped(on(*site))).collect()
}

/// Three sites of two cores.
fn sites() -> Scheduler<Puppet> {
    let empty = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut scheduler = Scheduler::new(empty, Puppet::default());
    let room = Room { slots: Some(2), ..Room::default() };
    let met = MachineClass { room, ..MachineClass::plain(vec![1.0], 2) };
    tell(&mut scheduler, NOW, &Event::MachineClassMet(Box::new(met)));
    for machine in (0..3).map(on) {
        tell(&mut scheduler, NOW, &Event::MachineJoined { machine, class: MachineClassId::new(0) });
    }
    scheduler
}

fn over() -> Cause {
    Cause::WokeUp { alarm: Alarm::Survey, due: NOW }
}

#[test]
fn it_is_over_when_the_last_has_answered() {
    let mut scheduler = sites();
    tell(&mut scheduler, NOW, &Event::MachineClosed { machine: on(1) });
    assert_eq!(survey(&mut scheduler, UNTIL), None);
    let sites = [on(0), on(2)].into();
    assert_eq!(orders(&mut scheduler), [Command::Survey { number: 1, sites }], "who takes tasks is asked");
    assert_eq!(survey(&mut scheduler, UNTIL), Some(Refusal::Surveying), "one at a time");
    tell(&mut scheduler, NOW, &answer(1, 0, 1));
    tell(&mut scheduler, NOW, &answer(1, 0, 1));
    tell(&mut scheduler, NOW, &answer(1, 1, 1));
    assert!(scheduler.grid().is_surveying(), "nobody answers twice, or for another");
    tell(&mut scheduler, NOW, &answer(1, 2, 0));
    assert_eq!(scheduler.policy().asked.last(), Some(&over()));
    assert_eq!(
        (scheduler.grid().survey_missed(), scheduler.grid().next_alarm()),
        (true, None),
        "a site closed"
    );
    assert_eq!(dropped(&scheduler), [0; 0]);
    let free = |site| scheduler.grid().belief(on(site)).map(|belief| belief.state().cores_free);
    assert_eq!([free(0), free(1), free(2)], [Some(1), Some(1), Some(0)]);
}

#[test]
fn who_is_silent_is_dropped_until_it_is_asked_again() {
    let mut scheduler = sites();
    survey(&mut scheduler, UNTIL);
    tell(&mut scheduler, NOW, &answer(1, 1, 2));
    assert_eq!(scheduler.grid().next_alarm(), Some((UNTIL, Alarm::Survey)));
    let changes = tell(&mut scheduler, UNTIL, &Event::WokeUp { alarm: Alarm::Survey });
    assert!(
        changes.contains(&Change::BeliefChanged(on(0))) && changes.contains(&Change::BeliefChanged(on(2)))
    );
    assert_eq!(dropped(&scheduler), [0, 2]);
    // What comes too late is news, and answers nothing.
    tell(&mut scheduler, UNTIL, &answer(1, 0, 1));
    assert_eq!(dropped(&scheduler), [0, 2]);
    assert!(scheduler.grid().belief(on(0)).is_some());
    survey(&mut scheduler, UNTIL);
    for site in 0..3 {
        tell(&mut scheduler, NOW, &answer(1, site, 1));
    }
    assert!(scheduler.grid().is_surveying(), "an answer to another survey");
    for site in 0..3 {
        tell(&mut scheduler, NOW, &answer(2, site, 1));
    }
    assert_eq!(dropped(&scheduler), [0; 0]);
}

#[test]
fn another_rule_drops_nobody() {
    let mut scheduler = sites();
    survey(&mut scheduler, UNTIL);
    tell(&mut scheduler, UNTIL, &Event::WokeUp { alarm: Alarm::Survey });
    assert_eq!(dropped(&scheduler), [0, 1, 2]);
    tell(&mut scheduler, UNTIL, &Event::RuleChanged);
    assert_eq!(dropped(&scheduler), [0; 0]);
}

#[test]
fn whatever_a_site_says_unasked_does_no_harm() {
    let mut scheduler = sites();
    assert_eq!(survey(&mut scheduler, Time::from_nanos(4)), Some(Refusal::Passed(Time::from_nanos(4))));
    let before = scheduler.policy().asked.len();
    for site in [3, 4, usize::MAX >> 33] {
        assert_eq!(tell(&mut scheduler, NOW, &answer(0, site, 1)), []);
    }
    tell(&mut scheduler, NOW, &Event::WokeUp { alarm: Alarm::Survey });
    assert_eq!((scheduler.policy().asked.len(), scheduler.grid().is_surveying()), (before, false));
}
