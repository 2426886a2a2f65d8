//! Why a task waits that some machine could take: what the rule in force, its batches and its budget have to do with it.

use crate::ledger::Ledger;
use gleaner_core::{Alarm, Availability, Queue};
use gleaner_policy::{AnyPolicy, Names, Source};
use gleaner_units::{Credits, MachineId, TaskId, Time};

/// In half a sentence.
pub(super) fn why(ledger: &Ledger, now: Time, task: TaskId) -> String {
    reason(ledger, now, task) + &learnt(ledger, task)
}

/// How long it is believed to be where that goes by what ran before, since the decisions do.
fn learnt(ledger: &Ledger, task: TaskId) -> String {
    let (grid, policy) = (ledger.grid(), ledger.scheduler().policy());
    let Some(source) = policy.source_of_length(grid, task) else { return String::new() };
    let row = grid.classes().seconds_per_op_row(grid.task(task).class());
    let fastest = row.iter().copied().fold(f64::INFINITY, f64::min);
    let seconds = policy.length(grid, task).map(|length| length.amount() * fastest);
    let Some(seconds) = seconds.filter(|seconds| seconds.is_finite()) else { return String::new() };
    let by = match source {
        Source::Runs => "by what its user's tasks took before",
        Source::Declared => "as was declared, for too little ran before that is like it",
        Source::Nobody => "for nothing was declared, and too little ran before that is like it",
    };
    format!("; it is taken for {seconds:.1} s on the fastest machine, {by}")
}

fn reason(ledger: &Ledger, now: Time, task: TaskId) -> String {
    let grid = ledger.grid();
    if grid.is_capped(grid.task(task).class()) {
        let (taken, most) = grid.cores_of_user(grid.task(task).class());
        let user = &ledger.job_of(task).1.user;
        return format!(
            "it waits for other tasks of its user to end: those of {user} run on {taken} cores, and the quota is {most}"
        );
    }
    if has_no_length(ledger, task) {
        return "it waits, and is not planned for any machine: no length was declared for it".to_owned();
    }
    let planned = match grid.plans().queue_of(task) {
        Some(Queue::Machine(on)) => Some(ledger.agent(on).name.clone()),
        Some(Queue::Class(class)) => {
            let on = grid.machines_of(class).next().map(|on| &ledger.agent(on).name);
            on.map(|name| format!("{name}, or a machine like it"))
        }
        None => None,
    };
    let alarms = [Alarm::Batch, Alarm::Recharge].into_iter().filter_map(|alarm| grid.alarm(alarm));
    let batch = alarms.min().map_or(String::new(), |at| format!(", in {:.0} s", at.since(now).seconds()));
    match planned {
        Some(machine) => format!("it waits, planned for {machine}"),
        None if is_too_dear(ledger, now, task) => {
            format!("it waits for the next recharge of the budget{batch}")
        }
        None if ledger.recipe().plans() => {
            format!("it waits for {}{batch}{}", ledger.recipe().waits_for(), price(ledger, now, task))
        }
        None => held_back(ledger, now, task)
            .unwrap_or_else(|| format!("it waits for {}", ledger.recipe().waits_for())),
    }
}

/// What a price that moves keeps the task from.
fn price(ledger: &Ledger, now: Time, task: TaskId) -> String {
    let grid = ledger.grid();
    let AnyPolicy::Batcher(batcher) = ledger.scheduler().policy() else { return String::new() };
    match batcher.price(grid, now, grid.task(task).class()) {
        Some(price) => format!(
            "; the budget pays for all machines up to {} credits for a million operations",
            (price * 1e9).round() / 1e3
        ),
        None => String::new(),
    }
}

/// What a queue keeps the task from.
fn held_back(ledger: &Ledger, now: Time, task: TaskId) -> Option<String> {
    let AnyPolicy::Backfiller(queue) = ledger.scheduler().policy() else { return None };
    let back = queue.holds_back(ledger.grid(), now, task)?;
    let name = |task: TaskId| {
        let (job, first) = ledger.job_of(task);
        format!("{job}/{}", task.index() - first.first.index())
    };
    let names = Names {
        task: &name,
        machine: &|on| ledger.agent(on).name.clone(),
        moment: &|at| format!("in {:.0} s", at.since(now).seconds()),
    };
    Some(format!("it waits: {}", back.words(&names)))
}

/// What would let it start, as far as that is a matter of lengths and budgets.
pub(super) fn remedies(ledger: &Ledger, task: TaskId) -> Vec<String> {
    let mut remedies = Vec::new();
    if has_no_length(ledger, task) {
        let policy = &ledger.policy().name();
        remedies.push(format!(
            "a declared length, as `gleaner submit --length 5G`: {policy} plans by lengths and prices"
        ));
    }
    if ledger.grid().is_capped(ledger.grid().task(task).class()) {
        let user = &ledger.job_of(task).1.user;
        remedies
            .push(format!("more cores, by an administrator: `gleaner quota set --user {user} --cores N`"));
    }
    let recharge = ledger.grid().accounts().map(|accounts| accounts.budget().recharge);
    if let (Some(recharge), Some(cost)) = (recharge, least_cost(ledger, task))
        && cost > recharge
    {
        remedies.push(format!(
            "a recharge of {cost} credits, as `gleaner budget set {cost}`: it costs that at least, and there are \
             {recharge} in a period"
        ));
    }
    remedies
}

/// Whether the rule in force cannot place it for that.
pub(crate) fn has_no_length(ledger: &Ledger, task: TaskId) -> bool {
    let grid = ledger.grid();
    let is_unknown = ledger.scheduler().policy().length(grid, task).is_none();
    let costs_something = || grid.accounts().is_some() && least_cost(ledger, task).is_none();
    is_unknown && (ledger.recipe().plans() || costs_something())
}

/// Whether nothing that is left now would pay for it anywhere.
fn is_too_dear(ledger: &Ledger, now: Time, task: TaskId) -> bool {
    let grid = ledger.grid();
    let left = grid.account_of(grid.task(task).class()).map(|account| account.left(now));
    left.zip(least_cost(ledger, task)).is_some_and(|(left, cost)| cost > left)
}

/// On the cheapest machine that could run it; none where that cannot be said. Costs O(machines).
fn least_cost(ledger: &Ledger, task: TaskId) -> Option<Credits> {
    let grid = ledger.grid();
    let class = grid.task(task).class();
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let able = machines.filter(|&on| {
        grid.machine(on).availability() != Availability::Lost && grid.seconds_per_op(class, on).is_finite()
    });
    able.filter_map(|on| grid.cost(task, grid.machine(on).class())).min()
}
