//! Expressions as trees.
//!
//! Invariant: a run of operators of one precedence is one node, however long, so that the depth of a tree is the
//! depth of its nesting; the parser bounds that, and dropping, comparing and writing a tree stay within the stack.

mod mentions;

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::ad::ClassAd;
use crate::functions::{self, Function};
use crate::name::Name;
use crate::stack::deeper;
use crate::unparse::{Style, Writer};
use crate::value::{AbsTime, List, Text, Value};

/// An expression of the ClassAd language, parsed once and shared.
///
/// ```
/// use gleaner_classad::{Context, Expr, Value};
///
/// let expr = Expr::parse("6 * (3 + 4)")?;
/// assert_eq!(expr.evaluate(&Context::new()), Value::Integer(42));
/// assert_eq!(expr.to_string(), "6 * (3 + 4)");
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Expr(Arc<Tree>);

#[derive(Debug)]
struct Tree {
    node: Node,
    /// Nodes on the longest way down.
    height: usize,
}

#[derive(Debug)]
pub(crate) enum Node {
    Literal(Literal),
    Attribute(Reference),
    Unary(UnaryOp, Expr),
    /// `first op rest[0] op rest[1] …`, all of one precedence, evaluated from the left.
    Chain(Expr, Box<[(BinaryOp, Expr)]>),
    Conditional(Expr, Expr, Expr),
    /// `a ?: b ?: …`, the first that is not undefined.
    Default(Box<[Expr]>),
    Subscript(Expr, Expr),
    Call(Call),
    Parenthesised(Expr),
    List(Arc<[Expr]>),
    Ad(ClassAd),
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Undefined,
    Error,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    String(Text),
    AbsTime(AbsTime),
    /// Written `relTime("…")` in the text. HTCondor 25 evaluates it to a real, and so do we.
    RelTimeText(f64),
    /// A relative time put there by an evaluation.
    RelTime(f64),
}

#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) base: Base,
    pub(crate) name: Name,
}

#[derive(Debug)]
pub(crate) enum Base {
    /// `name`
    Here,
    /// `.name`
    Root,
    /// `expr.name`
    Of(Expr),
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Name,
    pub(crate) function: Option<&'static Function>,
    pub(crate) args: Box<[Expr]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Is,
    Isnt,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulus,
}

impl BinaryOp {
    /// Higher binds tighter.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::BitOr => 3,
            Self::BitXor => 4,
            Self::BitAnd => 5,
            Self::Equal | Self::NotEqual | Self::Is | Self::Isnt => 6,
            Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual => 7,
            Self::ShiftLeft | Self::ShiftRight | Self::ShiftRightUnsigned => 8,
            Self::Add | Self::Subtract => 9,
            Self::Multiply | Self::Divide | Self::Modulus => 10,
        }
    }
}

impl Expr {
    pub(crate) fn new(node: Node) -> Self {
        let mut below = 0;
        node.children(|child| below = below.max(child.height()));
        Self(Arc::new(Tree { node, height: below + 1 }))
    }

    #[inline]
    pub(crate) fn node(&self) -> &Node {
        &self.0.node
    }

    pub(crate) fn height(&self) -> usize {
        self.0.height
    }

    /// Something to leave in the place of a part that is taken out.
    fn leaf() -> Self {
        static LEAF: LazyLock<Expr> = LazyLock::new(|| Expr::new(Node::Literal(Literal::Undefined)));
        LEAF.clone()
    }

    /// What tells this very expression from every other one alive.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// The expression that evaluates to this value.
    pub fn from_value(value: Value) -> Self {
        Self::new(match value {
            Value::Undefined => Node::Literal(Literal::Undefined),
            Value::Error => Node::Literal(Literal::Error),
            Value::Boolean(b) => Node::Literal(Literal::Boolean(b)),
            Value::Integer(i) => Node::Literal(Literal::Integer(i)),
            Value::Real(r) => Node::Literal(Literal::Real(r)),
            Value::String(text) => Node::Literal(Literal::String(text)),
            Value::AbsTime(time) => Node::Literal(Literal::AbsTime(time)),
            Value::RelTime(secs) => Node::Literal(Literal::RelTime(secs)),
            Value::List(list) => Node::List(list.items),
            Value::Ad(scope) => Node::Ad(scope.ad().clone()),
        })
    }

    /// The value, if the expression is a literal that needs no evaluation.
    pub fn as_literal(&self) -> Option<Value> {
        match self.node() {
            Node::Literal(literal) => Some(literal.value()),
            _ => None,
        }
    }

    /// The clauses of a conjunction: `a && (b && c) && d` gives `a`, `b`, `c` and `d`, in this order. An
    /// expression that is no conjunction is its own only clause.
    ///
    /// ```
    /// use gleaner_classad::Expr;
    ///
    /// let requirements = Expr::parse("TARGET.Cpus >= 4 && (TARGET.Memory > 2048 && MY.Ready)")?;
    /// let clauses: Vec<String> = requirements.clauses().iter().map(ToString::to_string).collect();
    /// assert_eq!(clauses, ["TARGET.Cpus >= 4", "TARGET.Memory > 2048", "MY.Ready"]);
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn clauses(&self) -> Vec<Self> {
        let mut clauses = Vec::new();
        let mut open = vec![self.clone()];
        while let Some(expr) = open.pop() {
            match expr.node() {
                Node::Parenthesised(inner) => open.push(inner.clone()),
                Node::Chain(first, rest) if rest.iter().all(|(op, _)| *op == BinaryOp::And) => {
                    open.extend(rest.iter().rev().map(|(_, operand)| operand.clone()));
                    open.push(first.clone());
                }
                _ => clauses.push(expr),
            }
        }
        clauses
    }
}

