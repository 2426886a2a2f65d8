//! Evaluation of expressions.
//!
//! Invariants: every call of [`Evaluator::eval`] costs a step; whatever runs on is stopped by the limits, as
//! [`Halt`]; an attribute whose evaluation needs itself is `undefined` there, as HTCondor 25 has it.

use std::sync::{Arc, LazyLock};

use crate::ad::ClassAd;
use crate::context::{Clock, Context, Random};
use crate::expr::{Base, BinaryOp, Call, Expr, Node, Reference};
use crate::limits::{Budget, Limits};
use crate::name::Name;
use crate::ops;
use crate::scope::Scope;
use crate::stack::deeper;
use crate::value::{List, Text, Value};

/// Why an evaluation ends without a value. At the outside both are `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// What HTCondor calls a failed evaluation, such as `.a` where there is no outermost ad.
    Failed,
    /// A limit was met.
    Exhausted,
}

pub(crate) type Evaluated = Result<Value, Halt>;

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct At<'s> {
    /// Where its names are looked up.
    pub(crate) names: Option<&'s Scope>,
    /// Which ad nested ads and lists in it belong to. The two differ for elements of a list from another ad.
    pub(crate) owner: Option<&'s Scope>,
}

impl<'s> At<'s> {
    fn inside(scope: Option<&'s Scope>) -> Self {
        Self { names: scope, owner: scope }
    }

    pub(crate) fn owned_by(self, owner: Option<&'s Scope>) -> Self {
        Self { owner, ..self }
    }
}

/// The scopes of a match of two ads: each side within its context, both contexts within one root.
struct Match {
    root: Scope,
    left_context: Scope,
    right_context: Scope,
    left: Scope,
    right: Scope,
}

/// Parses text that is part of this crate.
fn built_in(text: &str) -> ClassAd {
    ClassAd::parse(text).unwrap_or_default()
}

static MATCH_AD: LazyLock<ClassAd> = LazyLock::new(|| {
    built_in(
        "[symmetricMatch = RIGHT.requirements && LEFT.requirements; leftMatchesRight = RIGHT.requirements; \
         rightMatchesLeft = LEFT.requirements; leftRankValue = LEFT.rank; rightRankValue = RIGHT.rank]",
    )
});
static LEFT_CONTEXT: LazyLock<ClassAd> =
    LazyLock::new(|| built_in("[other = .RIGHT; target = .RIGHT; my = .LEFT; ad = .LEFT]"));
static RIGHT_CONTEXT: LazyLock<ClassAd> =
    LazyLock::new(|| built_in("[other = .LEFT; target = .LEFT; my = .RIGHT; ad = .RIGHT]"));

impl Match {
    fn new(left: &ClassAd, right: &ClassAd) -> Self {
        let root = Scope::new(MATCH_AD.clone(), None);
        let left_context = Scope::new(LEFT_CONTEXT.clone(), Some(root.clone()));
        let right_context = Scope::new(RIGHT_CONTEXT.clone(), Some(root.clone()));
        Self {
            left: Scope::new(left.clone(), Some(left_context.clone())),
            right: Scope::new(right.clone(), Some(right_context.clone())),
            root,
            left_context,
            right_context,
        }
    }

    /// The attributes of the root that are ads with surroundings of their own.
    fn find(&self, name: &Name) -> Option<&Scope> {
        match name.folded() {
            b"left" => Some(&self.left),
            b"right" => Some(&self.right),
            b"lctx" => Some(&self.left_context),
            b"rctx" => Some(&self.right_context),
            _ => None,
        }
    }

    /// The root with all its attributes, to be looked at as a value.
    fn whole_root(&self) -> Scope {
        let mut ad = MATCH_AD.clone();
        for (name, scope) in [
            ("lCtx", &self.left_context),
            ("rCtx", &self.right_context),
            ("LEFT", &self.left),
            ("RIGHT", &self.right),
        ] {
            ad.insert(name, scope.ad().clone());
        }
        Scope::new(ad, None)
    }
}

/// What a name leads to.
enum Found<'s> {
    Expr(&'s Expr, &'s Scope),
    Ad(Scope),
    Time,
    Nothing,
    Failure,
}

pub(crate) struct Evaluator {
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    seed: Option<u64>,
    budget: Option<Budget>,
    random: Option<Random>,
    steps: u64,
    depth: usize,
    references: usize,
    /// Expressions of attributes being evaluated.
    open: Vec<usize>,
    root: Option<Scope>,
    matching: Option<Match>,
}

