//! What the naive batch knows of money and of running tasks, from what passed and from nothing that the grid worked out:
//! every charge is kept, and every sum taken afresh.

use crate::naive_progress::NaiveProgress;
use crate::record::Entry;
use gleaner_core::{Budget, Charged, Decision, Event, Queue, RunEnd, Scope};
use gleaner_units::{MachineId, Ops, RunId, TaskClassId, TaskId, Time, UserId};
use std::collections::BTreeMap;

/// What is kept wrongly on purpose: a comparison must notice each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A task that was charged as it was planned is charged again as it starts.
    ChargedTwice,
    /// What was spent in one period is missing in the next.
    NeverRecharged,
    /// What a running task has done so far is not known.
    NoProgress,
}

/// When a charge leaves what may be spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Paid {
    /// Not yet, and nothing is held for it.
    Counted,
    /// Not yet, but nobody else may spend it.
    Held,
    /// Then.
    At(Time),
}

#[derive(Clone, Copy, Debug)]
struct Charge {
    task: TaskId,
    payer: UserId,
    credits: f64,
    ops: f64,
    paid: Paid,
    /// The task ended: it is not given back any more.
    over: bool,
}

/// A machine is there with a class.
#[derive(Clone, Copy, Debug)]
struct Stay {
    machine: MachineId,
    class: usize,
    from: Time,
    /// When it was over, and whether the machine was lost. One that is gone at the moment at which it came was not.
    end: Option<(Time, bool)>,
}

/// The charges so far, and how far each run is.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    fault: Option<Fault>,
    progress: NaiveProgress,
    budget: Option<Budget>,
    charges: Vec<Charge>,
    prices: Vec<f64>,
    payers: Vec<UserId>,
    /// The class of each machine.
    stations: Vec<usize>,
    stays: Vec<Stay>,
    tasks: Vec<(TaskClassId, f64)>,
    planned: BTreeMap<TaskId, Queue>,
    placed: BTreeMap<TaskId, MachineId>,
    /// A wish that was not refused so far.
    wish: Option<(Time, Decision)>,
}

impl Books {
    /// Nothing happened yet; W is the grid's.
    pub(super) fn new(weights: Vec<f64>, fault: Option<Fault>) -> Self {
        Self { fault, progress: NaiveProgress::new(weights), ..Self::default() }
    }

    /// What may be spent.
    pub(super) fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// The operations that a run has done.
    pub(super) fn ops_done(&self, id: RunId) -> f64 {
        let known = self.progress.ops_done_of(id);
        known.filter(|_| self.fault != Some(Fault::NoProgress)).unwrap_or(0.0)
    }

    /// How long an operation takes a run where it is.
    pub(super) fn seconds_per_op(&self, id: RunId) -> f64 {
        self.progress.seconds_per_op_of(id)
    }

    /// B̲.
    pub(super) fn left(&self, payer: UserId, now: Time) -> f64 {
        let budget = self.budget.expect("somebody asks for a budget only where there is one");
        let gone = self.charges.iter().filter(|charge| match charge.paid {
            Paid::Counted => false,
            Paid::Held => true,
            Paid::At(at) => self.is_of_this_period(at, now),
        });
        let gone = gone.filter(|charge| self.share(charge.payer, payer));
        budget.recharge.count() as f64 - gone.map(|charge| charge.credits).sum::<f64>()
    }

    /// Credits and operations that are planned, held, or were charged in this period.
    pub(super) fn allocated(&self, payer: UserId, now: Time) -> (f64, f64) {
        let counts = |charge: &&Charge| match charge.paid {
            Paid::Counted | Paid::Held => true,
            Paid::At(at) => self.is_of_this_period(at, now),
        };
        let charges = self.charges.iter().filter(counts).filter(|charge| self.share(charge.payer, payer));
        charges.fold((0.0, 0.0), |sum, charge| (sum.0 + charge.credits, sum.1 + charge.ops))
    }

    /// Whether a task that costs so much where it would start can be paid, with what was taken for it already.
    pub(super) fn can_pay(&self, task: TaskId, cost: f64, now: Time) -> bool {
        let payer = self.payer(task);
        let Some(own) = self.open_charge(task) else { return cost <= self.left(payer, now) };
        let back = match own.paid {
            Paid::At(_) if own.credits == cost => return true,
            Paid::At(at) if self.is_of_this_period(at, now) => own.credits,
            Paid::Held => own.credits,
            Paid::At(_) | Paid::Counted => 0.0,
        };
        cost <= self.left(payer, now) + back
    }

