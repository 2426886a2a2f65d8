//! What one row and one page may hold. Every form of the store keeps to the same.

use super::{CommitError, Row, StoredRow};

/// Bytes of one row's body, and of its steps.
// Tested by: conforms
pub const BODY_LIMIT: usize = 256 << 20;

/// Ranges of tasks that a row may list.
// Tested by: conforms
pub const RANGES_LIMIT: usize = 1 << 16;

/// Bytes of rows' bodies after which a page of rows ends.
// Tested by: conforms
pub const PAGE_BYTES: usize = 16 << 20;

/// The first row that is too large to be kept, if there is one.
pub(super) fn admit(rows: &[Row]) -> Result<(), CommitError> {
    rows.iter().enumerate().try_for_each(|(index, row)| {
        within(index, "bytes in its body", row.body.len(), BODY_LIMIT)?;
        within(index, "bytes in its steps", row.steps.len(), BODY_LIMIT)?;
        within(index, "ranges of tasks", row.tasks.len(), RANGES_LIMIT)
    })
}

fn within(index: usize, what: &'static str, found: usize, limit: usize) -> Result<(), CommitError> {
    if found > limit { Err(CommitError::TooLarge { index, what, found, limit }) } else { Ok(()) }
}

/// Collects rows until the page is full.
pub(super) struct Page {
    rows: Vec<StoredRow>,
    at_most: usize,
    bytes: usize,
}

impl Page {
    pub(super) fn new(at_most: usize) -> Self {
        Self { rows: Vec::new(), at_most, bytes: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= self.at_most || self.bytes >= PAGE_BYTES
    }

    pub(super) fn push(&mut self, stored: StoredRow) {
        self.bytes += stored.row.body.len() + stored.row.steps.len();
        self.rows.push(stored);
    }

    pub(super) fn into_rows(self) -> Vec<StoredRow> {
        self.rows
    }
}
