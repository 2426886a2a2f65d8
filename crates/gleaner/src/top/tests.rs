//! The screen as it is drawn, and what keys do.

use super::draw::draw;
use super::screen::{Act, Focus, Look, Output, Screen, Seen, Shown};
use gleaner_wire::JobId;
use gleaner_wire::api::{
    ExplanationView, GridView, JobView, MachineState, MachineView, Role, RuledOutView, Tally, TaskPhase,
    TaskView,
};
use gleaner_wire::day::{FailureGroup, WaitGroup, WaitList};
use gleaner_wire::session::{Outcome, Profile, Stream};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

fn explanation() -> ExplanationView {
    ExplanationView {
        version: 1,
        at_s: 0.0,
        summary: "it waits for a machine that can take it".to_owned(),
        ruled_out: vec![RuledOutView {
            rule: "have less memory than it needs".to_owned(),
            count: 3,
            machines: vec!["lab-1".to_owned()],
        }],
        ratings: Vec::new(),
        remedies: vec!["2 GiB instead of 64 GiB: 3 machines more".to_owned()],
        starts: None,
        scores_are: None,
    }
}

fn job(number: u32, name: &str, tasks: Tally) -> JobView {
    JobView {
        version: 1,
        job: JobId(number),
        name: name.to_owned(),
        user: "ada".to_owned(),
        state: tasks.state(),
        tasks,
        command: vec!["./train".to_owned(), "--all".to_owned()],
        submitted_s: 0.0,
        ended_s: None,
        label: None,
        waits_for: None,
        wasted_s: 0.0,
        lost_s: 0.0,
        bytes: 0,
        results_kept: false,
        results_until_s: None,
        results_removed: None,
    }
}

fn machine(name: &str, state: MachineState, why: Option<&str>) -> MachineView {
    MachineView {
        refused: None,
        owner: None,
        machine: name.to_owned(),
        state,
        why: why.map(str::to_owned),
        profile: Profile::new([1.0; 3], 4),
        owner_load: 0.25,
        price: 0.0,
        tasks: 3,
        sample: None,
        heard_s: None,
        trust: None,
        orders: Vec::new(),
    }
}

fn task(number: u32, phase: TaskPhase, outcome: Option<Outcome>) -> TaskView {
    TaskView {
        job: JobId(7),
        task: number,
        command: Vec::new(),
        needs: None,
        asked: None,
        phase,
        runs: 1,
        length: None,
        machine: Some("lab-1".to_owned()),
        started_s: None,
        ended_s: None,
        outcome,
        usage: None,
        checkpoint: None,
        files: None,
        notes: Vec::new(),
        results_removed: None,
        open_runs: Vec::new(),
    }
}

fn seen(look: Look, shown: Shown) -> Seen {
    let tasks = Tally { waiting: 40, running: 3, done: 7, failed: 1, ..Tally::default() };
    let wait = WaitGroup {
        tasks: 40,
        job_count: 1,
        jobs: vec![JobId(7)],
        task: 0,
        since_s: 0.0,
        explanation: explanation(),
    };
    Seen {
        grid: GridView {
            version: 1,
            user: "alice".to_owned(),
            role: Role::Admin,
            program: "test".to_owned(),
            epoch: 1,
            tasks,
            machines: [("open".to_owned(), 2), ("lost".to_owned(), 1)].into(),
            policy: "bertasi/greedy".to_owned(),
        },
        jobs: vec![
            job(7, "train", Tally { waiting: 40, ..Tally::default() }),
            job(
                3,
                "<b>\u{1b}[31mred\u{202e}txt</b>",
                Tally { running: 3, done: 7, failed: 1, ..Tally::default() },
            ),
        ],
        machines: vec![
            machine("lab-1", MachineState::Open, None),
            machine("lab-2", MachineState::Closed, Some("its owner is at the keyboard")),
        ],
        waits: WaitList { version: 1, groups: vec![wait], left_out: 0 },
        look,
        shown,
    }
}

fn drawn(screen: &Screen) -> String {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
    terminal.draw(|frame| draw(frame, screen)).expect("it is drawn");
    terminal.backend().to_string()
}

fn press(screen: &mut Screen, code: KeyCode) -> Option<Act> {
    screen.key(KeyEvent::from(code))
}

