//! Answers in the books: a task is done when two machines gave the same, and its own life tells that as the ledger does.

use super::books::{Books, agent, end};
use super::story::Story;
use gleaner_core::{Judgement, Likeness};
use gleaner_server::journal::{Entry, Fact, Judged, Last};
use gleaner_units::{MachineId, TaskId};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Obstacle, Outcome, Stored};

/// Which run's output is the task's, and where that was.
fn result(story: &Story) -> (Option<u32>, Option<MachineId>) {
    let record = story.books.ledger.record(TaskId::new(0));
    (record.result_run(), record.machine)
}

#[test]
fn a_task_is_done_when_two_agree_and_the_third_is_outvoted() {
    let mut story = Story::new();
    story.begin();
    let first: Vec<usize> = (0..3).filter(|&on| story.run_on(agent(on)).is_some()).collect();
    assert_eq!(first.len(), 2, "two copies at once");
    story.answers(agent(first[0]), 'a', Judgement::Kept, &[]);
    assert_eq!(story.phase(), TaskPhase::Waiting);
    let right = story.run_on(agent(first[1])).expect("it has a run");
    story.answers(agent(first[1]), 'b', Judgement::Kept, &[]);
    assert_eq!(story.phase(), TaskPhase::Waiting, "neither decides");
    let third = (0..3).find(|on| !first.contains(on)).expect("a third");
    story.answers(agent(third), 'b', Judgement::Agreed, &[first[0]]);
    assert_eq!(story.phase(), TaskPhase::Done);
    let wasted_s = story.books.ledger.job_of(TaskId::new(0)).1.wasted_s;
    assert!((wasted_s - 1.5).abs() < 1e-9, "{wasted_s} s of the outvoted one were for nothing");
    assert_eq!(result(&story), (Some(right.number), Some(agent(first[1]))), "it was the first to say so");
    let trust = |on: usize| story.books.ledger.grid().trust(agent(on));
    assert_eq!((trust(first[0]).wrong, trust(first[1]).agreed, trust(third).agreed), (1, 1, 1));
    assert_eq!(trust(third).row, 0, "a user's own quorum earns no trust");
}

#[test]
fn a_task_that_no_two_agree_on_fails_and_says_so() {
    let spec = JobSpec { quorum: 2, ..JobSpec::new(["true"]) };
    let mut story = Story { books: Books::with(5, spec), ..Story::new() };
    while story.books.ledger.decide(story.at).is_some() {}
    for (nth, digit) in ['a', 'b', 'c', 'd', 'e'].into_iter().enumerate() {
        let judgement = if nth == 4 { Judgement::Disputed } else { Judgement::Kept };
        let on = (0..5).map(agent).find(|&on| story.run_on(on).is_some()).expect("one is asked");
        let run = story.run_on(on).expect("it has a run");
        let digest = digit.to_string().repeat(64).try_into().expect("a hash");
        let answer = Some(Box::new(Judged {
            digest: Some(digest),
            judgement,
            wrong: Vec::new(),
            likeness: None,
            result: None,
        }));
        story.at = story.at.after_seconds(1.0);
        let fact =
            Fact::RunEnded { run, agent: on, end: end(&Outcome::Exited { code: 0 }), answer, is_left: None };
        story.books.ledger.apply(&Entry { at: story.at, fact });
        story.books.ledger.check().expect("the ledger holds");
        while story.books.ledger.decide(story.at).is_some() {}
    }
    assert_eq!(story.phase(), TaskPhase::Failed);
    let last = story.books.ledger.record(TaskId::new(0)).last.clone().expect("it ended");
    let Outcome::OverLimit { what } = last.outcome else { panic!("{:?}", last.outcome) };
    assert!(what.contains("5 different answers"), "{what}");
}

#[test]
fn what_a_users_program_compares_is_kept_until_the_first_of_the_like_ones_is_the_result() {
    let spec = JobSpec { quorum: 2, ..JobSpec::new(["true"]) };
    let mut story =
        Story::of(4, JobSpec { compare: vec!["./close".into()], outputs: vec!["out".into()], ..spec });
    story.begin();
    let stored =
        |digit: char| Stored { blob: digit.to_string().repeat(64).try_into().expect("a hash"), size: 7 };
    let runs = |story: &Story| (0..4).filter(|&on| story.run_on(agent(on)).is_some()).collect::<Vec<_>>();
    let ended = |digit: Option<char>, code: i32| {
        Box::new(End { files: digit.map(stored), ..*end(&Outcome::Exited { code }) })
    };
    let first = runs(&story);
    let of_first = story.run_on(agent(first[0])).expect("it has a run");
    for (&on, digit) in first.iter().zip(['a', 'b']) {
        let run = story.run_on(agent(on)).expect("it has a run");
        let digest = Some(stored(digit).blob);
        let answer =
            Judged { digest, judgement: Judgement::Kept, wrong: Vec::new(), likeness: None, result: None };
        story.tell(&Fact::RunEnded {
            run,
            agent: agent(on),
            end: ended(Some(digit), 0),
            is_left: None,
            answer: Some(Box::new(answer)),
        });
    }
    let files = |story: &Story| story.books.ledger.record(TaskId::new(0)).files().cloned();
    assert_eq!(files(&story), None, "one machine's word is nobody's result");
    let is_kept = |story: &Story, digit| story.books.ledger.files().any(|file| *file == stored(digit).blob);
    assert!(is_kept(&story, 'a') && is_kept(&story, 'b'), "nothing else names the first");
    assert_eq!(story.books.ledger.bytes_of("ada"), 14, "both count");
    let others = runs(&story);
    assert!(others.len() == 2 && others.iter().all(|on| !first.contains(on)), "{first:?}, then {others:?}");
    for on in 0..4 {
        let may_read =
            ['a', 'b'].map(|digit| story.books.ledger.is_needed_on(agent(on), &stored(digit).blob));
        assert_eq!(may_read, [others.contains(&on); 2], "{on}");
    }
    for (nth, &on) in others.iter().enumerate() {
        let run = story.run_on(agent(on)).expect("it has a run");
        let last = Last {
            outcome: Outcome::Exited { code: 0 },
            usage: ended(None, 0).usage,
            files: Some(stored('a')),
            notes: Vec::new(),
        };
        let (judgement, result) =
            if nth == 0 { (Judgement::Kept, None) } else { (Judgement::Agreed, Some(Box::new(last))) };
        let likeness = Some(Likeness::Alike);
        let answer = Judged { digest: None, judgement, wrong: Vec::new(), likeness, result };
        story.tell(&Fact::RunEnded {
            run,
            agent: agent(on),
            end: ended(None, 0),
            is_left: None,
            answer: Some(Box::new(answer)),
        });
    }
    assert_eq!(story.phase(), TaskPhase::Done);
    assert_eq!(files(&story), Some(stored('a')));
    assert_eq!(result(&story), (Some(of_first.number), Some(agent(first[0]))), "whoever compared last");
    assert!(is_kept(&story, 'a') && !is_kept(&story, 'b'), "of no use any more");
    assert_eq!(story.books.ledger.bytes_of("ada"), 7, "one counts");
    let trust = |on: usize| story.books.ledger.grid().trust(agent(on)).agreed;
    assert_eq!((trust(first[0]), trust(first[1]), trust(others[0])), (1, 1, 0));
}

