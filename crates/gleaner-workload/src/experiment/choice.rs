//! What a scenario's policy asks of its machines and tasks.

use crate::error::InputError;
use crate::scenario::{AvailableMachines, Scenario};
use crate::settings::{LiarSettings, Sharing};
use gleaner_core::{Budget, Scope};
use gleaner_policy::{PolicyError, Recipe};
use gleaner_sim::{Answers, Liars, Pricing, Setup};
use gleaner_units::{Credits, Ops, TaskClassId};

/// The policy's recipe, if the machines are such that it can plan for them.
pub(super) fn recipe(scenario: &Scenario) -> Result<Recipe, InputError> {
    let recipe = scenario.policy.recipe();
    if (recipe.plans() || recipe.queues()) && scenario.sharing != Sharing::Exclusive {
        let expected = "\"exclusive\": this policy plans for machines that run one task a core";
        return Err(InputError::at_key(scenario, "grid.sharing", "\"time\"", expected));
    }
    let at_key = |PolicyError { key, found, expected }| {
        InputError::at_key(scenario, &format!("policy.{key}"), found, expected)
    };
    scenario.policy.check_without_peers().map_err(at_key)?;
    scenario.policy.check_moves_end(Some(scenario.migration.seconds)).map_err(at_key)?;
    if scenario.availability.is_some() {
        recipe.check_by_trace().map_err(at_key)?;
    }
    if scenario.groups.is_some() {
        recipe.check_in_groups().map_err(at_key)?;
        if scenario.availability.is_some() {
            let expected = "machines that are always there";
            return Err(InputError::at_key(scenario, "grid.availability", "a trace, and groups", expected));
        }
        if scenario.policy.budget().is_some() {
            let expected = "none: several schedulers cannot keep to one";
            return Err(InputError::at_key(scenario, "policy.budget", "a budget, and groups", expected));
        }
    }
    if recipe.plans() {
        scenario.tasks.check_declared("this policy plans by lengths")?;
    }
    Ok(recipe)
}

/// What may be spent, where the policy cares; then every machine has a price, and every user a name.
pub(super) fn budget(scenario: &Scenario) -> Result<Option<Budget>, InputError> {
    let Some(budget) = scenario.policy.budget() else { return Ok(None) };
    scenario.tasks.check_declared("there is a budget")?;
    let from_table = |available: &AvailableMachines| available.look.prices == Pricing::OfKind;
    if scenario.availability.as_ref().is_none_or(from_table) {
        scenario.machines.check_priced()?;
    }
    if budget.scope == Scope::PerUser && scenario.tasks.users().iter().all(str::is_empty) {
        let found = "\"user\", and tasks that are nobody's";
        let expected = "a column user in work.tasks that says whose each task is";
        return Err(InputError::at_key(scenario, "policy.budget.per", found, expected));
    }
    Ok(Some(budget))
}

/// How many machines have to agree, and who lies.
pub(super) fn answers(scenario: &Scenario, recipe: &Recipe) -> Result<Answers, InputError> {
    let machines = scenario.machines.rows().len();
    let checking = recipe.checking();
    if let Some(checking) = checking.filter(|checking| checking.quorum as usize > machines) {
        let found = format!("{} of {machines} machines", checking.quorum);
        let expected = "no more machines than there are: each answers a task once";
        return Err(InputError::at_key(scenario, "policy.replicate.quorum", found, expected));
    }
    let expected = "nothing of answers: who comes and goes by a trace is a new machine each time";
    let by_trace = scenario.availability.is_some();
    if by_trace && checking.is_some() {
        return Err(InputError::at_key(scenario, "policy.replicate", "a quorum", expected));
    }
    if by_trace && scenario.liars.is_some() {
        return Err(InputError::at_key(scenario, "faults.liars", "machines that lie", expected));
    }
    let liars = scenario.liars.map(|LiarSettings { share, chance, collude }| {
        Liars::drawn(machines, share, (chance, collude), scenario.seed)
    });
    Ok(Answers { checking, liars, owned: None })
}

/// A task that costs more than the recharge wherever it could run would wait for ever.
pub(super) fn check_affordable(scenario: &Scenario, setup: &Setup) -> Result<(), InputError> {
    let Some(Budget { recharge, .. }) = setup.budget else { return Ok(()) };
    let grid = setup.idle_grid();
    let cheapest = |class| {
        let able = grid.classes().seconds_per_op_row(class).iter().zip(grid.classes().machine_classes());
        let prices = able.filter(|(seconds, _)| seconds.is_finite()).map(|(_, machine)| machine.price);
        prices.fold(f64::INFINITY, f64::min)
    };
    let prices: Vec<f64> = (0..setup.task_classes.len()).map(TaskClassId::new).map(cheapest).collect();
    let costs = setup.tasks.declared.iter().zip(&setup.tasks.classes);
    let cost = |(length, class): (&Option<Ops>, &TaskClassId)| {
        length.map_or(Credits::ZERO, |length| Credits::cost(length, prices[class.index()]))
    };
    let costs = costs.map(cost);
    let Some((task, cost)) = costs.enumerate().find(|(_, cost)| *cost > recharge) else { return Ok(()) };
    let found = format!("{recharge}, where {} costs {cost} credits at least", scenario.tasks.id(task));
    let expected = "as many credits as the cheapest run of each task costs";
    Err(InputError::at_key(scenario, "policy.budget.recharge", found, expected))
}
