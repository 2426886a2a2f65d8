//! Points and steps of the method.

/// Where the method is. Times are scaled so that the end is about 1.
pub(super) struct Point {
    pub(super) machines: usize,
    pub(super) times: Vec<f64>,
    /// x, a row a task.
    pub(super) x: Vec<f64>,
    /// z, likewise.
    pub(super) z: Vec<f64>,
    /// u.
    pub(super) worths: Vec<f64>,
    /// s.
    pub(super) idle: Vec<f64>,
    /// λ.
    pub(super) prices: Vec<f64>,
    /// C.
    pub(super) end: f64,
    /// What is left of the differences between C and what machines are busy and idle, which the start has.
    pub(super) unequal: f64,
}

/// A change of a [`Point`].
pub(super) struct Step {
    pub(super) x: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) worths: Vec<f64>,
    pub(super) idle: Vec<f64>,
    pub(super) prices: Vec<f64>,
    pub(super) end: f64,
}

/// What the products x·z and s·λ should change by.
pub(super) struct Aim {
    pub(super) x: Vec<f64>,
    pub(super) idle: Vec<f64>,
}

/// The machine with the largest share.
pub(super) fn largest(shares: &[f64]) -> u32 {
    let shares = (0..).zip(shares);
    shares.fold((0, 0.0), |most, (machine, &share)| if share > most.1 { (machine, share) } else { most }).0
}
