//! Runs that end with their machine's agent: a program that takes its machines down is not run without end.

use super::books::{agent, end, leaving};
use super::story::Story;
use gleaner_core::Judgement;
use gleaner_server::journal::Fact;
use gleaner_server::view::{Situation, waits};
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Profile};

/// As many runs in a row as may come to nothing.
const RUNS_MAX: u64 = 20;

fn story(machines: usize) -> Story {
    let mut story = Story::of(machines, JobSpec::new(["reboot"]));
    story.begin();
    story
}

/// The run of the task, which begins.
fn begins(story: &mut Story) -> (RunId, MachineId) {
    let on = (0..2).map(agent).find(|&on| story.run_on(on).is_some()).expect("it runs");
    let run = story.run_on(on).expect("it runs");
    story.tell(&Fact::RunStarted(run));
    (run, on)
}

fn starts_afresh(story: &mut Story, agent: MachineId, incarnation: u64) {
    brings(story, agent, incarnation, &[]);
}

fn brings(story: &mut Story, agent: MachineId, incarnation: u64, runs: &[RunId]) {
    let profile = Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], 2) };
    story.tell(&Fact::AgentStarted { agent, incarnation, profile, brings: runs.to_vec() });
}

/// The seconds for which it rests, which then are over.
fn rests(story: &mut Story) -> f64 {
    let until = story.books.ledger.record(TaskId::new(0)).rests_until().expect("it rests");
    let seconds = (until - story.at).seconds();
    story.at = until;
    story.tell(&Fact::TasksRested(vec![TaskId::new(0)]));
    seconds
}

/// Each enrolment counted as a loss, before the agent had ever come.
#[test]
fn an_agent_that_is_enrolled_was_not_lost() {
    let story = story(2);
    let grid = story.books.ledger.grid();
    assert_eq!(grid.losses_per_s(story.at, grid.machine(agent(0)).class()), 0.0);
}

#[test]
fn what_ends_with_its_agent_each_time_rests_longer_and_longer_and_is_given_up() {
    let mut story = story(2);
    let mut rested = Vec::new();
    for incarnation in 1..RUNS_MAX {
        let (_, on) = begins(&mut story);
        starts_afresh(&mut story, on, 1 + incarnation);
        if incarnation > 1 {
            rested.push(rests(&mut story));
        }
    }
    assert_eq!(rested[..5], [2.0, 4.0, 8.0, 16.0, 32.0]);
    assert!(rested.is_sorted() && rested[rested.len() - 1] == 300.0, "{rested:?}");
    let (_, on) = begins(&mut story);
    starts_afresh(&mut story, on, 1 + RUNS_MAX);
    assert_eq!(story.phase(), TaskPhase::Failed);
    let last = story.books.ledger.record(TaskId::new(0)).last.clone().expect("it says why");
    let Outcome::OverLimit { what } = last.outcome else { panic!("{:?}", last.outcome) };
    assert!(what.contains("or its agent ended with them"), "{what}");
}

/// A run before them failed, and left files.
#[test]
fn what_is_given_up_has_no_files() {
    let mut story = Story::of(2, JobSpec { retries: 1, ..JobSpec::new(["reboot"]) });
    story.begin();
    let (run, on) = begins(&mut story);
    let end = leaving(100, end(&Outcome::Exited { code: 1 }));
    story.tell(&Fact::RunEnded { run, agent: on, end, answer: None, is_left: None });
    assert_eq!(story.books.ledger.bytes_of("ada"), 100);
    let mut incarnation = 1;
    while story.phase() != TaskPhase::Failed {
        assert!(incarnation <= RUNS_MAX, "it is given up");
        if story.books.ledger.record(TaskId::new(0)).rests_until().is_some() {
            rests(&mut story);
        }
        let (_, on) = begins(&mut story);
        incarnation += 1;
        starts_afresh(&mut story, on, incarnation);
    }
    assert_eq!(story.books.ledger.bytes_of("ada"), 0);
}

/// A machine takes longer to start than its lease lasts.
#[test]
fn so_does_what_was_given_up_before_its_agent_was_back() {
    let mut story = story(1);
    for incarnation in 1..=RUNS_MAX {
        let (run, on) = begins(&mut story);
        story.tell(&Fact::LeaseExpired { agent: on });
        assert_eq!(story.phase(), TaskPhase::Waiting);
        starts_afresh(&mut story, on, 1 + incarnation);
        assert!(!story.books.ledger.is_awaited(run, on), "nothing is heard of it any more");
        if (2..RUNS_MAX).contains(&incarnation) {
            assert!(rests(&mut story) >= 1.0);
        }
    }
    assert_eq!(story.phase(), TaskPhase::Failed);
}

/// A machine takes new runs, or none.
fn opens(story: &mut Story, machine: usize, open: bool) {
    let (agent, why, by) = (agent(machine), String::new(), Actor::Coordinator);
    story.tell(&Fact::MachineOpened { agent, open, why, by });
}

/// Its run begins, and its agent ends with it, as often in a row as may be.
fn ends_with_each(story: &mut Story, on: MachineId) {
    ends_with(story, on, RUNS_MAX);
}

/// Likewise, so often.
fn ends_with(story: &mut Story, on: MachineId, times: u64) {
    for incarnation in 1..=times {
        begins_on(story, on);
        starts_afresh(story, on, 1 + incarnation);
    }
}

fn begins_on(story: &mut Story, on: MachineId) {
    if story.books.ledger.record(TaskId::new(0)).rests_until().is_some() {
        rests(story);
    }
    let run = story.run_on(on).expect("it is asked again");
    story.tell(&Fact::RunStarted(run));
}

