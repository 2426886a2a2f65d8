//! What the scenario says about the policy, the migration and the sharing of machines.

use crate::InputError;
use crate::section::{Key, Section};
use gleaner_units::{Credits, Span, Time};

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
    pub prediction: PredictionSettings,
    /// What they ask for an operation.
    pub prices: PriceSettings,
    /// After so many tasks in a row that it did not end, a machine takes no more. None: it always does.
    pub aborts_max: Option<u32>,
}

/// What machines that come and go ask for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriceSettings {
    /// What the table of machines says.
    Table,
    /// In proportion to their speed.
    Speed,
    /// The same, rising and falling with demand.
    Demand,
}

/// Where predictions of speeds come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PredictionSettings {
    /// From the trace: the mean of what comes in the next fifteen minutes.
    Known,
    /// From what was measured so far.
    Forecast,
}

/// What decides where tasks run.
#[derive(Clone, PartialEq, Debug)]
pub struct PolicySettings {
    /// As it is written: whoever knows the presets checks it, and reports it at the key `policy.preset`.
    pub preset: String,
    /// None: tasks stay where they are placed.
    pub relocate: Option<RelocateSettings>,
    /// None: running costs nothing.
    pub budget: Option<BudgetSettings>,
    /// How often a policy for batches makes one. Never zero.
    pub period: Option<Span>,
    /// How many tasks of a batch, those submitted first, come before all others.
    pub aging: Option<u32>,
    /// By when everything should be done.
    pub deadline: Option<Time>,
    /// Which plans of a batch the next does not let stand.
    pub replan: Option<Replan>,
}

/// Which tasks a batch plans anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replan {
    /// All that have not begun.
    Unbegun,
    /// Those whose machine was lost.
    Lost,
}

/// What a relocator maximises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocateScore {
    /// The task's own speed.
    Greedy,
    /// That of all tasks on the machines concerned.
    Social,
    /// The same by the formulas as they are printed.
    SocialAsPrinted,
    /// The balance of the numbers of tasks.
    MinNum,
}

/// When and how tasks are moved.
#[derive(Clone, PartialEq, Debug)]
pub struct RelocateSettings {
    /// What it maximises.
    pub score: RelocateScore,
    /// N: how many moves at most follow one event.
    pub moves_max: u32,
    /// θ: what a gain must exceed.
    pub gain_min: f64,
    /// How many more tasks the source must have, for [`RelocateScore::MinNum`].
    pub difference_min: u32,
    /// None: at events; else every so often. Never zero.
    pub period: Option<Span>,
}

/// What may be spent.
#[derive(Clone, PartialEq, Debug)]
pub struct BudgetSettings {
    /// As it is written: whoever knows the rules checks it, and reports it at the key `policy.budget.rule`. None where
    /// the preset is to say.
    pub rule: Option<String>,
    /// For each period; more than none.
    pub recharge: Credits,
    /// Never zero.
    pub period: Span,
    /// When a task's cost leaves what may be spent.
    pub charged: Charged,
    /// Whether there is one budget for all, or one for each user.
    pub per: Per,
    /// How condition (5) of the second paper is read.
    pub savings: Option<Savings>,
}

/// Whose a budget is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Per {
    /// Everyone's together.
    #[default]
    Grid,
    /// Each user's by themselves.
    User,
}

/// When a task's cost leaves what may be spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Charged {
    /// As it is planned, or else as it starts.
    #[default]
    Planned,
    /// As it starts.
    Started,
    /// As it ends.
    Ended,
}

/// How condition (5) of the second paper is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Savings {
    /// To the letter.
    AsPrinted,
    /// As it follows from what the paper derives it from.
    AsDerived,
}

/// What moving a task costs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Migration {
    /// For each move.
    pub seconds: f64,
    /// What each move sends, over the dimension `net`.
    pub bytes: f64,
}

const COUNT: &str = "a whole number, 0 or more, below 2^32";

/// Whether the number is finite and not negative.
pub(crate) fn finite_from_zero(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

pub(crate) fn sharing(grid: &Section<'_>) -> Result<Sharing, InputError> {
    let choices = [("time", Sharing::Time), ("exclusive", Sharing::Exclusive)];
    grid.find("sharing").map_or(Ok(Sharing::default()), |key| key.choice(&choices))
}

/// The trace's file and how it is seen, from its name alone or from a table.
pub(crate) fn availability<'a>(key: &Key<'a>) -> Result<(&'a str, LookSettings), InputError> {
    let expected = "the name of a file, as \"trace.csv\", or { trace = \"trace.csv\" }";
    let every = Span::from_nanos(120_000_000_000);
    let mut look = LookSettings {
        every,
        prediction: PredictionSettings::Known,
        prices: PriceSettings::Table,
        aborts_max: None,
    };
    if let Some(name) = key.find_text() {
        return Ok((name, look));
    }
    let table = key.find_table().ok_or_else(|| key.wrong(expected))?;
    table.check_known(&["trace", "look_s", "prediction", "prices", "aborts_max"])?;
    if let Some(key) = table.find("look_s") {
        look.every = period(&key)?;
    }
    if let Some(key) = table.find("prediction") {
        let choices = [("known", PredictionSettings::Known), ("forecast", PredictionSettings::Forecast)];
        look.prediction = key.choice(&choices)?;
    }
    if let Some(key) = table.find("prices") {
        let choices = [
            ("table", PriceSettings::Table),
            ("speed", PriceSettings::Speed),
            ("demand", PriceSettings::Demand),
        ];
        look.prices = key.choice(&choices)?;
    }
    if let Some(key) = table.find("aborts_max") {
        look.aborts_max = Some(key.integer(1, "a whole number, 1 or more, below 2^32")?);
    }
    Ok((table.key("trace", expected)?.text(expected)?, look))
}

