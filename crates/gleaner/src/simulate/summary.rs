//! A run in a few numbers: what `--json` prints and `summary.json` holds.

use super::answers;
use super::compare::{Measure, Measured, Metric};
use super::ran::{Between, Ran};
use super::service::ServiceSummary;
use gleaner_core::{Budget, MachineClass, Scope};
use gleaner_report::Gantt;
use gleaner_sim::bound::makespan_bound;
use gleaner_sim::brokering::Held;
use gleaner_sim::{Answered, History, MachineTraces, Period, Setup, Waste};
use gleaner_units::{Credits, MachineId, Ops, TaskClassId, Time};
use gleaner_workload::Experiment;
use gleaner_workload::swf::{Served, Services};
use serde::Serialize;

/// A run in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Summary {
    /// Of this document.
    pub(crate) version: u32,
    /// The preset's name.
    pub(crate) policy: String,
    /// What judges relocations; none if nothing moves.
    pub(crate) relocate: Option<&'static str>,
    /// The seed.
    pub(crate) seed: u64,
    /// How many tasks there are.
    pub(crate) tasks: usize,
    /// How many did not end.
    pub(crate) unfinished: usize,
    /// When the last task ended that did; of a log, so long after the first submission. None where nothing ended.
    pub(crate) makespan_s: Option<f64>,
    #[serde(flatten)]
    pub(crate) service: ServiceSummary,
    /// No schedule could end earlier; none where no schedule ends.
    pub(crate) lower_bound_s: Option<f64>,
    /// The distance of the makespan from that bound, relative to it; none unless every task ended.
    pub(crate) gap: Option<f64>,
    /// How many relocations there were.
    pub(crate) moves: u64,
    /// How often a machine went before its task was done.
    pub(crate) aborts: u64,
    /// What had to be done again, since a machine went or a task kept nothing.
    pub(crate) lost: Waste,
    /// What was done beside a faster run; none where no task had several runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wasted: Option<Waste>,
    /// What was spent; none without a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<BudgetUse>,
    /// What groups said to each other; none where there is one scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) between: Option<Between>,
    /// What machines answered and what of it was believed; none where nobody lies and one is believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answers: Option<Answered>,
    /// Tasks that wait since the rule passes machines over, and why; none where it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) held: Vec<Held>,
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    pub(crate) schedule: Option<Gantt>,
}

/// What became of a budget.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct BudgetUse {
    /// What there was in each period, for all or for each user.
    pub(crate) recharge: Credits,
    #[serde(skip)]
    pub(crate) scope: Scope,
    /// How long a period is.
    pub(crate) period_s: f64,
    /// What was spent in all, less what was given back.
    pub(crate) paid: Credits,
    /// What was given back in a later period than it was spent in: so much more the periods spent together than was paid.
    pub(crate) given_back_later: Credits,
    /// The periods in which anything happened.
    pub(crate) periods: Vec<PeriodUse>,
}

/// What was spent in one period, less what was given back in it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct PeriodUse {
    /// When it began.
    pub(crate) start_s: f64,
    /// What was spent.
    pub(crate) spent: Credits,
    /// What nobody spent, of all users together.
    pub(crate) left: Credits,
}

impl BudgetUse {
    fn of(budget: Budget, history: &History) -> Self {
        let spent: Credits = history.periods().iter().map(|period| period.spent).sum();
        let periods = history.periods().iter();
        let periods =
            periods.map(|&Period { start, spent, left }| PeriodUse { start_s: start.seconds(), spent, left });
        Self {
            recharge: budget.recharge,
            scope: budget.scope,
            period_s: budget.period.seconds(),
            paid: history.paid(),
            given_back_later: spent - history.paid(),
            periods: periods.collect(),
        }
    }

    /// The largest sum that was spent in one period.
    pub(crate) fn spent_max(&self) -> Credits {
        self.periods.iter().map(|period| period.spent).max().unwrap_or_default()
    }
}

