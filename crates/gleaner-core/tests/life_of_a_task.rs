//! What each event makes of a task, of its machine, and of those that wait.

use gleaner_core::{
    Availability, Change, Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs, Occasion,
    Policy, Queue, Refusal, Room, Scheduler, Tags, TaskClass, TaskState,
};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId, Time, UserId};

const NOW: Time = Time::from_nanos(5);

/// Wishes what it is told, in this order, and starts nothing on its own.
#[derive(Clone, Default)]
struct Puppet {
    wishes: Vec<Decision>,
    refusals: Vec<Refusal>,
}

impl Policy for Puppet {
    fn observe(&mut self, _: &Grid, change: &Change) {
        if let Change::Refused(_, refusal) = change {
            self.refusals.push(*refusal);
        }
    }

    fn propose(&mut self, _: &Grid, _: Time, _: Occasion) -> Option<Decision> {
        self.wishes.pop()
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

fn task(index: usize) -> TaskId {
    TaskId::new(index)
}

fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

fn class(cores: u32, memory: u64, priority: i32) -> Event {
    let needs = Needs { cores, memory };
    Event::TaskClassMet(TaskClass {
        composition: vec![1.0],
        needs,
        priority,
        restarts: false,
        payer: UserId::default(),
        requires: Tags::new(),
        ad: None,
    })
}

fn submitted(first: usize, count: u32, class: usize) -> Event {
    Event::TasksSubmitted { first: task(first), count, class: TaskClassId::new(class), length: None }
}

/// Two machines with room for two cores and ten bytes each.
fn grid(events: &[Event]) -> Scheduler<Puppet> {
    let empty = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut scheduler = Scheduler::new(empty, Puppet::default());
    let room = Room { slots: Some(2), memory: Some(10) };
    let kind =
        MachineClass { speeds: vec![1.0], cores: 2, room, price: 0.0, provides: Tags::new(), ad: None };
    let joined = |index| Event::MachineJoined { machine: machine(index), class: MachineClassId::new(0) };
    for event in [&[Event::MachineClassMet(kind), joined(0), joined(1)], events].concat() {
        tell(&mut scheduler, &event);
    }
    scheduler
}

fn tell(scheduler: &mut Scheduler<Puppet>, event: &Event) -> Vec<Change> {
    let changes = scheduler.apply(NOW, event).to_vec();
    scheduler.decide(NOW, &mut Vec::new());
    scheduler.check().expect("a whole grid");
    changes
}

fn wish(scheduler: &mut Scheduler<Puppet>, decision: Decision) -> Option<Refusal> {
    scheduler.set_policy(Puppet { wishes: vec![decision], refusals: Vec::new() });
    tell(scheduler, &Event::WokeUp);
    scheduler.policy().refusals.first().copied()
}

fn start(scheduler: &mut Scheduler<Puppet>, index: usize, on: usize) -> Option<Refusal> {
    wish(scheduler, Decision::Start { task: task(index), on: machine(on) })
}

/// One task, in one word: where it is in its life and the number of its latest attempt, and whether a result may yet
/// come from a machine out of reach.
fn state(scheduler: &Scheduler<Puppet>) -> String {
    let task = scheduler.grid().task(task(0));
    let state = match task.state() {
        TaskState::Waiting => "waits".to_owned(),
        TaskState::Sent(on) => format!("sent@{on}"),
        TaskState::Running(on) => format!("runs@{on}"),
        TaskState::Finished(on) => format!("done@{on}"),
        TaskState::Withdrawn => "withdrawn".to_owned(),
    };
    let missing = task.missing_on().map_or(String::new(), |on| format!(" missing@{on}"));
    format!("{state}/{}{missing}", task.attempt())
}

/// One step of a story, in one word; whether the event was a stale reply.
fn step(scheduler: &mut Scheduler<Puppet>, word: &str) -> bool {
    let (verb, number) = word.split_at(word.len() - 1);
    let number: usize = number.parse().expect("a digit");
    let (task, attempt) = (task(0), number as u32);
    let event = match verb {
        "start" => {
            assert_eq!(start(scheduler, 0, number), None);
            return false;
        }
        "started" => Event::AttemptStarted { task, attempt },
        "finished" => Event::AttemptFinished { task, attempt },
        "lost" => Event::AttemptLost { task, attempt },
        "gone" => Event::MachineLost { machine: machine(number) },
        "back" => Event::MachineReturned { machine: machine(number) },
        "withdrawn" => Event::TasksWithdrawn { first: task, count: 1 },
        "returned" => Event::TasksReturned { first: task, count: 1 },
        other => panic!("no step is called {other}"),
    };
    tell(scheduler, &event).contains(&Change::StaleReply { task, attempt })
}

#[test]
fn a_reply_counts_until_its_attempt_is_known_to_be_over() {
    // The digit is a machine, or the number of an attempt. The last reply of each story is stale or counts.
    let stories = [
        ("start0 started1 finished1", "done@m0/1", false),
        ("start0 finished1", "done@m0/1", false),
        ("start0 started1 finished2", "runs@m0/1", true),
        ("start0 started1 lost1", "waits/1", false),
        ("start0 lost1 finished1", "waits/1", true),
        ("start0 lost1 start1 finished1", "sent@m1/2", true),
        ("start0 started1 lost1 start0 started2", "runs@m0/2", false),
        ("start0 started1 gone0", "waits/1 missing@m0", false),
        ("start0 started1 gone0 finished1", "done@m0/1", false),
        ("start0 started1 gone0 back0 finished1", "done@m0/1", false),
        ("start0 started1 gone0 lost1", "waits/1", false),
        ("start0 started1 gone0 started1", "waits/1 missing@m0", true),
        ("start0 started1 gone0 start1 finished1", "sent@m1/2", true),
        ("start0 started1 gone0 start1 started2 finished2", "done@m1/2", false),
        ("start0 started1 finished1 finished1", "done@m0/1", true),
        ("withdrawn0", "withdrawn/0", false),
        ("start0 started1 withdrawn0 finished1", "withdrawn/1", true),
        ("start0 started1 withdrawn0 returned0 finished1", "waits/1", true),
        ("start0 gone0 withdrawn0 lost1", "withdrawn/1", true),
        ("start0 finished1 withdrawn0", "done@m0/1", false),
        ("start0 finished1 returned0 start1", "sent@m1/2", false),
        ("start0 returned0", "sent@m0/1", false),
        ("finished0", "waits/0", true),
    ];
    for (story, expected, stale) in stories {
        let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 1, 0)]);
        let last = story.split_whitespace().map(|word| step(&mut scheduler, word)).last();
        assert_eq!((state(&scheduler).as_str(), last), (expected, Some(stale)), "{story}");
    }
}

