//! The rules that are compared.

use super::case::{Case, Variant};
use gleaner_policy::{Belief, Candidates, Choose, Rank, Recipe, Until};

/// How a broker judges and chooses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rule {
    /// Whether files count, with the weights of the jobs.
    pub files: bool,
    /// Whether the execution counts.
    pub until: Until,
    /// Which is taken.
    pub choose: Choose,
    /// Whether what the broker sent itself counts.
    pub own: bool,
}

impl Rule {
    /// The rule in force.
    pub const CURRENT: Rule = Rule { files: false, until: Until::Begin, choose: Choose::Best, own: false };
    /// The paper's first.
    pub const DETERMINISTIC: Rule = Rule { files: true, ..Rule::CURRENT };
    /// The paper's second.
    pub const STOCHASTIC: Rule = Rule { choose: Choose::Proportional { power: 1 }, ..Rule::DETERMINISTIC };
    /// The three of the figures.
    pub const FIGURES: [Rule; 3] = [Rule::CURRENT, Rule::DETERMINISTIC, Rule::STOCHASTIC];

    /// Every choice with both beliefs, with and without the execution.
    pub fn all() -> Vec<Rule> {
        let chooses = [
            Choose::Best,
            Choose::TwoChoices,
            Choose::Proportional { power: 1 },
            Choose::Proportional { power: 4 },
        ];
        let rules = [Until::Begin, Until::End].into_iter().flat_map(|until| {
            [false, true].into_iter().flat_map(move |own| {
                chooses.into_iter().map(move |choose| Rule { files: true, until, choose, own })
            })
        });
        rules.collect()
    }

    /// In words.
    pub fn name(&self) -> String {
        if let Some(at) = Rule::FIGURES.iter().position(|rule| rule == self) {
            return ["current", "deterministic", "stochastic"][at].to_owned();
        }
        let choose = match self.choose {
            Choose::Best | Choose::BestLatest => "best".to_owned(),
            Choose::BestByLot => "best by lot".to_owned(),
            Choose::First => "first".to_owned(),
            Choose::TwoChoices => "better of two".to_owned(),
            Choose::Proportional { power } => format!("drawn, power {power}"),
        };
        let own = if self.own { ", own dispatches" } else { "" };
        let until = match self.until {
            Until::Begin => "",
            Until::End => ", with execution",
        };
        format!("{choose}{own}{until}")
    }

    /// The policy in a case.
    pub fn recipe(&self, case: &Case) -> Recipe {
        let (alpha, beta) = if self.files { case.work.weights() } else { (1.0, 0.0) };
        let by_lot = matches!(case.variant, Variant::TiesByLot | Variant::SeenByLot);
        let most_files = case.variant == Variant::MostFiles;
        let rank = Rank {
            alpha,
            beta,
            until: if case.variant == Variant::WithExecution { Until::End } else { self.until },
            candidates: if most_files { Candidates::MostFiles } else { Candidates::All },
        };
        let choose = if by_lot && self.choose == Choose::Best { Choose::BestByLot } else { self.choose };
        let belief =
            if self.own { Belief::OwnDispatches { brokers: case.brokers } } else { Belief::AsPublished };
        Recipe::brokering(rank, choose, belief)
    }
}
