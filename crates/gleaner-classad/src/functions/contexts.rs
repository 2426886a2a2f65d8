//! Functions that look at expressions, or evaluate them elsewhere or under a condition.

use std::collections::BTreeMap;

use crate::eval::{At, Evaluated, Evaluator, Halt, soften};
use crate::expr::{Base, Call, Expr, Node, Reference};
use crate::functions::conversions::text_of;
use crate::functions::patterns::{Options, Pattern};
use crate::name::Name;
use crate::scope::Scope;
use crate::stack::deeper;
use crate::unparse::{Style, Writer};
use crate::value::{List, Value};

pub(super) fn if_then_else(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let [condition, then, otherwise] = &*call.args else { return Ok(Value::Error) };
    let condition = evaluator.eval(condition, at)?;
    match condition.as_condition() {
        Some(true) => evaluator.eval(then, at),
        Some(false) => evaluator.eval(otherwise, at),
        None if condition.is_undefined() => Ok(Value::Undefined),
        None => Ok(Value::Error),
    }
}

/// `debug(expr)`: HTCondor writes the evaluation to its log; there is none here.
pub(super) fn debug(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    Ok(evaluator.args(call, at)?.map_or(Value::Error, |[value]| value))
}

/// `eval(text)`
pub(super) fn eval(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let Ok(text) = text_of(&value) else { return Ok(Value::Error) };
    evaluator.spend(text.as_bytes().len() as u64 / 4)?;
    let Ok(expr) = Expr::parse_within(text.as_bytes(), &evaluator.limits) else { return Ok(Value::Error) };
    evaluator.enter(&expr, at.owned_by(at.names))
}

fn write(style: Style, expr: &Expr) -> String {
    let mut writer = Writer::new(style);
    writer.expr(expr);
    writer.into_string()
}

/// `unparse(attribute)`: the expression of the attribute as text, not evaluated.
pub(super) fn unparse(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let [arg] = &*call.args else { return Ok(Value::Error) };
    if !matches!(arg.node(), Node::Attribute(_)) {
        return Ok(Value::Error);
    }
    // What is looked up is the reference as written, and in the one ad only.
    let name = Name::new(write(Style::Pretty, arg));
    let expr = at.names.and_then(|scope| scope.ad().get_name(&name));
    evaluator.string(expr.map_or_else(String::new, |expr| write(Style::Pretty, expr)))
}

/// Names in the order of the alphabet, whatever their case, with their first spelling.
type Unresolved = BTreeMap<Vec<u8>, String>;

impl Evaluator {
    /// Collects what an expression refers to and cannot find; `None` where HTCondor gives up.
    fn unresolved(
        &mut self,
        expr: &Expr,
        at: At<'_>,
        found: &mut Unresolved,
        open: &mut Vec<usize>,
    ) -> Result<Option<()>, Halt> {
        self.spend(1)?;
        let Node::Attribute(reference) = expr.node() else {
            // What is inside an ad belongs to it, though names are looked up from outside.
            let inside = match expr.node() {
                Node::Ad(ad) => Some(Scope::new(ad.clone(), at.owner.cloned())),
                _ => None,
            };
            let at = at.owned_by(inside.as_ref().or(at.owner));
            let mut children = Vec::new();
            expr.node().children(|child| children.push(child.clone()));
            for child in children {
                if deeper(|| self.unresolved(&child, at, found, open))?.is_none() {
                    return Ok(None);
                }
            }
            return Ok(Some(()));
        };
        if let Base::Of(base) = &reference.base {
            match self.eval(base, at)? {
                Value::Undefined => {
                    let written = format!("{}.{}", write(Style::Condor, base), reference.name);
                    found.entry(written.to_ascii_lowercase().into_bytes()).or_insert(written);
                    return Ok(Some(()));
                }
                Value::Ad(_) => {}
                _ => return Ok(None),
            }
        }
        let (Some(target), Some(place)) = self.dereference(reference, at)? else {
            let written = reference.name.to_string();
            found.entry(written.to_ascii_lowercase().into_bytes()).or_insert(written);
            return Ok(Some(()));
        };
        if open.contains(&target.identity()) || open.len() >= self.limits.references {
            return Ok(None);
        }
        open.push(target.identity());
        let within = At { names: Some(&place), owner: Some(&place) };
        let outcome = deeper(|| self.unresolved(&target, within, found, open));
        open.pop();
        outcome
    }
}