    /// Whether a task that costs so much where it would start can be paid with a whole recharge, or was, or has so much held for it.
    pub(super) fn could_pay(&self, task: TaskId, cost: f64) -> bool {
        let recharge = self.budget.map_or(0.0, |budget| budget.recharge.count() as f64);
        let is_taken = self.open_charge(task).is_some_and(|own| match own.paid {
            Paid::At(_) => own.credits == cost,
            Paid::Held => cost <= own.credits,
            Paid::Counted => false,
        });
        is_taken || cost <= recharge
    }

    /// How often machines of a class were lost by the second, with one stay more that is as long as all are on average.
    pub(super) fn losses_per_s(&self, class: usize, now: Time) -> f64 {
        let losses = |stays: &[&Stay]| stays.iter().filter(|stay| stay.end.is_some_and(|end| end.1)).count();
        let seconds = |stays: &[&Stay]| {
            let nanos = |stay: &&Stay| stay.end.map_or(now, |end| end.0).nanos() - stay.from.nanos();
            stays.iter().map(nanos).sum::<u64>() as f64 / 1e9
        };
        let all: Vec<&Stay> = self.stays.iter().collect();
        let own: Vec<&Stay> = self.stays.iter().filter(|stay| stay.class == class).collect();
        if losses(&all) == 0 {
            return 0.0;
        }
        let usual_s = seconds(&all) / losses(&all) as f64;
        let there_s = seconds(&own) + usual_s;
        if there_s > 0.0 { (losses(&own) + 1) as f64 / there_s } else { 0.0 }
    }

    /// A stay ends; whether there was one.
    fn over(&mut self, now: Time, machine: MachineId, is_loss: bool) -> bool {
        let lasts = |stay: &&mut Stay| stay.machine == machine && stay.end.is_none();
        let stay = self.stays.iter_mut().find(lasts);
        stay.is_some_and(|stay| {
            stay.end = Some((now, is_loss && now > stay.from));
            true
        })
    }

    /// Whether both pay from one account.
    pub(super) fn share(&self, one: UserId, other: UserId) -> bool {
        self.budget.is_none_or(|budget| budget.scope == Scope::Shared) || one == other
    }

    /// The policy wishes something; it comes to pass unless it is [refused](Self::refused).
    pub(super) fn wish(&mut self, now: Time, decision: Decision) {
        self.settle();
        self.wish = Some((now, decision));
    }

    /// What was wished is not to be.
    pub(super) fn refused(&mut self) {
        self.wish = None;
    }

    /// What was wished and not refused happened.
    pub(super) fn settle(&mut self) {
        if let Some((now, decision)) = self.wish.take() {
            self.progress.take_in(now, &Entry::Decision(decision.clone()));
            self.decided(now, &decision);
        }
    }

    /// A fact.
    pub(super) fn event(&mut self, now: Time, event: &Event) {
        self.settle();
        self.progress.take_in(now, &Entry::Event(event.clone()));
        match *event {
            Event::MachineClassMet(ref class) => self.prices.push(class.price),
            Event::TaskClassMet(ref class) => self.payers.push(class.payer),
            Event::TaskClassReplaced { class, ref by } => self.payers[class.index()] = by.payer,
            Event::MachineJoined { class, machine } => {
                self.stations.push(class.index());
                self.stays.push(Stay { machine, class: class.index(), from: now, end: None });
            }
            Event::MachineMeasured { machine, class } => {
                // What was known already is no news.
                if self.stations[machine.index()] != class.index() && self.over(now, machine, false) {
                    self.stays.push(Stay { machine, class: class.index(), from: now, end: None });
                }
                self.stations[machine.index()] = class.index();
            }
            Event::MachineReturned { machine } => {
                if !self.stays.iter().any(|stay| stay.machine == machine && stay.end.is_none()) {
                    let class = self.stations[machine.index()];
                    self.stays.push(Stay { machine, class, from: now, end: None });
                }
            }
            Event::MachineLost { machine } => {
                self.lost(machine);
                self.over(now, machine, true);
            }
            Event::TasksSubmitted { count, class, length, .. } => {
                let task = (class, length.map_or(0.0, Ops::amount));
                self.tasks.extend(std::iter::repeat_n(task, count as usize));
            }
            Event::RunEnded { run, end } => self.ended(now, run.task, end),
            Event::BudgetSet(budget) => self.budget = budget,
            Event::TasksWithdrawn { .. }
            | Event::TasksReturned { .. }
            | Event::TasksRerun { .. }
            | Event::TasksReclassed { .. }
            | Event::TasksRetired { .. }
            | Event::TasksRevived { .. } => {
                unreachable!("nobody cancels anything in the grids that this reference is made for")
            }
            Event::TaskClassesMeasured { .. }
            | Event::MachineClosed { .. }
            | Event::MachineOpened { .. }
            | Event::OwnerLoadReported { .. }
            | Event::FileMet { .. }
            | Event::FileStored { .. }
            | Event::FileRemoved { .. }
            | Event::InputsNamed { .. }
            | Event::ClassLimited { .. }
            | Event::MachineSited { .. }
            | Event::LinkMeasured { .. }
            | Event::StatePublished { .. }
            | Event::SurveyAnswered { .. }
            | Event::ResidentsPublished { .. }
            | Event::Lending(_)
            | Event::RunGranted { .. }
            | Event::RunRefused { .. }
            | Event::RunArrived { .. }
            | Event::RunStarted(_)
            | Event::CheckingSet(_)
            | Event::ClassChecked { .. }
            | Event::MachineOwned { .. }
            | Event::SeedDrawn(_)
            | Event::CoresCapped { .. }
            | Event::RuleChanged
            | Event::WokeUp { .. } => {}
        }
    }

