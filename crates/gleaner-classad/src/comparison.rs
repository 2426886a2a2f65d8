//! Comparisons taken apart, for whoever wants to say what would make one hold.

use crate::expr::{BinaryOp, Expr, Node};

/// How two sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
}

impl Comparator {
    /// The comparator that holds of equal sides as well.
    #[must_use]
    pub fn or_equal(self) -> Self {
        match self {
            Self::Less | Self::LessOrEqual => Self::LessOrEqual,
            Self::Greater | Self::GreaterOrEqual => Self::GreaterOrEqual,
            Self::Equal => Self::Equal,
        }
    }

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
        }
    }
}

/// `left comparator right`.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The left side.
    pub left: Expr,
    /// What stands between.
    pub comparator: Comparator,
    /// The right side.
    pub right: Expr,
}

impl Expr {
    /// The two sides, if the expression is one comparison by order or equality.
    ///
    /// ```
    /// use gleaner_classad::{Comparator, Expr};
    ///
    /// let comparison = Expr::parse("(TARGET.Memory >= 64)")?.as_comparison().expect("a comparison");
    /// assert_eq!(comparison.comparator, Comparator::GreaterOrEqual);
    /// assert_eq!(comparison.right.to_string(), "64");
    /// assert!(Expr::parse("a < b < c")?.as_comparison().is_none());
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn as_comparison(&self) -> Option<Comparison> {
        let (left, operator, right) = match self.node() {
            Node::Parenthesised(inner) => return inner.as_comparison(),
            Node::Chain(left, rest) => match &rest[..] {
                [(operator, right)] => (left, *operator, right),
                _ => return None,
            },
            _ => return None,
        };
        let comparator = match operator {
            BinaryOp::Less => Comparator::Less,
            BinaryOp::LessOrEqual => Comparator::LessOrEqual,
            BinaryOp::Greater => Comparator::Greater,
            BinaryOp::GreaterOrEqual => Comparator::GreaterOrEqual,
            BinaryOp::Equal => Comparator::Equal,
            _ => return None,
        };
        Some(Comparison { left: left.clone(), comparator, right: right.clone() })
    }
}
