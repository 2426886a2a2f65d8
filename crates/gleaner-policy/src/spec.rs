//! A policy as users write it: the `[policy]` section of a scenario, whoever it is written to.
//!
//! **Scenarios, `--set`, `gleaner policy set`, the HTTP API, the journal and what-ifs all say a policy in these words**, and
//! [`PolicySpec::read`] is all that reads them. What is written is kept as a tree of keys, as it was written; a spec exists
//! only for what makes sense, so that what it stands for is known with it.

mod brokering;
mod keys;
mod read;
mod sites;

pub use keys::Tree;

use crate::any_policy::AnyPolicy;
use crate::error::{PolicyError, shown};
use crate::parts::lengths::Lengths;
use crate::parts::when::When;
use crate::presets::Preset;
use crate::recipe::{Goal, Recipe};
use gleaner_core::{Budget, Checking, Rule};
use gleaner_units::Span;
use keys::{KEYS, PEER_KEYS, RULE_KEYS};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A key as `--set` takes it, one for each value that is in it.
pub fn as_set(key: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Object(table) => {
            table.iter().flat_map(|(inner, value)| as_set(&format!("{key}.{inner}"), value)).collect()
        }
        Value::String(text) => vec![format!("{key}={text}")],
        other => vec![format!("{key}={other}")],
    }
}

/// A policy as it was written, and what that stands for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Tree", into = "Tree")]
pub struct PolicySpec {
    tree: Tree,
    /// The preset's, unless it is called otherwise.
    name: String,
    recipe: Recipe,
    /// What may be spent, heeded or not.
    budget: Option<Budget>,
}

impl PolicySpec {
    /// What is written so, if it makes sense.
    pub fn read(mut tree: Tree) -> Result<Self, PolicyError> {
        drop_nothings(&mut tree);
        let (preset, recipe, budget) = read::policy(&tree)?;
        Ok(Self { tree, name: preset.name, recipe, budget })
    }

    /// The same on a grid whose policy is `in_force`: what is not said of the budget's amounts is as it is there, and whether
    /// tasks go ahead, if that makes sense with the rest.
    pub fn read_beside(mut tree: Tree, in_force: &Self) -> Result<Self, PolicyError> {
        if let Some(Value::Object(kept)) = in_force.tree.get("budget") {
            let amounts = kept.iter().filter(|(key, _)| !RULE_KEYS.contains(&key.as_str()));
            if !tree.contains_key("budget") {
                tree.insert("budget".to_owned(), Value::Object(unruled(&tree)));
            }
            if let Some(Value::Object(said)) = tree.get_mut("budget") {
                for (key, amount) in amounts {
                    said.entry(key).or_insert_with(|| amount.clone());
                }
            }
        }
        if let (Some(ahead), false) = (in_force.tree.get("ahead"), tree.contains_key("ahead")) {
            let mut with = tree.clone();
            with.insert("ahead".to_owned(), ahead.clone());
            if let Ok(spec) = Self::read(with) {
                return Ok(spec);
            }
        }
        Self::read(tree)
    }

    /// The same policy with another budget, or with none. How it is spent stays, unless that is said too.
    pub fn with_budget(&self, budget: Option<Tree>) -> Result<Self, PolicyError> {
        let mut tree = self.tree.clone();
        let before = tree.remove("budget");
        if let Some(mut budget) = budget {
            let rule = match before {
                Some(Value::Object(before)) => before,
                _ => unruled(&tree),
            };
            for (key, value) in rule.into_iter().filter(|(key, _)| RULE_KEYS.contains(&key.as_str())) {
                budget.entry(key).or_insert(value);
            }
            tree.insert("budget".to_owned(), Value::Object(budget));
        }
        Self::read(tree)
    }

    /// A preset, with nothing else said.
    pub fn preset(name: &str) -> Result<Self, PolicyError> {
        Self::read(Tree::from_iter([("preset".to_owned(), json!(name))]))
    }

    /// A preset, with an example of what it cannot do without.
    pub fn example(preset: &Preset) -> Self {
        let mut tree = Tree::from_iter([("preset".to_owned(), json!(preset.name))]);
        if preset.recipe.heeds_budget() {
            tree.insert("budget".to_owned(), json!({ "recharge": 1_000_000, "period_s": 120 }));
        }
        Self::read(tree).expect("a preset makes sense")
    }

    /// Refuses what makes no sense, whatever may be spent where it is set.
    pub fn check_anywhere(tree: &Tree) -> Result<(), PolicyError> {
        let said = tree.get("period_s").filter(|period| period.as_f64().is_some_and(|period| period >= 1.0));
        let period_s = said.cloned().unwrap_or(json!(120));
        let budget = json!({ "recharge": 1_000_000, "period_s": period_s });
        let spending = [("preset".to_owned(), json!("elleuch/b-min-min")), ("budget".to_owned(), budget)];
        Self::read_beside(tree.clone(), &Self::read(Tree::from_iter(spending))?).map(drop)
    }

