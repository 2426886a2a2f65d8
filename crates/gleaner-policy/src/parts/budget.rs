//! How the budget is spent: by which rule, and whether for machines or for classes of machines.
//!
//! A rule is written as its own name, with an `l` before it where tasks are planned for classes: `btt`, `lbtt`.

use super::{About, Choice, Input};
use gleaner_core::{Charged, Scope};

/// The rule by which credits are spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spending {
    /// As if there were no budget.
    Free,
    /// B, figure 2: a task goes where its cost is no more than what is left.
    Cap,
    /// BT: and, but for the cheapest price, where the credits an operation stay on average within those of the whole
    /// budget, condition (4).
    PerTask(Cheapest),
    /// BT, and a machine that is ready only after the next recharge is not considered: a reading of the paper, which says
    /// so of BTT.
    PerTaskWithinPeriod(Cheapest),
    /// BTT: the same, but a machine that is busy is judged by condition (5), and one that is ready only after the next
    /// recharge not considered.
    PerTaskAndTime(Savings, Cheapest),
    /// BTT, with the budget divided among no more than what the machines can do in [`REACH`] periods: what waits beyond
    /// that takes nothing from what can begin.
    WithinReach,
    /// The moving price: up to a price that each batch sets anew, so that what is expected to begin in the period costs the
    /// whole recharge; what that leaves goes to machines at the next price.
    MovingPrice,
    /// A task costs no more than what is left over the tasks left.
    Share,
    /// A task costs no more than what is left when each other task left keeps an even share of what was left when the batch began: B/|M|
    /// where nothing was spent or held before.
    LeastShare,
}

/// How many periods of work share a recharge under [`Spending::WithinReach`]: machines are to have something to do until
/// the batch after the next one plans, and some of what is planned ends late.
pub const REACH: f64 = 1.4;

/// What the cheapest machines are under.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cheapest {
    /// No condition: line 9 asks for the lowest price before anything else.
    #[default]
    First,
    /// No condition but that they are ready before the next recharge: others are left out before line 9 is asked.
    IfReady,
    /// The same as all others: condition (4) to its letter, which has no exception.
    AsOthers,
}

/// What condition (5) counts as spent when a machine is ready at r, after the batch at D.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Savings {
    /// (B/R)(r−D): the letter of the paper.
    #[default]
    AsPrinted,
    /// B̄ − E with the savings E that the paper derives it from, which is 2·B̄ − (B/R)(r−D).
    AsDerived,
}

/// What tasks are planned for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Machines, each with its own ready time.
    Machines,
    /// Classes of equal machines with one ready time, equation (6) of the second paper: the next task in rank goes to
    /// whichever machine of the class is free first.
    Classes,
}

const READ: &[Input] = &[Input::Lengths, Input::Prices];

impl Choice for Spending {
    fn all() -> Vec<Self> {
        vec![
            Spending::Free,
            Spending::Cap,
            Spending::PerTask(Cheapest::First),
            Spending::PerTaskWithinPeriod(Cheapest::First),
            Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First),
            Spending::WithinReach,
            Spending::MovingPrice,
            Spending::Share,
            Spending::LeastShare,
        ]
    }

    fn about(&self) -> About {
        match self {
            Spending::Free => About { name: "none", meaning: "Nothing limits what tasks cost.", reads: &[] },
            Spending::Cap => About {
                name: "b",
                meaning: "B, figure 2 of the paper: a task goes only where its cost, ⌈length × price⌉, is no more than \
                          what is left of the recharge. What finds no such machine waits.",
                reads: READ,
            },
            Spending::PerTask(_) => About {
                name: "bt",
                meaning: "BT: as B, and a task goes only where condition (4) holds, by which the credits for an operation \
                          stay on average within those of the whole budget. The cheapest machines are under no condition, \
                          but with cheapest = \"as-others\".",
                reads: READ,
            },
            Spending::PerTaskWithinPeriod(_) => About {
                name: "bt-within-period",
                meaning: "BT, among the cheapest machines and those that are ready before the next recharge.",
                reads: READ,
            },
            Spending::PerTaskAndTime(..) => About {
                name: "btt",
                meaning: "BTT: as BT, but a busy machine is judged by condition (5) instead of (4), and a dearer machine that \
                          is ready only after the next recharge is not considered. savings = \"as-derived\" reads condition \
                          (5) as the paper derives it, \"as-printed\" as the paper prints it.",
                reads: READ,
            },
            Spending::WithinReach => About {
                name: "btt-within-reach",
                meaning: "BTT, with the budget divided among no more than the machines can do in 1.4 periods. However \
                          much waits, what can begin keeps its part.",
                reads: READ,
            },
            Spending::MovingPrice => About {
                name: "moving-price",
                meaning: "A task goes only where an operation costs no more than the batch's price, and where it begins \
                          before the next recharge. The price is the highest at which all that is expected to begin in the \
                          period costs no more than the recharge, each machine doing what it can in a period, the dearest \
                          first. What that leaves may be spent at the next higher price.",
                reads: READ,
            },
            Spending::Share => About {
                name: "share",
                meaning: "A task costs no more than what is left, divided by the tasks that are left.",
                reads: READ,
            },
            Spending::LeastShare => About {
                name: "least-share",
                meaning: "A task costs no more than what is left when every task after it keeps its even share of what is \
                          left when the batch begins.",
                reads: READ,
            },
        }
    }
}

