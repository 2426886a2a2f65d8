//! What a simulation is of: everything but the seed.

use super::PERIOD_S;
use gleaner_core::Charged;
use gleaner_policy::{Cheapest, Holding, Level, Recipe, Replan, Savings, Spending, Staying, TaskOrder};
use gleaner_units::Span;
use gleaner_workload::availability::Profile;
use std::fmt;

/// Whose machines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Month {
    /// The one for which the arrivals were tuned.
    September,
    /// The one with half of that.
    June,
}

/// Which task is planned next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Heuristic {
    /// That which can be done earliest.
    MinMin,
    /// That whose earliest end is the latest.
    MaxMin,
    /// That which would lose most.
    Sufferage,
}

/// How the budget is spent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// As if there were none.
    Free,
    /// B: up to the budget.
    Cap,
    /// BT: divided among tasks.
    PerTask,
    /// BTT: among tasks and through time.
    PerTaskAndTime,
    /// LBTT: the same, for classes of machines.
    PerClass,
    /// Ours: BTT, with the budget divided among no more than the machines can do.
    WithinReach,
    /// Ours: a price that moves with each batch; costs are held from the plan until the start. With tasks held back from slow
    /// machines it is `gleaner/budget`.
    MovingPrice,
}

/// What is otherwise than in the paper's figures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variant {
    /// Nothing.
    Standard,
    /// Batches, and arrivals, every so many seconds.
    Period(u32),
    /// Condition (5) as the paper derives it.
    AsDerived,
    /// BT among the machines that are ready within the period, as BTT is.
    WithinPeriod,
    /// Machines that are ready only after the period are left out before line 9 is asked, the cheapest too.
    CheapestIfReady,
    /// The cheapest machines are under condition (4) too: its letter, which has no exception.
    CheapestAsOthers,
    /// Machines as slow as printed, and so as many as the cumulative speed takes.
    ManyMachines,
    /// A task is charged as it starts.
    ChargedAtStart,
    /// A task is charged as it ends.
    ChargedAtEnd,
    /// What is planned and has not begun does not rejoin the next batch.
    PlansStand,
    /// Tasks are held back from slow machines.
    Held,
    /// The same, on machines as slow as printed.
    HeldManyMachines,
    /// It counts how often machines were lost so far.
    StaysLearnt,
    /// The same, and tasks are held back from slow machines.
    HeldStaysLearnt,
    /// Speeds are forecast from what was measured, and not known in advance.
    Forecast,
    /// Prices follow supply and demand.
    DemandPrices,
    /// One machine in ten gives up every task when nine tenths of it are done.
    Saboteurs,
    /// The same, and machines that abort three tasks in a row are put aside.
    PutAside,
}

/// A point of a figure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Case {
    /// Whose machines.
    pub month: Month,
    /// Which task is next.
    pub heuristic: Heuristic,
    /// How the budget is spent.
    pub rule: Rule,
    /// B; none where the rule is free.
    pub budget: Option<u64>,
    /// What else.
    pub variant: Variant,
}

impl Month {
    /// Both.
    pub const ALL: [Month; 2] = [Month::September, Month::June];

    /// What its traces are like, in the default reading or with machines as slow as printed.
    pub fn profile(self, variant: Variant) -> Profile {
        match (self, variant.has_many_machines()) {
            (Month::September, true) => Profile::MANY_SEPTEMBER,
            (Month::June, true) => Profile::MANY_JUNE,
            (Month::September, false) => Profile::SEPTEMBER,
            (Month::June, false) => Profile::JUNE,
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Month::September => "September",
            Month::June => "June",
        }
    }
}

impl Heuristic {
    /// All of them.
    pub const ALL: [Heuristic; 3] = [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Heuristic::MinMin => "MinMin",
            Heuristic::MaxMin => "MaxMin",
            Heuristic::Sufferage => "Sufferage",
        }
    }

    fn order(self) -> TaskOrder {
        match self {
            Heuristic::MinMin => TaskOrder::MinMin,
            Heuristic::MaxMin => TaskOrder::MaxMin,
            Heuristic::Sufferage => TaskOrder::Sufferage,
        }
    }
}

impl Rule {
    /// Those with a budget, in the paper's order.
    pub const BUDGETED: [Rule; 4] = [Rule::Cap, Rule::PerTask, Rule::PerTaskAndTime, Rule::PerClass];

