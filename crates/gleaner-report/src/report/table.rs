//! Tables: what stands in a cell decides how it is set.

/// Rows and columns with a caption. A column of numbers is set to the right.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(super) caption: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(caption: impl Into<String>, header: impl IntoIterator<Item = T>) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), header, rows: Vec::new() }
    }

    /// Adds a row. Missing cells stay empty; the first cell names the row.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// Whether all that stands in the column is numbers.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).peekable();
        cells.peek().is_some() && cells.all(|cell| matches!(cell, Cell::Number(_)))
    }
}

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Plain text.
    Text(String),
    /// A number as people read it: see [`crate::numbers`].
    Number(String),
    /// How far a claim holds.
    Verdict(Verdict),
}

impl Cell {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number as people read it: see [`crate::numbers`].
    pub fn number(number: impl Into<String>) -> Self {
        Self::Number(number.into())
    }
}

impl From<Verdict> for Cell {
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

/// How far a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// In part.
    Partly,
    /// It does not.
    Not,
    /// What was measured does not say: runs were given up, or the interval is too wide.
    Undecided,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Holds, Self::Partly, Self::Not, Self::Undecided];

    /// The word for it, as in the JSON document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::Undecided => "undecided",
        }
    }

    /// A sign that says the same without colour.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Partly => "◐",
            Self::Not => "✗",
            Self::Undecided => "?",
        }
    }
}
