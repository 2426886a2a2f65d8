//! The virtual map of Khoo, Veeravalli, Hung and See: where each site lies for one job, the nearest to the origin the best.
//!
//! The abscissa is how far a site falls short of what the job computes with, equation (1); the ordinate how long the job's
//! data takes to come, relative to the job's run time, equation (2). Quality of service and cost are further axes where
//! a rule counts them, as the paper's end proposes. All of it is plain arithmetic on numbers of any unit, the same for all sites.
//!
//! What the text leaves open is a [`Reading`]; `floor(0, z)` is max(0, z), as the text says of it.

/// f, what a site has free, or g, what a job needs together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Amounts {
    /// C: operations a second.
    pub compute: f64,
    /// M.
    pub memory: f64,
    /// F.
    pub disk: f64,
    /// P: of the site itself, or of the site that the job's data is at.
    pub potential: f64,
}

/// K: an axis counts the less, the larger its K is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weights {
    /// Of C.
    pub compute: f64,
    /// Of M.
    pub memory: f64,
    /// Of F.
    pub disk: f64,
    /// Of P.
    pub potential: f64,
}

impl Weights {
    /// As in the paper's experiments: the importance of all is the same.
    pub const EVEN: Self = Self { compute: 1.0, memory: 1.0, disk: 1.0, potential: 1.0 };
}

/// Axes of the map beside (1) and (2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Axes {
    /// The quality of service that sites offer and jobs ask for.
    pub quality: bool,
    /// What sites ask for and users would pay.
    pub cost: bool,
}

impl Axes {
    /// As in the paper's experiments.
    pub const NONE: Self = Self { quality: false, cost: false };
}

/// How far the root in (1) reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Root {
    /// Over all four terms: a weighted norm.
    #[default]
    Whole,
    /// Over C, M and F; the term of P is added to it, as the formula is printed.
    AsPrinted,
}

/// What (2) is where the data lies, for which B is 0 by definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AtSource {
    /// 0: nothing is moved.
    #[default]
    Nothing,
    /// Infinite, as the division by 0 would be.
    Infinite,
}

/// Which way data goes in the bandwidths that make a site's potential.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// To the site, as where B is annotated: `B_ij = min(download_ij, upload_ji)`.
    #[default]
    Obtaining,
    /// From the site, as where P is introduced: "the upload bandwidth from `R_i` to `R_j`".
    Sending,
}

/// Which bandwidth (2) divides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bandwidth {
    /// That of the link while nothing else uses it.
    #[default]
    Idle,
    /// What the transfers that the scheduler knows of leave: the same part for each of them and for one more.
    Left,
}

/// One way to read the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// How far the root reaches.
    pub root: Root,
    /// What local data costs.
    pub at_source: AtSource,
    /// What potential is made of.
    pub direction: Direction,
    /// How fast data is believed to come.
    pub bandwidth: Bandwidth,
}

/// max(0, 1 − has/needs): nothing where nothing is needed.
#[inline]
pub fn shortfall(has: f64, needs: f64) -> f64 {
    if needs <= 0.0 { 0.0 } else { (1.0 - has / needs).max(0.0) }
}

/// x, equation (1): how far a site falls short of a job.
#[inline]
pub fn computation_index(has: &Amounts, needs: &Amounts, weights: &Weights, root: Root) -> f64 {
    let term = |has, needs, weight| {
        let short = shortfall(has, needs);
        short * short / weight
    };
    let own = term(has.compute, needs.compute, weights.compute)
        + term(has.memory, needs.memory, weights.memory)
        + term(has.disk, needs.disk, weights.disk);
    let potential = term(has.potential, needs.potential, weights.potential);
    match root {
        Root::Whole => (own + potential).sqrt(),
        Root::AsPrinted => own.sqrt() + potential,
    }
}

/// y, equation (2): the seconds that the data takes to come, F/B, relative to the run time. They are 0 where the data is
/// local, and nothing is divided by its bandwidth, which is 0 by definition.
#[inline]
pub fn data_index(bring_s: f64, run_s: f64, at_source: AtSource) -> f64 {
    match at_source {
        AtSource::Infinite if bring_s == 0.0 => f64::INFINITY,
        AtSource::Nothing | AtSource::Infinite => bring_s / run_s,
    }
}

/// A further axis: how far the quality of service that a site offers is below the one that is asked for.
#[inline]
pub fn quality_index(offers: f64, asks: f64) -> f64 {
    shortfall(offers, asks)
}

/// A further axis: what a site asks for an operation, relative to what the job's user would pay for one; 0 where that is free.
#[inline]
pub fn cost_index(price: f64, would_pay: f64) -> f64 {
    if price <= 0.0 { 0.0 } else { price / would_pay }
}

/// The distance from the origin: the scheduling score, lower is better.
#[inline]
pub fn distance(coordinates: &[f64]) -> f64 {
    coordinates.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// P of one site: the sum of the bandwidths between it and all others.
pub fn potential(site: usize, sites: usize, bandwidth: impl Fn(usize, usize) -> f64) -> f64 {
    (0..sites).filter(|other| *other != site).map(|other| bandwidth(other, site)).sum()
}

/// What is sorted by distance and then by itself, the nearest first: what is within 1e-12 of the one before, relative to it,
/// is as near, and the lowest of those goes first.
pub fn nearest_first<T: Copy + Ord>(sorted: &[(f64, T)]) -> impl Iterator<Item = T> + '_ {
    let is_tied = |one: &(f64, T), next: &(f64, T)| next.0 <= one.0 * (1.0 + 1e-12) || next.0 == one.0;
    sorted.chunk_by(is_tied).flat_map(|tied| {
        let mut tied: Vec<T> = tied.iter().map(|(_, site)| *site).collect();
        tied.sort_unstable();
        tied
    })
}

#[cfg(test)]
mod tests;
