//! When a task is over of which several machines are to give the same answer, and what each answer makes of its machine.

use crate::plain::{empty, joined, life, machine, submitted, task};
use crate::puppet::{NOW, Puppet, orders, tell, wish};
use gleaner_core::{
    Answer, Change, Checking, Command, Comparison, Decision, Event, Likeness, MachineClass, Owner, Refusal,
    RunEnd, Scheduler, TaskClass, TaskState, Trusting,
};
use gleaner_units::{RunId, TaskClassId, TaskId, UserId};

/// Who has three in a row is trusted; one in two of its tasks is checked all the same.
const TRUST: Trusting = Trusting { after: 3, check_every: 2 };

/// Four machines without bounds, and a hundred tasks.
struct Lab {
    scheduler: Scheduler<Puppet>,
    orders: Vec<Command>,
}

impl Lab {
    fn new(rule: impl Into<Option<Checking>>) -> Self {
        let mut lab = Self { scheduler: Scheduler::new(empty(), Puppet::default()), orders: Vec::new() };
        let kind = MachineClass::plain(vec![1.0], 2);
        lab.tell(&Event::CheckingSet(rule.into()));
        lab.tell(&Event::MachineClassMet(Box::new(kind)));
        for index in 0..4 {
            lab.tell(&joined(index, 0));
        }
        lab.tell(&Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
        lab.tell(&submitted(0, 100, 0));
        lab
    }

    fn tell(&mut self, event: &Event) -> Vec<Change> {
        let changes = tell(&mut self.scheduler, event);
        self.orders.extend(orders(&mut self.scheduler));
        changes
    }

    fn wish(&mut self, decision: Decision) -> Option<Refusal> {
        let refusal = wish(&mut self.scheduler, decision);
        self.orders.extend(orders(&mut self.scheduler));
        refusal
    }

    fn run(&mut self, id: TaskId, on: usize) -> Option<Refusal> {
        let waits = self.scheduler.grid().task(id).state() == TaskState::Waiting;
        let on = machine(on);
        self.wish(if waits { Decision::Start { task: id, on } } else { Decision::Replicate { task: id, on } })
    }

    fn newest(&self, id: TaskId) -> RunId {
        RunId::new(id, self.scheduler.grid().task(id).runs())
    }

    /// A machine runs a task and gives this answer.
    fn answer(&mut self, id: TaskId, on: usize, answer: u32) {
        assert_eq!(self.run(id, on), None, "{id} on {on}");
        let end = RunEnd::Answered(Answer(answer));
        self.tell(&Event::RunEnded { run: self.newest(id), end });
    }

    /// As many machines agree as it takes for this one to be trusted, of which it is the first.
    fn earn(&mut self, tasks: std::ops::Range<usize>, on: usize) {
        for id in tasks.map(task) {
            self.answer(id, on, 0);
            if self.state(id) == "placed" {
                self.answer(id, 3, 0);
            }
        }
    }

    fn state(&self, id: TaskId) -> String {
        life(self.scheduler.grid(), id)
    }

    fn rows(&self) -> Vec<u32> {
        (0..4).map(|index| self.scheduler.grid().trust(machine(index)).row).collect()
    }
}

fn quorum(quorum: u32, most: u32) -> Checking {
    Checking { quorum, most, trust: None }
}

fn trusting() -> Checking {
    Checking { quorum: 2, most: 5, trust: Some(TRUST) }
}

/// A task's answers in order, each of another machine, and where that leaves it.
#[test]
fn a_task_is_over_when_enough_machines_agree() {
    for (rule, answers, expected, rows) in [
        (Some(quorum(2, 5)), &[7][..], "placed", [0, 0, 0, 0]),
        (Some(quorum(2, 5)), &[7, 7], "done@m1", [1, 1, 0, 0]),
        (Some(quorum(2, 5)), &[7, 8], "placed", [0, 0, 0, 0]),
        (Some(quorum(2, 5)), &[7, 8, 8], "done@m2", [0, 1, 1, 0]),
        (Some(quorum(2, 5)), &[7, 8, 9, 7], "done@m3", [1, 0, 0, 1]),
        (Some(quorum(3, 4)), &[7, 8, 7, 7], "done@m3", [1, 0, 1, 1]),
        // No third one can come: as many were asked as may be, or too few are left.
        (Some(quorum(2, 3)), &[7, 8, 9], "done@m2", [0, 0, 0, 0]),
        (Some(quorum(3, 4)), &[7, 8, 9], "done@m2", [0, 0, 0, 0]),
        (None, &[7], "done@m0", [0, 0, 0, 0]),
    ] {
        let mut lab = Lab::new(rule);
        for (on, &answer) in answers.iter().enumerate() {
            lab.answer(task(0), on, answer);
        }
        assert_eq!((lab.state(task(0)).as_str(), lab.rows()), (expected, rows.to_vec()), "{answers:?}");
        let is_disputed = expected.starts_with("done") && rule.is_some() && rows == [0; 4];
        assert_eq!(lab.scheduler.grid().is_disputed(task(0)), is_disputed, "{answers:?}");
    }
}

#[test]
fn users_ask_for_more_than_the_rule() {
    let mut lab = Lab::new(None);
    lab.tell(&Event::ClassChecked { class: TaskClassId::new(0), quorum: 3, by_program: false });
    for on in 0..2 {
        lab.answer(task(0), on, 1);
    }
    assert_eq!((lab.state(task(0)).as_str(), lab.scheduler.grid().answers_wanted(task(0))), ("placed", 1));
    lab.answer(task(0), 2, 1);
    assert_eq!(lab.state(task(0)), "done@m2");
}

#[test]
fn one_machine_has_one_voice() {
    let mut lab = Lab::new(quorum(2, 5));
    lab.answer(task(0), 0, 7);
    assert_eq!(lab.run(task(0), 0), Some(Refusal::Answered(task(0), machine(0))));
    // A run that was missing brings a second answer of a machine that gave one since.
    let mut lab = Lab::new(quorum(2, 5));
    lab.run(task(0), 1);
    lab.run(task(0), 0);
    let missing = lab.newest(task(0));
    lab.tell(&Event::MachineLost { machine: machine(0) });
    lab.tell(&Event::MachineReturned { machine: machine(0) });
    lab.answer(task(0), 0, 7);
    lab.tell(&Event::RunEnded { run: missing, end: RunEnd::Answered(Answer(7)) });
    assert_eq!(lab.state(task(0)), "placed");
}

#[test]
fn what_other_runs_do_is_superseded_when_enough_agree() {
    let mut lab = Lab::new(quorum(2, 5));
    lab.run(task(0), 0);
    let first = lab.newest(task(0));
    lab.answer(task(0), 1, 7);
    lab.answer(task(0), 2, 7);
    assert!(lab.orders.iter().any(|order| matches!(order, Command::Stop { run, .. } if *run == first)));
    lab.tell(&Event::RunEnded { run: first, end: RunEnd::Answered(Answer(9)) });
    assert_eq!((lab.state(task(0)).as_str(), lab.rows()), ("done@m2", vec![0, 1, 1, 0]), "it was not asked");
}

#[test]
fn who_does_not_begin_a_task_has_given_no_answer_and_is_not_asked_again() {
    let mut lab = Lab::new(quorum(2, 5));
    lab.answer(task(0), 0, 7);
    assert_eq!(lab.run(task(0), 1), None);
    lab.tell(&Event::RunEnded { run: lab.newest(task(0)), end: RunEnd::Refused });
    assert_eq!((lab.state(task(0)).as_str(), lab.scheduler.grid().answers_wanted(task(0))), ("placed", 1));
    assert_eq!(lab.run(task(0), 1), Some(Refusal::Answered(task(0), machine(1))));
    lab.answer(task(0), 2, 7);
    assert_eq!((lab.state(task(0)).as_str(), lab.rows()), ("done@m2", vec![1, 0, 1, 0]));
    assert_eq!(lab.scheduler.grid().trust(machine(1)).wrong, 0);
    lab.tell(&Event::TasksRerun { tasks: vec![(task(0), 1)] });
    lab.answer(task(0), 1, 7);
    assert_eq!(lab.state(task(0)), "placed", "it began anew");
}

#[test]
fn answers_are_kept_while_no_run_goes_on_and_dropped_with_the_task() {
    let mut lab = Lab::new(quorum(2, 5));
    lab.answer(task(0), 0, 7);
    lab.run(task(0), 1);
    lab.tell(&Event::MachineLost { machine: machine(1) });
    assert_eq!((lab.state(task(0)).as_str(), lab.scheduler.grid().answers_wanted(task(0))), ("placed", 1));
    lab.run(task(0), 2);
    let lost = RunEnd::Lost;
    lab.tell(&Event::RunEnded { run: lab.newest(task(0)), end: lost });
    assert_eq!(lab.state(task(0)), "placed");
    lab.tell(&Event::TasksWithdrawn { first: task(0), count: 1 });
    lab.tell(&Event::TasksReturned { first: task(0), count: 1 });
    assert_eq!(lab.state(task(0)), "waits");
    lab.answer(task(0), 2, 7);
    assert_eq!(lab.state(task(0)), "placed", "the first answer counts no more");
    lab.answer(task(0), 0, 7);
    assert_eq!(lab.state(task(0)), "done@m0");
    lab.tell(&Event::TasksRerun { tasks: vec![(task(0), 1)] });
    lab.answer(task(0), 0, 7);
    assert_eq!(lab.state(task(0)), "placed", "and none after it began anew");
}

#[test]
fn a_machine_that_proved_right_is_asked_alone_but_now_and_then() {
    let mut lab = Lab::new(trusting());
    lab.earn(0..3, 0);
    assert!(lab.scheduler.grid().is_trusted(machine(0)));
    let alone: Vec<bool> = (3..83)
        .map(|index| {
            lab.answer(task(index), 0, 0);
            let is_alone = lab.state(task(index)) == "done@m0";
            if !is_alone {
                lab.answer(task(index), 3, 0);
            }
            is_alone
        })
        .collect();
    // One in two, give or take: 80 draws are outside of these once in 10,000 times.
    let checked = alone.iter().filter(|is_alone| !**is_alone).count();
    assert!((22..=58).contains(&checked), "{checked} of 80 were checked");
}

#[test]
fn a_liar_starts_from_nothing_and_what_it_answered_alone_is_run_again() {
    let mut lab = Lab::new(trusting());
    lab.earn(0..3, 0);
    let mut alone = Vec::new();
    for index in 3..40 {
        lab.answer(task(index), 0, 0);
        if lab.state(task(index)) == "done@m0" {
            alone.push(task(index));
            continue;
        }
        // It is checked, and both others say that it lies.
        lab.orders.clear();
        lab.answer(task(index), 2, 1);
        lab.answer(task(index), 3, 1);
        break;
    }
    let trust = lab.scheduler.grid().trust(machine(0));
    assert_eq!((trust.row, trust.wrong, trust.strikes, trust.last_wrong), (0, 1, 1, Some(NOW)));
    assert!(!lab.scheduler.grid().is_trusted(machine(0)));
    let again = lab.orders.iter().filter_map(|order| match order {
        Command::Recheck { task } => Some(*task),
        _ => None,
    });
    assert_eq!(again.collect::<Vec<_>>(), alone);
}

/// A program may never answer the same, by mistake or on purpose.
#[test]
fn no_users_own_quorum_closes_a_machine_alone() {
    let mut lab = Lab::new(None);
    for user in 1..3 {
        let class = TaskClass { payer: UserId::new(user), ..TaskClass::plain(vec![1.0]) };
        lab.tell(&Event::TaskClassMet(Box::new(class)));
        lab.tell(&submitted(100 * user, 100, user));
    }
    for class in 0..3 {
        let class = TaskClassId::new(class);
        lab.tell(&Event::ClassChecked { class, quorum: 2, by_program: false });
    }
    let outvoted = |lab: &mut Lab, task_number: usize| {
        for (on, answer) in [(0, 8), (1, 7), (2, 7)] {
            lab.answer(task(task_number), on, answer);
        }
        let is_closed =
            |order: &Command| matches!(order, Command::Close { machine: closed } if *closed == machine(0));
        (lab.scheduler.grid().strikes(machine(0)), lab.orders.iter().any(is_closed))
    };
    for index in 0..20 {
        assert_eq!(outvoted(&mut lab, index), (1, false));
    }
    let trust = lab.scheduler.grid().trust(machine(0));
    assert_eq!((trust.wrong, trust.strikes, trust.last_wrong), (20, 0, Some(NOW)));
    assert_eq!(lab.scheduler.grid().trust(machine(1)).row, 0, "nobody earns trust by it");
    assert_eq!(outvoted(&mut lab, 100), (2, false));
    assert_eq!(outvoted(&mut lab, 101), (2, false));
    // Ten in a row that are agreed on, whoever's.
    for index in 0..10 {
        assert_eq!(lab.scheduler.grid().strikes(machine(0)), 2);
        for on in [0, 1] {
            lab.answer(task(20 + index), on, 7);
        }
    }
    assert_eq!(lab.scheduler.grid().strikes(machine(0)), 0);
    for (task, expected) in [(30, (1, false)), (110, (2, false)), (200, (3, true))] {
        assert_eq!(outvoted(&mut lab, task), expected);
    }
}

#[test]
fn what_a_machine_is_at_is_compared_where_it_was_found_to_lie_meanwhile() {
    let mut lab = Lab::new(trusting());
    lab.earn(0..3, 0);
    let pending = (3..40).map(task).find(|&id| {
        lab.run(id, 0);
        lab.scheduler.grid().comparison(id).is_none()
    });
    let pending = pending.expect("one of them is asked alone");
    lab.answer(task(50), 1, 1);
    lab.answer(task(50), 0, 0);
    lab.answer(task(50), 2, 1);
    let end = RunEnd::Answered(Answer(0));
    lab.tell(&Event::RunEnded { run: lab.newest(pending), end });
    assert_eq!((lab.state(pending).as_str(), lab.scheduler.grid().answers_wanted(pending)), ("placed", 1));
}

/// Six machines and a job whose user's program says which answers are the same; two have to give them.
fn by_program() -> Lab {
    let mut lab = Lab::new(None);
    for index in 4..8 {
        lab.tell(&joined(index, 0));
    }
    lab.tell(&Event::ClassChecked { class: TaskClassId::new(0), quorum: 2, by_program: true });
    lab
}

impl Lab {
    /// A machine compares what is to be compared, and its user's program says this.
    fn compare(&mut self, on: usize, likeness: Likeness) {
        assert_eq!(self.run(task(0), on), None, "to compare on {on}");
        self.tell(&Event::RunEnded { run: self.newest(task(0)), end: RunEnd::Compared(likeness) });
    }

