//! `gleaner budget`: what may be spent, and what was.

use crate::api::Api;
use crate::cli::{BudgetArguments, GridArguments};
use crate::columns::{Side, aligned, shown};
use crate::moments::clock;
use crate::policy::way_back;
use crate::{Outcome, stdout};
use gleaner_report::numbers::grouped;
use gleaner_units::Credits;
use gleaner_wire::api::{AccountView, BudgetView, PolicyKeys};
use serde_json::Value;

pub(crate) fn run(arguments: &BudgetArguments) -> Outcome {
    match arguments {
        BudgetArguments::Show(arguments) => show(&Api::open(&arguments.grid)?.budget()?, arguments.grid.json),
        BudgetArguments::Set(arguments) => set(&arguments.grid, Some(arguments.keys())),
        BudgetArguments::None(arguments) => set(&arguments.grid, None),
    }
}

/// What else of the policy went with it is said.
fn set(arguments: &GridArguments, keys: Option<PolicyKeys>) -> Outcome {
    let grid = Api::open(arguments)?;
    let before = grid.policy()?.policy.0;
    let budget = grid.set_budget(keys)?;
    show(&budget, arguments.json)?;
    let after = grid.policy()?.policy.0;
    if !arguments.json && before.iter().any(|(key, _)| !after.contains_key(key) && key != "budget") {
        anstream::eprint!("{}", way_back(&before, &after));
    }
    Ok(())
}

fn show(budget: &BudgetView, as_json: bool) -> Outcome {
    if as_json { stdout::print_json(budget) } else { stdout::print(told(budget)) }
}

fn told(view: &BudgetView) -> String {
    let Some(budget) = &view.budget else { return "no budget: running costs nothing\n".to_owned() };
    let said = |key: &str| budget.0.get(key).and_then(Value::as_str).unwrap_or_default();
    let whose = if said("per") == "user" { "for each user" } else { "for all together" };
    let when = match said("charged") {
        "reserved" => "as they start, and their cost is held from when they are planned",
        "started" => "as they start",
        "ended" => "as they end",
        _ => "as they are planned",
    };
    let recharge = budget.0.get("recharge").and_then(|written| Credits::recharge(&written.to_string()));
    let recharge = grouped(recharge.unwrap_or_default().count());
    let period = budget.0.get("period_s").and_then(Value::as_f64).unwrap_or_default();
    let terms = format!("{recharge} credits every {period} s {whose}; tasks are charged {when}\n");
    match view.next_recharge_s {
        None => format!(
            "{terms}the policy in force heeds no budget; `gleaner policy set elleuch/b-min-min` sets one that does\n"
        ),
        Some(at_s) => format!("{terms}next recharge at {}\n\n{}", clock(at_s), table(&view.accounts)),
    }
}

fn table(accounts: &[AccountView]) -> String {
    let headings = [
        ("USER", Side::Left),
        ("SPENT", Side::Right),
        ("HELD", Side::Right),
        ("LEFT", Side::Right),
        ("PAID SO FAR", Side::Right),
    ];
    let rows = accounts.iter().map(|account| {
        let AccountView { user, spent, held, left, paid } = account;
        let mut row = vec![user.as_deref().map_or("everyone".to_owned(), |user| shown(user, 32))];
        row.extend([spent, held, left, paid].map(|credits| grouped(*credits)));
        row
    });
    aligned(&headings, &rows.collect::<Vec<_>>())
}