impl Summary {
    /// The same of a log, whose second 0 says nothing: times are those since the first submission.
    pub(crate) fn since_the_first_submission(self, experiment: &Experiment) -> Self {
        let first_s = experiment.setup.tasks.arrivals.first().map_or(0.0, |first| first.seconds());
        let since = |seconds: Option<f64>| seconds.map(|seconds| (seconds - first_s).max(0.0));
        let [makespan_s, lower_bound_s] = [self.makespan_s, self.lower_bound_s].map(since);
        let gap = self.gap.and(gap(makespan_s, lower_bound_s));
        Self { makespan_s, lower_bound_s, gap, ..self }
    }

    /// Of a run as it stands. Costs a linear program for the bound.
    pub(crate) fn of(experiment: &Experiment, seed: u64, run: &impl Ran) -> Self {
        let history = run.history();
        let makespan_s = (history.finished() > 0).then(|| history.makespan().seconds());
        let lower_bound_s = makespan_bound(&experiment.setup);
        let complete = history.unfinished() == 0;
        Self {
            version: 1,
            policy: experiment.policy.clone(),
            relocate: experiment.recipe.relocate.map(|rule| rule.score.name()),
            seed,
            tasks: history.tasks().len(),
            unfinished: history.unfinished(),
            makespan_s,
            service: service(experiment, run),
            lower_bound_s,
            gap: gap(makespan_s, lower_bound_s).filter(|_| complete),
            moves: history.moves(),
            aborts: history.aborts(),
            lost: history.lost(),
            wasted: Some(history.wasted()).filter(|wasted| wasted.runs > 0),
            budget: experiment.setup.budget.map(|budget| BudgetUse::of(budget, history)),
            between: run.between(),
            answers: run.answered(),
            held: run.held(&experiment.recipe),
            schedule: None,
        }
    }
}

fn gap(makespan_s: Option<f64>, bound_s: Option<f64>) -> Option<f64> {
    Some(makespan_s? / bound_s? - 1.0)
}

fn service(experiment: &Experiment, run: &impl Ran) -> ServiceSummary {
    let (history, tasks) = (run.history(), &experiment.setup.tasks);
    let fastest = fastest(&experiment.setup);
    let served = history.tasks().iter().enumerate().filter(|(_, task)| task.finished != Time::NEVER);
    let served = served.map(|(at, task)| Served {
        submit: tasks.arrivals[at],
        start: task.started,
        run: task.finished.since(task.started),
        alone_s: tasks.lengths[at].amount() * fastest[tasks.classes[at].index()],
        processors: 1,
        user: experiment.users.get(at).map(|user| u64::from(*user)),
    });
    let services = Services::of(&served.collect::<Vec<_>>(), 1);
    let ended = tasks.lengths.iter().zip(history.tasks()).filter(|(_, task)| task.finished != Time::NEVER);
    let useful: f64 = ended.map(|(length, _)| Ops::amount(*length)).sum();
    let in_vain = history.lost().ops + history.wasted().ops;
    let lost_share = if in_vain > 0.0 { in_vain / (useful + in_vain) } else { 0.0 };
    ServiceSummary::of(&services, lost_share, "users").with_utilisation(utilisation(experiment, run))
}

