use serde::{Deserialize, Serialize};

/// An amount of work, in logical operations. How long it takes depends on the machine and on who shares it.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ops(f64);

impl Ops {
    /// `None` unless the amount is finite and above zero.
    pub fn new(amount: f64) -> Option<Self> {
        (amount.is_finite() && amount > 0.0).then_some(Self(amount))
    }

    /// The number of operations.
    #[inline]
    pub fn amount(self) -> f64 {
        self.0
    }
}