/// A task of which two machines are asked, those, and a third that is closed.
fn two_of_three() -> (Story, [usize; 3]) {
    let mut story = Story::new();
    story.begin();
    let first: Vec<usize> = (0..3).filter(|&on| story.run_on(agent(on)).is_some()).collect();
    let third = (0..3).find(|on| !first.contains(on)).expect("a third");
    opens(&mut story, third, false);
    (story, [first[0], first[1], third])
}

/// It said that it ran, and came back as if it had been started anew, twenty times within seconds.
#[test]
fn one_machine_alone_gives_up_nothing_that_others_are_asked_for_too() {
    let (mut story, [honest, liar, third]) = two_of_three();
    story.answers(agent(honest), 'a', Judgement::Kept, &[]);
    ends_with_each(&mut story, agent(liar));
    assert_eq!(story.phase(), TaskPhase::Waiting);
    assert_eq!(story.run_on(agent(liar)), None, "it has spoken");
    opens(&mut story, third, true);
    story.answers(agent(third), 'a', Judgement::Agreed, &[liar]);
    assert_eq!(story.phase(), TaskPhase::Done);
    assert_eq!(story.books.ledger.grid().trust(agent(liar)).wrong, 1);
}

/// It ended with all runs that a machine may have but one, and the next machine was started again once: that was outvoted for it.
#[test]
fn the_restarts_of_one_machine_are_no_word_of_another() {
    let (mut story, [honest, liar, third]) = two_of_three();
    story.answers(agent(honest), 'a', Judgement::Kept, &[]);
    ends_with(&mut story, agent(liar), RUNS_MAX - 2);
    begins_on(&mut story, agent(liar));
    opens(&mut story, liar, false);
    starts_afresh(&mut story, agent(liar), RUNS_MAX);
    opens(&mut story, third, true);
    ends_with(&mut story, agent(third), 1);
    assert!(story.run_on(agent(third)).is_some(), "it is asked again");
    story.answers(agent(third), 'a', Judgement::Agreed, &[]);
    assert_eq!(story.phase(), TaskPhase::Done);
    assert_eq!(story.books.ledger.grid().trust(agent(third)).wrong, 0);
}

/// They counted only while no other machine was at it.
#[test]
fn a_machine_that_is_started_again_and_again_has_spoken_also_while_another_runs() {
    let (mut story, [honest, liar, third]) = two_of_three();
    begins_on(&mut story, agent(honest));
    ends_with_each(&mut story, agent(liar));
    assert_eq!(story.run_on(agent(liar)), None, "it has spoken");
    assert!(story.run_on(agent(honest)).is_some(), "the other goes on");
    opens(&mut story, third, true);
    story.answers(agent(honest), 'a', Judgement::Kept, &[]);
    story.answers(agent(third), 'a', Judgement::Agreed, &[liar]);
    assert_eq!(story.phase(), TaskPhase::Done);
}

/// A program that takes its machines down.
#[test]
fn what_ends_with_the_agents_of_as_many_as_are_asked_is_given_up() {
    let mut story = Story::of(2, JobSpec { quorum: 2, ..JobSpec::new(["reboot"]) });
    opens(&mut story, 1, false);
    ends_with_each(&mut story, agent(0));
    assert_eq!((story.phase(), story.run_on(agent(0))), (TaskPhase::Waiting, None));
    opens(&mut story, 1, true);
    ends_with_each(&mut story, agent(1));
    assert_eq!(story.phase(), TaskPhase::Failed);
    let last = story.books.ledger.record(TaskId::new(0)).last.clone().expect("it says why");
    let Outcome::OverLimit { what } = last.outcome else { panic!("{:?}", last.outcome) };
    assert!(what.contains("or its agent ended with them"), "{what}");
}

#[test]
fn what_was_not_known_to_have_begun_is_not_its_programs_doing() {
    let mut story = story(2);
    for incarnation in 1..=RUNS_MAX + 1 {
        let on = (0..2).map(agent).find(|&on| story.run_on(on).is_some()).expect("it runs");
        starts_afresh(&mut story, on, 1 + incarnation);
        assert_eq!(story.books.ledger.record(TaskId::new(0)).rests_until(), None);
    }
    assert_ne!(story.phase(), TaskPhase::Failed);
}

/// Its agent had kept what it left, and was started again within the lease.
#[test]
fn what_an_agent_brings_from_its_start_before_counts() {
    let mut story = story(1);
    let (run, on) = begins(&mut story);
    brings(&mut story, on, 2, &[run]);
    assert!(story.books.ledger.is_awaited(run, on));
    assert_eq!(story.phase(), TaskPhase::Running);
    story.tell(&Fact::RunEnded { run, agent: on, end: done(), answer: None, is_left: None });
    assert_eq!(story.phase(), TaskPhase::Done);
}

/// It was started again after its lease: its task waits for what is brought, and runs nowhere else meanwhile.
#[test]
fn what_is_brought_after_the_lease_is_waited_for() {
    let mut story = story(1);
    let (run, on) = begins(&mut story);
    story.tell(&Fact::LeaseExpired { agent: on });
    brings(&mut story, on, 2, &[run]);
    assert_eq!((story.phase(), story.run_on(on)), (TaskPhase::Waiting, None));
    let situation = Situation { ledger: &story.books.ledger, now: story.at, quiet_until: None };
    let told = &waits(situation, None).groups[0].explanation.summary;
    assert!(told.ends_with(" came back, and has something of it to hand in"), "{told}");
    // It is killed once more, and brings it again.
    brings(&mut story, on, 3, &[run]);
    assert_eq!(story.run_on(on), None);
    story.tell(&Fact::RunEnded { run, agent: on, end: done(), answer: None, is_left: None });
    assert_eq!(story.phase(), TaskPhase::Done);
}

fn done() -> Box<End> {
    end(&Outcome::Exited { code: 0 })
}
