//! Requirements made ready to be asked of many ads.
//!
//! Names become numbers once, in [`Names`]; an ad becomes a row of slots once, as [`Candidate`]; an expression becomes
//! a tree over slots once. What is left for each pair is arithmetic: for numbers, booleans and strings nothing is
//! looked up and nothing is allocated. What does not fit that form (nested ads, functions, attributes that are
//! expressions themselves) is left to the ordinary evaluator, with the same result.

use std::collections::HashMap;

use crate::ad::ClassAd;
use crate::context::Context;
use crate::expr::{Base, BinaryOp, Expr, Node, UnaryOp};
use crate::matching::{REQUIREMENTS, holds};
use crate::name::Name;
use crate::ops;
use crate::value::Value;

/// Numbers for names of attributes. Ads and requirements that meet must come from the same one.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: HashMap<Name, u32>,
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
}

#[derive(Clone, Debug)]
enum Slot {
    Absent,
    Literal(Value),
    /// An expression, which takes the ordinary evaluator.
    Expression,
}

/// An ad with its attributes in slots.
#[derive(Clone, Debug)]
pub struct Candidate {
    ad: ClassAd,
    slots: Vec<Slot>,
}

impl Candidate {
    /// Reads the attributes of an ad into slots.
    pub fn new(ad: &ClassAd, names: &mut Names) -> Self {
        let mut slots = Vec::with_capacity(ad.len());
        for (name, expr) in ad.iter() {
            let place = names.number(name) as usize;
            if slots.len() <= place {
                slots.resize(place + 1, Slot::Absent);
            }
            slots[place] = expr.as_literal().map_or(Slot::Expression, Slot::Literal);
        }
        Self { ad: ad.clone(), slots }
    }

    /// The ad.
    pub fn ad(&self) -> &ClassAd {
        &self.ad
    }

    #[inline]
    fn slot(&self, number: u32) -> &Slot {
        self.slots.get(number as usize).unwrap_or(&Slot::Absent)
    }
}

/// An expression over slots.
#[derive(Clone, Debug)]
enum Code {
    Constant(Value),
    Target(u32),
    Unary(UnaryOp, Box<Code>),
    Chain(Box<Code>, Box<[(BinaryOp, Code)]>),
    Conditional(Box<[Code; 3]>),
    Default(Box<[Code]>),
}

/// Tells that the ordinary evaluator is needed.
struct TooHard;

/// The requirements of one ad, made ready for many others.
///
/// ```
/// use gleaner_classad::{Candidate, ClassAd, Context, Names, Requirements};
///
/// let mut names = Names::new();
/// let machines: Vec<Candidate> = [512, 2048]
///     .iter()
///     .map(|memory| Ok(Candidate::new(&ClassAd::parse(format!("[ Memory = {memory} ]"))?, &mut names)))
///     .collect::<Result<_, gleaner_classad::ParseError>>()?;
/// let job = ClassAd::parse("[ RequestMemory = 1024; Requirements = TARGET.Memory >= RequestMemory ]")?;
/// let requirements = Requirements::new(&job, &mut names, &Context::new());
/// assert_eq!(machines.iter().filter(|machine| requirements.hold(machine)).count(), 1);
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Requirements {
    expr: Option<Expr>,
    code: Option<Code>,
    context: Context,
    clauses: Vec<Clause>,
}

/// One of the clauses that requirements join with `&&`.
#[derive(Clone, Debug)]
pub struct Clause {
    expr: Expr,
    code: Option<Code>,
}

impl Clause {
    /// The clause as it is written.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }
}

impl Requirements {
    /// The requirements of an ad; an ad that has none takes nobody.
    pub fn new(ad: &ClassAd, names: &mut Names, context: &Context) -> Self {
        let context = context.clone().with_my(ad);
        let expr = ad.get(REQUIREMENTS).cloned();
        let mut compile = |expr: &Expr| Compiler { ad, names, depth: 0 }.code(expr).ok();
        let code = expr.as_ref().and_then(&mut compile);
        let clauses = expr.iter().flat_map(Expr::clauses).map(|expr| Clause { code: compile(&expr), expr }).collect();
        Self { expr, code, context, clauses }
    }

