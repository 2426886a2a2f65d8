//! What is run for which figure, and what it finds.

use super::permutations::{self, Owners, Plan, Variations};
use super::scheme::Parameters;
use super::{claims, figure_1, figure_2, late};
use crate::{Claim, Document, Stopped, Watch};

/// The paper's figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FigureId {
    /// N and θ.
    One,
    /// Where tasks are when an owner comes back.
    Two,
    /// The 24 permutations.
    Three,
    /// The same with four owners.
    Four,
}

impl FigureId {
    /// All of them.
    pub const ALL: [FigureId; 4] = [FigureId::One, FigureId::Two, FigureId::Three, FigureId::Four];

    /// The figure with the paper's number.
    pub fn numbered(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.number() == number)
    }

    /// As the paper counts.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }
}

/// Some of the figures, with some seeds.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiments {
    figures: Vec<FigureId>,
    seeds: u64,
}

impl Experiments {
    /// One figure or all, with the seeds 1 to `seeds`.
    ///
    /// # Panics
    /// With fewer than two seeds: there are no confidence intervals then.
    pub fn new(figure: Option<FigureId>, seeds: u64) -> Self {
        assert!(seeds >= 2, "a confidence interval needs two runs");
        Self { figures: figure.map_or(FigureId::ALL.to_vec(), |figure| vec![figure]), seeds }
    }

    /// How many simulations [`run`](Self::run) takes, and so how often it calls its watch.
    pub fn simulations(&self) -> u64 {
        let plan = Plan::with_seeds(self.seeds);
        let of = |figure: &FigureId| match figure {
            FigureId::One => self.seeds * figure_1::simulations(),
            FigureId::Two => 2 * self.seeds * figure_2::simulations(),
            // Counted below.
            FigureId::Three => 0,
            FigureId::Four => plan.simulations(),
        };
        let away = if self.needs_figure_3() {
            plan.simulations() + self.seeds * (Variations::simulations() + late::simulations())
        } else {
            0
        };
        away + self.figures.iter().map(of).sum::<u64>()
    }

    fn has(&self, figure: FigureId) -> bool {
        self.figures.contains(&figure)
    }

    /// Figure 4 is compared with figure 3; the variations are of both.
    fn needs_figure_3(&self) -> bool {
        self.has(FigureId::Three) || self.has(FigureId::Four)
    }

    /// Simulates, on all cores.
    pub fn run(&self, watch: Watch<'_>) -> Result<Findings, Stopped> {
        let plan = Plan::with_seeds(self.seeds);
        let seeds = self.seeds;
        let figure_1 = self.has(FigureId::One).then(|| figure_1::conduct(seeds, watch)).transpose()?;
        let figure_2 = |times: f64| {
            let conduct = || figure_2::conduct(seeds, Parameters::default(), times, watch);
            self.has(FigureId::Two).then(conduct).transpose()
        };
        let (figure_2, figure_2_fitted) = (figure_2(1.0)?, figure_2(figure_2::FITTING)?);
        let figure_3 = self.needs_figure_3().then(|| plan.conduct(Owners::Away, watch)).transpose()?;
        let variations = self.needs_figure_3().then(|| Variations::conduct(seeds, watch)).transpose()?;
        let late = self.needs_figure_3().then(|| late::conduct(seeds, watch)).transpose()?;
        let figure_4 =
            self.has(FigureId::Four).then(|| plan.conduct(Owners::OfFigure4, watch)).transpose()?;
        Ok(Findings {
            figures: self.figures.clone(),
            seeds,
            figure_1,
            figure_2,
            figure_2_fitted,
            figure_3,
            late,
            variations,
            figure_4,
        })
    }
}

/// The samples of what was asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// What was asked for.
    pub figures: Vec<FigureId>,
    /// The seeds 1 to this.
    pub seeds: u64,
    /// N and θ.
    pub figure_1: Option<figure_1::Samples>,
    /// Where tasks are.
    pub figure_2: Option<figure_2::Samples>,
    /// The same with lengths that fit the figure's axes.
    pub figure_2_fitted: Option<figure_2::Samples>,
    /// The permutations; there for figure 4 too.
    pub figure_3: Option<permutations::Samples>,
    /// Where the last tasks of the first permutations go; there for figure 4 too.
    pub late: Option<late::Samples>,
    /// What else was tried on figures 3 and 4.
    pub variations: Option<Variations>,
    /// The permutations with owners.
    pub figure_4: Option<permutations::Samples>,
}

impl Findings {
    /// The claims of the figures asked for, judged.
    pub fn claims(&self) -> Vec<Claim> {
        self.figures.iter().flat_map(|figure| self.claims_of(*figure)).collect()
    }

    /// The claims of one figure; none if it was not asked for.
    pub fn claims_of(&self, figure: FigureId) -> Vec<Claim> {
        let claims = match figure {
            FigureId::One => self.figure_1.as_ref().map(claims::figure_1::claims),
            FigureId::Two => {
                let both = self.figure_2.as_ref().zip(self.figure_2_fitted.as_ref());
                both.map(|(printed, fitted)| claims::figure_2::claims(printed, fitted))
            }
            FigureId::Three => {
                self.figure_3.as_ref().filter(|_| self.figures.contains(&figure)).map(|samples| {
                    let mut all = claims::figure_3::claims(samples, self.variations.as_ref());
                    all.extend(self.late.as_ref().map(claims::late::claim));
                    all
                })
            }
            FigureId::Four => {
                let both = self.figure_3.as_ref().zip(self.figure_4.as_ref());
                both.map(|(away, samples)| claims::figure_4::claims(away, samples, self.variations.as_ref()))
            }
        };
        claims.unwrap_or_default()
    }

    /// The claims as the contract has them.
    pub fn document(&self) -> Document {
        Document { version: 1, paper: "bertasi", seeds: self.seeds, claims: self.claims() }
    }
}
