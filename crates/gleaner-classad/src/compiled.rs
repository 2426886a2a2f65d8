//! Ads made ready to meet many others.
//!
//! Names become numbers once, in [`Names`]; an ad becomes a row of slots once, as [`CompiledAd`], and its requirements
//! and its rank become trees over slots. What is left for each pair is arithmetic: for numbers, booleans and strings
//! nothing is looked up and nothing is allocated. What does not fit that form (nested ads, functions, attributes of the
//! other ad that are expressions) is left to the ordinary evaluator, with the same result.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::ad::ClassAd;
use crate::context::Context;
use crate::expr::{Base, BinaryOp, Expr, Node, UnaryOp};
use crate::matching::{RANK, REQUIREMENTS, as_rank, matches, rank};
use crate::name::Name;
use crate::ops;
use crate::value::{Text, Value};

/// Numbers for names of attributes, and one copy of each string and of what many ads ask. Ads that meet must come from
/// the same ones.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: HashMap<Name, u32>,
    texts: HashMap<Text, Arc<Text>>,
    codes: HashMap<String, Arc<Code>>,
}

impl Names {
    /// Without any names yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn number(&mut self, name: &Name) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(name.clone()).or_insert(next)
    }

    /// The one copy of a string: what many ads say stays near at hand, and equality is often that of two pointers.
    fn text(&mut self, text: Text) -> Arc<Text> {
        Arc::clone(self.texts.entry(text.clone()).or_insert_with(|| Arc::new(text)))
    }

    fn slot(&mut self, value: Option<Value>) -> Slot {
        match value {
            Some(Value::Undefined) => Slot::Undefined,
            Some(Value::Error) => Slot::Error,
            Some(Value::Boolean(b)) => Slot::Boolean(b),
            Some(Value::Integer(i)) => Slot::Integer(i),
            Some(Value::Real(r)) => Slot::Real(r),
            Some(Value::String(text)) => Slot::String(self.text(text)),
            _ => Slot::Expression,
        }
    }
}

#[derive(Clone, Debug, Default)]
enum Slot {
    /// There is no such attribute, or it is so by a literal.
    #[default]
    Undefined,
    Error,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    /// Behind a thin pointer, so that a slot has 16 bytes.
    String(Arc<Text>),
    /// What takes the ordinary evaluator.
    Expression,
}

/// A value that is copied and borrowed, never allocated.
#[derive(Clone, Copy)]
enum Quick<'a> {
    Undefined,
    Error,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    String(&'a Text),
}

impl<'a> Quick<'a> {
    #[inline]
    fn of(slot: &'a Slot) -> Result<Self, TooHard> {
        Ok(match slot {
            Slot::Undefined => Self::Undefined,
            Slot::Error => Self::Error,
            Slot::Boolean(b) => Self::Boolean(*b),
            Slot::Integer(i) => Self::Integer(*i),
            Slot::Real(r) => Self::Real(*r),
            Slot::String(text) => Self::String(text),
            Slot::Expression => return Err(TooHard),
        })
    }

    fn value(self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Error => Value::Error,
            Self::Boolean(b) => Value::Boolean(b),
            Self::Integer(i) => Value::Integer(i),
            Self::Real(r) => Value::Real(r),
            Self::String(text) => Value::String(text.clone()),
        }
    }

    /// What an operator made of two quick values, which is never a string.
    fn of_result(value: &Value) -> Self {
        match value {
            Value::Undefined => Self::Undefined,
            Value::Boolean(b) => Self::Boolean(*b),
            Value::Integer(i) => Self::Integer(*i),
            Value::Real(r) => Self::Real(*r),
            _ => Self::Error,
        }
    }

    #[inline]
    fn as_condition(self) -> Option<bool> {
        match self {
            Self::Boolean(b) => Some(b),
            Self::Integer(i) => Some(i != 0),
            Self::Real(r) => Some(r != 0.0),
            _ => None,
        }
    }

    /// The common cases at hand, the others as the operators of values have it.
    #[inline]
    fn combine(op: BinaryOp, left: Self, right: Self) -> Self {
        let order = match (left, right) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::String(a), Self::String(b)) if op == BinaryOp::Equal || op == BinaryOp::NotEqual => {
                return Self::Boolean(a.same_folded(b) == (op == BinaryOp::Equal));
            }
            (Self::Boolean(a), Self::Boolean(b)) if op == BinaryOp::And || op == BinaryOp::Or => {
                return Self::Boolean(if op == BinaryOp::And { a && b } else { a || b });
            }
            _ => return Self::of_result(&ops::binary(op, &left.value(), &right.value())),
        };
        Self::Boolean(match op {
            BinaryOp::Equal => order == Ordering::Equal,
            BinaryOp::NotEqual => order != Ordering::Equal,
            BinaryOp::Less => order == Ordering::Less,
            BinaryOp::LessOrEqual => order != Ordering::Greater,
            BinaryOp::Greater => order == Ordering::Greater,
            BinaryOp::GreaterOrEqual => order != Ordering::Less,
            _ => return Self::of_result(&ops::binary(op, &left.value(), &right.value())),
        })
    }
}

