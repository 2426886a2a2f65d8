//! From what a scenario says of policy and budget to a recipe, or to the reason why that has no meaning.

use crate::error::InputError;
use crate::scenario::{AvailableMachines, Scenario};
use crate::settings::{self, BudgetSettings, Per, PriceSettings, RelocateScore, RelocateSettings, Sharing};
use gleaner_core::{Budget, Charged, Scope};
use gleaner_policy::{Batching, Level, Matching, Recipe, Relocate, Replan, Savings, Score, Spending, When};
use gleaner_sim::Setup;
use gleaner_units::{Credits, TaskClassId};

/// The preset's recipe with what the scenario chooses otherwise.
pub(crate) fn recipe(scenario: &Scenario) -> Result<Recipe, InputError> {
    let settings = &scenario.policy;
    let preset = Recipe::preset(&settings.preset).map_err(|unknown| {
        let found = format!("\"{}\"", settings.preset);
        InputError::at_key(scenario, "policy.preset", found, format!("one of {}", unknown.known.join(", ")))
    })?;
    match preset {
        Recipe::Match(preset) => matching(scenario, preset).map(Recipe::Match),
        Recipe::Batch(preset) => batching(scenario, preset).map(Recipe::Batch),
    }
}

/// What may be spent, where the recipe cares; then every machine has a price.
pub(crate) fn budget(scenario: &Scenario, recipe: &Recipe) -> Result<Option<Budget>, InputError> {
    let Some(settings) = scenario.policy.budget.as_ref().filter(|_| recipe.spending() != Spending::Free)
    else {
        return Ok(None);
    };
    let from_table = |available: &AvailableMachines| available.look.prices == PriceSettings::Table;
    if scenario.availability.as_ref().is_none_or(from_table) {
        scenario.machines.check_priced()?;
    }
    Ok(Some(Budget {
        recharge: settings.recharge,
        period: settings.period,
        charged: match settings.charged {
            settings::Charged::Planned => Charged::Planned,
            settings::Charged::Started => Charged::Started,
            settings::Charged::Ended => Charged::Ended,
        },
        scope: scope(scenario, settings)?,
    }))
}

/// Budgets for each user need users.
fn scope(scenario: &Scenario, settings: &BudgetSettings) -> Result<Scope, InputError> {
    match settings.per {
        Per::Grid => Ok(Scope::Shared),
        Per::User if scenario.tasks.users().iter().all(str::is_empty) => {
            let expected = "a column user in work.tasks that says whose each task is";
            Err(InputError::at_key(
                scenario,
                "policy.budget.per",
                "\"user\", and tasks that are nobody's",
                expected,
            ))
        }
        Per::User => Ok(Scope::PerUser),
    }
}

/// A task that costs more than the recharge wherever it could run would wait for ever.
pub(crate) fn check_affordable(scenario: &Scenario, setup: &Setup) -> Result<(), InputError> {
    let Some(Budget { recharge, .. }) = setup.budget else { return Ok(()) };
    let grid = setup.idle_grid();
    let cheapest = |class| {
        let able = grid.classes().seconds_per_op_row(class).iter().zip(grid.classes().machine_classes());
        let prices = able.filter(|(seconds, _)| seconds.is_finite()).map(|(_, machine)| machine.price);
        prices.fold(f64::INFINITY, f64::min)
    };
    let prices: Vec<f64> = (0..setup.task_classes.len()).map(TaskClassId::new).map(cheapest).collect();
    let costs = setup.tasks.lengths.iter().zip(&setup.tasks.classes);
    let costs = costs.map(|(&length, class)| Credits::cost(length, prices[class.index()]));
    let Some((task, cost)) = costs.enumerate().find(|(_, cost)| *cost > recharge) else { return Ok(()) };
    let found = format!("{recharge}, where {} costs {cost} credits at least", scenario.tasks.id(task));
    let expected = "as many credits as the cheapest run of each task costs";
    Err(InputError::at_key(scenario, "policy.budget.recharge", found, expected))
}