impl Choice for Savings {
    fn all() -> Vec<Self> {
        vec![Savings::AsPrinted, Savings::AsDerived]
    }

    fn about(&self) -> About {
        match self {
            Savings::AsPrinted => {
                About { name: "as-printed", meaning: "Condition (5) as the paper prints it.", reads: &[] }
            }
            Savings::AsDerived => {
                About { name: "as-derived", meaning: "Condition (5) as the paper derives it.", reads: &[] }
            }
        }
    }
}

impl Choice for Cheapest {
    fn all() -> Vec<Self> {
        vec![Cheapest::First, Cheapest::IfReady, Cheapest::AsOthers]
    }

    fn about(&self) -> About {
        let (name, meaning) = match self {
            Cheapest::First => (
                "first",
                "The cheapest machines take tasks however long they are busy: line 9 to the letter.",
            ),
            Cheapest::IfReady => (
                "if-ready",
                "The cheapest machines too take tasks only if they are ready before the next recharge.",
            ),
            Cheapest::AsOthers => {
                ("as-others", "The cheapest machines are under the same conditions as all others.")
            }
        };
        About { name, meaning, reads: &[] }
    }
}

impl Choice for Level {
    fn all() -> Vec<Self> {
        vec![Level::Machines, Level::Classes]
    }

    fn about(&self) -> About {
        match self {
            Level::Machines => About {
                name: "machines",
                meaning: "Tasks are planned for machines, each with its own ready time.",
                reads: &[],
            },
            Level::Classes => About {
                name: "classes",
                meaning: "Tasks are planned for classes of equal machines with a ready time in common, equation (6). The \
                          next task in rank goes to whichever machine of the class is free first.",
                reads: &[],
            },
        }
    }
}

impl Choice for Charged {
    fn all() -> Vec<Self> {
        vec![Charged::Planned, Charged::Reserved, Charged::Started, Charged::Ended]
    }

    fn about(&self) -> About {
        let (name, meaning) = match self {
            Charged::Planned => {
                ("planned", "A task is charged once, when it is planned, or else when it starts.")
            }
            Charged::Reserved => (
                "reserved",
                "A task is charged when it starts; from when it is planned until then its cost is held.",
            ),
            Charged::Started => ("started", "A task is charged when it starts."),
            Charged::Ended => ("ended", "A task is charged when it ends; while it runs, its cost is held."),
        };
        About { name, meaning, reads: &[] }
    }
}

impl Choice for Scope {
    fn all() -> Vec<Self> {
        vec![Scope::Shared, Scope::PerUser]
    }

    fn about(&self) -> About {
        let (name, meaning) = match self {
            Scope::Shared => ("grid", "The budget is everyone's together."),
            Scope::PerUser => ("user", "Each user has a budget of this size."),
        };
        About { name, meaning, reads: &[] }
    }
}

