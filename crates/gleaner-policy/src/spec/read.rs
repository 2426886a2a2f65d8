//! From what is written to what it stands for.

use super::brokering;
use super::keys::{BUDGET_KEYS, KEYS, Key, PEER_KEYS, RELOCATE_KEYS, REPLICATE_KEYS, Table, Tree};
use crate::error::{PolicyError, one_of};
use crate::parts::Choice;
use crate::parts::aim::Aim;
use crate::parts::budget::{Cheapest, Rule, Savings, rule_name, rules};
use crate::parts::favours::Peering;
use crate::parts::lengths::Lengths;
use crate::parts::queue::Correction;
use crate::parts::rank::Rank;
use crate::parts::relocate::Relocate;
use crate::parts::replicate::Replicate;
use crate::parts::score::Score;
use crate::parts::when::When;
use crate::presets::{Part, Preset};
use crate::recipe::{Goal, Recipe};
use gleaner_core::{Budget, Charged, Scope, Trusting};
use gleaner_units::{Credits, Time};

const COUNT: &str = "a whole number, 0 or more, below 2^32";

/// The preset, its recipe with what is chosen otherwise, and what may be spent.
pub(super) fn policy(tree: &Tree) -> Result<(Preset, Recipe, Option<Budget>), PolicyError> {
    let table = Table::of("", tree, &KEYS)?;
    let preset = preset(&table)?;
    refuse_meaningless(&table, &preset)?;
    let mut recipe = preset.recipe;
    recipe.order = said(&table, "order", &preset, Part::Order, recipe.order)?;
    recipe.goal = score(&table, &preset)?;
    recipe.choose = said(&table, "choose", &preset, Part::Choose, recipe.choose)?;
    recipe.belief = chosen(&table, "belief", recipe.belief)?;
    brokering::numbers(&table, &mut recipe)?;
    recipe.lengths = chosen(&table, "lengths", recipe.lengths)?;
    if let Some(key) = table.find("replicate") {
        recipe.replicate = replicate(&key)?;
    }
    recipe.replan = chosen(&table, "replan", recipe.replan)?;
    recipe.hold = chosen(&table, "hold", recipe.hold)?;
    recipe.availability = chosen(&table, "availability", recipe.availability)?;
    recipe.ahead = chosen(&table, "ahead", recipe.ahead)?;
    if let Goal::Start(queueing) = &mut recipe.goal {
        queueing.fill = chosen(&table, "fill", queueing.fill)?;
        // As its authors have it.
        let own = if recipe.lengths == Lengths::LastTwo { Correction::Estimate } else { queueing.correction };
        queueing.correction = chosen(&table, "correction", own)?;
    }
    if let (Goal::Sites(rule), Some(key)) = (&mut recipe.goal, table.find("sites")) {
        super::sites::read(&key, rule)?;
    }
    if let Some(key) = table.find("aging") {
        recipe.aging = key.whole(0, COUNT)?;
    }
    if let Some(key) = table.find("deadline_s") {
        recipe.deadline = Some(deadline(&key)?);
    }
    if let Some(key) = table.find("relocate") {
        recipe.relocate = relocate(&key)?;
    }
    recipe.peering = peering(&table, recipe.peering)?;
    let budget = match table.find("budget") {
        Some(key) => budget(&key, &preset, &mut recipe)?,
        None => None,
    };
    if recipe.heeds_budget() && budget.is_none() {
        let found = table.find("budget").map_or("nothing", |_| "\"none\"");
        let expected = format!(
            "what may be spent, as {{ recharge = 1000000, period_s = 120 }}: {} spends a budget",
            preset.name
        );
        return Err(PolicyError::new("budget", found, expected));
    }
    set_period(&table, budget, &mut recipe)?;
    recipe.check().map_err(|error| table.as_written(error))?;
    Ok((preset, recipe, budget))
}

