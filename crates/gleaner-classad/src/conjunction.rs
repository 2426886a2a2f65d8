//! Conjunctions that are made of clauses.

use crate::expr::{BinaryOp, Expr, Node};

impl Expr {
    /// The conjunction of some clauses, in this order; none where there are none. Clauses of one expression (see
    /// [`Expr::clauses`]) are nested in it no deeper than they were there, so that its text can be read again.
    ///
    /// ```
    /// use gleaner_classad::Expr;
    ///
    /// let requirements = Expr::parse("TARGET.Cpus >= 4 && ((MY.Ready || MY.Late) && MY.Near)")?;
    /// let without_the_last = requirements.clauses().into_iter().take(2);
    /// let both = Expr::all_of(without_the_last).expect("two clauses");
    /// assert_eq!(both.to_string(), "TARGET.Cpus >= 4 && (MY.Ready || MY.Late)");
    /// assert!(Expr::all_of([]).is_none());
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn all_of(clauses: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut clauses = clauses.into_iter();
        let first = clauses.next()?;
        let rest: Box<[_]> = clauses.map(|clause| (BinaryOp::And, clause.in_conjunction())).collect();
        Some(if rest.is_empty() { first } else { Self::new(Node::Chain(first.in_conjunction(), rest)) })
    }

    /// In parentheses, if it would come apart beside `&&`.
    fn in_conjunction(self) -> Self {
        let comes_apart = match self.node() {
            Node::Conditional(..) | Node::Default(_) => true,
            Node::Chain(_, rest) => rest.iter().any(|(op, _)| op.precedence() <= BinaryOp::And.precedence()),
            Node::Literal(_)
            | Node::Attribute(_)
            | Node::Unary(..)
            | Node::Subscript(..)
            | Node::Call(_)
            | Node::Parenthesised(_)
            | Node::List(_)
            | Node::Ad(_) => false,
        };
        if comes_apart { Self::new(Node::Parenthesised(self)) } else { self }
    }
}
