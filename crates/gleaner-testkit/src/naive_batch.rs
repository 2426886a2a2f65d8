//! Batches as a reader of figures 1 and 2 of the second paper would write them: for each assignment, each task looks at
//! each machine, and every sum is taken afresh. They share no code with the policy under test, and read nothing that the
//! grid works out: what is left of the budget and how far tasks are, they know from `Books` of their own.
//!
//! A machine is ready when the first of its cores is, of as many as it has slots for.

mod books;
mod conditions;
mod terms;
mod turn;
mod view;

use crate::record::Record;
use books::Books;
pub use books::Fault;
use gleaner_core::{Alarm, Cause, Change, Command, Decision, Event, Grid};
use gleaner_core::{Occasion, Policy, Queue, Scheduler, Settled, TaskState};
use gleaner_sim::{Observer, Setup, Simulation};
use gleaner_units::{MachineId, PartyId, TaskId, Time};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;
pub use terms::{First, Goal, Pick, Rule, Terms};
use view::{Meta, View, works};

/// A whole reference policy.
struct NaiveBatch {
    terms: Terms,
    books: Rc<RefCell<Books>>,
    /// Of the present batch: when it began, how many tasks are in it, and which were removed from it.
    batch: Option<(Time, Meta)>,
}

/// What passes, for the record and for the books.
struct Witness {
    record: Record,
    books: Rc<RefCell<Books>>,
}

/// Runs a setup by its terms to the end; the books may have a fault.
pub fn run(setup: &Setup, terms: Terms, fault: Option<Fault>) -> Record {
    let books = Rc::new(RefCell::new(Books::new(setup.config.weights.clone(), fault)));
    let policy = NaiveBatch { terms, books: Rc::clone(&books), batch: None };
    let mut opening = Witness { record: Record::default(), books: Rc::clone(&books) };
    let mut simulation = Simulation::unopened(setup, policy).observed_by(&mut opening);
    simulation.open();
    let mut witness = Witness { record: Record::default(), books };
    let mut simulation = simulation.observed_by(&mut witness);
    simulation.run();
    drop(simulation);
    witness.record
}

/// The reference on a grid of its own, to which the outside of another is told.
pub struct Follower {
    scheduler: Scheduler<NaiveBatch>,
    books: Rc<RefCell<Books>>,
}

impl Follower {
    /// By its terms, before anything happened.
    pub fn new(setup: &Setup, terms: Terms) -> Self {
        let books = Rc::new(RefCell::new(Books::new(setup.config.weights.clone(), None)));
        let policy = NaiveBatch { terms, books: Rc::clone(&books), batch: None };
        Self { scheduler: Scheduler::new(Grid::new(setup.config.clone()), policy), books }
    }

    /// What it decides when something happens.
    pub fn step(&mut self, now: Time, event: &Event) -> (Vec<Decision>, Settled) {
        self.books.borrow_mut().event(now, event);
        self.scheduler.apply(now, event);
        let mut decisions = Vec::new();
        let settled = self.scheduler.decide(now, &mut decisions);
        drop(self.scheduler.take_orders());
        (decisions, settled)
    }
}

impl Observer for Witness {
    fn event(&mut self, now: Time, party: PartyId, event: &Event) {
        self.books.borrow_mut().event(now, event);
        self.record.event(now, party, event);
    }

    fn decision(&mut self, now: Time, party: PartyId, decision: &Decision) {
        self.record.decision(now, party, decision);
    }

    fn command(&mut self, now: Time, party: PartyId, command: &Command) {
        self.record.command(now, party, command);
    }
}

impl NaiveBatch {
    fn begin(&mut self, grid: &Grid, now: Time) {
        let mut all: Vec<TaskId> = grid
            .tasks()
            .filter(|(id, task)| {
                task.state() == TaskState::Waiting
                    && grid.plans().queue_of(*id).is_none()
                    && self.terms.knows(grid, *id)
            })
            .map(|(id, _)| id)
            .collect();
        all.sort_unstable();
        let payer = |task: TaskId| grid.classes().task_class(grid.task(task).class()).payer;
        let books = self.books.borrow();
        let left = |task: TaskId| {
            books.budget()?;
            Some((payer(task), books.left(payer(task), now)))
        };
        let left = all.iter().filter_map(|task| left(*task)).collect();
        drop(books);
        self.batch = Some((now, Meta { all, left, ..Meta::default() }));
    }

    /// When a priority has its turn, so many of those that are left of it come before the others.
    fn note_the_old(&mut self, grid: &Grid, now: Time) {
        let Terms { pick, aging, .. } = self.terms;
        let books = self.books.borrow();
        let Some((_, meta)) = &mut self.batch else { return };
        let view = View { grid, now, terms: &self.terms, books: &books, meta };
        let left = view.most_urgent(view.tasks_left());
        drop(books);
        let count = if pick == Pick::First { left.len() } else { aging };
        let is_new = left.first().is_some_and(|task| meta.turns.insert(priority(grid, *task)));
        if is_new {
            meta.old.extend(left.iter().take(count));
        }
    }

    fn plan(&mut self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.batch.as_ref().is_none_or(|(at, _)| *at != now) {
            self.begin(grid, now);
        }
        loop {
            let next = self.batch.as_mut()?.1.chosen.pop();
            if next.is_none() {
                self.note_the_old(grid, now);
            }
            let (_, meta) = self.batch.as_ref()?;
            let books = self.books.borrow();
            let view = View { grid, now, terms: &self.terms, books: &books, meta };
            if let Some((task, worker)) = next {
                // What was scheduled since it was chosen may have cost too much.
                if !view.allowed(task, worker, &view.workers(), view.means(task).as_ref()) {
                    continue;
                }
                let Terms { by_class, stands, period, .. } = self.terms;
                // What is equal but for rounding is not earlier.
                if by_class || stands || worker.ready < period.seconds() * (1.0 - 1e-12) {
                    return Some(Decision::Plan { task, on: worker.queue });
                }
                drop(books);
                self.batch.as_mut()?.1.beyond.push((task, worker.queue));
                continue;
            }
            let (removed, chosen) = view.turn();
            drop(books);
            if removed.is_empty() && chosen.is_empty() {
                return None;
            }
            let (_, meta) = self.batch.as_mut()?;
            meta.removed.extend(removed);
            meta.chosen = chosen;
        }
    }
}