fn preset(table: &Table<'_>) -> Result<Preset, PolicyError> {
    let expected = "the name of a preset, as \"bertasi/greedy\"";
    let key = table.key("preset", expected)?;
    let name = key.text(expected)?;
    Preset::named(name).ok_or_else(|| {
        let known: Vec<String> = Preset::all().into_iter().map(|preset| preset.name).collect();
        key.wrong(one_of(name, &known) + " (`gleaner policy list` shows all)")
    })
}

/// Keys that are there for what the preset does not do.
fn refuse_meaningless(table: &Table<'_>, preset: &Preset) -> Result<(), PolicyError> {
    let Preset { name, recipe, .. } = preset;
    let comes = recipe.when == When::AtEvents;
    let (what, meaningless): (&str, &[&str]) = match (recipe.goal, comes) {
        (Goal::Start(_), _) => {
            ("has tasks wait in one line", &["period_s", "aging", "deadline_s", "replan", "sites"])
        }
        (Goal::Sites(_), _) => (
            "has jobs wait in line for their sites",
            &["period_s", "aging", "deadline_s", "replan", "fill", "correction", "choose"],
        ),
        (Goal::Now(_) | Goal::Rank(_), _) => (
            "gives each task its place as it comes",
            &["period_s", "aging", "deadline_s", "replan", "fill", "correction", "sites"],
        ),
        (Goal::End(_), true) => {
            ("plans each task as it comes", &["period_s", "replan", "fill", "correction", "sites"])
        }
        (Goal::End(_), false) => ("plans tasks in batches", &["fill", "correction", "sites"]),
    };
    match meaningless.iter().find_map(|key| table.find(key)) {
        Some(key) => Err(key.wrong(format!("no such key: {name} {what}"))),
        None => Ok(()),
    }
}

/// A score that judges sites keeps the numbers of a preset that does so too.
fn score(table: &Table<'_>, preset: &Preset) -> Result<Goal, PolicyError> {
    let own = preset.recipe.goal;
    let named = said(table, "score", preset, Part::Score, own)?;
    if let (Goal::Rank(_), Goal::Now(_) | Goal::End(_), Some(key)) = (own, named, table.find("score")) {
        return Err(contradicts(&key, "rank", preset));
    }
    if let (Goal::End(_), false, Some(key)) = (own, matches!(named, Goal::End(_)), table.find("score")) {
        let aims: Vec<_> = Aim::all().iter().map(Choice::name).collect();
        let (aims, name) = (aims.join(", "), &preset.name);
        return Err(
            key.wrong(format!("one of {aims}: {name} plans tasks, by when or where they would be done"))
        );
    }
    Ok(match (own, named) {
        (Goal::Rank(own), Goal::Rank(named)) => Goal::Rank(Rank { until: named.until, ..own }),
        _ if named.name() == own.name() => own,
        _ => named,
    })
}

fn chosen<C: Choice>(table: &Table<'_>, name: &str, otherwise: C) -> Result<C, PolicyError> {
    table.find(name).map_or(Ok(otherwise), |key| key.choice())
}

/// The choice for a part that the preset's name may say.
fn said<C: Choice>(
    table: &Table<'_>,
    name: &str,
    preset: &Preset,
    part: Part,
    own: C,
) -> Result<C, PolicyError> {
    let Some(key) = table.find(name) else { return Ok(own) };
    let choice: C = key.choice()?;
    if choice.name() != own.name() && preset.says.contains(&part) {
        return Err(contradicts(&key, &own.name(), preset));
    }
    Ok(choice)
}

fn contradicts(key: &Key<'_>, own: &str, preset: &Preset) -> PolicyError {
    key.wrong(format!("\"{own}\", or no such key: the name {} says it", preset.name))
}

