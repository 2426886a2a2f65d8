//! The rank by which a broker judges sites: equations (1) to (3) of Cavalieri, Monforte and Scibilia.
//!
//! All terms are seconds, and so the rank is minus a time: **the best rank is the highest**. The paper's own words are "the
//! one with higher rank value" for the rule in force, and "the lower value of the rank" for the new one, which by the letter
//! would take the worst site; what is lower is the rank's absolute value.

use super::{About, Choice, Input};

/// What a site is judged by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rank {
    /// α: the weight of the site against that of its data, from 0 to 1.
    pub alpha: f64,
    /// β: the weight of reading the data against that of bringing it, from 0 to 1.
    pub beta: f64,
    /// What the site's own part counts.
    pub until: Until,
    /// Which sites are judged at all.
    pub candidates: Candidates,
}

impl Default for Rank {
    fn default() -> Self {
        Rank::by_traversal(Until::Begin)
    }
}

impl Rank {
    /// The site alone, and not its data.
    pub const fn by_traversal(until: Until) -> Self {
        Self { alpha: 1.0, beta: 0.0, until, candidates: Candidates::All }
    }

    /// (1) to (3): `own` is what the site itself is worth, minus its traversal time unless a user says otherwise; `access` and
    /// `transfer` are the seconds that it takes to read the data there and to bring it there.
    pub fn of(&self, own: f64, access: f64, transfer: f64) -> f64 {
        let Self { alpha, beta, .. } = *self;
        let file_rank = -(beta * access + (1.0 - beta) * transfer);
        // Adding 0 makes 0 of −0.
        alpha * own + (1.0 - alpha) * file_rank + 0.0
    }
}

impl Choice for Rank {
    fn all() -> Vec<Self> {
        vec![Rank::by_traversal(Until::Begin), Rank::by_traversal(Until::End)]
    }

    fn about(&self) -> About {
        match self.until {
            Until::Begin => About {
                name: "rank",
                meaning: "The site with the highest −(α·traversal + (1−α)·(β·access + (1−β)·transfer)), equations (1) to (3): \
                          the seconds that a task waits there by what the site said, and those to read its files there and \
                          to bring them. A user's own rank stands for −traversal.",
                reads: &[Input::Published, Input::Files],
            },
            Until::End => About {
                name: "rank-with-execution",
                meaning: "As rank, with the seconds that the task runs there added to those that it waits.",
                reads: &[Input::Published, Input::Files, Input::Speeds, Input::Lengths],
            },
        }
    }
}

/// What the site's own part counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The wait, as the paper says.
    Begin,
    /// The wait and the execution.
    End,
}

/// Which sites are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Candidates {
    /// All that can take the task.
    All,
    /// Of those, the ones that hold most of its input files.
    MostFiles,
}

impl Choice for Candidates {
    fn all() -> Vec<Self> {
        vec![Candidates::All, Candidates::MostFiles]
    }

    fn about(&self) -> About {
        match self {
            Candidates::All => {
                About { name: "all", meaning: "Every site that can take the task is judged.", reads: &[] }
            }
            Candidates::MostFiles => About {
                name: "most-files",
                meaning: "Only the sites that hold most of the task's input files are judged, of those that can take it.",
                reads: &[Input::Files],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Traversal, access, transfer.
    const SITES: [[f64; 3]; 3] = [[400.0, 84.0, 0.0], [0.0, 84.0, 420.0], [100.0, 84.0, 248.0]];

    #[test]
    fn ranks_are_those_that_the_equations_give_by_hand() {
        for (alpha, beta, expected) in
            [(0.75, 0.25, [-305.25, -84.0, -126.75]), (0.25, 0.25, [-115.75, -252.0, -180.25])]
        {
            let rank = Rank { alpha, beta, ..Rank::default() };
            let found = SITES.map(|[traversal, access, transfer]| rank.of(-traversal, access, transfer));
            assert_eq!(found, expected);
        }
        assert_eq!(
            SITES.map(|[traversal, access, transfer]| Rank::default().of(-traversal, access, transfer)),
            [-400.0, 0.0, -100.0]
        );
        assert!(Rank::default().of(-0.0, 0.0, 0.0).is_sign_positive());
    }
}