/// Whether the left operand of `&&` or `||` decides already.
#[inline]
fn decided(op: BinaryOp, left: Quick<'_>) -> bool {
    match op {
        BinaryOp::And => left.as_condition() == Some(false),
        BinaryOp::Or => left.as_condition() == Some(true),
        _ => false,
    }
}

/// An expression over slots.
#[derive(Clone, Debug)]
enum Code {
    Constant(Slot),
    Own(u32),
    Target(u32),
    Unary(UnaryOp, Box<Code>),
    Chain(Box<Code>, Box<[(BinaryOp, Code)]>),
    Conditional(Box<[Code; 3]>),
    Default(Box<[Code]>),
}

/// Tells that the ordinary evaluator is needed.
struct TooHard;

/// An ad made ready to meet many others.
///
/// ```
/// use gleaner_classad::{ClassAd, CompiledAd, Context, Names};
///
/// let (mut names, context) = (Names::new(), Context::new());
/// let machines: Vec<CompiledAd> = [512, 2048]
///     .iter()
///     .map(|memory| Ok(CompiledAd::new(&ClassAd::parse(format!("[ Memory = {memory} ]"))?, &mut names)))
///     .collect::<Result<_, gleaner_classad::ParseError>>()?;
/// let job = ClassAd::parse("[ RequestMemory = 1024; Requirements = TARGET.Memory >= RequestMemory ]")?;
/// let job = CompiledAd::new(&job, &mut names);
/// assert_eq!(machines.iter().filter(|machine| job.accepts(machine, &context)).count(), 1);
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompiledAd {
    slots: Box<[Slot]>,
    requirements: Option<Arc<Code>>,
    rank: Option<Arc<Code>>,
    ad: ClassAd,
}

impl CompiledAd {
    /// Reads the attributes of an ad into slots, and its requirements and its rank into code.
    pub fn new(ad: &ClassAd, names: &mut Names) -> Self {
        let mut slots = Vec::with_capacity(ad.len());
        for (name, expr) in ad.iter() {
            let place = names.number(name) as usize;
            if slots.len() <= place {
                slots.resize(place + 1, Slot::Undefined);
            }
            slots[place] = match names.slot(expr.as_literal()) {
                Slot::Expression => names.slot(settled(ad, expr)),
                slot => slot,
            };
        }
        let mut code = |name| {
            let code = Compiler { ad, slots: &slots, names, depth: 0, nodes: 0 }.code(ad.get(name)?).ok()?;
            Some(Arc::clone(names.codes.entry(format!("{code:?}")).or_insert_with(|| Arc::new(code))))
        };
        let (requirements, rank) = (code(REQUIREMENTS), code(RANK));
        Self { slots: slots.into_boxed_slice(), requirements, rank, ad: ad.clone() }
    }

    /// The ad.
    pub fn ad(&self) -> &ClassAd {
        &self.ad
    }

    /// Whether this ad's requirements hold of the other: the same as [`matches`](crate::matches).
    #[inline]
    pub fn accepts(&self, other: &Self, context: &Context) -> bool {
        if let Some(code) = &self.requirements {
            if let Some(truth) = plain_truth(code, &self.slots, &other.slots) {
                return truth;
            }
            if let Ok(value) = run(code, &self.slots, &other.slots) {
                return value.as_condition() == Some(true);
            }
        }
        matches(&other.ad, &self.ad, context)
    }

    /// How much this ad likes the other: the same as [`rank`](crate::rank()).
    pub fn rank(&self, other: &Self, context: &Context) -> f64 {
        match self.rank.as_deref().map(|code| run(code, &self.slots, &other.slots)) {
            Some(Ok(value)) => as_rank(&value.value()),
            None | Some(Err(TooHard)) => rank(&self.ad, &other.ad, context),
        }
    }
}