/// A machine says that it did not begin its run.
fn refuses(story: &mut Story, on: usize, obstacle: Obstacle) {
    let run = story.run_on(agent(on)).expect("it is asked");
    let refusal =
        Judged { digest: None, judgement: Judgement::Void, wrong: Vec::new(), likeness: None, result: None };
    let (outcome, answer) =
        (Outcome::NotStarted { why: "not here".to_owned(), obstacle }, Some(Box::new(refusal)));
    story.tell(&Fact::RunEnded { run, agent: agent(on), end: end(&outcome), answer, is_left: None });
}

/// The machines that have a run.
fn asked(story: &Story) -> Vec<usize> {
    let all = 0..story.books.ledger.agents().len();
    all.filter(|&on| story.run_on(agent(on)).is_some()).collect()
}

/// As a signed task does not begin twice on a machine, or one whose inputs do not fit on its disk: that is no answer, and each machine
/// says so once.
#[test]
fn a_machine_that_does_not_begin_a_task_is_asked_once_and_has_given_no_answer() {
    for obstacle in [Obstacle::Task, Obstacle::NotThere, Obstacle::Machine] {
        let mut story = Story::new();
        story.begin();
        let first = asked(&story);
        story.answers(agent(first[0]), 'a', Judgement::Kept, &[]);
        refuses(&mut story, first[1], obstacle);
        let third = asked(&story);
        assert!(third.len() == 1 && !first.contains(&third[0]), "{obstacle:?}: {first:?}, then {third:?}");
        refuses(&mut story, third[0], obstacle);
        let (left, phase) = (asked(&story), story.phase());
        assert_eq!((left, phase), (Vec::new(), TaskPhase::Waiting), "{obstacle:?}: nobody is asked twice");
        for on in (0..3).map(agent) {
            let trust = story.books.ledger.grid().trust(on);
            assert_eq!((trust.wrong, trust.agreed), (0, 0), "{obstacle:?}");
        }
    }
}

/// The task does not rest meanwhile, so that the machine would be asked again at once.
#[test]
fn a_machine_that_does_not_begin_a_task_is_not_asked_again_while_another_runs_it() {
    let mut story = Story::new();
    story.begin();
    let first = asked(&story);
    refuses(&mut story, first[0], Obstacle::Machine);
    let then = asked(&story);
    assert!(then.len() == 2 && !then.contains(&first[0]), "{first:?}, then {then:?}");
}

/// So many runs in a row fail a task where each says something of it. What machines lack says nothing of the others.
#[test]
fn machines_with_faults_of_their_own_fail_no_task_that_another_could_take() {
    let mut story = Story::of(9, JobSpec { quorum: 2, ..JobSpec::new(["true"]) });
    story.begin();
    let first = asked(&story)[0];
    story.answers(agent(first), 'a', Judgement::Kept, &[]);
    for nth in 1..=7 {
        let on = asked(&story);
        assert_eq!(on.len(), 1, "after {nth} of nine were asked");
        refuses(&mut story, on[0], Obstacle::Machine);
        assert_eq!(story.phase(), TaskPhase::Waiting, "after {nth} that did not begin it");
    }
    let last = asked(&story)[0];
    story.answers(agent(last), 'a', Judgement::Agreed, &[]);
    assert_eq!(story.phase(), TaskPhase::Done);
}

/// What a user's quota cuts off is no answer: nobody is outvoted by it or for it.
#[test]
fn what_there_is_no_room_for_is_no_answer() {
    let mut story = Story::new();
    story.begin();
    let on = (0..3).map(agent).find(|&on| story.run_on(on).is_some()).expect("one is asked");
    let run = story.run_on(on).expect("it has a run");
    let outcome = Outcome::OverLimit { what: "storage".to_owned() };
    story.tell(&Fact::RunEnded { run, agent: on, end: end(&outcome), answer: None, is_left: None });
    assert_eq!(story.phase(), TaskPhase::Failed);
    for on in (0..3).map(agent) {
        let trust = story.books.ledger.grid().trust(on);
        assert_eq!((trust.wrong, trust.strikes, trust.row), (0, 0, 0));
    }
}
