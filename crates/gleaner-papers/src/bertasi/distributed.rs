//! The paper's future work: "to implement our scheduler in a distributed fashion". Figure 3's machines in groups, each with a
//! scheduler of its own that knows its neighbours by what they publish, against the one scheduler that the paper has.

use super::compared::{Compared, Measure, measured};
use super::jobs::PERMUTATIONS;
use super::scheme::{Parameters, Scheme, name};
use super::setups;
use crate::{Stopped, Watch};
use gleaner_policy::{Recipe, Score};
use gleaner_sim::neighbours::{Change, GroupsSetup, Topology, neighbours};
use gleaner_sim::{Setup, Simulation, Way};
use gleaner_units::{PartyId, Span};
use std::fmt;

/// Letters take a tenth of a second.
const DELAY: Span = Span::from_nanos(100_000_000);

/// A group that tells changes does so once a second at most.
const GAP: Span = Span::from_nanos(1_000_000_000);

/// What was tried of groups.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Case {
    score: Score,
    /// Machines of a group; none where there is one scheduler.
    size: Option<usize>,
    /// How many a group knows on its ring; none for all.
    known: Option<u32>,
    every_s: u64,
    change: Option<u32>,
    hops: u32,
    loss: f64,
}

impl Case {
    const fn one(score: Score) -> Self {
        Self { score, size: None, known: None, every_s: 60, change: None, hops: 1, loss: 0.0 }
    }

    fn recipe(self) -> Recipe {
        Scheme::relocating(self.score).recipe(Parameters::default())
    }

    fn setup(self, grid: Setup, size: usize, seed: u64) -> GroupsSetup {
        let machines = grid.machines.len();
        let count = machines.div_ceil(size);
        GroupsSetup {
            grid,
            groups: (0..machines).map(|machine| PartyId::new(machine % count)).collect(),
            topology: self.known.map_or(Topology::All, Topology::Ring),
            every: Span::from_nanos(self.every_s * 1_000_000_000),
            change: self.change.map(|tasks| Change { tasks, gap: GAP }),
            hops_max: self.hops,
            way: Way { delay: DELAY, loss: self.loss },
            repeat: (self.loss > 0.0).then_some(Span::from_nanos(1_000_000_000)),
            seed,
        }
    }
}

/// `GREEDY, groups of 5, 2 neighbours, every 60 s`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(self.score))?;
        let Some(size) = self.size else { return f.write_str(", one scheduler") };
        write!(f, ", groups of {size}, ")?;
        match self.known {
            Some(known) => write!(f, "{known} neighbours")?,
            None => f.write_str("all neighbours")?,
        }
        write!(f, ", every {} s", self.every_s)?;
        if let Some(change) = self.change {
            write!(f, " and at {change} tasks")?;
        }
        if self.hops != 1 {
            write!(f, ", {} hops", self.hops)?;
        }
        if self.loss > 0.0 {
            write!(f, ", {:.0} % lost", 100.0 * self.loss)?;
        }
        Ok(())
    }
}

/// GREEDY over all sizes, neighbours and periods; the other scores, more hops, news at changes and lost letters for some.
fn cases() -> Vec<Case> {
    let greedy = Case::one(Score::Greedy);
    let mut cases = vec![greedy];
    for size in [70, 20, 5, 1] {
        for known in [Some(2), Some(5), None] {
            for every_s in [10, 60, 600] {
                // The only group has nobody to know, and four groups have three others each.
                let is_double = match size {
                    70 => known.is_some() || every_s > 10,
                    20 => known == Some(5),
                    _ => false,
                };
                if !is_double {
                    cases.push(Case { size: Some(size), known, every_s, ..greedy });
                }
            }
        }
    }
    let five = Case { size: Some(5), known: Some(2), ..greedy };
    cases.extend([3, 10].map(|hops| Case { hops, ..five }));
    cases.extend([1, 5].map(|change| Case { change: Some(change), ..five }));
    cases.extend([1, 5].map(|change| Case { change: Some(change), known: None, ..five }));
    cases.push(Case { change: Some(1), hops: 10, ..five });
    cases.push(Case { loss: 0.1, ..five });
    for score in [Score::Social, Score::MinNum] {
        cases.push(Case::one(score));
        for (known, every_s) in [(Some(2), 60), (None, 10), (None, 60)] {
            cases.push(Case { score, known, every_s, ..five });
        }
    }
    cases
}

const COLUMNS: [&str; 5] =
    ["moves", "letters a task", "handed over (%)", "age of what was known (s)", "known at home (s later)"];

/// How many simulations it takes.
pub fn simulations(seeds: u64) -> u64 {
    seeds * cases().len() as u64
}

/// Simulates, on all cores.
pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Compared, Stopped> {
    let cases = cases();
    let measures = measured(&cases, seeds, watch, |case, seed| {
        let permutation = (seed - 1) as usize % PERMUTATIONS.len();
        measure(*case, &setups::figure_3(permutation, seed), seed)
    })?;
    let alone = |case: &Case| cases.iter().position(|other| *other == Case::one(case.score));
    let rules = cases.iter().zip(measures).map(|(case, runs)| {
        (case.to_string(), alone(case).expect("each score was run by one scheduler"), runs)
    });
    let about = format!(
        "Figure 3's 70 machines and 2,000 jobs, the orders of arrival in turn. Each job is handed in at a machine that is drawn; \
         machines are dealt to groups in turn; neighbours are those next to a group in a ring; a letter takes {} s; a group that tells changes is silent for {} s after each.",
        DELAY.seconds(),
        GAP.seconds()
    );
    Ok(Compared::of("distributed", about, COLUMNS.to_vec(), &rules.collect::<Vec<_>>()))
}

fn measure(case: Case, grid: &Setup, seed: u64) -> Measure {
    let Some(size) = case.size else {
        let mut simulation = Simulation::new(grid, case.recipe().build());
        simulation.run();
        let history = simulation.history();
        let more = vec![history.moves() as f64, 0.0, 0.0, 0.0, 0.0];
        return Measure { makespan_s: history.makespan().seconds(), more };
    };
    let setup = case.setup(grid.clone(), size, seed);
    let mut parties = neighbours(&setup, |_| case.recipe().build());
    parties.run();
    let (history, outcome) = (parties.outside().history(), parties.outside().outcome());
    assert_eq!(history.unfinished(), 0, "every task of an experiment ends");
    let makespan_s = history.makespan().seconds();
    let more = vec![
        history.moves() as f64,
        parties.mail().sent() as f64 / history.tasks().len() as f64,
        100.0 * outcome.guests as f64 / outcome.runs as f64,
        outcome.mean_age_s().unwrap_or(0.0),
        outcome.known_at.seconds() - makespan_s,
    ];
    Measure { makespan_s, more }
}
