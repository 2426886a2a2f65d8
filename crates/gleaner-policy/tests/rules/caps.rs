//! A user whose runs take all the cores that are theirs waits, and nobody behind them does, whatever the rule.

use gleaner_core::{
    Alarm, Checking, Command, Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs, Room,
    RunEnd, Scheduler, Tags, TaskClass,
};
use gleaner_policy::{Ahead, AnyPolicy, Backfill, Fill, Goal, Preset, Recipe, Replicate};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, TaskClassId, TaskId, Time, UserId};
use std::collections::BTreeMap;

const MACHINES: usize = 4;
/// Of the first user.
const CAP: u32 = 2;

struct Stage {
    scheduler: Scheduler<AnyPolicy>,
    now: Time,
    runs: BTreeMap<RunId, MachineId>,
}

impl Stage {
    fn new(recipe: Recipe) -> Self {
        let config = GridConfig { weights: vec![1.0], migration: Migration::default() };
        let mut stage = Self {
            scheduler: Scheduler::new(Grid::new(config), recipe.build()),
            now: Time::ZERO.after_seconds(1.0),
            runs: BTreeMap::new(),
        };
        let room = Room { slots: Some(1), memory: None, disk: None };
        let class = |tag: &str| MachineClass {
            room,
            provides: Tags::from([tag.to_owned()]),
            ..MachineClass::plain(vec![1.0], 1)
        };
        stage.tell(&Event::MachineClassMet(Box::new(class("old"))));
        stage.tell(&Event::MachineClassMet(Box::new(class("new"))));
        for (user, requires) in [(0, Tags::new()), (1, Tags::new()), (0, Tags::from(["new".to_owned()]))] {
            stage.tell(&Event::TaskClassMet(Box::new(TaskClass {
                payer: UserId::new(user),
                requires,
                ..TaskClass::plain(vec![1.0])
            })));
        }
        for index in 0..MACHINES {
            let class = MachineClassId::new(usize::from(index == MACHINES - 1));
            stage.tell(&Event::MachineJoined { machine: MachineId::new(index), class });
        }
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(CAP) });
        stage
    }

    fn tell(&mut self, event: &Event) {
        self.scheduler.apply(self.now, event);
    }

    fn submit(&mut self, count: u32, class: usize) {
        let first = TaskId::new(self.scheduler.grid().task_count());
        let length = Ops::new(1e6);
        self.tell(&Event::TasksSubmitted { first, count, class: TaskClassId::new(class), length });
    }

    /// Lets the rule answer until it has nothing to say, and wakes it as it wishes.
    fn settle(&mut self) -> Vec<Decision> {
        let mut decisions: Vec<Decision> = Vec::new();
        for _ in 0..200 {
            self.scheduler.decide(self.now, &mut decisions);
            let orders: Vec<Command> = self.scheduler.take_orders().collect();
            for order in orders {
                if let Command::Start { run, on } = order {
                    self.runs.insert(run, on);
                    self.tell(&Event::RunStarted(run));
                }
            }
            self.scheduler.check().expect("all indices are right");
            match self.scheduler.grid().next_alarm().filter(|(at, _)| *at <= self.now.after_seconds(1_000.0))
            {
                Some((at, alarm @ (Alarm::Batch | Alarm::Recharge))) => {
                    self.now = self.now.max(at);
                    self.tell(&Event::WokeUp { alarm });
                }
                _ if self.scheduler.is_asked() => {}
                _ => break,
            }
        }
        decisions
    }

    /// The users whose tasks run.
    fn users(&self) -> [usize; 2] {
        let of = |user: usize| {
            let grid = self.scheduler.grid();
            let class = |run: &RunId| grid.classes().task_class(grid.task(run.task).class());
            self.runs.keys().filter(|run| class(run).payer == UserId::new(user)).count()
        };
        [of(0), of(1)]
    }

    fn end(&mut self, run: RunId) {
        self.runs.remove(&run).expect("it runs");
        self.tell(&Event::RunEnded { run, end: RunEnd::Finished });
    }
}

#[test]
fn a_user_at_the_bound_waits_and_others_do_not() {
    for name in ["bertasi/greedy", "bertasi/social", "queue/easy", "queue/fcfs", "gleaner/bags-longest"] {
        let preset = Preset::named(name).expect("a preset");
        let mut stage = Stage::new(preset.recipe);
        stage.submit(6, 0);
        stage.settle();
        assert_eq!(stage.users(), [2, 0], "{name}: no more than the bound");
        stage.submit(2, 1);
        stage.settle();
        assert_eq!(stage.users(), [2, 2], "{name}: who comes later is not held up");
        let capped = TaskClassId::new(0);
        assert!(stage.scheduler.grid().is_capped(capped), "{name}");
        assert_eq!(stage.scheduler.grid().cores_of_user(capped), (2, CAP), "{name}");
        let first = *stage.runs.keys().next().expect("a run");
        stage.end(first);
        stage.settle();
        assert_eq!(stage.users(), [2, 2], "{name}: the next one's turn");
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(100) });
        for run in stage.runs.keys().copied().collect::<Vec<_>>() {
            stage.end(run);
        }
        stage.settle();
        assert_eq!(stage.users(), [3, 0], "{name}: the rest, once they may");
    }
}