    /// The clauses, in the order in which they are written.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Whether they hold of an ad: the same as [`matches`](crate::matches).
    pub fn hold(&self, candidate: &Candidate) -> bool {
        match &self.expr {
            Some(expr) => holds(&self.value(expr, self.code.as_ref(), candidate)),
            None => false,
        }
    }

    /// The value of one clause for an ad, for those who want to know which one ruled it out.
    pub fn clause_value(&self, clause: &Clause, candidate: &Candidate) -> Value {
        self.value(&clause.expr, clause.code.as_ref(), candidate)
    }

    fn value(&self, expr: &Expr, code: Option<&Code>, candidate: &Candidate) -> Value {
        if let Some(code) = code
            && let Ok(value) = run(code, candidate)
        {
            return value;
        }
        expr.evaluate(&self.context.clone().with_target(&candidate.ad))
    }
}

/// Deeper expressions are left to the ordinary evaluator, which has room for them.
const DEPTH_MAX: usize = 64;

struct Compiler<'a> {
    ad: &'a ClassAd,
    names: &'a mut Names,
    depth: usize,
}

impl Compiler<'_> {
    fn code(&mut self, expr: &Expr) -> Result<Code, TooHard> {
        if self.depth >= DEPTH_MAX {
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
            Node::Literal(literal) => Code::Constant(literal.value()),
            Node::Parenthesised(inner) => self.code(inner)?,
            Node::Unary(op, operand) => Code::Unary(*op, self.boxed(operand)?),
            Node::Chain(first, rest) => Code::Chain(
                self.boxed(first)?,
                rest.iter().map(|(op, operand)| Ok((*op, self.code(operand)?))).collect::<Result<_, _>>()?,
            ),
            Node::Conditional(condition, middle, otherwise) => {
                Code::Conditional(Box::new([self.code(condition)?, self.code(middle)?, self.code(otherwise)?]))
            }
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

    /// An attribute of the ad itself, whose expression becomes part of the code.
    fn own(&mut self, name: &Name) -> Result<Code, TooHard> {
        match self.ad.get_name(name) {
            Some(expr) => {
                let expr = expr.clone();
                self.code(&expr)
            }
            None if is_special(name) => Err(TooHard),
            None => Ok(Code::Constant(Value::Undefined)),
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
        "my", "self", "parent", "root", "toplevel", "currenttime", "target", "other", "ad", "left", "right", "lctx", "rctx",
        "symmetricmatch", "leftmatchesright", "rightmatchesleft", "leftrankvalue", "rightrankvalue",
    ]
    .iter()
    .any(|special| name.is(special))
}

fn run(code: &Code, candidate: &Candidate) -> Result<Value, TooHard> {
    Ok(match code {
        Code::Constant(value) => value.clone(),
        Code::Target(number) => match candidate.slot(*number) {
            Slot::Literal(value) => value.clone(),
            Slot::Absent => Value::Undefined,
            Slot::Expression => return Err(TooHard),
        },
        Code::Unary(op, operand) => ops::unary(*op, run(operand, candidate)?),
        Code::Chain(first, rest) => {
            let mut value = run(first, candidate)?;
            for (op, operand) in rest {
                value = match ops::decided(*op, &value) {
                    Some(decided) => decided,
                    None => ops::binary(*op, &value, &run(operand, candidate)?),
                };
            }
            value
        }
        Code::Conditional(parts) => {
            let [condition, middle, otherwise] = &**parts;
            let selector = run(condition, candidate)?;
            match selector.as_condition() {
                Some(true) => run(middle, candidate)?,
                Some(false) => run(otherwise, candidate)?,
                None if selector.is_undefined() => Value::Undefined,
                None => Value::Error,
            }
        }
        Code::Default(alternatives) => {
            for alternative in alternatives {
                let value = run(alternative, candidate)?;
                if !value.is_undefined() {
                    return Ok(value);
                }
            }
            Value::Undefined
        }
    })
}
