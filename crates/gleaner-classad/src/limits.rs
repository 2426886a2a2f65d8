//! Bounds on what one parse and one evaluation may cost.
//!
//! Invariant: whatever the input, parsing and evaluating stop within these bounds, with an error and without a
//! crash. The defaults are looser than HTCondor's own wherever it has a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What one parse and one evaluation may cost.
///
/// ```
/// use gleaner_classad::{Context, Expr, Limits, Value};
///
/// let frugal = Context::new().with_limits(Limits { steps: 10, ..Limits::default() });
/// let sum = Expr::parse("1+2+3+4+5+6+7+8+9+10+11+12")?;
/// assert_eq!(sum.evaluate(&frugal), Value::Error);
/// assert_eq!(sum.evaluate(&Context::new()), Value::Integer(78));
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of nesting in one expression: parentheses, lists, ads, arguments, unary and conditional operators.
    pub nesting: usize,
    /// Attribute references, subscripts and calls of `eval` that may be open at once.
    pub references: usize,
    /// Levels of nesting and references together in one evaluation.
    pub depth: usize,
    /// Nodes in one parsed text: operands, list elements, attributes.
    pub elements: usize,
    /// Steps of one evaluation; a step is a node visited, and long strings count by the kilobyte.
    pub steps: u64,
    /// Bytes of one string built during an evaluation.
    pub string_bytes: usize,
}

impl Limits {
    /// The defaults, as a constant.
    pub const DEFAULT: Self = Self {
        nesting: 1_000,
        references: 1_000,
        depth: 10_000,
        elements: 8_000_000,
        steps: 20_000_000,
        string_bytes: 64 << 20,
    };
}

/// Steps that several evaluations share, and whether one of them was ended for want of steps.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    left: AtomicU64,
    is_exceeded: AtomicBool,
}

impl Budget {
    /// So many steps.
    pub fn new(steps: u64) -> Self {
        Self(Arc::new(Shared { left: AtomicU64::new(steps), is_exceeded: AtomicBool::new(false) }))
    }

    /// How many are left.
    pub fn left(&self) -> u64 {
        self.0.left.load(Ordering::Relaxed)
    }

    /// Whether an evaluation was ended since the last call, or a part of it, because it took more steps than it had.
    pub fn take_exceeded(&self) -> bool {
        self.0.is_exceeded.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn spend(&self, steps: u64) {
        self.0.left.store(self.left().saturating_sub(steps), Ordering::Relaxed);
    }

    pub(crate) fn exceed(&self) {
        self.0.is_exceeded.store(true, Ordering::Relaxed);
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