/// One more run of a task counts as its user's too.
#[test]
fn a_user_at_the_bound_has_no_more_copies_and_others_start() {
    let checking = Checking { quorum: 2, most: 5, trust: None };
    for replicate in [Replicate::Quorum(checking), Replicate::runs(2).expect("few")] {
        let preset = Preset::named("bertasi/greedy").expect("a preset");
        let mut stage = Stage::new(Recipe { replicate, ..preset.recipe });
        if let Replicate::Quorum(rule) = replicate {
            stage.tell(&Event::CheckingSet(Some(rule)));
        }
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(1) });
        stage.submit(1, 0);
        stage.settle();
        assert_eq!(stage.users(), [1, 0], "{replicate:?}");
        stage.submit(1, 1);
        stage.settle();
        assert_eq!(stage.users(), [1, 2], "{replicate:?}: both runs of the other's task");
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(2) });
        stage.settle();
        assert_eq!(stage.users(), [2, 2], "{replicate:?}: the copy, once it may");
    }
}

/// Between two batches.
#[test]
fn a_planned_task_starts_once_its_user_may_have_more_cores() {
    let preset = Preset::named("elleuch/min-min").expect("a preset");
    let mut stage = Stage::new(preset.recipe);
    stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(1) });
    stage.submit(2, 0);
    stage.settle();
    let (&first, &on) = stage.runs.iter().next().expect("the batch came");
    assert_eq!((stage.users(), on.index()), ([1, 0], 0));
    let task = TaskId::new(1 - first.task.index());
    assert!(stage.scheduler.grid().plans().queue_of(task).is_some(), "it is planned on another machine");
    stage.tell(&Event::RunEnded { run: first, end: RunEnd::Finished });
    stage.runs.remove(&first);
    let before = stage.now;
    let mut decisions = Vec::new();
    stage.scheduler.decide(stage.now, &mut decisions);
    let starts =
        |decision: &Decision| matches!(decision, Decision::Start { task: started, .. } if *started == task);
    assert!(stage.now == before && decisions.iter().any(starts), "{decisions:?}");
}

/// What it frees is not where it would go: it starts all the same.
#[test]
fn whoever_waited_for_the_bound_may_start_elsewhere() {
    for name in ["bertasi/greedy", "queue/easy", "nimrod/time"] {
        let preset = Preset::named(name).expect("a preset");
        let mut stage = Stage::new(preset.recipe);
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(1) });
        stage.submit(1, 0);
        stage.settle();
        let (&first, &on) = stage.runs.iter().next().expect("it runs");
        if on == MachineId::new(MACHINES - 1) {
            continue;
        }
        stage.submit(1, 2);
        stage.settle();
        assert_eq!(stage.runs.len(), 1, "{name}");
        stage.end(first);
        stage.settle();
        let places: Vec<MachineId> = stage.runs.values().copied().collect();
        assert_eq!(places, [MachineId::new(MACHINES - 1)], "{name}");
    }
}

/// It would only wait elsewhere.
#[test]
fn what_is_ahead_is_not_taken_back_while_its_user_is_at_the_bound() {
    for cap in [100, 3] {
        let preset = Preset::named("bertasi/greedy").expect("a preset");
        let mut stage = Stage::new(Recipe { ahead: Ahead::WhereShort, ..preset.recipe });
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(100) });
        stage.submit(1, 0);
        stage.settle();
        let first = *stage.runs.keys().next().expect("it runs");
        stage.end(first);
        stage.submit(5, 0);
        let decisions = stage.settle();
        assert!(
            decisions.iter().any(|decision| matches!(decision, Decision::Follow { .. })),
            "{decisions:?}"
        );
        let is_free = |run: &&RunId| stage.scheduler.grid().run_behind(**run).is_none();
        let other = *stage.runs.keys().find(is_free).expect("a run that none is behind");
        stage.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(cap) });
        stage.end(other);
        let decisions = stage.settle();
        let is_taken_back = decisions.iter().any(|decision| matches!(decision, Decision::TakeBack { .. }));
        assert_eq!(is_taken_back, cap == 100, "{cap}: {decisions:?}");
    }
}