impl Expr {
    /// The value of the expression in the given surroundings. Whatever cannot be evaluated is [`Value::Error`].
    pub fn evaluate(&self, context: &Context) -> Value {
        let (mut evaluator, scope) = Evaluator::new(context);
        evaluator.eval(self, At::inside(scope.as_ref())).unwrap_or(Value::Error)
    }
}

/// The value of an attribute of the context's own ad, and of no ad around it.
pub(crate) fn evaluate_attribute(name: &Name, context: &Context) -> Value {
    let (mut evaluator, scope) = Evaluator::new(context);
    match scope.as_ref().and_then(|scope| scope.ad().get_name(name)) {
        Some(expr) => evaluator.enter(expr, At::inside(scope.as_ref())).unwrap_or(Value::Error),
        None => Value::Undefined,
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.spend(self.steps);
            if self.steps > self.limits.steps {
                budget.exceed();
            }
        }
    }
}

impl Evaluator {
    /// An evaluator and the scope in which to start.
    pub(crate) fn new(context: &Context) -> (Self, Option<Scope>) {
        let mut evaluator = Self {
            limits: Limits {
                steps: context.budget.as_ref().map_or(u64::MAX, Budget::left).min(context.limits.steps),
                ..context.limits
            },
            clock: context.clock,
            seed: context.seed,
            budget: context.budget.clone(),
            random: None,
            steps: 0,
            depth: 0,
            references: 0,
            open: Vec::new(),
            root: None,
            matching: None,
        };
        let scope = match (&context.my, &context.target) {
            (my, Some(target)) => {
                let matching = Match::new(my.as_ref().unwrap_or(&ClassAd::new()), target);
                evaluator.root = Some(matching.root.clone());
                let scope = matching.left.clone();
                evaluator.matching = Some(matching);
                Some(scope)
            }
            (Some(my), None) => {
                let scope = Scope::new(my.clone(), None);
                evaluator.root = Some(scope.clone());
                Some(scope)
            }
            (None, None) => None,
        };
        (evaluator, scope)
    }

    pub(crate) fn random(&mut self) -> u32 {
        let seed = self.seed;
        self.random.get_or_insert_with(|| Random::new(seed)).next()
    }

