//! What one parse takes of its limits.

use crate::diagnostic::Problem;
use crate::limits::Limits;

#[derive(Debug)]
pub(crate) struct Counted {
    limits: Limits,
    depth: usize,
    elements: usize,
}

impl Counted {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limits: *limits, depth: 0, elements: 0 }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn element(&mut self) -> Result<(), Problem> {
        self.elements += 1;
        if self.elements > self.limits.elements {
            Err(Problem::TooLong(self.limits.elements))
        } else {
            Ok(())
        }
    }

    /// One level deeper.
    pub(crate) fn enter(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > self.limits.nesting { Err(Problem::TooDeep(self.limits.nesting)) } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self, levels: usize) {
        self.depth -= levels;
    }
}
