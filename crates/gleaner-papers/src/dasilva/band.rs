//! How far the powers of a site's workers deviate from their mean.

/// How different the workers of a site are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Band {
    /// A deviation below 36 % of the mean.
    Low,
    /// From 36 to 44 %.
    Medium,
    /// Above 44 %.
    High,
    /// Each site another, and unrelated machines.
    Mixed,
}

impl Band {
    /// As the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Band::Low => "low",
            Band::Medium => "medium",
            Band::High => "high",
            Band::Mixed => "unrelated",
        }
    }

    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Band::Low => (0.0, 0.36),
            Band::Medium => (0.36, 0.44),
            Band::High => (0.44, f64::INFINITY),
            Band::Mixed => (0.0, f64::INFINITY),
        }
    }
}