/// A key of them makes a peer of what was none.
fn peering(table: &Table<'_>, own: Option<Peering>) -> Result<Option<Peering>, PolicyError> {
    let is_said = PEER_KEYS.iter().any(|key| table.find(key).is_some());
    let Some(own) = own.or_else(|| is_said.then(Peering::default)) else { return Ok(None) };
    Ok(Some(Peering {
        favours: chosen(table, "favours", own.favours)?,
        queue: chosen(table, "queue", own.queue)?,
        recall: chosen(table, "recall", own.recall)?,
        reach: chosen(table, "reach", own.reach)?,
    }))
}

fn relocate(key: &Key<'_>) -> Result<Option<Relocate>, PolicyError> {
    let expected = "\"none\", or a table with a score";
    let Some(table) = key.table("relocate", &RELOCATE_KEYS, expected)? else { return Ok(None) };
    let known: Vec<&str> = Score::ALL.into_iter().chain(Score::POWERS).map(Score::name).collect();
    let others = || RELOCATE_KEYS.iter().find_map(|key| table.find(key));
    if let (None, Some(other)) = (table.find("score"), others()) {
        let scores = known.join(", ");
        return Err(
            other.wrong(format!("relocate.score beside it, one of {scores}: without a score no task moves"))
        );
    }
    let mut rule = Relocate::by(table.key("score", &one_of("", &known))?.choice()?);
    if let Some(key) = table.find("moves_max") {
        rule.moves_max = key.whole(0, COUNT)?;
    }
    if let Some(key) = table.find("gain_min") {
        rule.gain_min = key.number("a finite number, 0 or more", |gain| gain >= 0.0)?;
    }
    if let Some(key) = table.find("difference_min") {
        rule.difference_min = key.whole(1, "a whole number, 1 or more, below 2^32")?;
    }
    if let Some(key) = table.find("period_s") {
        rule.when = When::Every(key.period()?);
    }
    rule.mover = chosen(&table, "mover", rule.mover)?;
    Ok(Some(rule))
}

/// What may be spent; the recipe is told how.
fn budget(key: &Key<'_>, preset: &Preset, recipe: &mut Recipe) -> Result<Option<Budget>, PolicyError> {
    let expected = "\"none\", or a table with recharge and period_s";
    let Some(table) = key.table("budget", &BUDGET_KEYS, expected)? else { return Ok(None) };
    (recipe.spending, recipe.level) = rule(&table, preset, recipe)?;
    if let Some(key) = table.find("savings") {
        let savings: Savings = key.choice()?;
        let read = recipe.spending.reading(savings);
        recipe.spending =
            read.ok_or_else(|| key.wrong("no such key: it is said with the rules btt and lbtt"))?;
    }
    if let Some(key) = table.find("cheapest") {
        let cheapest: Cheapest = key.choice()?;
        let read = recipe.spending.allowing(cheapest);
        recipe.spending = read.ok_or_else(|| {
            key.wrong("no such key: it is said with the rules bt-within-period, btt and lbtt, and as-others with bt too")
        })?;
    }
    Ok(Some(Budget {
        recharge: table.key("recharge", Credits::RECHARGE)?.recharge()?,
        period: table.key("period_s", "seconds above 0")?.period()?,
        charged: chosen(&table, "charged", Charged::Planned)?,
        scope: chosen(&table, "per", Scope::Shared)?,
    }))
}

