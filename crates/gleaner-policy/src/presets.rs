//! The recipes that carry a paper's name.

use crate::{Recipe, Score};

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
    Recipe { place: score, relocate: None }
}

/// All presets, in the order in which help lists them.
pub const PRESETS: [Preset; 4] = [
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
];
