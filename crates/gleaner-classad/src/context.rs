//! What an evaluation takes from outside: the two ads, the limits, the time, the randomness.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::ad::ClassAd;
use crate::limits::{Budget, Limits};

/// Where `time()` and its like look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine.
    System,
    /// Always the same number of seconds since 1970.
    Fixed(i64),
}

impl Clock {
    pub(crate) fn now_secs(self) -> i64 {
        match self {
            Self::Fixed(secs) => secs,
            Self::System => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
            }
        }
    }
}

/// The surroundings of an evaluation.
///
/// ```
/// use gleaner_classad::{ClassAd, Context, Expr, Value};
///
/// let job = ClassAd::parse("[ RequestMemory = 512 ]")?;
/// let machine = ClassAd::parse("[ Memory = 1024 ]")?;
/// let context = Context::new().with_my(&job).with_target(&machine);
/// let fits = Expr::parse("TARGET.Memory >= MY.RequestMemory")?;
/// assert_eq!(fits.evaluate(&context), Value::Boolean(true));
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) my: Option<ClassAd>,
    pub(crate) target: Option<ClassAd>,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) seed: Option<u64>,
    pub(crate) budget: Option<Budget>,
}

impl Context {
    /// No ads, the default limits, the clock of the machine, and random numbers that nobody can repeat.
    pub fn new() -> Self {
        Self {
            my: None,
            target: None,
            limits: Limits::DEFAULT,
            clock: Clock::System,
            seed: None,
            budget: None,
        }
    }

    /// The ad in which bare names and `MY.` are looked up.
    #[must_use]
    pub fn with_my(mut self, ad: &ClassAd) -> Self {
        self.my = Some(ad.clone());
        self
    }

    /// The ad in which `TARGET.` is looked up.
    #[must_use]
    pub fn with_target(mut self, ad: &ClassAd) -> Self {
        self.target = Some(ad.clone());
        self
    }

    /// What an evaluation may cost.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What this evaluation may cost together with others.
    #[must_use]
    pub fn with_budget(mut self, budget: &Budget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    /// Where `time()` looks.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Where `random()` starts: the same numbers every time (PCG XSH RR 64/32).
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

/// PCG XSH RR 64/32.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let seed = seed.unwrap_or_else(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
        });
        let mut random = Self(0);
        random.next();
        random.0 = random.0.wrapping_add(seed);
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }
}