/// How the budget is spent: as the preset says it, or as it is said here.
fn rule(table: &Table<'_>, preset: &Preset, recipe: &Recipe) -> Result<Rule, PolicyError> {
    let own = (recipe.spending, recipe.level);
    let fits =
        |&(spending, level): &Rule| Recipe { spending, level, relocate: None, ..*recipe }.check().is_ok();
    let names = || rules().filter(fits).map(rule_name).collect::<Vec<String>>();
    let has_one = || rules().filter(|(spending, _)| spending.heeds_budget()).any(|rule| fits(&rule));
    let Some(key) = table.find("rule") else {
        // A preset that plans says with its name what it spends; one that does not says nothing of it.
        return if recipe.plans() {
            Ok(own)
        } else if !has_one() {
            Err(PolicyError::new("budget", "a table", "no budget: this policy spends none"))
        } else {
            Err(PolicyError::new("budget.rule", "nothing", one_of("", &names())))
        };
    };
    let name = key.text("the name of a rule, as \"b\"")?;
    if preset.says.contains(&Part::Budget) && name != rule_name(own) {
        return Err(contradicts(&key, &rule_name(own), preset));
    }
    let named = rules().find(|&rule| rule_name(rule) == name);
    // One that does not go with the other parts is refused with them, for the reason why.
    named.ok_or_else(|| key.wrong(one_of(name, &names())))
}

/// Batches follow the budget.
fn set_period(table: &Table<'_>, budget: Option<Budget>, recipe: &mut Recipe) -> Result<(), PolicyError> {
    let key = table.find("period_s");
    let said = key.as_ref().map(Key::period).transpose()?;
    let heeded = budget.filter(|_| recipe.heeds_budget());
    if let (Some(key), Some(said), Some(heeded)) = (&key, said, heeded)
        && said != heeded.period
    {
        let period = heeded.period.seconds();
        return Err(key.wrong(format!("{period}, the period of the budget, or no such key")));
    }
    if let (When::Every(_), Some(period)) = (recipe.when, said.or(budget.map(|budget| budget.period))) {
        recipe.when = When::Every(period);
    }
    Ok(())
}

fn replicate(key: &Key<'_>) -> Result<Replicate, PolicyError> {
    let max = Replicate::MAX;
    let expected =
        format!("a whole number, from 1 to {max}, {{ quorum = 2 }} with a whole number, or \"idle\"");
    if key.is_table() {
        let table = key.table("replicate", &REPLICATE_KEYS, &expected)?.expect("it is a table");
        return agreeing(&table);
    }
    if key.text(&expected).is_ok_and(|word| word == "idle") {
        return Ok(Replicate::Idle);
    }
    Replicate::runs(key.whole(1, &expected)?).ok_or_else(|| key.wrong(expected))
}

fn agreeing(table: &Table<'_>) -> Result<Replicate, PolicyError> {
    let max = Replicate::MAX;
    let quorum_max = Replicate::QUORUM_MAX;
    let expected =
        format!("a whole number, from 2 to {quorum_max}: so many machines are to give the same answer");
    let said = table.key("quorum", &expected)?;
    let quorum: u32 = said.whole(2, &expected)?;
    if quorum > quorum_max {
        return Err(said.wrong(expected));
    }
    let most = match table.find("most") {
        None => Replicate::most_for(quorum),
        Some(key) => {
            let expected = format!("a whole number, from the quorum, {quorum}, to {max}");
            let most = key.whole(u64::from(quorum), &expected)?;
            if most > max {
                return Err(key.wrong(expected));
            }
            most
        }
    };
    let row = "a whole number, from 1 to 2^32 - 1";
    let after = table.find("trust_after").map(|key| key.whole(1, row)).transpose()?;
    let check = table.find("check_every");
    let trust = match (after, check) {
        (None, None) => None,
        (None, Some(key)) => {
            return Err(key.wrong("no such key, or trust_after: who is not trusted is always checked"));
        }
        (Some(after), None) => Some(Trusting { after, check_every: Replicate::CHECK_EVERY }),
        (Some(after), Some(key)) => Some(Trusting { after, check_every: key.whole(1, row)? }),
    };
    Ok(Replicate::agreeing(quorum, most, trust).expect("both were just looked at"))
}

fn deadline(key: &Key<'_>) -> Result<Time, PolicyError> {
    let expected = "seconds above 0, before the end of time";
    let deadline = Time::from_seconds(key.number(expected, |seconds| seconds > 0.0)?);
    deadline.ok_or_else(|| key.wrong(expected))
}