pub(crate) fn policy(root: &Section<'_>) -> Result<PolicySettings, InputError> {
    let known = ["preset", "relocate", "budget", "period_s", "aging", "deadline_s", "replan"];
    let replan = [("unbegun", Replan::Unbegun), ("lost", Replan::Lost)];
    let policy = root.section("policy", &known)?;
    let expected = "the name of a preset, as \"bertasi/greedy\"";
    Ok(PolicySettings {
        preset: policy.key("preset", expected)?.text(expected)?.to_owned(),
        relocate: policy.find("relocate").map_or(Ok(None), |key| relocate(&key))?,
        budget: policy.find("budget").map(|key| budget(&key)).transpose()?,
        period: policy.find("period_s").map(|key| period(&key)).transpose()?,
        aging: policy.find("aging").map(|key| key.integer(0, COUNT)).transpose()?,
        deadline: policy.find("deadline_s").map(|key| deadline(&key)).transpose()?,
        replan: policy.find("replan").map(|key| key.choice(&replan)).transpose()?,
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

pub(crate) fn seed(root: &Section<'_>) -> Result<u64, InputError> {
    let run = root.section("run", &["seed"])?;
    run.find("seed").map_or(Ok(1), |key| key.integer(0, "a whole number, 0 or more, below 2^64"))
}

fn relocate(key: &Key<'_>) -> Result<Option<RelocateSettings>, InputError> {
    if key.find_text() == Some("none") {
        return Ok(None);
    }
    let expected = "\"none\", or a table with a score";
    let table = key.find_table().ok_or_else(|| key.wrong(expected))?;
    table.check_known(&["score", "moves_max", "gain_min", "difference_min", "period_s"])?;
    let scores = [
        ("greedy", RelocateScore::Greedy),
        ("social", RelocateScore::Social),
        ("social-as-printed", RelocateScore::SocialAsPrinted),
        ("min-num", RelocateScore::MinNum),
    ];
    let score = table.key("score", "one of greedy, social, social-as-printed, min-num")?.choice(&scores)?;
    let difference = "a whole number, 1 or more, below 2^32";
    let gain = "a finite number, 0 or more";
    Ok(Some(RelocateSettings {
        score,
        moves_max: table.find("moves_max").map_or(Ok(3), |key| key.integer(0, COUNT))?,
        gain_min: table.find("gain_min").map_or(Ok(0.10), |key| key.number(gain, finite_from_zero))?,
        difference_min: table.find("difference_min").map_or(Ok(2), |key| key.integer(1, difference))?,
        period: table.find("period_s").map(|key| period(&key)).transpose()?,
    }))
}

fn budget(key: &Key<'_>) -> Result<BudgetSettings, InputError> {
    let table = key.table()?;
    table.check_known(&["rule", "recharge", "period_s", "charged", "savings", "per"])?;
    let rule = |key: Key<'_>| key.text("the name of a rule, as \"b\"").map(str::to_owned);
    let charged = [("planned", Charged::Planned), ("started", Charged::Started), ("ended", Charged::Ended)];
    let savings = [("as-printed", Savings::AsPrinted), ("as-derived", Savings::AsDerived)];
    let per = [("grid", Per::Grid), ("user", Per::User)];
    let credits = "credits as a whole number, from 1 to 2^53";
    let recharge = table.key("recharge", credits)?;
    let count: u64 = recharge.integer(1, credits)?;
    if count > Credits::MAX.count() {
        return Err(recharge.wrong(credits));
    }
    Ok(BudgetSettings {
        rule: table.find("rule").map(rule).transpose()?,
        recharge: Credits::new(count),
        period: period(&table.key("period_s", "seconds above 0")?)?,
        charged: table.find("charged").map_or(Ok(Charged::default()), |key| key.choice(&charged))?,
        per: table.find("per").map_or(Ok(Per::default()), |key| key.choice(&per))?,
        savings: table.find("savings").map(|key| key.choice(&savings)).transpose()?,
    })
}

fn deadline(key: &Key<'_>) -> Result<Time, InputError> {
    let expected = "seconds above 0, before the end of time";
    let deadline = Time::from_seconds(key.number(expected, |seconds| seconds > 0.0)?);
    deadline.ok_or_else(|| key.wrong(expected))
}

/// A period that passes: at zero nanoseconds nothing would ever come after it.
fn period(key: &Key<'_>) -> Result<Span, InputError> {
    let expected = "seconds above 0, from a nanosecond to the end of time";
    let span = Span::from_seconds(key.number(expected, |seconds| seconds > 0.0)?);
    span.filter(|span| *span > Span::ZERO).ok_or_else(|| key.wrong(expected))
}
