//! Sites that are asked how things are: who answers is believed, who is silent is dropped until the next time.

use crate::plain::{empty, joined, machine as on};
use crate::puppet::{NOW, Puppet, orders, tell, tell_at, wish};
use gleaner_core::{
    Alarm, Cause, Change, Command, Decision, Event, MachineClass, Refusal, Room, Scheduler, SiteState,
};
use gleaner_units::Time;

const UNTIL: Time = Time::from_nanos(9);

fn survey(scheduler: &mut Scheduler<Puppet>, until: Time) -> Option<Refusal> {
    wish(scheduler, Decision::Survey { until })
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
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let room = Room { slots: Some(2), ..Room::default() };
    let met = MachineClass { room, ..MachineClass::plain(vec![1.0], 2) };
    tell(&mut scheduler, &Event::MachineClassMet(Box::new(met)));
    for index in 0..3 {
        tell(&mut scheduler, &joined(index, 0));
    }
    scheduler
}

fn over() -> Cause {
    Cause::WokeUp { alarm: Alarm::Survey, due: NOW }
}

#[test]
fn it_is_over_when_the_last_has_answered() {
    let mut scheduler = sites();
    tell(&mut scheduler, &Event::MachineClosed { machine: on(1) });
    assert_eq!(survey(&mut scheduler, UNTIL), None);
    let sites = [on(0), on(2)].into();
    assert_eq!(orders(&mut scheduler), [Command::Survey { number: 1, sites }], "who takes tasks is asked");
    assert_eq!(survey(&mut scheduler, UNTIL), Some(Refusal::Surveying), "one at a time");
    tell(&mut scheduler, &answer(1, 0, 1));
    tell(&mut scheduler, &answer(1, 0, 1));
    tell(&mut scheduler, &answer(1, 1, 1));
    assert!(scheduler.grid().is_surveying(), "nobody answers twice, or for another");
    tell(&mut scheduler, &answer(1, 2, 0));
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
    tell(&mut scheduler, &answer(1, 1, 2));
    assert_eq!(scheduler.grid().next_alarm(), Some((UNTIL, Alarm::Survey)));
    let changes = tell_at(&mut scheduler, UNTIL, &Event::WokeUp { alarm: Alarm::Survey });
    assert!(
        changes.contains(&Change::BeliefChanged(on(0))) && changes.contains(&Change::BeliefChanged(on(2)))
    );
    assert_eq!(dropped(&scheduler), [0, 2]);
    // What comes too late is news, and answers nothing.
    tell_at(&mut scheduler, UNTIL, &answer(1, 0, 1));
    assert_eq!(dropped(&scheduler), [0, 2]);
    assert!(scheduler.grid().belief(on(0)).is_some());
    survey(&mut scheduler, UNTIL);
    for site in 0..3 {
        tell(&mut scheduler, &answer(1, site, 1));
    }
    assert!(scheduler.grid().is_surveying(), "an answer to another survey");
    for site in 0..3 {
        tell(&mut scheduler, &answer(2, site, 1));
    }
    assert_eq!(dropped(&scheduler), [0; 0]);
}

#[test]
fn another_rule_drops_nobody() {
    let mut scheduler = sites();
    survey(&mut scheduler, UNTIL);
    tell_at(&mut scheduler, UNTIL, &Event::WokeUp { alarm: Alarm::Survey });
    assert_eq!(dropped(&scheduler), [0, 1, 2]);
    tell_at(&mut scheduler, UNTIL, &Event::RuleChanged);
    assert_eq!(dropped(&scheduler), [0; 0]);
}

#[test]
fn whatever_a_site_says_unasked_does_no_harm() {
    let mut scheduler = sites();
    assert_eq!(survey(&mut scheduler, Time::from_nanos(4)), Some(Refusal::Passed(Time::from_nanos(4))));
    let before = scheduler.policy().asked.len();
    for site in [3, 4, usize::MAX >> 33] {
        assert_eq!(tell(&mut scheduler, &answer(0, site, 1)), []);
    }
    tell(&mut scheduler, &Event::WokeUp { alarm: Alarm::Survey });
    assert_eq!((scheduler.policy().asked.len(), scheduler.grid().is_surveying()), (before, false));
}