fn matching(scenario: &Scenario, preset: Matching) -> Result<Matching, InputError> {
    let settings = &scenario.policy;
    let for_batches = [
        ("policy.period_s", settings.period.is_some()),
        ("policy.aging", settings.aging.is_some()),
        ("policy.deadline_s", settings.deadline.is_some()),
        ("policy.replan", settings.replan.is_some()),
    ];
    refuse_given(scenario, &for_batches, "no such key: this preset places each task by itself")?;
    let relocate = settings.relocate.as_ref().map(relocate);
    let Some(budget) = &settings.budget else { return Ok(Matching { relocate, ..preset }) };
    if relocate.is_some() {
        let expected = "no budget, or relocate = \"none\": a move would change what a task costs";
        return Err(InputError::at_key(scenario, "policy.budget", "a budget with relocation", expected));
    }
    let known = "one of none, b, bt, btt, since each task is placed by itself";
    let spending = match budget.rule.as_deref() {
        Some("none") => Spending::Free,
        Some("b") => Spending::Cap,
        Some("bt") => Spending::PerTask,
        Some("btt") => Spending::PerTaskAndTime(savings(budget)),
        Some(other) => return Err(wrong_rule(scenario, &format!("\"{other}\""), known)),
        None => return Err(wrong_rule(scenario, "no rule", known)),
    };
    check_savings(scenario, budget, spending)?;
    Ok(Matching { relocate, spending, ..preset })
}

fn batching(scenario: &Scenario, preset: Batching) -> Result<Batching, InputError> {
    let settings = &scenario.policy;
    if scenario.sharing != Sharing::Exclusive {
        let expected = "\"exclusive\": a batch is planned for machines that run one task a core";
        return Err(InputError::at_key(scenario, "grid.sharing", "\"time\"", expected));
    }
    if settings.relocate.is_some() {
        let expected = "\"none\": what a batch has started is not moved";
        return Err(InputError::at_key(scenario, "policy.relocate", "relocation", expected));
    }
    if preset.when == When::AtEvents {
        let periodic = [
            ("policy.period_s", settings.period.is_some()),
            ("policy.aging", settings.aging.is_some()),
            ("policy.replan", settings.replan.is_some()),
        ];
        let expected = "no such key: this preset plans each task as it comes, and lets plans stand";
        refuse_given(scenario, &periodic, expected)?;
    }
    let reads_deadline = settings.preset.starts_with("nimrod/");
    if settings.deadline.is_some() && !reads_deadline {
        let expected = "no deadline: these heuristics know none";
        return Err(InputError::at_key(scenario, "policy.deadline_s", "a deadline", expected));
    }
    let (spending, level) = match &settings.budget {
        Some(budget) => rule(scenario, budget, &preset)?,
        None if preset.spending == Spending::Free => (preset.spending, preset.level),
        None => {
            let rule = rule_of(preset.spending, preset.level);
            let expected = format!("budget = {{ rule = \"{rule}\", recharge = …, period_s = … }}");
            return Err(InputError::at_key(scenario, "policy.budget", "no budget", expected));
        }
    };
    let recharged = settings.budget.as_ref().map(|budget| budget.period);
    if let (Some(period), Some(recharged)) = (settings.period, recharged)
        && period != recharged
    {
        let expected = format!("{}, the period of the budget", recharged.seconds());
        let found = format!("{}", period.seconds());
        return Err(InputError::at_key(scenario, "policy.period_s", found, expected));
    }
    Ok(Batching {
        when: match (preset.when, settings.period.or(recharged)) {
            (When::Every(_), Some(period)) => When::Every(period),
            (when, _) => when,
        },
        spending,
        level,
        aging: settings.aging.unwrap_or(preset.aging),
        deadline: settings.deadline,
        replan: match settings.replan {
            Some(settings::Replan::Lost) => Replan::Lost,
            Some(settings::Replan::Unbegun) => Replan::Unbegun,
            None => preset.replan,
        },
        ..preset
    })
}

