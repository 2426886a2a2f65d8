//! The recipes that carry a paper's name.

use crate::{Aim, Batching, Level, Matching, Order, Recipe, Replan, Savings, Score, Spending, When};
use gleaner_units::Span;

/// A recipe with a name, and what to know before choosing it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Preset {
    /// `paper/rule`.
    pub name: &'static str,
    /// In one line.
    pub summary: &'static str,
    /// The rule, its source, and what it costs.
    pub description: &'static str,
    /// The parts.
    pub recipe: Recipe,
}

const fn placed_by(score: Score) -> Recipe {
    Recipe::Match(Matching::by(score))
}

/// R, as the second paper tuned it: two minutes.
const PERIOD: When = When::Every(Span::from_nanos(120_000_000_000));

const REPLAN: Replan = Replan::Unbegun;

const fn batched(order: Order, spending: Spending, level: Level) -> Recipe {
    let aim = Aim::Earliest;
    Recipe::Batch(Batching {
        when: PERIOD,
        order,
        aim,
        spending,
        level,
        aging: 0,
        deadline: None,
        replan: REPLAN,
    })
}

/// The rules by which the second paper spends, with what is to be known of each.
const FREE: (Spending, Level, &str) = (
    Spending::Free,
    Level::Machines,
    "All tasks that came in a period of R seconds, and those planned before that have not begun, are planned at its \
     end: one after another, each on the machine that would be done with it first, as figure 1 of the paper has it. \
     Machines are exclusive, and lengths are those that were declared. Nothing limits what it costs.\n\
     A batch costs O(tasks·log tasks + machines·log machines), and then O(machine classes) for each task.",
);
const CAP: (Spending, Level, &str) = (
    Spending::Cap,
    Level::Machines,
    "B, figure 2 of the paper: a task goes only where its cost, ⌈length × price⌉, is no more than what is left of the \
     recharge; what finds no such machine waits for the next batch.\n\
     A batch costs O(tasks·log tasks + machines·log machines), and then O(machine classes) for each task.",
);
const PER_TASK: (Spending, Level, &str) = (
    Spending::PerTask,
    Level::Machines,
    "BT: as B, and a task goes only where condition (4) holds, by which the credits an operation stay on average \
     within those of the whole budget. The cheapest machines are under no condition.\n\
     A batch costs O(tasks·log tasks + machines·log machines), and then O(machine classes) for each task.",
);
const PER_TASK_AND_TIME: (Spending, Level, &str) = (
    Spending::PerTaskAndTime(Savings::AsPrinted),
    Level::Machines,
    "BTT: as BT, but for a machine that is busy condition (5) takes the place of (4), and one that is ready only after \
     the next recharge is not considered. Condition (5) is read as printed, or as the paper derives it: \
     budget = { savings = \"as-derived\" }.\n\
     A batch costs O(tasks·log tasks + machines·log machines), and then O(machine classes) for each task; as derived \
     O(machines).",
);
const BY_CLASS: (Spending, Level, &str) = (
    Spending::PerTaskAndTime(Savings::AsPrinted),
    Level::Classes,
    "LBTT: as BTT, but tasks are planned for classes of equal machines with a ready time in common, equation (6). The \
     next task in rank then goes to whichever machine of the class is free first.\n\
     A batch costs O(tasks·log tasks + machines), and then O(machine classes) for each task.",
);

const fn elleuch(
    name: &'static str,
    summary: &'static str,
    order: Order,
    (spending, level, description): (Spending, Level, &'static str),
) -> Preset {
    Preset { name, summary, description, recipe: batched(order, spending, level) }
}

const fn nimrod(
    name: &'static str,
    summary: &'static str,
    (aim, spending): (Aim, Spending),
    description: &'static str,
) -> Preset {
    let (order, level) = (Order::Submission, Level::Machines);
    let recipe =
        Batching { when: PERIOD, order, aim, spending, level, aging: 0, deadline: None, replan: REPLAN };
    Preset { name, summary, description, recipe: Recipe::Batch(recipe) }
}

/// Before the per cent in the name of what has one.
const KPB: &str = "immediate/kpb:";

const fn immediate(name: &'static str, summary: &'static str, aim: Aim, description: &'static str) -> Preset {
    let (order, spending, level) = (Order::Submission, Spending::Free, Level::Machines);
    let (when, replan) = (When::AtEvents, Replan::Lost);
    let recipe = Batching { when, order, aim, spending, level, aging: 0, deadline: None, replan };
    Preset { name, summary, description, recipe: Recipe::Batch(recipe) }
}

impl Preset {
    /// The preset of that name, with the per cent that the name says.
    pub fn named(name: &str) -> Option<Self> {
        let percent = name.strip_prefix(KPB).and_then(|percent| percent.parse().ok());
        if let Some(percent) = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0) {
            let mut preset = *PRESETS.iter().find(|preset| preset.name.starts_with(KPB))?;
            if let Recipe::Batch(batching) = &mut preset.recipe {
                batching.aim = Aim::EarliestOfFastest { percent };
            }
            return Some(preset);
        }
        PRESETS.iter().find(|preset| preset.name == name).copied()
    }
}