    /// Those and ours.
    pub const ALL_BUDGETED: [Rule; 6] = [
        Rule::Cap,
        Rule::PerTask,
        Rule::PerTaskAndTime,
        Rule::PerClass,
        Rule::WithinReach,
        Rule::MovingPrice,
    ];

    /// What the paper puts before the heuristic's name, or would.
    pub fn prefix(self) -> &'static str {
        match self {
            Rule::Free => "",
            Rule::Cap => "B",
            Rule::PerTask => "BT",
            Rule::PerTaskAndTime => "BTT",
            Rule::PerClass => "LBTT",
            Rule::WithinReach => "BTTR",
            Rule::MovingPrice => "MP",
        }
    }
}

impl Variant {
    /// The readings of condition (5) and of line 9.
    pub const READINGS: [Variant; 3] = [Variant::Standard, Variant::AsDerived, Variant::CheapestIfReady];

    /// R.
    pub fn period_s(self) -> u32 {
        if let Variant::Period(seconds) = self { seconds } else { PERIOD_S }
    }

    /// When a task is charged.
    pub fn charged(self) -> Charged {
        match self {
            Variant::ChargedAtStart => Charged::Started,
            Variant::ChargedAtEnd => Charged::Ended,
            Variant::Standard
            | Variant::Period(_)
            | Variant::AsDerived
            | Variant::WithinPeriod
            | Variant::CheapestIfReady
            | Variant::CheapestAsOthers
            | Variant::ManyMachines
            | Variant::PlansStand
            | Variant::Held
            | Variant::HeldManyMachines
            | Variant::StaysLearnt
            | Variant::HeldStaysLearnt
            | Variant::Forecast
            | Variant::DemandPrices
            | Variant::Saboteurs
            | Variant::PutAside => Charged::Planned,
        }
    }

    /// Whether machines are as slow as printed.
    pub(super) fn has_many_machines(self) -> bool {
        matches!(self, Variant::ManyMachines | Variant::HeldManyMachines)
    }

    fn savings(self) -> Savings {
        if self == Variant::AsDerived { Savings::AsDerived } else { Savings::AsPrinted }
    }

    fn cheapest(self) -> Cheapest {
        match self {
            Variant::CheapestIfReady => Cheapest::IfReady,
            Variant::CheapestAsOthers => Cheapest::AsOthers,
            _ => Cheapest::First,
        }
    }
}

impl Case {
    /// Without a budget.
    pub fn free(month: Month, heuristic: Heuristic) -> Self {
        Self { month, heuristic, rule: Rule::Free, budget: None, variant: Variant::Standard }
    }

    /// Min-Min under a rule with a budget.
    pub fn min_min(month: Month, rule: Rule, budget: u64) -> Self {
        Self { rule, budget: Some(budget), ..Self::free(month, Heuristic::MinMin) }
    }

    /// The same with something otherwise.
    #[must_use]
    pub fn with(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// In how many ways the paper can be read here; the letter first.
    pub fn readings(self) -> &'static [Variant] {
        match self.rule {
            Rule::Free | Rule::Cap | Rule::WithinReach => &[Variant::Standard],
            Rule::MovingPrice => &[Variant::Standard, Variant::Held],
            Rule::PerTask => &[Variant::Standard, Variant::WithinPeriod, Variant::CheapestAsOthers],
            Rule::PerTaskAndTime | Rule::PerClass => &Variant::READINGS,
        }
    }

    /// The same in a reading, if it can be read so.
    #[must_use]
    pub fn read(self, reading: Variant) -> Self {
        if self.readings().contains(&reading) { self.with(reading) } else { self }
    }

