//! x
use super::Findings;
impl Findings {
    /// x
    pub fn files(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
