//! What the letters of a third argument ask for.

/// The options that are set by letters in a string; others are ignored.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a letter that is there or not")]
pub(in crate::functions) struct Options {
    pub(super) caseless: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) extended: bool,
    /// The result is the whole text with the replacements in it.
    pub(super) full: bool,
    /// Every match is replaced.
    pub(super) global: bool,
}

impl Options {
    pub(super) fn of(letters: &[u8]) -> Self {
        let has = |letter| letters.contains(&letter);
        Self {
            caseless: has(b'i'),
            multi_line: has(b'm'),
            dot_all: has(b's'),
            extended: has(b'x'),
            full: has(b'f'),
            global: has(b'g'),
        }
    }

    /// The same, where capitals count too and only matching is asked for.
    pub(in crate::functions) fn of_any_case(letters: &[u8]) -> Self {
        Self::of(&letters.to_ascii_lowercase())
    }
}