    /// What is to be said of the reading behind the version's name; nothing of the letter.
    pub fn remark(self) -> &'static str {
        match self.variant {
            Variant::AsDerived => ", (5) as derived",
            Variant::CheapestIfReady => ", the cheapest if ready",
            Variant::CheapestAsOthers => ", the cheapest as others",
            Variant::WithinPeriod => ", within the period",
            Variant::Held => ", held back from slow machines",
            _ => "",
        }
    }

    /// The same with another heuristic.
    #[must_use]
    pub fn by(self, heuristic: Heuristic) -> Self {
        Self { heuristic, ..self }
    }

    /// What its makespan is held against: no budget, and nothing otherwise but the machines.
    #[must_use]
    pub fn yardstick(self) -> Self {
        let free = Self::free(self.month, self.heuristic);
        if self.variant.has_many_machines() { free.with(Variant::ManyMachines) } else { free }
    }

    /// As the paper calls it: `BTTMinMin`.
    pub fn version(self) -> String {
        format!("{}{}", self.rule.prefix(), self.heuristic.name())
    }

    /// When a task is charged: by a moving price, costs are held from the plan until the start.
    pub(super) fn charged(self) -> Charged {
        match (self.rule, self.variant.charged()) {
            (Rule::MovingPrice, Charged::Planned) => Charged::Reserved,
            (_, charged) => charged,
        }
    }

    /// The parts that the policy is made of.
    pub fn recipe(self) -> Recipe {
        let through_time = Spending::PerTaskAndTime(self.variant.savings(), self.variant.cheapest());
        let (spending, level) = match self.rule {
            Rule::Free => (Spending::Free, Level::Machines),
            Rule::Cap => (Spending::Cap, Level::Machines),
            Rule::PerTask if self.variant == Variant::WithinPeriod => {
                (Spending::PerTaskWithinPeriod(Cheapest::First), Level::Machines)
            }
            Rule::PerTask => (Spending::PerTask(self.variant.cheapest()), Level::Machines),
            Rule::PerTaskAndTime => (through_time, Level::Machines),
            Rule::PerClass => (through_time, Level::Classes),
            Rule::WithinReach => (Spending::WithinReach, Level::Machines),
            Rule::MovingPrice => (Spending::MovingPrice, Level::Machines),
        };
        let period = Span::from_nanos(u64::from(self.variant.period_s()) * 1_000_000_000);
        let replan = if self.variant == Variant::PlansStand { Replan::Lost } else { Replan::Unbegun };
        let hold = match self.variant {
            Variant::Held | Variant::HeldManyMachines | Variant::HeldStaysLearnt => Holding::WhenSlower,
            _ => Holding::Never,
        };
        let availability = match self.variant {
            Variant::StaysLearnt | Variant::HeldStaysLearnt => Staying::Learnt,
            _ => Staying::Ignored,
        };
        let batches = Recipe::in_batches(self.heuristic.order(), period);
        Recipe { spending, level, replan, hold, availability, ..batches }
    }
}

/// What tells it from others in a file: `June BTTMinMin 350000000000 standard`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.month.name(), self.version())?;
        match self.budget {
            Some(budget) => write!(f, " {budget}")?,
            None => f.write_str(" free")?,
        }
        match self.variant {
            Variant::Standard => f.write_str(" standard"),
            Variant::Period(seconds) => write!(f, " period-{seconds}"),
            Variant::AsDerived => f.write_str(" as-derived"),
            Variant::WithinPeriod => f.write_str(" within-period"),
            Variant::CheapestIfReady => f.write_str(" cheapest-if-ready"),
            Variant::CheapestAsOthers => f.write_str(" cheapest-as-others"),
            Variant::ManyMachines => f.write_str(" many-machines"),
            Variant::ChargedAtStart => f.write_str(" charged-at-start"),
            Variant::ChargedAtEnd => f.write_str(" charged-at-end"),
            Variant::PlansStand => f.write_str(" plans-stand"),
            Variant::Held => f.write_str(" held"),
            Variant::HeldManyMachines => f.write_str(" held-many-machines"),
            Variant::StaysLearnt => f.write_str(" stays-learnt"),
            Variant::HeldStaysLearnt => f.write_str(" held-stays-learnt"),
            Variant::Forecast => f.write_str(" forecast"),
            Variant::DemandPrices => f.write_str(" demand-prices"),
            Variant::Saboteurs => f.write_str(" saboteurs"),
            Variant::PutAside => f.write_str(" saboteurs-put-aside"),
        }
    }
}

/// What the simulations answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Figures 4 and 5: Min-Min in five versions, by budget and month.
    Figures,
    /// The period between batches that the paper tuned by hand.
    Periods,
    /// The same versions of Max-Min and Sufferage.
    Heuristics,
    /// When a task is charged, and whether what has not begun is planned anew.
    Readings,
    /// Machines as they are counted, or as slow as printed; tasks held back from the slowest.
    Machines,
    /// The recommended rule beside those that the paper recommends, with enough patterns to tell them apart.
    Recommended,
    /// Whether it counts how long machines stay.
    Stays,
    /// What the paper leaves as future work: forecasts instead of knowledge, prices that follow demand, a reputation.
    FutureWork,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 8] = [
        Part::Figures,
        Part::Periods,
        Part::Heuristics,
        Part::Readings,
        Part::Machines,
        Part::Recommended,
        Part::Stays,
        Part::FutureWork,
    ];
}