impl Node {
    pub(crate) fn children(&self, mut visit: impl FnMut(&Expr)) {
        match self {
            Self::Literal(_) => {}
            Self::Attribute(reference) => {
                if let Base::Of(base) = &reference.base {
                    visit(base);
                }
            }
            Self::Unary(_, operand) | Self::Parenthesised(operand) => visit(operand),
            Self::Chain(first, rest) => {
                visit(first);
                rest.iter().for_each(|(_, operand)| visit(operand));
            }
            Self::Conditional(condition, middle, otherwise) => {
                visit(condition);
                visit(middle);
                visit(otherwise);
            }
            Self::Default(alternatives) => alternatives.iter().for_each(visit),
            Self::Subscript(base, index) => {
                visit(base);
                visit(index);
            }
            Self::Call(call) => call.args.iter().for_each(visit),
            Self::List(items) => items.iter().for_each(visit),
            Self::Ad(ad) => ad.iter().for_each(|(_, expr)| visit(expr)),
        }
    }

    /// The parts that have parts of their own, taken out of a node that nobody else holds.
    fn take_tall_children(&mut self, taken: &mut Vec<Expr>) {
        let mut take = |child: &mut Expr| {
            if child.height() > 1 {
                taken.push(std::mem::replace(child, Expr::leaf()));
            }
        };
        match self {
            Self::Literal(_) => {}
            Self::Attribute(reference) => {
                if let Base::Of(base) = &mut reference.base {
                    take(base);
                }
            }
            Self::Unary(_, operand) | Self::Parenthesised(operand) => take(operand),
            Self::Chain(first, rest) => {
                take(first);
                rest.iter_mut().for_each(|(_, operand)| take(operand));
            }
            Self::Conditional(condition, middle, otherwise) => {
                take(condition);
                take(middle);
                take(otherwise);
            }
            Self::Default(alternatives) => alternatives.iter_mut().for_each(take),
            Self::Subscript(base, index) => {
                take(base);
                take(index);
            }
            Self::Call(call) => call.args.iter_mut().for_each(take),
            Self::List(items) => {
                if let Some(items) = Arc::get_mut(items) {
                    items.iter_mut().for_each(take);
                }
            }
            Self::Ad(ad) => ad.take_tall_children(take),
        }
    }
}

/// Drops tall trees from the top, one node at a time: the stack does not grow with the depth.
impl Drop for Expr {
    fn drop(&mut self) {
        if self.height() <= 2 {
            return;
        }
        let mut taken = Vec::new();
        if let Some(tree) = Arc::get_mut(&mut self.0) {
            tree.node.take_tall_children(&mut taken);
        }
        while let Some(mut expr) = taken.pop() {
            if let Some(tree) = Arc::get_mut(&mut expr.0) {
                tree.node.take_tall_children(&mut taken);
                tree.height = 1;
            }
        }
    }
}

impl Literal {
    #[inline]
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Error => Value::Error,
            Self::Boolean(b) => Value::Boolean(*b),
            Self::Integer(i) => Value::Integer(*i),
            Self::Real(r) | Self::RelTimeText(r) => Value::Real(*r),
            Self::String(text) => Value::String(text.clone()),
            Self::AbsTime(time) => Value::AbsTime(*time),
            Self::RelTime(secs) => Value::RelTime(*secs),
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        matches!(self, Self::RelTimeText(_)) == matches!(other, Self::RelTimeText(_))
            && self.value() == other.value()
    }
}

impl Call {
    pub(crate) fn new(name: Name, args: Vec<Expr>) -> Self {
        Self { function: functions::find(&name), name, args: args.into() }
    }
}

/// Same structure, names compared without regard to case.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        deeper(|| match (self.node(), other.node()) {
            (Node::Literal(a), Node::Literal(b)) => a == b,
            (Node::Attribute(a), Node::Attribute(b)) => {
                a.name == b.name
                    && match (&a.base, &b.base) {
                        (Base::Here, Base::Here) | (Base::Root, Base::Root) => true,
                        (Base::Of(a), Base::Of(b)) => a == b,
                        _ => false,
                    }
            }
            (Node::Unary(p, a), Node::Unary(q, b)) => p == q && a == b,
            (Node::Chain(a, p), Node::Chain(b, q)) => a == b && p == q,
            (Node::Conditional(a, b, c), Node::Conditional(x, y, z)) => a == x && b == y && c == z,
            (Node::Default(a), Node::Default(b)) => a == b,
            (Node::Subscript(a, b), Node::Subscript(x, y)) => a == x && b == y,
            (Node::Call(a), Node::Call(b)) => a.name == b.name && a.args == b.args,
            (Node::Parenthesised(a), Node::Parenthesised(b)) => a == b,
            (Node::List(a), Node::List(b)) => a == b,
            (Node::Ad(a), Node::Ad(b)) => a == b,
            _ => false,
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new(Style::Exact);
        writer.expr(self);
        f.write_str(&writer.into_string())
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Self::from_value(value)
    }
}

impl From<List> for Expr {
    fn from(list: List) -> Self {
        Self::new(Node::List(list.items))
    }
}