    /// Takes so many steps from what is left.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Halt> {
        // What is not affordable is not done, and costs no more than all that is left.
        self.steps = self.steps.saturating_add(steps).min(self.limits.steps.saturating_add(1));
        if self.steps > self.limits.steps { Err(Halt::Exhausted) } else { Ok(()) }
    }

    /// Something was left out for want of steps, and has no value.
    pub(crate) fn give_up(&self) {
        if let Some(budget) = &self.budget {
            budget.exceed();
        }
    }

    /// How many more steps may be taken.
    pub(crate) fn steps_left(&self) -> u64 {
        self.limits.steps.saturating_sub(self.steps)
    }

    /// A string made during the evaluation, if it is not too long.
    pub(crate) fn string(&mut self, bytes: impl Into<Text>) -> Evaluated {
        let text = bytes.into();
        let length = text.as_bytes().len();
        self.spend(length as u64 / 1024)?;
        if length > self.limits.string_bytes { Err(Halt::Exhausted) } else { Ok(Value::String(text)) }
    }

    #[inline]
    pub(crate) fn eval(&mut self, expr: &Expr, at: At<'_>) -> Evaluated {
        self.spend(1)?;
        if let Node::Literal(literal) = expr.node() {
            return Ok(literal.value());
        }
        if self.depth >= self.limits.depth {
            return Err(Halt::Exhausted);
        }
        self.depth += 1;
        let outcome = deeper(|| self.node(expr, at));
        self.depth -= 1;
        outcome
    }

    fn node(&mut self, expr: &Expr, at: At<'_>) -> Evaluated {
        match expr.node() {
            Node::Literal(literal) => Ok(literal.value()),
            Node::Attribute(reference) => self.attribute(reference, at),
            Node::Unary(op, operand) => Ok(ops::unary(*op, self.eval(operand, at)?)),
            Node::Chain(first, rest) => self.chain(first, rest, at),
            Node::Conditional(condition, middle, otherwise) => {
                self.conditional(condition, middle, otherwise, at)
            }
            Node::Default(alternatives) => self.first_defined(alternatives, at),
            Node::Subscript(base, index) => self.subscript(base, index, at),
            Node::Call(call) => self.call(call, at),
            Node::Parenthesised(inner) => self.eval(inner, at),
            Node::List(items) => {
                Ok(Value::List(List { items: Arc::clone(items), scope: at.owner.cloned(), is_made: false }))
            }
            Node::Ad(ad) => Ok(Value::Ad(Scope::new(ad.clone(), at.owner.or(at.names).cloned()))),
        }
    }

    fn chain(&mut self, first: &Expr, rest: &[(BinaryOp, Expr)], at: At<'_>) -> Evaluated {
        let mut value = self.eval(first, at)?;
        for (op, operand) in rest {
            value = if let Some(decided) = ops::decided(*op, &value) {
                decided
            } else {
                let operand = self.eval(operand, at)?;
                // Strings are compared byte by byte.
                let lengths = [&value, &operand].map(|value| value.as_bytes().map_or(0, <[u8]>::len));
                self.spend(lengths[0].min(lengths[1]) as u64 / 1024)?;
                ops::binary(*op, &value, &operand)
            };
        }
        Ok(value)
    }

    fn first_defined(&mut self, alternatives: &[Expr], at: At<'_>) -> Evaluated {
        for alternative in alternatives {
            let value = self.eval(alternative, at)?;
            if !value.is_undefined() {
                return Ok(value);
            }
        }
        Ok(Value::Undefined)
    }

    fn conditional(&mut self, condition: &Expr, middle: &Expr, otherwise: &Expr, at: At<'_>) -> Evaluated {
        let selector = self.eval(condition, at)?;
        match selector.as_condition() {
            Some(true) => self.eval(middle, at),
            Some(false) => self.eval(otherwise, at),
            None if selector.is_undefined() => Ok(Value::Undefined),
            None => Ok(Value::Error),
        }
    }

    fn call(&mut self, call: &Call, at: At<'_>) -> Evaluated {
        match call.function {
            Some(function) => (function.run)(self, call, at),
            None => Ok(Value::Error),
        }
    }

    fn subscript(&mut self, base: &Expr, index: &Expr, at: At<'_>) -> Evaluated {
        let base = self.eval(base, at)?;
        let index = self.eval(index, at)?;
        match (&base, &index) {
            (Value::Error, _) | (_, Value::Error) => Ok(Value::Error),
            (Value::Undefined, _) | (_, Value::Undefined) => Ok(Value::Undefined),
            (Value::Ad(scope), Value::String(name)) => self.member(scope, &Name::new(name.as_bytes())),
            (Value::List(list), Value::Integer(place)) => self.element(list, *place),
            _ => Ok(Value::Error),
        }
    }

    fn element(&mut self, list: &List, place: i64) -> Evaluated {
        // The place is cut to 32 bits.
        let Some(item) = usize::try_from(place as i32).ok().and_then(|place| list.items.get(place)) else {
            return Ok(Value::Error);
        };
        self.nest(item, At::inside(list.scope.as_ref())).or_else(soften)
    }

    fn member(&mut self, scope: &Scope, name: &Name) -> Evaluated {
        let Some(expr) = scope.ad().get_name(name) else { return Ok(Value::Undefined) };
        let outer = self.root.replace(scope.root().clone());
        let outcome = self.enter(expr, At::inside(Some(scope)));
        self.root = outer;
        // What comes out no longer knows the ads around it.
        Ok(match outcome.or_else(soften)? {
            Value::Ad(found) => Value::Ad(Scope::detached(found.ad().clone())),
            Value::List(found) => Value::List(List { scope: None, ..found }),
            value => value,
        })
    }

    fn attribute(&mut self, reference: &Reference, at: At<'_>) -> Evaluated {
        let name = &reference.name;
        match &reference.base {
            Base::Here => match at.names {
                Some(scope) => self.look_up(name, scope),
                None => Ok(Value::Undefined),
            },
            Base::Root => match self.root.clone() {
                Some(root) => self.look_up(name, &root),
                None => Err(Halt::Failed),
            },
            Base::Of(base) => {
                let base = self.eval(base, at)?;
                self.select(&base, name, at)
            }
        }
    }

    fn select(&mut self, base: &Value, name: &Name, at: At<'_>) -> Evaluated {
        match base {
            Value::Undefined => Ok(Value::Undefined),
            Value::Ad(scope) if scope.is_detached() => Ok(Value::Undefined),
            Value::Ad(scope) => self.look_up(name, scope),
            Value::List(list) => {
                let inner = at.owned_by(list.scope.as_ref());
                let mut selected = Vec::with_capacity(list.len());
                for item in list.items() {
                    let item = self.eval(item, inner)?;
                    selected.push(deeper(|| self.select(&item, name, at))?);
                }
                Ok(Value::List(List::of_values(selected)))
            }
            _ => Ok(Value::Error),
        }
    }

    fn look_up(&mut self, name: &Name, scope: &Scope) -> Evaluated {
        match self.find(name, scope) {
            Found::Expr(expr, place) => {
                if let Node::Literal(literal) = expr.node() {
                    return Ok(literal.value());
                }
                self.enter(expr, At::inside(Some(place)))
            }
            Found::Ad(scope) => Ok(Value::Ad(scope)),
            Found::Time => Ok(Value::Integer(self.clock.now_secs())),
            Found::Nothing => Ok(Value::Undefined),
            Found::Failure => Err(Halt::Failed),
        }
    }

    /// Evaluates an expression that another one refers to.
    pub(crate) fn enter(&mut self, expr: &Expr, at: At<'_>) -> Evaluated {
        let identity = expr.identity();
        if self.open.contains(&identity) {
            return Ok(Value::Undefined);
        }
        self.open.push(identity);
        let outcome = self.nest(expr, at);
        self.open.pop();
        outcome
    }

    /// Evaluates an expression that another one leads to, as one level of references.
    fn nest(&mut self, expr: &Expr, at: At<'_>) -> Evaluated {
        if self.references >= self.limits.references {
            return Err(Halt::Exhausted);
        }
        self.references += 1;
        let outcome = self.eval(expr, at);
        self.references -= 1;
        outcome
    }

    /// Finds a name in an ad or the ads around it.
    fn find<'s>(&self, name: &Name, scope: &'s Scope) -> Found<'s> {
        let mut current = scope;
        loop {
            if let Some(expr) = current.ad().get_name(name) {
                return Found::Expr(expr, current);
            }
            let at_root = self.root.as_ref().is_some_and(|root| root.is(current));
            if at_root && let Some(ad) = self.matching.as_ref().and_then(|matching| matching.find(name)) {
                return Found::Ad(ad.clone());
            }
            let around = if at_root { None } else { current.parent() };
            match name.folded() {
                b"toplevel" | b"root" => return self.whole_root(),
                b"self" | b"my" => return Found::Ad(current.clone()),
                b"parent" => return around.map_or(Found::Nothing, |around| Found::Ad(around.clone())),
                b"currenttime" => return Found::Time,
                _ => {}
            }
            match around {
                Some(around) => current = around,
                None => return Found::Nothing,
            }
        }
    }

    fn whole_root(&self) -> Found<'static> {
        match (&self.root, &self.matching) {
            (None, _) => Found::Failure,
            (Some(root), Some(matching)) if root.is(&matching.root) => Found::Ad(matching.whole_root()),
            (Some(root), _) => Found::Ad(root.clone()),
        }
    }

    /// The expression a reference leads to, for functions that look at expressions, and the ad in which it stands;
    /// where there is none, the last ad that was asked.
    pub(crate) fn dereference(
        &mut self,
        reference: &Reference,
        at: At<'_>,
    ) -> Result<(Option<Expr>, Option<Scope>), Halt> {
        let scope = match &reference.base {
            Base::Here => at.names.cloned(),
            Base::Root => Some(self.root.clone().ok_or(Halt::Failed)?),
            Base::Of(base) => match self.eval(base, at)? {
                Value::Ad(scope) if !scope.is_detached() => Some(scope),
                _ => return Ok((None, at.names.cloned())),
            },
        };
        let Some(scope) = scope else { return Ok((None, None)) };
        Ok(match self.find(&reference.name, &scope) {
            Found::Expr(expr, place) => (Some(expr.clone()), Some(place.clone())),
            Found::Ad(ad) => (Some(Expr::from(ad.ad().clone())), Some(scope)),
            Found::Time | Found::Nothing | Found::Failure => (None, Some(scope.root().clone())),
        })
    }

    /// Evaluates in another ad, which becomes the outermost but for the ads around it; what is written inside the
    /// expression belongs to the owner.
    pub(crate) fn eval_within(&mut self, expr: &Expr, scope: &Scope, owner: Option<&Scope>) -> Evaluated {
        let outer = self.root.replace(scope.root().clone());
        let outcome = self.eval(expr, At { names: Some(scope), owner });
        self.root = outer;
        outcome
    }
}

/// A failure inside becomes a value, running out of a limit does not.
pub(crate) fn soften(halt: Halt) -> Evaluated {
    match halt {
        Halt::Failed => Ok(Value::Error),
        Halt::Exhausted => Err(halt),
    }
}
