//! Which vector instructions there are: asked here by all that runs in vectors, so that a test can ask for less.

use fearless_simd::Level;

/// The most that this processor has; in a test, what the test says.
pub(crate) fn level() -> Level {
    #[cfg(test)]
    if let Some(level) = tests::SAID.get() {
        return level;
    }
    Level::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
    use crate::{Heuristic, Mapping, Matrix, reference};
    use std::cell::Cell;

    thread_local! {
        pub(super) static SAID: Cell<Option<Level>> = const { Cell::new(None) };
    }

    fn heuristics() -> [Heuristic; 8] {
        Heuristic::NAMES.map(|name| name.replace('P', "20").parse().expect("a name"))
    }

    /// All that this processor can do, from the most to the least.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn levels() -> Vec<Level> {
        let most = Level::new();
        let less = [
            most.as_avx2().map(Level::Avx2),
            most.as_sse4_2().map(Level::Sse4_2),
            most.as_sse2().map(Level::Sse2),
        ];
        std::iter::once(most).chain(less.into_iter().flatten()).collect()
    }

    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
    fn levels() -> Vec<Level> {
        vec![Level::new()]
    }

    fn at(level: Level, map: impl FnOnce() -> Mapping) -> Mapping {
        SAID.set(Some(level));
        let mapping = map();
        SAID.set(None);
        mapping
    }

    #[test]
    fn all_instructions_give_the_mapping_of_the_reference() {
        let kinds: [fn(usize, usize, u64) -> Matrix; 3] =
            [random_matrix, consistent_matrix, semi_consistent_matrix];
        for make in kinds {
            let matrix = make(300, 41, 3);
            for heuristic in heuristics() {
                let expected = reference::map(heuristic, &matrix);
                for level in levels() {
                    assert_eq!(at(level, || heuristic.map(&matrix)), expected, "{heuristic} on {level:?}");
                }
            }
        }
    }
}