/// Policies keep their indices by what changed alone.
#[test]
fn what_waits_already_does_not_come_to_wait_again() {
    for is_planned in [false, true] {
        let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 1, 0)]);
        for word in ["start0", "started1", "gone0"] {
            step(&mut scheduler, word);
        }
        if is_planned {
            let on = Queue::Machine(machine(1));
            assert_eq!(wish(&mut scheduler, Decision::Plan { task: task(0), on }), None);
        }
        let expected: &[Change] = if is_planned { &[Change::Unplanned(task(0))] } else { &[] };
        let lost = Event::AttemptLost { task: task(0), attempt: 1 };
        assert_eq!((tell(&mut scheduler, &lost).as_slice(), is_planned), (expected, is_planned));
        assert_eq!(state(&scheduler), "waits/1");
    }
}

#[test]
fn a_machine_takes_what_it_has_room_for() {
    let (small, wide, large) = (class(1, 1, 0), class(2, 1, 0), class(1, 8, 0));
    let events = [small, wide, large, submitted(0, 2, 0), submitted(2, 1, 1), submitted(3, 2, 2)];
    let mut scheduler = grid(&events);
    let no_room =
        |index, needs, free| Some(Refusal::NoRoom { task: task(index), on: machine(0), needs, free });
    let (wide, large) = (Needs { cores: 2, memory: 1 }, Needs { cores: 1, memory: 8 });
    assert_eq!(start(&mut scheduler, 3, 0), None);
    let free = Room { slots: Some(1), memory: Some(2) };
    assert_eq!(scheduler.grid().machine(machine(0)).free(), free);
    assert_eq!(start(&mut scheduler, 2, 0), no_room(2, wide, free));
    assert_eq!(start(&mut scheduler, 4, 0), no_room(4, large, free));
    assert_eq!(start(&mut scheduler, 0, 0), None);
    let full = Room { slots: Some(0), memory: Some(1) };
    assert_eq!(start(&mut scheduler, 1, 0), no_room(1, Needs { cores: 1, memory: 1 }, full));
    assert_eq!(start(&mut scheduler, 2, 1), None, "the other machine is empty");
    tell(&mut scheduler, &Event::AttemptFinished { task: task(3), attempt: 1 });
    assert_eq!(start(&mut scheduler, 4, 0), None, "one of its kind has ended");
}

