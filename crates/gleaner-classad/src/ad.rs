//! Ads: attributes by name, in the order they were first given.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::eval;
use crate::expr::Expr;
use crate::name::Name;
use crate::unparse::{Style, Writer};
use crate::value::Value;

/// A classified advertisement: named expressions.
///
/// Names are compared without regard to case; iteration keeps the order of insertion. A clone shares the contents
/// until one side changes.
///
/// ```
/// use gleaner_classad::{ClassAd, Context, Value};
///
/// let mut ad = ClassAd::parse("[ Memory = 2 * 1024; Cpus = 4 ]")?;
/// ad.insert("Name", Value::string("m0"));
/// assert_eq!(ad.evaluate("memory", &Context::new()), Value::Integer(2048));
/// assert_eq!(ad.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(), ["Memory", "Cpus", "Name"]);
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
#[derive(Clone, Default)]
pub struct ClassAd(Arc<Contents>);

#[derive(Clone, Default)]
struct Contents {
    entries: Vec<(Name, Expr)>,
    places: HashMap<Name, usize>,
}

impl ClassAd {
    /// An ad without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an attribute; one that exists keeps its place and the spelling of its name.
    pub fn insert(&mut self, name: impl Into<Name>, expr: impl Into<Expr>) {
        let (name, expr) = (name.into(), expr.into());
        let contents = Arc::make_mut(&mut self.0);
        if let Some(&place) = contents.places.get(&name) {
            contents.entries[place].1 = expr;
        } else {
            contents.places.insert(name.clone(), contents.entries.len());
            contents.entries.push((name, expr));
        }
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, name: &str) -> Option<Expr> {
        let place = *self.0.places.get(name.to_ascii_lowercase().as_bytes())?;
        let contents = Arc::make_mut(&mut self.0);
        let (name, expr) = contents.entries.remove(place);
        contents.places.remove(&name);
        contents.places.values_mut().filter(|later| **later > place).for_each(|later| *later -= 1);
        Some(expr)
    }

    /// The expression of an attribute.
    pub fn get(&self, name: &str) -> Option<&Expr> {
        self.get_folded(name.to_ascii_lowercase().as_bytes())
    }

    pub(crate) fn get_name(&self, name: &Name) -> Option<&Expr> {
        self.get_folded(name.folded())
    }

    fn get_folded(&self, folded: &[u8]) -> Option<&Expr> {
        self.0.places.get(folded).map(|&place| &self.0.entries[place].1)
    }

    pub(crate) fn take_tall_children(&mut self, take: impl FnMut(&mut Expr)) {
        if let Some(contents) = Arc::get_mut(&mut self.0) {
            contents.entries.iter_mut().map(|(_, expr)| expr).for_each(take);
        }
    }

    /// The attributes in order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Expr)> {
        self.0.entries.iter().map(|(name, expr)| (name, expr))
    }

    /// The attributes in the order in which HTCondor writes them: shorter names first, then by letter.
    pub fn sorted(&self) -> Vec<(&Name, &Expr)> {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(name, _)| *name);
        entries
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// The value of an attribute, with this ad as `MY` and the context's target as `TARGET`.
    pub fn evaluate(&self, name: &str, context: &Context) -> Value {
        eval::evaluate_attribute(&Name::new(name), &context.clone().with_my(self))
    }

    /// Sets every attribute of the other ad in this one.
    pub fn update(&mut self, other: &Self) {
        for (name, expr) in other.iter() {
            self.insert(name.clone(), expr.clone());
        }
    }
}

/// The same names with the same expressions, in any order.
impl PartialEq for ClassAd {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.len() == other.len() && self.iter().all(|(name, expr)| other.get_name(name) == Some(expr))
    }
}

impl fmt::Display for ClassAd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new(Style::Exact);
        writer.ad(self);
        f.write_str(&writer.into_string())
    }
}

impl fmt::Debug for ClassAd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ClassAd> for Expr {
    fn from(ad: ClassAd) -> Self {
        Self::new(crate::expr::Node::Ad(ad))
    }
}

impl<N: Into<Name>, E: Into<Expr>> FromIterator<(N, E)> for ClassAd {
    fn from_iter<I: IntoIterator<Item = (N, E)>>(entries: I) -> Self {
        let mut ad = Self::new();
        for (name, expr) in entries {
            ad.insert(name, expr);
        }
        ad
    }
}