/// How long an operation of each class of tasks takes alone, on the fastest machine that can take it: one with fewer cores than
/// the task wants is slower by as much. By a trace, classes of machines have speeds that no machine has: the fastest is one that
/// was there.
fn fastest(setup: &Setup) -> Vec<f64> {
    let grid = setup.idle_grid();
    let speeds = setup.availability.as_ref().map(top_speeds);
    let fastest = |class: TaskClassId| {
        let row = grid.classes().seconds_per_op_row(class);
        let (Some(by_trace), Some(speeds)) = (&setup.availability, &speeds) else {
            let wanted = setup.task_classes[class.index()].needs.cores;
            let share = |machine: &MachineClass| (f64::from(machine.cores) / f64::from(wanted)).min(1.0);
            let alone = row.iter().zip(&setup.machine_classes).map(|(seconds, on)| seconds / share(on));
            return alone.fold(f64::INFINITY, f64::min);
        };
        let able = (0_u32..).zip(speeds).filter(|(machine, _)| {
            row[by_trace.classes_of(*machine)].iter().any(|seconds| seconds.is_finite())
        });
        setup.config.weights[0] / able.map(|(_, speed)| *speed).fold(0.0, f64::max)
    };
    (0..setup.task_classes.len()).map(|class| fastest(TaskClassId::new(class))).collect()
}

/// How fast each machine of a trace ever is.
fn top_speeds(by_trace: &MachineTraces) -> Vec<f64> {
    let trace = &by_trace.trace;
    let mut speeds = vec![0.0_f64; by_trace.kinds.len()];
    for (at, interval) in trace.intervals().iter().enumerate() {
        let top = &mut speeds[interval.machine as usize];
        *top = trace.pieces(at).iter().fold(*top, |top, piece| top.max(piece.speed));
    }
    speeds
}

/// The part of the machines' time, each weighed by its cores, in which they had something to run.
fn utilisation(experiment: &Experiment, run: &impl Ran) -> f64 {
    let setup = &experiment.setup;
    let history = run.history();
    // What never ended went on to the end of the run.
    let last = if history.unfinished() == 0 { history.makespan() } else { run.now() };
    let first = setup.tasks.arrivals.first().copied().unwrap_or_default();
    let there_s = |machine: usize| match &setup.availability {
        None => last.since(first).seconds(),
        Some(by_trace) => {
            let trace = &by_trace.trace;
            let from = trace.pieces(machine).first().map_or(Time::ZERO, |piece| piece.from);
            trace.intervals()[machine].until.min(last).since(from.max(first)).seconds()
        }
    };
    let cores = |machine: usize| {
        let class = match &setup.availability {
            None => setup.machines[machine].index(),
            Some(by_trace) => by_trace.classes_of(by_trace.trace.intervals()[machine].machine).start,
        };
        setup.machine_classes[class].cores
    };
    let (busy_s, all_s) = (0..setup.machine_count()).fold((0.0, 0.0), |(busy_s, all_s), machine| {
        let cores = f64::from(cores(machine));
        (busy_s + cores * run.busy_seconds(MachineId::new(machine)), all_s + cores * there_s(machine))
    });
    if all_s > 0.0 { busy_s / all_s } else { 0.0 }
}

impl Measured for Summary {
    fn measures(&self) -> Vec<Measure> {
        let paid = self.budget.as_ref().map(|budget| budget.paid.amount());
        let (between, answers) = (self.between.as_ref(), self.answers.as_ref());
        let handed_over = between.map(|between| between.handed_over_share);
        let first = [Metric::of("makespan_s", "s", 3, self.makespan_s)];
        let rest = [
            Metric::of("unfinished", "tasks", 1, self.unfinished as f64),
            Metric::of("moves", "", 1, self.moves as f64),
            Metric::of("aborts", "", 1, self.aborts as f64),
            Metric::of("paid", "credits", 0, paid),
            Metric::of("letters_per_task", "", 2, between.map(|between| between.letters_per_task)),
            Metric::of("handed_over_share", "", 3, handed_over),
            Metric::of("age_mean_s", "s", 2, between.and_then(|between| between.age_mean_s)),
            Metric::of("wrong", "% of accepted", 3, answers.map(answers::wrong_percent)),
            Metric::of("work", "of needed", 3, answers.map(|answers| answers.work)),
        ];
        first.into_iter().chain(self.service.measures()).chain(rest).collect()
    }

    fn schedule(&self) -> Option<&Gantt> {
        self.schedule.as_ref()
    }
}