#[test]
fn the_grid_fits_a_small_terminal() {
    let screen = Screen::new(seen(Look::Grid, Shown::Grid));
    let text = drawn(&screen);
    for part in [
        "40 waiting, 3 running, 7 done, 1 failed · bertasi/greedy",
        "40 tasks of job 7: it waits for a machine that can take it",
        "3 have less memory than it needs",
        "would help: 2 GiB instead of 64 GiB",
        "7     waiting   ················ 0/40",
        "██████████▶▶▶▶✗✗",
        "machines: 1 lost, 2 open",
        "lab-2            closed   3/4     25 %",
        "Enter look into",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[test]
fn a_job_shows_why_tasks_failed() {
    let failures = vec![FailureGroup {
        reason: "its program ended with exit code 3".to_owned(),
        tasks: 5,
        example: 12,
        machines: Vec::new(),
    }];
    let tasks = vec![
        task(11, TaskPhase::Running, None),
        task(12, TaskPhase::Failed, Some(Outcome::Exited { code: 3 })),
    ];
    let shown = Shown::Job { job: Box::new(job(7, "train", Tally::default())), tasks, failures };
    let mut screen = Screen::new(seen(Look::Job(JobId(7)), shown));
    let text = drawn(&screen);
    for part in
        ["5 failed: its program ended with exit code 3 (as 7/12)", "12       failed     lab-1", "exit code 3"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    press(&mut screen, KeyCode::Down);
    let look = Look::Task(JobId(7), 12, Stream::Stdout);
    assert_eq!(press(&mut screen, KeyCode::Enter), Some(Act::Look(look)));
}

#[test]
fn output_is_text_and_its_end_is_seen() {
    let lines = (0..100).map(|line| format!("line {line}\n")).collect::<String>();
    let bytes = format!("{lines}\u{1b}[31mred\u{1b}[0m \u{202e}back\u{202c}\nlast\n").into_bytes();
    let output = Output { run: Some(1), offset: bytes.len() as u64, bytes };
    let task = Box::new(task(0, TaskPhase::Running, None));
    let shown = Shown::Task { task, explanation: Box::new(explanation()), output };
    let mut screen = Screen::new(seen(Look::Task(JobId(7), 0, Stream::Stdout), shown));
    let text = drawn(&screen);
    assert!(text.contains("\"last") && text.contains("red") && !text.contains("line 0 "), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    for _ in 0..200 {
        press(&mut screen, KeyCode::Up);
    }
    assert!(drawn(&screen).contains("\"line 0 "), "{}", drawn(&screen));
}

#[test]
fn what_cannot_be_undone_is_asked_for() {
    let mut screen = Screen::new(seen(Look::Grid, Shown::Grid));
    assert_eq!(press(&mut screen, KeyCode::Char('c')), None);
    assert!(drawn(&screen).contains("cancel all of job 7? y: yes"), "{}", drawn(&screen));
    assert_eq!(press(&mut screen, KeyCode::Char('n')), None);
    press(&mut screen, KeyCode::Char('c'));
    let cancel = Act::Order { job: JobId(7), order: "cancel", task: None };
    assert_eq!(press(&mut screen, KeyCode::Char('y')), Some(cancel));
    let hold = Act::Order { job: JobId(3), order: "hold", task: None };
    press(&mut screen, KeyCode::Down);
    assert_eq!(press(&mut screen, KeyCode::Char('h')), Some(hold));
    press(&mut screen, KeyCode::Tab);
    assert_eq!(screen.focus, Focus::Machines);
    assert_eq!(press(&mut screen, KeyCode::Char('h')), None, "a machine is no job");
    assert_eq!(press(&mut screen, KeyCode::Char('q')), Some(Act::Quit));
}

#[test]
fn machines_are_paused_drained_and_resumed() {
    let mut screen = Screen::new(seen(Look::Grid, Shown::Grid));
    assert_eq!(press(&mut screen, KeyCode::Char('p')), None, "a job is no machine");
    press(&mut screen, KeyCode::Tab);
    assert!(drawn(&screen).contains("p pause d drain r resume"), "{}", drawn(&screen));
    let order = |order| Some(Act::Machine { machine: "lab-2".to_owned(), order });
    press(&mut screen, KeyCode::Down);
    assert_eq!(press(&mut screen, KeyCode::Char('p')), order("pause"));
    assert_eq!(press(&mut screen, KeyCode::Char('r')), order("resume"));
    assert_eq!(press(&mut screen, KeyCode::Char('d')), None);
    assert!(drawn(&screen).contains("drain lab-2? y: yes"), "{}", drawn(&screen));
    assert_eq!(press(&mut screen, KeyCode::Char('y')), order("drain"));
}

#[test]
fn lists_are_sorted_and_what_is_chosen_stays_chosen() {
    let mut screen = Screen::new(seen(Look::Grid, Shown::Grid));
    let jobs = |screen: &Screen| screen.jobs().iter().map(|job| job.job.0).collect::<Vec<u32>>();
    assert_eq!(jobs(&screen), [7, 3]);
    press(&mut screen, KeyCode::Down);
    for (words, expected, place) in [
        ("most waiting first", [7, 3], 1),
        ("by user", [7, 3], 1),
        ("by name", [3, 7], 0),
        ("newest first", [7, 3], 1),
    ] {
        press(&mut screen, KeyCode::Char('s'));
        assert!(drawn(&screen).contains(&format!("jobs, {words}")), "{}", drawn(&screen));
        assert_eq!((jobs(&screen), screen.job), (expected.to_vec(), place), "{words}");
    }
    press(&mut screen, KeyCode::Tab);
    let first = |screen: &Screen| screen.machines()[0].machine.clone();
    screen.seen.machines[1].tasks = 4;
    for (words, expected) in [
        ("by name", "lab-1"),
        ("by state", "lab-2"),
        ("most tasks first", "lab-2"),
        ("busiest owner first", "lab-1"),
        ("as they joined", "lab-1"),
    ] {
        press(&mut screen, KeyCode::Char('s'));
        assert!(drawn(&screen).contains(words), "{}", drawn(&screen));
        assert_eq!(first(&screen), expected, "{words}");
    }
}

#[test]
fn whatever_things_are_called_they_are_text_of_one_line() {
    let nasty =
        "<img src=x>\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}back\u{2066}in\u{200b}zero\nline\rhome\u{9b}31m";
    let mut all = seen(Look::Grid, Shown::Grid);
    all.jobs[0].name = nasty.to_owned();
    all.jobs[0].user = nasty.to_owned();
    all.machines[0] = machine(nasty, MachineState::Closed, Some(nasty));
    all.waits.groups[0].explanation.summary = nasty.to_owned();
    all.waits.groups[0].explanation.remedies = vec![nasty.to_owned()];
    all.waits.groups[0].explanation.ruled_out[0].rule = nasty.to_owned();
    all.grid.policy = nasty.to_owned();
    let mut long = vec![b'x'; 10 << 20];
    long.extend(nasty.as_bytes());
    let output = Output { run: Some(1), offset: long.len() as u64, bytes: long };
    let mut told = explanation();
    told.summary = nasty.to_owned();
    let task_of = |phase| Box::new(task(0, phase, Some(Outcome::Abandoned { why: nasty.to_owned() })));
    let mut of_job = job(7, nasty, Tally { waiting: 1, ..Tally::default() });
    (of_job.command, of_job.waits_for) = (vec![nasty.to_owned()], Some(nasty.to_owned()));
    let group = FailureGroup { reason: nasty.to_owned(), tasks: 1, example: 0, machines: Vec::new() };
    let looks = [
        (Look::Grid, Shown::Grid),
        (
            Look::Job(JobId(7)),
            Shown::Job {
                job: Box::new(of_job),
                tasks: vec![*task_of(TaskPhase::Failed)],
                failures: vec![group],
            },
        ),
        (
            Look::Task(JobId(7), 0, Stream::Stdout),
            Shown::Task { task: task_of(TaskPhase::Waiting), explanation: Box::new(told), output },
        ),
    ];
    for (look, shown) in looks {
        let mut screen = Screen::new(Seen { look, shown, ..all.clone() });
        for news in [String::new(), nasty.to_owned()] {
            screen.news = news;
            let text = drawn(&screen);
            let hidden = |c: char| (c.is_control() && c != '\n') || ('\u{200b}'..='\u{2069}').contains(&c);
            // What ellipses and dashes are is no matter.
            let found: Vec<char> = text.chars().filter(|&c| hidden(c) && !"–—‖…‘’“”".contains(c)).collect();
            assert!(found.is_empty(), "{found:?}\n{text}");
            assert_eq!(text.lines().count(), 24, "{text}");
        }
    }
}

#[test]
fn the_chosen_job_stays_chosen_when_a_new_one_comes() {
    let mut screen = Screen::new(seen(Look::Grid, Shown::Grid));
    press(&mut screen, KeyCode::Down);
    let mut next = seen(Look::Grid, Shown::Grid);
    next.jobs.insert(0, job(8, "new", Tally::default()));
    screen.hear(Ok(next));
    assert_eq!(screen.jobs()[screen.job].job, JobId(3));
    screen.hear(Err("the coordinator cannot be reached".to_owned()));
    assert!(drawn(&screen).contains("cannot be reached"));
}
