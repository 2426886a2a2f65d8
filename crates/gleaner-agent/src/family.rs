//! Processes by their kinship, as the kernel lists children: for looking at them. Who ends processes has to miss none
//! ([`crate::keeper`]).

use std::fs;

/// Processes that are looked for below one; those beyond it are not seen.
const PROCESSES_MAX: usize = 16_384;

/// A process and all that it and they have started and that still live.
pub(crate) fn family(first: u32) -> Vec<u32> {
    let mut found = vec![first];
    let mut looked_at = 0;
    while looked_at < found.len() && found.len() < PROCESSES_MAX {
        let tasks = format!("/proc/{}/task", found[looked_at]);
        looked_at += 1;
        // Whoever is gone by now has left its use to its parent.
        for thread in fs::read_dir(tasks).into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    found
}

/// All that this process has started, and they, and that still live.
pub(crate) fn descendants() -> impl Iterator<Item = u32> {
    // The first is this process.
    family(std::process::id()).into_iter().skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_includes_children_that_live_and_no_others() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found = family(std::process::id());
        let (has_self, has_child) = (found.contains(&std::process::id()), found.contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_self && has_child && !found.contains(&1));
        assert!(!family(std::process::id()).contains(&child.id()));
    }
}
