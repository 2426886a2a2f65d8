//! Where an ad stands: the ads around it, in which its expressions go on looking for what the ad itself lacks.

use std::sync::Arc;

use crate::ad::ClassAd;

/// An ad and the ads around it.
#[derive(Clone, Debug)]
pub struct Scope(Arc<Node>);

#[derive(Debug)]
struct Node {
    ad: ClassAd,
    parent: Option<Scope>,
    /// Set on an ad that came out of a subscript: HTCondor lets go of such an ad before it selects from it, so
    /// that `x["y"].z` finds nothing.
    detached: bool,
}

impl Scope {
    pub(crate) fn new(ad: ClassAd, parent: Option<Self>) -> Self {
        Self(Arc::new(Node { ad, parent, detached: false }))
    }

    pub(crate) fn detached(ad: ClassAd) -> Self {
        Self(Arc::new(Node { ad, parent: None, detached: true }))
    }

    /// The ad.
    pub fn ad(&self) -> &ClassAd {
        &self.0.ad
    }

    pub(crate) fn parent(&self) -> Option<&Self> {
        self.0.parent.as_ref()
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.0.detached
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The outermost of the ads around this one.
    pub(crate) fn root(&self) -> &Self {
        let mut scope = self;
        while let Some(parent) = scope.parent() {
            scope = parent;
        }
        scope
    }
}
