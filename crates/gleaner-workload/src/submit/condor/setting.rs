//! One `key = value` of a submit file.

/// One `name = value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    /// As it is written.
    pub(super) name: String,
    pub(super) value: String,
    pub(super) line: u64,
    /// Whether the user wants it to mean nothing; as a macro it still does.
    pub(super) is_ignored: bool,
}