/// How urgent a task is.
fn priority(grid: &Grid, task: TaskId) -> i32 {
    grid.classes().task_class(grid.task(task).class()).priority
}

/// The most urgent that can begin there, and can be paid; of these the next in rank.
fn start(grid: &Grid, books: &Books, now: Time, on: MachineId) -> Option<Decision> {
    let class = grid.machine(on).class();
    let price = grid.classes().machine_class(class).price;
    let can_pay = |task: TaskId| {
        let cost = grid.declared_length(task).map(|length| (length.amount() * price).ceil());
        books.budget().is_none() || cost.is_some_and(|cost| books.can_pay(task, cost, now))
    };
    let own: Vec<TaskId> = grid.plans().ranked(Queue::Machine(on)).collect();
    let shared: Vec<TaskId> = grid.plans().ranked(Queue::Class(class)).collect();
    let ranked = own.into_iter().chain(shared);
    let able = ranked.filter(|task| grid.can_run(grid.task(*task).class(), on) && can_pay(*task));
    let task = able.min_by_key(|task| Reverse(priority(grid, *task)))?;
    Some(Decision::Start { task, on })
}

/// Whether any of the machines that a task is planned for could ever begin it, as things stand: it takes tasks, it can run this one,
/// and a whole recharge pays for that unless it is paid.
fn could_begin(grid: &Grid, books: &Books, task: TaskId, queue: Queue) -> bool {
    (0..grid.machines().len()).map(MachineId::new).any(|on| {
        let class = grid.machine(on).class();
        let is_meant = queue == Queue::Machine(on) || queue == Queue::Class(class);
        let h = grid.classes().seconds_per_op_row(grid.task(task).class())[class.index()];
        is_meant && works(grid, on) && h < f64::INFINITY && {
            let price = grid.classes().machine_class(class).price;
            let cost = grid.declared_length(task).map(|length| (length.amount() * price).ceil());
            let cost = if price == 0.0 { Some(0.0) } else { cost };
            books.budget().is_none() || cost.is_some_and(|cost| books.could_pay(task, cost))
        }
    })
}

impl Policy for NaiveBatch {
    fn observe(&mut self, _: &Grid, change: &Change) {
        if let Change::Refused(..) = change {
            self.books.borrow_mut().refused();
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        self.books.borrow_mut().settle();
        let decision = self.answer(grid, now, occasion)?;
        self.books.borrow_mut().wish(now, decision.clone());
        Some(decision)
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

impl NaiveBatch {
    fn answer(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let Terms { period, rule, stands, at_once, .. } = self.terms;
        let books = Rc::clone(&self.books);
        let start = |on| start(grid, &books.borrow(), now, on);
        let machines = (0..grid.machines().len()).map(MachineId::new);
        let in_vain = grid.tasks().any(|(task, _)| {
            let queue = grid.plans().queue_of(task);
            queue.is_some_and(|queue| !could_begin(grid, &books.borrow(), task, queue))
        });
        let answer = match occasion.cause {
            Cause::Freed(on) => start(on),
            _ if at_once && in_vain && grid.plans().collected_at() != Some(now) => {
                self.batch = None;
                return Some(Decision::Collect);
            }
            _ if at_once => {
                let answer = self.plan(grid, now).or_else(|| machines.into_iter().find_map(&start));
                if answer.is_none() {
                    self.batch = None;
                }
                answer
            }
            Cause::WokeUp { due, .. } if due.is_multiple_of(period) => {
                let collected_at = grid.plans().collected_at();
                let collects = if stands {
                    in_vain && collected_at != Some(now)
                } else {
                    collected_at.is_none_or(|at| at < due)
                };
                if collects {
                    self.batch = None;
                    return Some(Decision::Collect);
                }
                self.plan(grid, now).or_else(|| machines.into_iter().find_map(&start))
            }
            Cause::Joined(on)
            | Cause::Opened(on)
            | Cause::Measured(on)
            | Cause::LoadFell(on)
            | Cause::Vacated(on)
            | Cause::Published(on) => start(on),
            // Credits may have come back that pay for tasks anywhere.
            Cause::RuleChanged | Cause::Withdrawn => machines.into_iter().find_map(&start),
            Cause::Submitted(_)
            | Cause::Lost(_)
            | Cause::LoadRose(_)
            | Cause::Closed(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::DataCame
            | Cause::WokeUp { .. } => None,
        };
        let period_ns = period.nanos();
        let again = at_once && in_vain;
        let at = if again { now.nanos() + 1 } else { (now.nanos() / period_ns + 1) * period_ns };
        let at = Time::from_nanos(at);
        let waits = grid.tasks().any(|(_, task)| task.state() == TaskState::Waiting);
        // Whatever waits may be paid with the next recharge, planned or not.
        let wakes = if at_once { again || (rule != Rule::None && waits) } else { waits };
        answer.or_else(|| {
            let is_earlier = grid.alarm(Alarm::Batch).is_none_or(|set| at < set);
            (wakes && is_earlier).then_some(Decision::Wake { alarm: Alarm::Batch, at })
        })
    }
}
