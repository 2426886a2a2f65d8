/// How a paper was taken where its text is open or does not add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// What it is about.
    pub topic: &'static str,
    /// What the paper has.
    pub paper: &'static str,
    /// What was done.
    pub taken: &'static str,
    /// Why.
    pub why: &'static str,
}