fn reference(expr: &Expr) -> Option<&Reference> {
    match expr.node() {
        Node::Attribute(reference) => Some(reference),
        _ => None,
    }
}

/// `unresolved(attribute[, pattern])`: the names its expression mentions and cannot find, or whether one matches.
pub(super) fn unresolved(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(attribute) = call.args.first().and_then(reference) else { return Ok(Value::Error) };
    if call.args.len() > 2 {
        return Ok(Value::Error);
    }
    let (Some(expr), Some(scope)) = evaluator.dereference(attribute, at)? else {
        return Ok(Value::Undefined);
    };
    let pattern = match call.args.get(1) {
        None => None,
        Some(pattern) => {
            let value = evaluator.eval(pattern, at)?;
            let Some(bytes) = value.as_bytes() else { return Err(Halt::Failed) };
            match Pattern::compile(evaluator, bytes, Options::of_any_case(b"i"))? {
                Some(pattern) => Some(pattern),
                None => return Ok(Value::Error),
            }
        }
    };
    let mut found = Unresolved::new();
    let within = At { names: Some(&scope), owner: Some(&scope) };
    let complete = evaluator.unresolved(&expr, within, &mut found, &mut Vec::new())?;
    if complete.is_none() {
        found.clear();
    }
    let names = found.into_values().map(|name| match name.get(..7) {
        Some(prefix) if prefix.eq_ignore_ascii_case("target.") => name[7..].to_owned(),
        _ => name,
    });
    match pattern {
        None => evaluator.string(names.collect::<Vec<_>>().join(",")),
        Some(pattern) => {
            for name in names {
                if pattern.is_match(evaluator, name.as_bytes())? == Some(true) {
                    return Ok(Value::Boolean(true));
                }
            }
            Ok(Value::Boolean(false))
        }
    }
}

/// The value of the first argument in each ad of the second; `Err` holds the answer where that is no list.
fn in_each(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Result<Result<Vec<Value>, Value>, Halt> {
    let [expr, list] = &*call.args else { return Ok(Err(Value::Error)) };
    // An attribute stands for its expression if it can be found from here, else for itself in each ad. HTCondor goes
    // on where it found it, or where it last looked.
    let (found, place) = match reference(expr) {
        Some(reference) => evaluator.dereference(reference, at)?,
        None => (None, at.names.cloned()),
    };
    let owner = if found.is_some() { place.as_ref() } else { at.owner };
    let subject = found.as_ref().unwrap_or(expr);
    let at = At { names: place.as_ref(), ..at };
    let list = match evaluator.eval(list, at).or_else(soften)? {
        Value::List(list) => list,
        Value::Undefined => return Ok(Err(Value::Undefined)),
        _ => return Ok(Err(Value::Error)),
    };
    let mut values = Vec::with_capacity(list.len());
    let inner = at.owned_by(list.scope.as_ref());
    for item in list.items() {
        values.push(match evaluator.eval(item, inner).or_else(soften)? {
            Value::Ad(scope) => evaluator.eval_within(subject, &scope, owner).or_else(soften)?,
            Value::Undefined => Value::Undefined,
            _ => Value::Error,
        });
    }
    Ok(Ok(values))
}

/// `evalInEachContext(expr, ads)`: the values of an expression in each of the ads.
pub(super) fn eval_in_each_context(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    Ok(in_each(evaluator, call, at)?
        .map_or_else(|answer| answer, |values| Value::List(List::made_of(values))))
}

/// `countMatches(expr, ads)`: in how many of the ads an expression is true.
pub(super) fn count_matches(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    Ok(match in_each(evaluator, call, at)? {
        Ok(values) => {
            Value::Integer(values.iter().filter(|value| value.as_condition() == Some(true)).count() as i64)
        }
        Err(Value::Undefined) => Value::Integer(0),
        Err(answer) => answer,
    })
}