impl Spending {
    /// Whether a budget is needed.
    pub fn heeds_budget(self) -> bool {
        self != Spending::Free
    }

    /// Whether it divides the budget among the tasks of a batch, or asks when a machine is ready: then a task that is placed
    /// by itself cannot be judged by it.
    pub(crate) fn is_for_batches(self) -> bool {
        match self {
            Spending::PerTaskWithinPeriod(_)
            | Spending::WithinReach
            | Spending::MovingPrice
            | Spending::Share
            | Spending::LeastShare => true,
            Spending::Free | Spending::Cap | Spending::PerTask(_) | Spending::PerTaskAndTime(..) => false,
        }
    }

    /// Whether tasks may wait for faster machines: by averages and shares they could be kept from those for ever.
    pub(crate) fn lets_wait(self) -> bool {
        match self {
            Spending::Free | Spending::Cap | Spending::MovingPrice => true,
            Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::PerTaskAndTime(..)
            | Spending::WithinReach
            | Spending::Share
            | Spending::LeastShare => false,
        }
    }

    /// The same with another reading of condition (5), if it has one.
    pub(crate) fn reading(self, savings: Savings) -> Option<Self> {
        match self {
            Spending::PerTaskAndTime(_, cheapest) => Some(Spending::PerTaskAndTime(savings, cheapest)),
            Spending::Free
            | Spending::Cap
            | Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::WithinReach
            | Spending::MovingPrice
            | Spending::Share
            | Spending::LeastShare => None,
        }
    }

    /// The same with another reading of what the cheapest machines are under, if it has one.
    pub(crate) fn allowing(self, cheapest: Cheapest) -> Option<Self> {
        match self {
            // It asks of no machine when that is ready.
            Spending::PerTask(_) => (cheapest != Cheapest::IfReady).then_some(Spending::PerTask(cheapest)),
            Spending::PerTaskWithinPeriod(_) => Some(Spending::PerTaskWithinPeriod(cheapest)),
            Spending::PerTaskAndTime(savings, _) => Some(Spending::PerTaskAndTime(savings, cheapest)),
            Spending::Free
            | Spending::Cap
            | Spending::WithinReach
            | Spending::MovingPrice
            | Spending::Share
            | Spending::LeastShare => None,
        }
    }

    /// What the cheapest machines are under.
    pub(crate) fn cheapest(self) -> Cheapest {
        match self {
            Spending::PerTask(cheapest)
            | Spending::PerTaskWithinPeriod(cheapest)
            | Spending::PerTaskAndTime(_, cheapest) => cheapest,
            Spending::Free
            | Spending::Cap
            | Spending::WithinReach
            | Spending::MovingPrice
            | Spending::Share
            | Spending::LeastShare => Cheapest::First,
        }
    }

    /// In a few words, for one line about a policy.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Spending::Free => "in batches, whatever it costs",
            Spending::Cap => "in batches, up to the budget",
            Spending::PerTask(_) => "the budget divided among tasks",
            Spending::PerTaskWithinPeriod(_) => "the budget divided among tasks, within the period",
            Spending::PerTaskAndTime(..) => "the budget divided among tasks and time",
            Spending::WithinReach => "the budget divided among what can be done with it",
            Spending::MovingPrice => "up to a price that moves with each batch",
            Spending::Share => "each task for at most its part of what is left",
            Spending::LeastShare => "each task not yet begun keeps a least share",
        }
    }
}

/// A rule and what it plans for, as they are written together.
pub(crate) type Rule = (Spending, Level);

/// All that may be written. Where there is no budget, there is nothing for which classes would do instead of machines.
pub(crate) fn rules() -> impl Iterator<Item = Rule> {
    let machines = Spending::all().into_iter().map(|spending| (spending, Level::Machines));
    let classes = Spending::all().into_iter().filter(|spending| spending.heeds_budget());
    machines.chain(classes.map(|spending| (spending, Level::Classes)))
}

/// As it is written.
pub(crate) fn rule_name((spending, level): Rule) -> String {
    match level {
        Level::Machines => spending.name().into_owned(),
        Level::Classes => format!("l{}", spending.name()),
    }
}