/// The value of an attribute that depends on nothing but literals of its own ad.
fn settled(ad: &ClassAd, expr: &Expr) -> Option<Value> {
    const NODES_MAX: usize = 256;
    let mut open = vec![expr.clone()];
    let mut nodes = 0;
    while let Some(expr) = open.pop() {
        nodes += 1;
        let of_own = match expr.node() {
            Node::Attribute(reference) => match (&reference.base, ad.get_name(&reference.name)) {
                (Base::Here, Some(expr)) => {
                    open.push(expr.clone());
                    true
                }
                (Base::Here, None) => !is_special(&reference.name),
                _ => false,
            },
            Node::Subscript(..) | Node::Call(_) | Node::List(_) | Node::Ad(_) => false,
            Node::Literal(_)
            | Node::Unary(..)
            | Node::Chain(..)
            | Node::Conditional(..)
            | Node::Default(_)
            | Node::Parenthesised(_) => true,
        };
        if !of_own || nodes > NODES_MAX {
            return None;
        }
        expr.node().children(|child| open.push(child.clone()));
    }
    Some(expr.evaluate(&Context::new().with_my(ad)))
}

/// Deeper expressions are left to the ordinary evaluator, which has room for them.
const DEPTH_MAX: usize = 64;
/// So is what grows too long when attributes are written into the code that mention each other.
const NODES_MAX: usize = 4_096;

struct Compiler<'a> {
    ad: &'a ClassAd,
    slots: &'a [Slot],
    names: &'a mut Names,
    depth: usize,
    nodes: usize,
}

impl Compiler<'_> {
    fn code(&mut self, expr: &Expr) -> Result<Code, TooHard> {
        self.nodes += 1;
        if self.depth >= DEPTH_MAX || self.nodes > NODES_MAX {
            return Err(TooHard);
        }
        self.depth += 1;
        let code = self.node(expr);
        self.depth -= 1;
        code
    }

    fn boxed(&mut self, expr: &Expr) -> Result<Box<Code>, TooHard> {
        self.code(expr).map(Box::new)
    }

    fn node(&mut self, expr: &Expr) -> Result<Code, TooHard> {
        Ok(match expr.node() {
            Node::Literal(_) => match self.names.slot(expr.as_literal()) {
                Slot::Expression => return Err(TooHard),
                slot => Code::Constant(slot),
            },
            Node::Parenthesised(inner) => self.code(inner)?,
            Node::Unary(op, operand) => Code::Unary(*op, self.boxed(operand)?),
            Node::Chain(first, rest) => Code::Chain(
                self.boxed(first)?,
                rest.iter().map(|(op, operand)| Ok((*op, self.code(operand)?))).collect::<Result<_, _>>()?,
            ),
            Node::Conditional(condition, middle, otherwise) => Code::Conditional(Box::new([
                self.code(condition)?,
                self.code(middle)?,
                self.code(otherwise)?,
            ])),
            Node::Default(alternatives) => {
                Code::Default(alternatives.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?)
            }
            Node::Attribute(reference) => match &reference.base {
                Base::Here => self.own(&reference.name)?,
                Base::Of(base) => self.of(base, &reference.name)?,
                Base::Root => return Err(TooHard),
            },
            Node::Subscript(..) | Node::Call(_) | Node::List(_) | Node::Ad(_) => return Err(TooHard),
        })
    }

    /// An attribute of the ad itself: its slot, or its expression, which becomes part of the code.
    fn own(&mut self, name: &Name) -> Result<Code, TooHard> {
        let number = self.names.number(name);
        match (self.slots.get(number as usize), self.ad.get_name(name)) {
            (Some(Slot::Expression), Some(expr)) => {
                let expr = expr.clone();
                self.code(&expr)
            }
            (_, None) if is_special(name) => Err(TooHard),
            _ => Ok(Code::Own(number)),
        }
    }

    fn of(&mut self, base: &Expr, name: &Name) -> Result<Code, TooHard> {
        let Node::Attribute(whose) = base.node() else { return Err(TooHard) };
        if !matches!(whose.base, Base::Here) || self.ad.get_name(&whose.name).is_some() {
            return Err(TooHard);
        }
        if whose.name.is("my") {
            self.own(name)
        } else if (whose.name.is("target") || whose.name.is("other")) && !is_special(name) {
            Ok(Code::Target(self.names.number(name)))
        } else {
            Err(TooHard)
        }
    }
}