/// All presets, in the order in which help lists them.
pub const PRESETS: [Preset; 32] = [
    Preset {
        name: "bertasi/greedy",
        summary: "each task to the machine on which it runs fastest now",
        description: "Maximises the affinity (1−λ)/((n+1)·h), equation (2) of the paper: the task's own speed, \
                      whatever that does to the tasks already there.\n\
                      A decision costs O(machine classes + log machines).",
        recipe: placed_by(Score::Greedy),
    },
    Preset {
        name: "bertasi/social",
        summary: "each task where everyone's execution times grow least",
        description: "Maximises −((n+1)·h + Σh)/(1−λ): how much longer an operation of each task on the machine, \
                      the newcomer included, will take. This is the paper's idea in a reading by execution times; \
                      social-as-printed is the letter. The number of cores does not enter the formula.\n\
                      A decision costs O(machine classes + log machines), and O(machines) at worst.",
        recipe: placed_by(Score::Social),
    },
    Preset {
        name: "bertasi/social-as-printed",
        summary: "the paper's SOCIAL to the letter; here to be compared, not used",
        description: "Maximises τ(j) − Σ τ(k)/(n+1). It is exactly 0 on every machine that runs only tasks of the \
                      newcomer's kind, and for a task slower than the residents it rises as a machine fills up: \
                      crowded machines win.\n\
                      A decision costs O(machines) at worst.",
        recipe: placed_by(Score::SocialAsPrinted),
    },
    Preset {
        name: "bertasi/min-num",
        summary: "each task to the machine with the fewest tasks",
        description: "The paper's baseline: counts tasks, and knows neither speeds nor owners' loads.\n\
                      A decision costs O(machine classes + log machines).",
        recipe: placed_by(Score::MinNum),
    },
    elleuch("elleuch/min-min", "in batches, whatever it costs; the shortest first", Order::MinMin, FREE),
    elleuch("elleuch/max-min", "in batches, whatever it costs; the longest first", Order::MaxMin, FREE),
    elleuch(
        "elleuch/sufferage",
        "in batches, whatever it costs; first what would lose most",
        Order::Sufferage,
        FREE,
    ),
    elleuch(
        "elleuch/sufferage-passes",
        "in batches, whatever it costs; in passes, what would lose most",
        Order::SufferagePasses,
        FREE,
    ),
    elleuch("elleuch/b-min-min", "in batches, up to the budget; the shortest first", Order::MinMin, CAP),
    elleuch("elleuch/b-max-min", "in batches, up to the budget; the longest first", Order::MaxMin, CAP),
    elleuch(
        "elleuch/b-sufferage",
        "in batches, up to the budget; first what would lose most",
        Order::Sufferage,
        CAP,
    ),
    elleuch(
        "elleuch/b-sufferage-passes",
        "in batches, up to the budget; in passes, what would lose most",
        Order::SufferagePasses,
        CAP,
    ),
    elleuch(
        "elleuch/bt-min-min",
        "the budget divided among tasks; the shortest first",
        Order::MinMin,
        PER_TASK,
    ),
    elleuch(
        "elleuch/bt-max-min",
        "the budget divided among tasks; the longest first",
        Order::MaxMin,
        PER_TASK,
    ),
    elleuch(
        "elleuch/bt-sufferage",
        "the budget divided among tasks; first what would lose most",
        Order::Sufferage,
        PER_TASK,
    ),
    elleuch(
        "elleuch/bt-sufferage-passes",
        "the budget divided among tasks; in passes, what would lose most",
        Order::SufferagePasses,
        PER_TASK,
    ),
    elleuch(
        "elleuch/btt-min-min",
        "the budget divided among tasks and time; the shortest first",
        Order::MinMin,
        PER_TASK_AND_TIME,
    ),
    elleuch(
        "elleuch/btt-max-min",
        "the budget divided among tasks and time; the longest first",
        Order::MaxMin,
        PER_TASK_AND_TIME,
    ),
    elleuch(
        "elleuch/btt-sufferage",
        "the budget divided among tasks and time; first what would lose most",
        Order::Sufferage,
        PER_TASK_AND_TIME,
    ),
    elleuch(
        "elleuch/btt-sufferage-passes",
        "the budget divided among tasks and time; in passes, what would lose most",
        Order::SufferagePasses,
        PER_TASK_AND_TIME,
    ),
    elleuch(
        "elleuch/lbtt-min-min",
        "the same, planned for classes of machines; the shortest first",
        Order::MinMin,
        BY_CLASS,
    ),
    elleuch(
        "elleuch/lbtt-max-min",
        "the same, planned for classes of machines; the longest first",
        Order::MaxMin,
        BY_CLASS,
    ),
    elleuch(
        "elleuch/lbtt-sufferage",
        "the same, planned for classes of machines; first what would lose most",
        Order::Sufferage,
        BY_CLASS,
    ),
    elleuch(
        "elleuch/lbtt-sufferage-passes",
        "the same, planned for classes of machines; in passes, what would lose most",
        Order::SufferagePasses,
        BY_CLASS,
    ),
    nimrod(
        "nimrod/cost",
        "in batches, each task on the cheapest machine that meets the deadline",
        (Aim::Cheapest, Spending::Cap),
        "The Nimrod/G broker's cost optimisation: tasks in order of submission, each where it costs least among the \
         machines that would be done by the deadline, as far as the budget goes; among equals on the lowest. What no \
         machine would do in time goes to the one that is done first.\n\
         A batch costs O(machines) for each task.",
    ),
    nimrod(
        "nimrod/time",
        "in batches, each task done first for at most its part of what is left",
        (Aim::Earliest, Spending::Share),
        "The Nimrod/G broker's time optimisation: tasks in order of submission, each on the machine that is done first \
         among those where it costs no more than what is left over tasks left.\n\
         A batch costs O(machine classes) for each task.",
    ),
    nimrod(
        "nimrod/cost-time",
        "as cost, but equally cheap machines are all used",
        (Aim::CheapestThenEarliest, Spending::Cap),
        "The Nimrod/G broker's cost-time optimisation: as nimrod/cost, but among equally cheap machines the one that is \
         done first.\n\
         A batch costs O(machine classes) for each task.",
    ),
    nimrod(
        "nimrod/conservative-time",
        "as time, but each task not yet begun keeps a least share",
        (Aim::Earliest, Spending::LeastShare),
        "The Nimrod/G broker's conservative time optimisation: tasks in order of submission, each on the machine that \
         is done first among those where enough is left for every task after it to have its even share of the \
         recharge.\n\
         A batch costs O(machine classes) for each task.",
    ),
    immediate(
        "immediate/mct",
        "each task as it comes to the machine that is done with it first",
        Aim::Earliest,
        "Minimum completion time, Maheswaran et al.: a baseline that looks at no other task. What is planned stays where \
         it is, unless the machine is lost. Machines are exclusive, and lengths are those that were declared.\n\
         Tasks that come together cost O(machines·log machines), and then O(machine classes) each.",
    ),
    immediate(
        "immediate/met",
        "each task as it comes to the machine that is fastest for it",
        Aim::Fastest,
        "Minimum execution time: the fastest machine, however much is planned for it; among equally fast ones the lowest. \
         A baseline, which leaves all other machines idle.\n\
         Tasks that come together cost O(machines·log machines), and then O(machines of the fastest class) each.",
    ),
    immediate(
        "immediate/olb",
        "each task as it comes to the machine that is free first",
        Aim::FirstFree,
        "Opportunistic load balancing: the machine that would begin first, however slow; among equals the lowest. A \
         baseline.\n\
         Tasks that come together cost O(machines·log machines), and then O(machine classes) each.",
    ),
    immediate(
        "immediate/kpb:20",
        "the same as mct, among the P % of the machines that are fastest for it",
        Aim::EarliestOfFastest { percent: 20.0 },
        "K-percent best: of the ⌊P·machines/100⌋ machines, at least one, that are fastest for a task the one that is done \
         first. Any P above 0 and up to 100 may be in the name: immediate/kpb:12.5.\n\
         Tasks that come together cost O(machines·log machines), and each as much again.",
    ),
];