/// The first of these keys that is given means nothing here.
fn refuse_given(
    scenario: &Scenario,
    keys: &[(&'static str, bool)],
    expected: &str,
) -> Result<(), InputError> {
    match keys.iter().find(|(_, given)| *given) {
        Some((key, _)) => Err(InputError::at_key(scenario, key, "a key for batches", expected)),
        None => Ok(()),
    }
}

/// The rule that the scenario names, where the preset leaves the choice; else that of the preset.
fn rule(
    scenario: &Scenario,
    budget: &BudgetSettings,
    preset: &Batching,
) -> Result<(Spending, Level), InputError> {
    let own = rule_of(preset.spending, preset.level);
    let (spending, level) = match (preset.spending, budget.rule.as_deref()) {
        (Spending::Free, None | Some("none")) => (Spending::Free, preset.level),
        (Spending::Free, Some("b")) => (Spending::Cap, Level::Machines),
        (Spending::Free, Some("bt")) => (Spending::PerTask, Level::Machines),
        (Spending::Free, Some("bt-within-period")) => (Spending::PerTaskWithinPeriod, Level::Machines),
        (Spending::Free, Some("btt")) => (Spending::PerTaskAndTime(savings(budget)), Level::Machines),
        (Spending::Free, Some("lbtt")) => (Spending::PerTaskAndTime(savings(budget)), Level::Classes),
        (Spending::Free, Some(rule)) => {
            return Err(wrong_rule(
                scenario,
                &format!("\"{rule}\""),
                "one of none, b, bt, bt-within-period, btt, lbtt",
            ));
        }
        (_, Some(rule)) if rule != own => {
            let expected = format!("\"{own}\", or none of its own: {} says it", scenario.policy.preset);
            return Err(wrong_rule(scenario, &format!("\"{rule}\""), &expected));
        }
        (Spending::PerTaskAndTime(_), _) => (Spending::PerTaskAndTime(savings(budget)), preset.level),
        (spending, _) => (spending, preset.level),
    };
    check_savings(scenario, budget, spending)?;
    Ok((spending, level))
}

fn rule_of(spending: Spending, level: Level) -> &'static str {
    match (spending, level) {
        (Spending::Free, _) => "none",
        (Spending::Cap, _) => "b",
        (Spending::PerTask, _) => "bt",
        (Spending::PerTaskWithinPeriod, _) => "bt-within-period",
        (Spending::PerTaskAndTime(_), Level::Machines) => "btt",
        (Spending::PerTaskAndTime(_), Level::Classes) => "lbtt",
        (Spending::Share, _) => "share",
        (Spending::LeastShare, _) => "least-share",
    }
}

fn wrong_rule(scenario: &Scenario, found: &str, expected: &str) -> InputError {
    InputError::at_key(scenario, "policy.budget.rule", found, expected)
}

fn savings(budget: &BudgetSettings) -> Savings {
    match budget.savings {
        Some(settings::Savings::AsDerived) => Savings::AsDerived,
        Some(settings::Savings::AsPrinted) | None => Savings::AsPrinted,
    }
}

fn check_savings(scenario: &Scenario, budget: &BudgetSettings, spending: Spending) -> Result<(), InputError> {
    match (budget.savings, spending) {
        (None, _) | (Some(_), Spending::PerTaskAndTime(_)) => Ok(()),
        (Some(_), _) => {
            let expected = "no such key: only btt and lbtt have condition (5)";
            Err(InputError::at_key(scenario, "policy.budget.savings", "a reading of condition (5)", expected))
        }
    }
}

fn relocate(settings: &RelocateSettings) -> Relocate {
    Relocate {
        score: match settings.score {
            RelocateScore::Greedy => Score::Greedy,
            RelocateScore::Social => Score::Social,
            RelocateScore::SocialAsPrinted => Score::SocialAsPrinted,
            RelocateScore::MinNum => Score::MinNum,
        },
        moves_max: settings.moves_max,
        gain_min: settings.gain_min,
        difference_min: settings.difference_min,
        when: settings.period.map_or(When::AtEvents, When::Every),
    }
}