/// Names that lead somewhere even in an ad that lacks them.
fn is_special(name: &Name) -> bool {
    [
        "my",
        "self",
        "parent",
        "root",
        "toplevel",
        "currenttime",
        "target",
        "other",
        "ad",
        "left",
        "right",
        "lctx",
        "rctx",
        "symmetricmatch",
        "leftmatchesright",
        "rightmatchesleft",
        "leftrankvalue",
        "rightrankvalue",
    ]
    .iter()
    .any(|special| name.is(special))
}

/// The slot behind code that is nothing more than one.
#[inline]
fn leaf<'a>(code: &'a Code, own: &'a [Slot], target: &'a [Slot]) -> Option<&'a Slot> {
    match code {
        Code::Constant(constant) => Some(constant),
        Code::Own(number) => Some(slot(own, *number)),
        Code::Target(number) => Some(slot(target, *number)),
        _ => None,
    }
}

/// The shortest way to an answer, for what most requirements are: comparisons of integers and strings joined by `&&`.
/// `None` says that it takes more, and nothing else.
#[inline]
fn plain_truth(code: &Code, own: &[Slot], target: &[Slot]) -> Option<bool> {
    let Code::Chain(first, rest) = code else { return None };
    if let [(op, right)] = &**rest
        && *op != BinaryOp::And
    {
        return match (leaf(first, own, target)?, leaf(right, own, target)?, op) {
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::Less) => Some(a < b),
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::LessOrEqual) => Some(a <= b),
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::Greater) => Some(a > b),
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::GreaterOrEqual) => Some(a >= b),
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::Equal) => Some(a == b),
            (Slot::Integer(a), Slot::Integer(b), BinaryOp::NotEqual) => Some(a != b),
            (Slot::Real(a), Slot::Real(b), BinaryOp::Less) => Some(a < b),
            (Slot::Real(a), Slot::Real(b), BinaryOp::LessOrEqual) => Some(a <= b),
            (Slot::Real(a), Slot::Real(b), BinaryOp::Greater) => Some(a > b),
            (Slot::Real(a), Slot::Real(b), BinaryOp::GreaterOrEqual) => Some(a >= b),
            (Slot::String(a), Slot::String(b), BinaryOp::Equal) => {
                Some(Arc::ptr_eq(a, b) || a.same_folded(b))
            }
            (Slot::String(a), Slot::String(b), BinaryOp::NotEqual) => {
                Some(!Arc::ptr_eq(a, b) && !a.same_folded(b))
            }
            _ => None,
        };
    }
    if !plain_truth(first, own, target)? {
        return if rest.iter().all(|(op, _)| *op == BinaryOp::And) { Some(false) } else { None };
    }
    for (op, clause) in rest {
        if *op != BinaryOp::And {
            return None;
        }
        if !plain_truth(clause, own, target)? {
            return Some(false);
        }
    }
    Some(true)
}

#[inline]
fn slot(slots: &[Slot], number: u32) -> &Slot {
    slots.get(number as usize).unwrap_or(&Slot::Undefined)
}

fn run<'a>(code: &'a Code, own: &'a [Slot], target: &'a [Slot]) -> Result<Quick<'a>, TooHard> {
    Ok(match code {
        Code::Constant(slot) => Quick::of(slot)?,
        Code::Own(number) => Quick::of(slot(own, *number))?,
        Code::Target(number) => Quick::of(slot(target, *number))?,
        Code::Unary(op, operand) => Quick::of_result(&ops::unary(*op, run(operand, own, target)?.value())),
        Code::Chain(first, rest) => {
            let mut value = run(first, own, target)?;
            for (op, operand) in rest {
                value = if decided(*op, value) {
                    Quick::Boolean(*op == BinaryOp::Or)
                } else {
                    Quick::combine(*op, value, run(operand, own, target)?)
                };
            }
            value
        }
        Code::Conditional(parts) => {
            let [condition, middle, otherwise] = &**parts;
            let selector = run(condition, own, target)?;
            match (selector.as_condition(), selector) {
                (Some(true), _) => run(middle, own, target)?,
                (Some(false), _) => run(otherwise, own, target)?,
                (None, Quick::Undefined) => Quick::Undefined,
                (None, _) => Quick::Error,
            }
        }
        Code::Default(alternatives) => {
            for alternative in alternatives {
                let value = run(alternative, own, target)?;
                if !matches!(value, Quick::Undefined) {
                    return Ok(value);
                }
            }
            Quick::Undefined
        }
    })
}
