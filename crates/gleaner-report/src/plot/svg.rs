//! A finished drawing. Only this crate makes one, so a report can hold it as it is.

use std::fmt;

/// A complete SVG document: a file of its own, or inline in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Svg(pub(super) String);

impl Svg {
    /// The document's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<[u8]> for Svg {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<Svg> for String {
    fn from(svg: Svg) -> Self {
        svg.0
    }
}