    fn is_of_this_period(&self, at: Time, now: Time) -> bool {
        let Some(budget) = self.budget else { return false };
        let number = |time: Time| time.nanos() / budget.period.nanos();
        self.fault == Some(Fault::NeverRecharged) || number(at) == number(now)
    }

    fn payer(&self, task: TaskId) -> UserId {
        self.payers[self.tasks[task.index()].0.index()]
    }

    fn open_charge(&self, task: TaskId) -> Option<Charge> {
        self.charges.iter().find(|charge| charge.task == task && !charge.over).copied()
    }

    fn charge(&mut self, task: TaskId, class: usize, paid: Paid) {
        let (length, price) = (self.tasks[task.index()].1, self.prices[class]);
        let (payer, credits) = (self.payer(task), (length * price).ceil());
        self.charges.push(Charge { task, payer, credits, ops: length, paid, over: false });
    }

    fn give_back(&mut self, task: TaskId) {
        self.charges.retain(|charge| charge.task != task || charge.over);
    }

    fn decided(&mut self, now: Time, decision: &Decision) {
        let Some(Budget { charged, .. }) = self.budget else { return };
        match *decision {
            Decision::Collect => {
                for task in std::mem::take(&mut self.planned).into_keys() {
                    self.give_back(task);
                }
            }
            Decision::Plan { task, on } => {
                let class = match on {
                    Queue::Machine(machine) => self.stations[machine.index()],
                    Queue::Class(class) => class.index(),
                };
                self.planned.insert(task, on);
                let paid = match charged {
                    Charged::Planned => Paid::At(now),
                    Charged::Reserved => Paid::Held,
                    Charged::Started | Charged::Ended => Paid::Counted,
                };
                self.charge(task, class, paid);
            }
            Decision::Start { task, on } => self.started(now, task, on, charged),
            Decision::Lending(_) | Decision::Wake { .. } | Decision::Survey { .. } => {}
            Decision::Relocate { .. }
            | Decision::Replicate { .. }
            | Decision::Follow { .. }
            | Decision::TakeBack { .. }
            | Decision::StartWide { .. }
            | Decision::Ask { .. }
            | Decision::ReplicateWide { .. } => {
                unreachable!("a batch neither moves what runs nor runs it twice")
            }
        }
    }

    fn started(&mut self, now: Time, task: TaskId, on: MachineId, charged: Charged) {
        let class = self.stations[on.index()];
        let cost = (self.tasks[task.index()].1 * self.prices[class]).ceil();
        self.planned.remove(&task);
        self.placed.insert(task, on);
        let is_paid = |own: Charge| matches!(own.paid, Paid::At(_)) && own.credits == cost;
        match self.fault {
            Some(Fault::ChargedTwice) => {}
            _ if self.open_charge(task).is_some_and(is_paid) => return,
            _ => self.give_back(task),
        }
        self.charge(task, class, if charged == Charged::Ended { Paid::Held } else { Paid::At(now) });
    }

    fn ended(&mut self, now: Time, task: TaskId, end: RunEnd) {
        self.placed.remove(&task);
        match end {
            RunEnd::Finished | RunEnd::Answered(_) => {
                for charge in self.charges.iter_mut().filter(|charge| charge.task == task) {
                    charge.over = true;
                    if charge.paid == Paid::Held {
                        charge.paid = Paid::At(now);
                    }
                }
            }
            RunEnd::Kept | RunEnd::Lost | RunEnd::Refused | RunEnd::Compared(_) => self.give_back(task),
        }
    }

    fn lost(&mut self, machine: MachineId) {
        let ran = self.placed.iter().filter(|(_, on)| **on == machine).map(|(task, _)| *task);
        let planned = self.planned.iter().filter(|(_, on)| **on == Queue::Machine(machine));
        let gone: Vec<TaskId> = ran.chain(planned.map(|(task, _)| *task)).collect();
        for task in gone {
            self.placed.remove(&task);
            self.planned.remove(&task);
            self.give_back(task);
        }
    }
}