/// Long tasks of other users run on all but one machine and let go of it at once; of the three that wait behind the one that is
/// too large for now, the one in the middle waits for its user's own.
#[test]
fn whoever_waits_for_the_bound_keeps_no_gap_from_those_behind() {
    for name in ["queue/easy", "queue/conservative"] {
        for fill in [Fill::Arrival, Fill::Shortest, Fill::SmallestArea] {
            let mut recipe = Preset::named(name).expect("a preset").recipe;
            if let Goal::Start(queueing) = &mut recipe.goal
                && queueing.backfill == Backfill::Easy
            {
                queueing.fill = fill;
            }
            let mut line = Line::new(recipe);
            // Each of one core of three: user 0 runs one, and may have no more.
            let (long, short) = (1_000.0, 10.0);
            line.submit(0, 1, long);
            line.submit(1, 1, long);
            line.settle();
            assert_eq!(line.running(), [0, 1], "{name}");
            // The head needs all; a gap of one core is left before that.
            line.submit(1, 3, long);
            line.submit(0, 1, short);
            line.submit(1, 1, 2.0 * short);
            line.settle();
            assert_eq!(line.running(), [0, 1, 4], "{name} {fill:?}: who is behind starts");
            line.end(0);
            line.settle();
            assert_eq!(line.running(), [1, 3, 4], "{name} {fill:?}: and then who waited");
        }
    }
}

/// One machine of three cores, and a user of one core.
struct Line {
    scheduler: Scheduler<AnyPolicy>,
    now: Time,
    runs: BTreeMap<usize, RunId>,
}

impl Line {
    fn new(recipe: Recipe) -> Self {
        let config = GridConfig { weights: vec![1.0], migration: Migration::default() };
        let scheduler = Scheduler::new(Grid::new(config), recipe.build());
        let mut line = Self { scheduler, now: Time::ZERO.after_seconds(1.0), runs: BTreeMap::new() };
        let room = Room { slots: Some(3), memory: None, disk: None };
        let class = MachineClass { room, ..MachineClass::plain(vec![1.0], 3) };
        line.tell(&Event::MachineClassMet(Box::new(class)));
        line.tell(&Event::MachineJoined { machine: MachineId::new(0), class: MachineClassId::new(0) });
        for (user, cores) in [(0, 1), (1, 1), (0, 3), (1, 3)] {
            line.tell(&Event::TaskClassMet(Box::new(TaskClass {
                payer: UserId::new(user),
                needs: Needs { cores, ..Needs::default() },
                ..TaskClass::plain(vec![1.0])
            })));
        }
        line.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: Some(1) });
        line
    }

    fn tell(&mut self, event: &Event) {
        self.scheduler.apply(self.now, event);
    }

    fn submit(&mut self, user: usize, cores: usize, length: f64) {
        let first = TaskId::new(self.scheduler.grid().task_count());
        let class = TaskClassId::new(user + if cores == 3 { 2 } else { 0 });
        self.tell(&Event::TasksSubmitted { first, count: 1, class, length: Ops::new(length) });
    }

    /// Until nobody has anything to say at this moment.
    fn settle(&mut self) {
        loop {
            self.scheduler.decide(self.now, &mut Vec::new());
            let orders: Vec<Command> = self.scheduler.take_orders().collect();
            for order in &orders {
                if let Command::Start { run, .. } = order {
                    self.runs.insert(run.task.index(), *run);
                    self.tell(&Event::RunStarted(*run));
                }
            }
            self.scheduler.check().expect("all indices are right");
            match self.scheduler.grid().next_alarm().filter(|(at, _)| *at <= self.now) {
                Some((_, alarm)) => self.tell(&Event::WokeUp { alarm }),
                None if orders.is_empty() && !self.scheduler.is_asked() => return,
                None => {}
            }
        }
    }

    fn running(&self) -> Vec<usize> {
        self.runs.keys().copied().collect()
    }

    fn end(&mut self, task: usize) {
        let run = self.runs.remove(&task).expect("it runs");
        self.tell(&Event::RunEnded { run, end: RunEnd::Finished });
    }
}

/// What nobody could start under the old bound may start as soon as there is another.
#[test]
fn a_bound_that_is_raised_lets_whoever_waits_start_at_that_moment() {
    for name in ["queue/fcfs", "queue/easy", "queue/conservative"] {
        let mut line = Line::new(Preset::named(name).expect("a preset").recipe);
        line.submit(0, 1, 10.0);
        line.submit(0, 1, 10.0);
        line.settle();
        assert_eq!(line.running(), [0], "{name}");
        line.tell(&Event::CoresCapped { user: Some(UserId::new(0)), cores: None });
        line.settle();
        assert_eq!(line.running(), [0, 1], "{name}");
        line.tell(&Event::CoresCapped { user: None, cores: Some(3) });
        line.submit(0, 1, 10.0);
        line.submit(0, 1, 10.0);
        line.settle();
        assert_eq!(line.running(), [0, 1, 2], "{name}");
    }
}
