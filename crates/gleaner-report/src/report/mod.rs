//! What a report says: a title and blocks in reading order. How they become a page is in [`html`].

mod gantt;
mod html;
mod table;

pub use gantt::{Bar, Gantt};
pub use table::{Cell, Table, Verdict};

use crate::Svg;

/// A page in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    title: String,
    lead: Option<String>,
    blocks: Vec<Block>,
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), lead: None, blocks: Vec::new() }
    }

    /// The sentence below the title that says what the page is about.
    #[must_use]
    pub fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = Some(lead.into());
        self
    }

    /// Adds a block at the end.
    #[must_use]
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }
}

/// A part of a report. Texts are plain: whatever they hold is shown as it is, never read as markup.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Begins a section.
    Heading(String),
    /// Begins a part of a section.
    Subheading(String),
    /// Prose; an empty line parts paragraphs.
    Text(String),
    /// Something to know before relying on the rest.
    Note(String),
    /// Rows and columns.
    Table(Table),
    /// A plot.
    Figure(Figure),
    /// Schedules that can be looked into, side by side where the page is wide enough.
    Gantts(Vec<Gantt>),
}

impl Block {
    /// Begins a section.
    pub fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into())
    }

    /// Begins a part of a section.
    pub fn subheading(text: impl Into<String>) -> Self {
        Self::Subheading(text.into())
    }

    /// Prose; an empty line parts paragraphs.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Something to know before relying on the rest.
    pub fn note(text: impl Into<String>) -> Self {
        Self::Note(text.into())
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Gantt> for Block {
    fn from(gantt: Gantt) -> Self {
        Self::Gantts(vec![gantt])
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

/// A plot with its caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    caption: String,
    svg: Svg,
}

impl Figure {
    /// `svg` with the sentence that says what it shows.
    pub fn new(caption: impl Into<String>, svg: Svg) -> Self {
        Self { caption: caption.into(), svg }
    }
}
