//! What the scenario says about the policy, the migration and the sharing of machines.

use crate::InputError;
use crate::section::{Key, Section};
use gleaner_policy::{PolicyError, Tree};
use gleaner_sim::{Prediction, Pricing};
use gleaner_units::Span;

/// How the tasks on one machine share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// All run at once, each with its part.
    #[default]
    Time,
    /// One runs on each core; the others wait.
    Exclusive,
}

/// How machines that come and go by a trace are seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LookSettings {
    /// How often all are looked at. Never zero.
    pub every: Span,
    /// Where predictions of their speeds come from.
    pub prediction: Prediction,
    /// What they ask for an operation.
    pub prices: Pricing,
    /// After so many tasks in a row that it did not end, a machine takes no more. None: it always does.
    pub aborts_max: Option<u32>,
}

/// What moving a task costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Migration {
    /// For each move.
    pub seconds: f64,
    /// What each move sends, over the dimension `net`.
    pub bytes: f64,
}

/// What a machine's speed may be, in operations a second: with others, no task takes infinitely long on a machine that can run it.
pub(crate) const SPEED: &str = "operations a second, from 1e-9 to 1e18";

/// Whether the number is a [`SPEED`].
pub(crate) fn is_speed(number: f64) -> bool {
    (1e-9..=1e18).contains(&number)
}

/// What [`finite_from_zero`] takes.
pub(crate) const FROM_0: &str = "a finite number, 0 or more";

/// Whether the number is finite and not negative.
pub(crate) fn finite_from_zero(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// What [`finite_above_zero`] takes.
pub(crate) const ABOVE_0: &str = "a finite number above 0";

/// Whether the number is finite and above 0.
pub(crate) fn finite_above_zero(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

pub(crate) fn sharing(grid: &Section<'_>) -> Result<Sharing, InputError> {
    let choices = [("time", Sharing::Time), ("exclusive", Sharing::Exclusive)];
    grid.find("sharing").map_or(Ok(Sharing::default()), |key| key.choice(&choices))
}

/// The trace's file and how it is seen, from its name alone or from a table.
pub(crate) fn availability<'a>(key: &Key<'a>) -> Result<(&'a str, LookSettings), InputError> {
    let expected = "the name of a file, as \"trace.csv\", or { trace = \"trace.csv\" }";
    let every = Span::from_nanos(120_000_000_000);
    let mut look =
        LookSettings { every, prediction: Prediction::ELLEUCH, prices: Pricing::OfKind, aborts_max: None };
    if let Some(name) = key.find_text() {
        return Ok((name, look));
    }
    let table = key.find_table().ok_or_else(|| key.wrong(expected))?;
    table.check_known(&["trace", "look_s", "prediction", "prices", "aborts_max"])?;
    if let Some(key) = table.find("look_s") {
        look.every = period(&key)?;
    }
    if let Some(key) = table.find("prediction") {
        let choices = [("known", Prediction::ELLEUCH), ("forecast", Prediction::Forecast)];
        look.prediction = key.choice(&choices)?;
    }
    if let Some(key) = table.find("prices") {
        let choices =
            [("table", Pricing::OfKind), ("speed", Pricing::BySpeed), ("demand", Pricing::ByDemand)];
        look.prices = key.choice(&choices)?;
    }
    if let Some(key) = table.find("aborts_max") {
        look.aborts_max = Some(key.integer(1, "a whole number, 1 or more, below 2^32")?);
    }
    Ok((table.key("trace", expected)?.text(expected)?, look))
}

/// The `[policy]` section, by whoever knows policies.
pub(crate) fn policy<T>(
    root: &Section<'_>,
    read: impl Fn(Tree) -> Result<T, PolicyError>,
) -> Result<T, InputError> {
    let policy = root.find("policy");
    let tree = policy.as_ref().map_or_else(|| Ok(Tree::new()), Key::tree)?;
    read(tree).map_err(|error| {
        let PolicyError { key, found, expected } = error;
        root.nearest(&format!("policy.{key}")).error(&format!("policy.{key}"), found, expected)
    })
}

pub(crate) fn migration(root: &Section<'_>) -> Result<Migration, InputError> {
    let migration = root.section("migration", &["seconds", "bytes"])?;
    let amount = |name, expected| {
        migration.find(name).map_or(Ok(0.0), |key: Key<'_>| key.number(expected, finite_from_zero))
    };
    Ok(Migration {
        seconds: amount("seconds", "seconds as a finite number, 0 or more")?,
        bytes: amount("bytes", "bytes as a finite number, 0 or more")?,
    })
}

/// Machines that give wrong answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LiarSettings {
    /// Which share of all machines lies.
    pub share: f64,
    /// How likely one of them lies about a task.
    pub chance: f64,
    /// Whether all of them tell the same lie.
    pub collude: bool,
}

/// The `[faults]` section, where it has machines lie.
pub(crate) fn liars(root: &Section<'_>) -> Result<Option<LiarSettings>, InputError> {
    let faults = root.section("faults", &["liars", "lies", "collude"])?;
    let share = |key: &Key<'_>| key.number("a share from 0 to 1", |share| (0.0..=1.0).contains(&share));
    let Some(key) = faults.find("liars") else {
        let other = ["lies", "collude"].iter().find_map(|name| faults.find(name));
        return other.map_or(Ok(None), |key| {
            Err(key.wrong("no such key, or faults.liars: which share of the machines lies"))
        });
    };
    Ok(Some(LiarSettings {
        share: share(&key)?,
        chance: faults.find("lies").map_or(Ok(1.0), |key| share(&key))?,
        collude: faults.find("collude").map_or(Ok(false), |key| key.flag())?,
    }))
}

pub(crate) fn seed(root: &Section<'_>) -> Result<u64, InputError> {
    let run = root.section("run", &["seed"])?;
    run.find("seed").map_or(Ok(1), |key| key.integer(0, "a whole number, 0 or more, below 2^64"))
}

/// A period that passes: at zero nanoseconds nothing would ever come after it.
pub(crate) fn period(key: &Key<'_>) -> Result<Span, InputError> {
    let expected = "seconds above 0, from a nanosecond to the end of time";
    let span = Span::from_seconds(key.number(expected, |seconds| seconds > 0.0)?);
    span.filter(|span| *span > Span::ZERO).ok_or_else(|| key.wrong(expected))
}

/// A time that may be none.
pub(crate) const SECONDS: &str = "seconds, 0 or more, before the end of time";

/// A time that may be none, and is where nothing is said.
pub(crate) fn span(section: &Section<'_>, name: &str) -> Result<Span, InputError> {
    let Some(key) = section.find(name) else { return Ok(Span::ZERO) };
    Span::from_seconds(key.number(SECONDS, |seconds| seconds >= 0.0)?).ok_or_else(|| key.wrong(SECONDS))
}
