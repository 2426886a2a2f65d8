//! The arguments of `gleaner budget`.

use super::grid::GridArguments;
use super::grid::PlainArguments;
use super::values::seconds;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use gleaner_core::{Charged, Scope};
use gleaner_policy::{Choice, Tree};
use gleaner_units::Credits;
use gleaner_wire::api::PolicyKeys;
use serde_json::json;

/// `gleaner budget`.
#[derive(Debug, Subcommand)]
pub(crate) enum BudgetArguments {
    /// Show the budget of each period, and what was spent in this one
    Show(PlainArguments),
    /// Set the budget of each period
    Set(BudgetSetArguments),
    /// Remove the budget: running tasks costs nothing
    None(PlainArguments),
}

const SET_HELP: &str = "\
A task costs its declared length times the price of its machine, rounded up to whole credits:
`gleaner submit --length 5G` on a machine of 2 credits for a million operations costs 10000. A task \
that is lost or cancelled costs nothing; one that has failed is paid for. What is not spent in a period is \
not kept for the next.

This changes the budget of the policy in force, and `gleaner policy set` may say the same. A policy \
has to heed it: `gleaner policy set elleuch/btt-min-min`, or bertasi/greedy with `--rule b`. Where \
the policy that a new grid begins with cannot move tasks or send short ones ahead within the budget, it does neither from then on, \
and that is said.

Examples:
  gleaner machine price lab-3 2
  gleaner budget set 1000000 --period 2min
  gleaner budget set 50000 --period 1h --rule b
  gleaner budget set 50000 --period 1h --per user --charged ended";

/// `gleaner budget set`: the keys of `[policy] budget`.
#[derive(Args, Debug)]
#[command(after_long_help = SET_HELP)]
pub(crate) struct BudgetSetArguments {
    /// Credits that there are at the start of each period
    #[arg(value_name = "CREDITS", value_parser = credits, allow_negative_numbers = true)]
    recharge: Credits,
    /// How long a period is, which is also the time from one batch to the next
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "2min")]
    period: f64,
    /// When a task's cost is charged: as it is planned, starts or ends; `reserved` holds it from the plan to the start
    #[arg(long, value_parser = names::<Charged>(), default_value = "planned")]
    charged: String,
    /// Whose it is: everyone's together, or each user's by themselves
    #[arg(long, value_parser = names::<Scope>(), default_value = "grid")]
    per: String,
    /// The budget rule, if the policy's name has none; as before if nothing is said
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

fn credits(text: &str) -> Result<Credits, String> {
    Credits::recharge(text).ok_or_else(|| format!("expected {}", Credits::RECHARGE))
}

fn names<C: Choice>() -> PossibleValuesParser {
    PossibleValuesParser::new(C::all().into_iter().map(|choice| choice.about().name))
}

impl BudgetSetArguments {
    /// As the policy's key `budget` has it.
    pub(crate) fn keys(&self) -> PolicyKeys {
        let Self { recharge, period, charged, per, rule, grid: _ } = self;
        let mut keys = Tree::from_iter([
            ("recharge".to_owned(), json!(recharge.count())),
            ("period_s".to_owned(), json!(period)),
            ("charged".to_owned(), json!(charged)),
            ("per".to_owned(), json!(per)),
        ]);
        keys.extend(rule.iter().map(|rule| ("rule".to_owned(), json!(rule))));
        PolicyKeys(keys)
    }
}
