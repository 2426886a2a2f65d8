//! What an expression mentions: attributes, ads and functions, wherever in it they are.

use std::collections::BTreeSet;

use super::{Base, Expr, Node};
use crate::name::Name;
use crate::value::Value;

impl Expr {
    /// The names of all attributes the expression mentions, whichever ad they are looked for in, without `MY`,
    /// `TARGET` and the other names of ads. Two ads that agree in these attributes, and in what the expressions of
    /// these attributes mention, cannot be told apart by this expression, unless it builds expressions at run time
    /// (see [`Expr::is_closed`]).
    ///
    /// ```
    /// use gleaner_classad::Expr;
    ///
    /// let expr = Expr::parse("TARGET.Memory > MY.RequestMemory && size(tags) > 0")?;
    /// let names: Vec<String> = expr.references().iter().map(ToString::to_string).collect();
    /// assert_eq!(names, ["tags", "Memory", "RequestMemory"]);
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn references(&self) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.walk(&mut |expr| {
            if let Node::Attribute(reference) = expr.node()
                && !(matches!(reference.base, Base::Here | Base::Root) && names_an_ad(&reference.name))
            {
                names.insert(reference.name.clone());
            }
        });
        names
    }

    /// The names of the attributes that the expression looks for in the ad called `ad` there, as `TARGET`, or that stand
    /// with no ad before them.
    ///
    /// ```
    /// use gleaner_classad::Expr;
    ///
    /// let expr = Expr::parse("target.Memory > RequestMemory && MY.Owner == TARGET.Owner")?;
    /// let names = |ad| expr.references_to(ad).iter().map(ToString::to_string).collect::<Vec<_>>();
    /// assert_eq!(names(Some("TARGET")), ["Owner", "Memory"]);
    /// assert_eq!(names(None), ["RequestMemory"]);
    /// # Ok::<(), gleaner_classad::ParseError>(())
    /// ```
    pub fn references_to(&self, ad: Option<&str>) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.walk(&mut |expr| {
            let Node::Attribute(reference) = expr.node() else { return };
            let is_meant = match (&reference.base, ad) {
                (Base::Here, None) => !names_an_ad(&reference.name),
                (Base::Of(base), Some(ad)) => matches!(base.node(), Node::Attribute(of)
                    if matches!(of.base, Base::Here) && of.name.is(ad)),
                (Base::Here | Base::Root | Base::Of(_), _) => false,
            };
            if is_meant {
                names.insert(reference.name.clone());
            }
        });
        names
    }

    /// Whether [`Expr::references`] tells the whole story: the expression neither calls `eval` nor reads a whole ad.
    pub fn is_closed(&self) -> bool {
        let mut closed = true;
        self.walk(&mut |expr| match expr.node() {
            Node::Call(call) => {
                closed &= !(call.name.is("eval") || call.name.is("unparse") || call.name.is("unresolved"));
            }
            Node::Subscript(_, index) => closed &= matches!(index.as_literal(), Some(Value::Integer(_))),
            _ => {}
        });
        closed && !self.yields_an_ad()
    }

    fn yields_an_ad(&self) -> bool {
        let mut bases = Vec::new();
        let mut mentions = Vec::new();
        self.walk(&mut |expr| {
            if let Node::Attribute(reference) = expr.node() {
                if let Base::Of(base) = &reference.base {
                    bases.push(base.identity());
                }
                if names_an_ad(&reference.name) {
                    mentions.push(expr.identity());
                }
            }
        });
        mentions.iter().any(|mention| !bases.contains(mention))
    }

    /// The functions the expression calls that do not exist, as written.
    pub fn unknown_functions(&self) -> Vec<Name> {
        let mut names = Vec::new();
        self.walk(&mut |expr| {
            if let Node::Call(call) = expr.node()
                && call.function.is_none()
                && !names.contains(&call.name)
            {
                names.push(call.name.clone());
            }
        });
        names
    }

    /// Visits the expression and all below it, the inside of nested ads too.
    fn walk(&self, visit: &mut dyn FnMut(&Self)) {
        let mut open = vec![self.clone()];
        while let Some(expr) = open.pop() {
            visit(&expr);
            expr.node().children(|child| open.push(child.clone()));
        }
    }
}

/// Whether a bare reference of this name stands for an ad rather than for one of its attributes.
fn names_an_ad(name: &Name) -> bool {
    ["my", "target", "other", "self", "parent", "root", "toplevel", "left", "right"]
        .iter()
        .any(|ad| name.is(ad))
}