    fn to_compare(&self) -> Option<(u32, u32)> {
        let pair = self.scheduler.grid().comparison(task(0)).and_then(Comparison::to_compare);
        pair.map(|(one, other)| (one.0, other.0))
    }
}

#[test]
fn a_users_program_says_which_answers_are_the_same() {
    use Likeness::{Alike, Different, Failed};
    // The word of each machine that compares the answers 7 and 8 of the first two, and where that leaves the task.
    for (words, expected, wrong) in [
        (&[Alike][..], "placed", &[][..]),
        (&[Alike, Alike], "done@m3", &[]),
        (&[Different, Alike, Alike], "done@m4", &[2]),
        // A program that failed on a machine says nothing against the machine.
        (&[Failed, Alike, Alike], "done@m4", &[]),
        (&[Failed, Failed], "done@m3", &[]),
        (&[Different, Different], "placed", &[]),
        // Of five that may be asked, no two say the same but the last.
        (&[Alike, Different, Failed, Failed], "done@m5", &[]),
    ] {
        let mut lab = by_program();
        lab.answer(task(0), 0, 7);
        lab.answer(task(0), 1, 8);
        assert_eq!((lab.to_compare(), lab.scheduler.grid().answers_wanted(task(0))), (Some((7, 8)), 2));
        for (index, &word) in words.iter().enumerate() {
            lab.compare(2 + index, word);
        }
        assert_eq!(lab.state(task(0)), expected, "{words:?}");
        let grid = lab.scheduler.grid();
        let fails = words.iter().filter(|word| **word == Failed).count() > 1;
        assert_eq!(grid.is_disputed(task(0)), fails, "{words:?}");
        let were_wrong = (0..8).filter(|index| grid.trust(machine(*index)).wrong > 0).collect::<Vec<_>>();
        assert_eq!(were_wrong, wrong, "{words:?}");
        let agreed = grid.trust(machine(0)).agreed + grid.trust(machine(1)).agreed;
        let is_agreed = expected.starts_with("done") && !fails;
        assert_eq!(agreed, if is_agreed { 2 } else { 0 }, "{words:?}");
    }
}

#[test]
fn whoever_gave_an_answer_does_not_say_what_it_is_like() {
    let mut lab = by_program();
    lab.answer(task(0), 0, 7);
    lab.answer(task(0), 1, 8);
    let said = |lab: &mut Lab, on| lab.run(task(0), on);
    assert_eq!(said(&mut lab, 0), Some(Refusal::Answered(task(0), machine(0))));
    lab.compare(2, Likeness::Different);
    assert_eq!(said(&mut lab, 2), Some(Refusal::Answered(task(0), machine(2))), "it did already");
    // A machine that was to compare says that the task is done, and one that was to answer, that answers are the same.
    lab.run(task(0), 3);
    lab.tell(&Event::RunEnded { run: lab.newest(task(0)), end: RunEnd::Answered(Answer(8)) });
    assert_eq!((lab.state(task(0)).as_str(), lab.to_compare()), ("placed", Some((7, 8))));
    lab.compare(3, Likeness::Different);
    assert_eq!((lab.to_compare(), lab.scheduler.grid().answers_wanted(task(0))), (None, 1));
    lab.run(task(0), 4);
    lab.tell(&Event::RunEnded { run: lab.newest(task(0)), end: RunEnd::Compared(Likeness::Alike) });
    assert_eq!(lab.scheduler.grid().comparison(task(0)).map(|so_far| so_far.votes().len()), Some(2));
    // A third answer is compared with the first of each group; one that is equal to another needs no program.
    lab.answer(task(0), 4, 9);
    assert_eq!(lab.to_compare(), Some((7, 9)));
    lab.compare(2, Likeness::Different);
    lab.compare(3, Likeness::Different);
    assert_eq!(lab.to_compare(), Some((8, 9)));
    lab.compare(5, Likeness::Alike);
    lab.compare(6, Likeness::Alike);
    assert_eq!(lab.state(task(0)), "done@m6");
    let wrong = |index| lab.scheduler.grid().trust(machine(index)).wrong;
    assert_eq!((0..8).map(wrong).collect::<Vec<_>>(), [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn what_is_the_same_to_the_byte_is_not_compared() {
    let mut lab = by_program();
    lab.answer(task(0), 0, 7);
    lab.answer(task(0), 1, 7);
    assert_eq!(lab.state(task(0)), "done@m1");
}

#[test]
fn machines_of_one_owner_have_one_voice() {
    let mut lab = Lab::new(quorum(2, 5));
    for index in 0..2 {
        lab.tell(&Event::MachineOwned { machine: machine(index), owner: Some(Owner(9)) });
    }
    lab.run(task(0), 0);
    let first = lab.newest(task(0));
    assert_eq!(lab.run(task(0), 1), Some(Refusal::Answered(task(0), machine(1))), "while the other is at it");
    lab.tell(&Event::RunEnded { run: first, end: RunEnd::Answered(Answer(7)) });
    assert_eq!(lab.run(task(0), 1), Some(Refusal::Answered(task(0), machine(1))), "once it has answered");
    assert_eq!(lab.scheduler.grid().apart_from(task(0)), [machine(0), machine(1)]);
    lab.answer(task(0), 2, 7);
    assert_eq!(lab.state(task(0)), "done@m2");
    // One that began before it was known whose its machine is brings nothing new.
    lab.run(task(1), 2);
    lab.run(task(1), 3);
    let runs = [RunId::new(task(1), 1), RunId::new(task(1), 2)];
    for index in 2..4 {
        lab.tell(&Event::MachineOwned { machine: machine(index), owner: Some(Owner(9)) });
    }
    for run in runs {
        lab.tell(&Event::RunEnded { run, end: RunEnd::Answered(Answer(7)) });
    }
    assert_eq!(lab.state(task(1)), "placed");
}

#[test]
fn a_machine_can_change_hands_and_be_its_own_again() {
    let mut lab = Lab::new(quorum(2, 5));
    let own = |lab: &mut Lab, index: usize, owner: Option<u32>| {
        lab.tell(&Event::MachineOwned { machine: machine(index), owner: owner.map(Owner) });
    };
    own(&mut lab, 0, Some(1));
    own(&mut lab, 1, Some(1));
    lab.answer(task(0), 0, 7);
    let has_spoken = Some(Refusal::Answered(task(0), machine(1)));
    assert_eq!(lab.run(task(0), 1), has_spoken);
    // It was sold to who has answered too.
    own(&mut lab, 1, Some(2));
    own(&mut lab, 0, Some(2));
    assert_eq!(lab.run(task(0), 1), has_spoken);
    assert_eq!(lab.scheduler.grid().owner_of(machine(1)), Some(Owner(2)));
    own(&mut lab, 1, None);
    assert_eq!(lab.scheduler.grid().owner_of(machine(1)), None);
    assert_eq!(lab.scheduler.grid().apart_from(task(0)), [machine(0)]);
    lab.answer(task(0), 1, 7);
    assert_eq!(lab.state(task(0)), "done@m1");
}

/// As it does where nobody else is asked: until the task is given to another machine, it counts.
#[test]
fn an_answer_from_out_of_reach_counts_until_the_task_is_given_to_another() {
    let out_and_back = |lab: &mut Lab, on: usize| {
        lab.tell(&Event::MachineLost { machine: machine(on) });
        lab.tell(&Event::MachineReturned { machine: machine(on) });
    };
    let answered = |lab: &mut Lab, run: RunId| {
        lab.tell(&Event::RunEnded { run, end: RunEnd::Answered(Answer(7)) });
    };
    let mut lab = Lab::new(quorum(2, 3));
    assert_eq!(lab.run(task(0), 0), None);
    let first = lab.newest(task(0));
    out_and_back(&mut lab, 0);
    assert_eq!(lab.state(task(0)), "waits");
    answered(&mut lab, first);
    assert_eq!(lab.state(task(0)), "placed", "it was heard");
    assert!(lab.scheduler.grid().waiting_tasks().all(|(_, other)| other != task(0)));
    assert_eq!(lab.scheduler.grid().answers_wanted(task(0)), 1);
    assert_eq!(lab.run(task(0), 0), Some(Refusal::Answered(task(0), machine(0))));
    lab.answer(task(0), 1, 7);
    assert_eq!(lab.state(task(0)), "done@m1");
    assert_eq!(lab.rows(), [1, 1, 0, 0], "both were right");
    // Given to another machine, which says the first thing.
    assert_eq!(lab.run(task(1), 0), None);
    let first = lab.newest(task(1));
    out_and_back(&mut lab, 0);
    assert_eq!(lab.run(task(1), 1), None);
    answered(&mut lab, first);
    assert_eq!(lab.scheduler.grid().comparison(task(1)).map(|so_far| so_far.given().len()), Some(0));
    // Cancelled meanwhile: nothing is compared.
    assert_eq!(lab.run(task(2), 0), None);
    let first = lab.newest(task(2));
    out_and_back(&mut lab, 0);
    lab.tell(&Event::TasksWithdrawn { first: task(2), count: 1 });
    answered(&mut lab, first);
    assert_eq!(lab.state(task(2)), "withdrawn");
}

/// One of two answers would be believed unseen.
#[test]
fn what_was_answered_is_compared_to_its_end_whatever_rule_comes() {
    let mut lab = Lab::new(quorum(2, 5));
    lab.answer(task(0), 0, 7);
    for on in 0..2 {
        assert_eq!(lab.run(task(1), on), None);
    }
    let changes = lab.tell(&Event::CheckingSet(None));
    assert_eq!(changes, [Change::AnswerKept(task(1))], "nobody has answered");
    let grid = lab.scheduler.grid();
    assert_eq!([0, 1, 2].map(|id| grid.is_compared(task(id))), [true, false, false]);
    assert_eq!(grid.answers_wanted(task(0)), 1);
    lab.answer(task(0), 1, 8);
    assert_eq!(lab.state(task(0)), "placed", "neither decides");
    lab.answer(task(0), 2, 7);
    assert_eq!((lab.state(task(0)).as_str(), lab.rows()), ("done@m2", vec![1, 0, 1, 0]));
    let run = lab.newest(task(1));
    lab.tell(&Event::RunEnded { run, end: RunEnd::Answered(Answer(9)) });
    assert_eq!(lab.state(task(1)), "done@m1", "the first counts");
    assert!(!lab.scheduler.grid().stays(task(0)));
}

#[test]
fn what_nobody_answered_goes_by_the_next_rule() {
    let mut lab = Lab::new(quorum(2, 5));
    assert_eq!(lab.run(task(0), 0), None);
    lab.tell(&Event::CheckingSet(Some(quorum(3, 7))));
    let grid = lab.scheduler.grid();
    let asked = grid.comparison(task(0)).map(|so_far| (so_far.quorum(), so_far.most()));
    assert_eq!((asked, grid.answers_wanted(task(0))), (Some((3, 7)), 2));
    // What it answered is of no use once it is withdrawn.
    lab.answer(task(1), 1, 7);
    lab.tell(&Event::CheckingSet(None));
    assert!(lab.scheduler.grid().is_compared(task(1)));
    lab.tell(&Event::TasksWithdrawn { first: task(1), count: 1 });
    assert!(!lab.scheduler.grid().is_compared(task(1)));
    // A user's own quorum is no rule's.
    lab.tell(&Event::ClassChecked { class: TaskClassId::new(0), quorum: 2, by_program: false });
    assert_eq!(lab.run(task(2), 2), None);
    assert_eq!(lab.tell(&Event::CheckingSet(Some(quorum(3, 7)))), []);
    assert_eq!(lab.scheduler.grid().answers_wanted(task(2)), 1);
}