    /// What it is called: as its preset, if nothing else was said.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same, called otherwise where several are told apart.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The parts.
    pub fn recipe(&self) -> Recipe {
        self.recipe
    }

    /// What a scheduler goes by under it. A budget that the policy does not heed is none.
    pub fn rule(&self) -> Rule<AnyPolicy> {
        Rule { policy: self.recipe.build(), budget: self.budget(), checking: self.checking() }
    }

    /// What may be spent, where the policy heeds it.
    pub fn budget(&self) -> Option<Budget> {
        self.budget.filter(|_| self.recipe.heeds_budget())
    }

    /// How many machines have to agree on a task's answer, where several have.
    pub fn checking(&self) -> Option<Checking> {
        self.recipe.checking()
    }

    /// What may be spent, heeded or not.
    pub fn amounts(&self) -> Option<Budget> {
        self.budget
    }

    /// As it was written.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Refuses what happens more often than that, for whoever cannot keep up.
    pub fn check_periods(&self, least: Span) -> Result<(), PolicyError> {
        let relocate = self.recipe.relocate.map_or(When::AtEvents, |rule| rule.when);
        let budget = self.budget.map_or(When::AtEvents, |budget| When::Every(budget.period));
        let periods =
            [("budget.period_s", budget), ("relocate.period_s", relocate), ("period_s", self.recipe.when)];
        for (key, when) in periods {
            if let When::Every(period) = when
                && period < least
            {
                let expected = format!("seconds, at least {}", least.seconds());
                return Err(PolicyError::new(key, period.seconds().to_string(), expected));
            }
        }
        Ok(())
    }

    /// Refuses what makes a peer of a rule that is none, where there are no peers.
    pub fn check_without_peers(&self) -> Result<(), PolicyError> {
        let preset = self.tree.get("preset").and_then(Value::as_str).and_then(Preset::named);
        if preset.is_none_or(|preset| preset.recipe.peering.is_some()) {
            return Ok(());
        }
        match PEER_KEYS.iter().find_map(|key| Some((*key, self.tree.get(*key)?))) {
            Some((key, value)) => {
                let expected = "no such key: machines are lent among peers, and there are none ([peers])";
                Err(PolicyError::new(key, shown(value), expected))
            }
            None => Ok(()),
        }
    }

    /// Refuses moves without end: by number, a lone task always gains where a difference of one is enough. A move takes so many
    /// seconds; nothing is said of it where that is not known.
    pub fn check_moves_end(&self, move_s: Option<f64>) -> Result<(), PolicyError> {
        let Some(rule) = self.recipe.relocate.filter(|rule| rule.score.counts_tasks()) else { return Ok(()) };
        let When::Every(period) = rule.when else { return Ok(()) };
        if rule.difference_min >= 2 || move_s.is_some_and(|move_s| move_s < period.seconds()) {
            return Ok(());
        }
        let expected = "2 or more, or no period_s: a machine with one task has always one more than an idle one, and the task would \
                        move in every period";
        Err(PolicyError::new("relocate.difference_min", rule.difference_min.to_string(), expected))
    }

    /// Refuses what only a simulator knows, or has, and moves without end.
    pub fn check_live(&self) -> Result<(), PolicyError> {
        if matches!(self.recipe.goal, Goal::Sites(_)) {
            let expected =
                "another policy: agents run no parts of a task, so that sites are for the simulator only";
            return Err(PolicyError::new("preset", format!("\"{}\"", self.name), expected));
        }
        if self.recipe.lengths == Lengths::True {
            let expected = "declared, last-two or learnt: only the simulator knows how long tasks will be";
            return Err(PolicyError::new("lengths", "\"true\"", expected));
        }
        self.check_moves_end(None)
    }

    /// As a scenario's `[policy]` section.
    pub fn toml(&self) -> String {
        let mut text = "[policy]\n".to_owned();
        for key in KEYS {
            if let Some(value) = self.tree.get(key) {
                writeln!(text, "{key} = {}", toml(value)).expect("a string takes all");
            }
        }
        text
    }
}

/// A key at which nothing is said is as good as none.
fn drop_nothings(tree: &mut Tree) {
    tree.retain(|_, value| !value.is_null());
    tree.values_mut().filter_map(Value::as_object_mut).for_each(drop_nothings);
}

/// What is to be said of the rule where nothing was: without it, nothing that a policy does depends on the budget.
fn unruled(tree: &Tree) -> Tree {
    let preset = tree.get("preset").and_then(Value::as_str).and_then(Preset::named);
    let is_none = preset.is_some_and(|preset| !preset.recipe.plans());
    if is_none { Tree::from_iter([("rule".to_owned(), json!("none"))]) } else { Tree::new() }
}

fn toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let entries: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        // Texts, numbers and truth values are written alike in both languages.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            value.to_string()
        }
    }
}

impl TryFrom<Tree> for PolicySpec {
    type Error = PolicyError;

    fn try_from(tree: Tree) -> Result<Self, PolicyError> {
        Self::read(tree)
    }
}

impl From<PolicySpec> for Tree {
    fn from(spec: PolicySpec) -> Tree {
        spec.tree
    }
}