#[test]
fn what_is_larger_than_an_empty_machine_can_never_run_there() {
    let scheduler = grid(&[class(3, 0, 0), class(1, 11, 0), class(2, 10, 0)]);
    let runs = |class| scheduler.grid().seconds_per_op(TaskClassId::new(class), machine(0)).is_finite();
    assert_eq!([0, 1, 2].map(runs), [false, false, true]);
}

#[test]
fn a_closed_machine_takes_nothing_and_keeps_what_it_has() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 3, 0)]);
    start(&mut scheduler, 0, 0);
    let (closed, opened) =
        (Event::MachineClosed { machine: machine(0) }, Event::MachineOpened { machine: machine(0) });
    let (lost, returned) =
        (Event::MachineLost { machine: machine(0) }, Event::MachineReturned { machine: machine(0) });
    let steps = [
        (&opened, Availability::Open, 1),
        (&returned, Availability::Open, 1),
        (&closed, Availability::Closed, 1),
        (&opened, Availability::Open, 1),
        (&closed, Availability::Closed, 1),
        (&lost, Availability::Lost, 0),
        (&opened, Availability::Lost, 0),
        (&closed, Availability::Lost, 0),
        (&returned, Availability::Open, 0),
    ];
    for (event, availability, tasks) in steps {
        tell(&mut scheduler, event);
        let there = scheduler.grid().machine(machine(0));
        assert_eq!((there.availability(), there.count()), (availability, tasks), "{event:?}");
        let refusal = start(&mut scheduler.clone(), 1, 0);
        let open = availability == Availability::Open;
        assert_eq!(refusal, (!open).then_some(Refusal::Closed(machine(0))), "{event:?}");
    }
}

#[test]
fn the_highest_priority_goes_first_and_then_the_lowest_task() {
    let events = [class(1, 0, 0), class(1, 1, 7), class(1, 2, 7), class(1, 3, -7)];
    let tasks = [submitted(0, 1, 3), submitted(1, 2, 0), submitted(3, 1, 2), submitted(4, 2, 1)];
    let mut scheduler = grid(&[&events[..], &tasks].concat());
    let mut order = Vec::new();
    while let Some(next) = scheduler.grid().longest_waiting(|_| true) {
        order.push(next.index());
        tell(&mut scheduler, &Event::TasksWithdrawn { first: next, count: 1 });
    }
    assert_eq!(order, [3, 4, 5, 1, 2, 0]);
}

#[test]
fn a_million_waiting_tasks_take_a_few_bytes() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 3, 0)]);
    tell(&mut scheduler, &submitted(3, 1_000_000, 0));
    let saved = serde_json::to_string(scheduler.grid()).expect("plain data");
    // For each page of tasks two values, state and length: half a byte a task.
    assert!(saved.len() < 600_000, "{} bytes", saved.len());
    assert_eq!(start(&mut scheduler, 999_999, 0), None);
    assert_eq!(scheduler.grid().task(task(999_999)).attempt(), 1);
    assert_eq!(scheduler.grid().task(task(1_000_002)).state(), TaskState::Waiting);
    assert_eq!(scheduler.grid().task_count(), 1_000_003);
}

/// As after each of the tasks was told of by itself.
#[test]
fn tasks_are_withdrawn_and_return_together() {
    let build = || {
        let tasks = [submitted(0, 100, 0), submitted(100, 2_000, 1), submitted(2_100, 7, 0)];
        let mut scheduler = grid(&[&[class(1, 0, 0), class(1, 0, 1)][..], &tasks].concat());
        assert_eq!(start(&mut scheduler, 1_500, 0), None);
        tell(&mut scheduler, &Event::TasksWithdrawn { first: TaskId::new(50), count: 3 });
        scheduler
    };
    for (first, count) in [(0, 2_107), (300, 1_000), (1_499, 3), (90, 600), (2_100, 7)] {
        let (mut together, mut one_by_one) = (build(), build());
        let events: [fn(TaskId, u32) -> Event; 2] = [
            |first, count| Event::TasksWithdrawn { first, count },
            |first, count| Event::TasksReturned { first, count },
        ];
        for event in events {
            tell(&mut together, &event(TaskId::new(first), count));
            for task in first..first + count as usize {
                tell(&mut one_by_one, &event(TaskId::new(task), 1));
            }
            together.check().expect("a whole grid");
            let tasks = |scheduler: &Scheduler<_>| scheduler.grid().tasks().collect::<Vec<_>>();
            assert!(tasks(&together) == tasks(&one_by_one), "{count} from {first} on");
        }
    }
}
