//! Tables and their keys, each read as what it should be.

use crate::error::{PolicyError, one_of, printable, shown};
use crate::parts::Choice;
use gleaner_units::{Credits, Span};
use serde_json::Value;

/// Keys and their values, tables among them.
pub type Tree = serde_json::Map<String, Value>;

/// The keys of a policy, in the order in which they are written.
pub(super) const KEYS: [&str; 28] = [
    "preset",
    "period_s",
    "order",
    "score",
    "alpha",
    "beta",
    "candidates",
    "choose",
    "power",
    "belief",
    "brokers",
    "lengths",
    "fill",
    "correction",
    "sites",
    "aging",
    "deadline_s",
    "replan",
    "relocate",
    "budget",
    "replicate",
    "favours",
    "queue",
    "recall",
    "reach",
    "hold",
    "availability",
    "ahead",
];
/// Those of them that say what a site does among peers.
pub(super) const PEER_KEYS: [&str; 4] = ["favours", "queue", "recall", "reach"];
/// The keys of a relocation.
pub(super) const RELOCATE_KEYS: [&str; 6] =
    ["score", "moves_max", "gain_min", "difference_min", "period_s", "mover"];
/// The keys of a budget: how it is spent, then what may be.
pub(super) const BUDGET_KEYS: [&str; 7] =
    ["rule", "savings", "cheapest", "recharge", "period_s", "charged", "per"];
/// Those of them that say how it is spent.
pub(super) const RULE_KEYS: [&str; 3] = ["rule", "savings", "cheapest"];
/// The keys of copies that are compared.
pub(super) const REPLICATE_KEYS: [&str; 4] = ["quorum", "most", "trust_after", "check_every"];

/// A table whose keys are all known.
pub(super) struct Table<'a> {
    path: &'static str,
    tree: &'a Tree,
}

/// A key that is there.
pub(super) struct Key<'a> {
    path: String,
    value: &'a Value,
}

impl<'a> Table<'a> {
    /// The table at `path`, which has no other keys than the `known`.
    pub(super) fn of(path: &'static str, tree: &'a Tree, known: &[&str]) -> Result<Self, PolicyError> {
        let table = Self { path, tree };
        match tree.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                Err(PolicyError::new(table.path(&printable(key)), "an unknown key", one_of(key, known)))
            }
            None => Ok(table),
        }
    }

    /// The key, if something is said there.
    pub(super) fn find(&self, name: &str) -> Option<Key<'a>> {
        Some(Key { path: self.path(name), value: self.tree.get(name)? })
    }

    /// The key, where something has to be said.
    pub(super) fn key(&self, name: &str, expected: &str) -> Result<Key<'a>, PolicyError> {
        self.find(name).ok_or_else(|| PolicyError::new(self.path(name), "nothing", expected))
    }

    /// The same error, with a word as it was written there.
    pub(super) fn as_written(&self, error: PolicyError) -> PolicyError {
        match self.tree.get(&error.key) {
            Some(word @ Value::String(_)) => PolicyError { found: shown(word), ..error },
            _ => error,
        }
    }

    fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

impl<'a> Key<'a> {
    /// An error about what is here.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> PolicyError {
        PolicyError::new(&self.path, shown(self.value), expected)
    }

    pub(super) fn text(&self, expected: &str) -> Result<&'a str, PolicyError> {
        self.value.as_str().ok_or_else(|| self.wrong(expected))
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_object()
    }

    /// The table that is here; none where it says "none".
    pub(super) fn table(
        &self,
        path: &'static str,
        known: &[&str],
        expected: &str,
    ) -> Result<Option<Table<'a>>, PolicyError> {
        match self.value {
            Value::String(text) if text == "none" => Ok(None),
            Value::Object(tree) => Table::of(path, tree, known).map(Some),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(self.wrong(expected))
            }
        }
    }

    /// The choice of that name.
    pub(super) fn choice<C: Choice>(&self) -> Result<C, PolicyError> {
        let text = match self.value {
            // One of the words is what the languages write a truth value as.
            Value::Bool(true) => "true",
            other => other.as_str().unwrap_or_default(),
        };
        C::named(text).ok_or_else(|| {
            let known: Vec<_> = C::all().iter().map(Choice::name).collect();
            self.wrong(one_of(text, &known))
        })
    }

    pub(super) fn flag(&self) -> Result<bool, PolicyError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(super) fn whole<T: TryFrom<u64>>(&self, least: u64, expected: &str) -> Result<T, PolicyError> {
        let whole = self.value.as_u64().filter(|whole| *whole >= least);
        whole.and_then(|whole| T::try_from(whole).ok()).ok_or_else(|| self.wrong(expected))
    }

    /// Credits, however the whole number is written.
    pub(super) fn recharge(&self) -> Result<Credits, PolicyError> {
        let credits = self.value.as_number().and_then(|number| Credits::recharge(&number.to_string()));
        credits.ok_or_else(|| self.wrong(Credits::RECHARGE))
    }

    pub(super) fn number(&self, expected: &str, is_valid: impl Fn(f64) -> bool) -> Result<f64, PolicyError> {
        let number = self.value.as_f64().filter(|number| number.is_finite() && is_valid(*number));
        // Adding 0 makes 0 of −0.
        number.map(|number| number + 0.0).ok_or_else(|| self.wrong(expected))
    }

    /// A period that passes: at zero nanoseconds nothing would ever come after it.
    pub(super) fn period(&self) -> Result<Span, PolicyError> {
        let expected = "seconds above 0, from a nanosecond to the end of time";
        let span = Span::from_seconds(self.number(expected, |seconds| seconds > 0.0)?);
        span.filter(|span| *span > Span::ZERO).ok_or_else(|| self.wrong(expected))
    }
}
