//! Names of attributes: compared without regard to ASCII case, written as they were first given.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name of an attribute.
///
/// Two names are equal when they differ in ASCII case only, as HTCondor has it.
///
/// ```
/// use gleaner_classad::Name;
///
/// assert_eq!(Name::new("Memory"), Name::new("MEMORY"));
/// assert_eq!(Name::new("Memory").to_string(), "Memory");
/// ```
#[derive(Clone)]
pub struct Name {
    written: Arc<[u8]>,
    /// Hashing and comparing want the same bytes every time; folding once is cheaper than at each look-up.
    folded: Arc<[u8]>,
}

impl Name {
    /// A name as written.
    pub fn new(written: impl AsRef<[u8]>) -> Self {
        let written: Arc<[u8]> = Arc::from(written.as_ref());
        let folded = if written.iter().any(u8::is_ascii_uppercase) {
            written.to_ascii_lowercase().into()
        } else {
            Arc::clone(&written)
        };
        Self { written, folded }
    }

    /// The bytes as first written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.written
    }

    /// The bytes in lower case.
    pub fn folded(&self) -> &[u8] {
        &self.folded
    }

    /// Whether this is the given name, whatever its case.
    pub fn is(&self, other: &str) -> bool {
        self.written.eq_ignore_ascii_case(other.as_bytes())
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.folded, &other.folded) || self.folded == other.folded
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded.hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Shorter names first, then by letter: the order in which HTCondor writes an ad.
impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.folded.len().cmp(&other.folded.len()).then_with(|| self.folded.cmp(&other.folded))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.written))
    }
}

impl From<&str> for Name {
    fn from(written: &str) -> Self {
        Self::new(written)
    }
}

impl std::borrow::Borrow<[u8]> for Name {
    /// The folded bytes, so that a map keyed by names can be asked without making one.
    fn borrow(&self) -> &[u8] {
        &self.folded
    }
}
