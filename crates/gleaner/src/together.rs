//! Which jobs the last submission from here made, where they were several: what `last` stands for. The coordinator takes in one job
//! after the other, and does not know that one description made them.

use crate::files::write_json;
use gleaner_net::Fingerprint;
use gleaner_wire::JobId;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

const FILE: &str = "last.json";

#[derive(Serialize, Deserialize)]
struct Together {
    version: u32,
    /// Of which grid they are.
    fingerprint: String,
    jobs: Vec<JobId>,
}

/// Writes down what one submission made; of one job alone there is nothing to write down. Whoever cannot write there hears of it: the
/// jobs are submitted all the same.
pub(crate) fn note(folder: &Path, grid: Fingerprint, jobs: &[JobId]) {
    if jobs.len() < 2 {
        // What an earlier submission made is not the last any more.
        drop(fs::remove_file(folder.join(FILE)));
        return;
    }
    let together = Together { version: 1, fingerprint: grid.to_string(), jobs: jobs.to_vec() };
    // As a coordinator would make it.
    drop(DirBuilder::new().recursive(true).mode(0o700).create(folder));
    if let Err(error) = write_json(folder, FILE, &together) {
        anstream::eprintln!("warning: `last` will be the last of these jobs alone: {error}");
    }
}

/// The jobs that were submitted together with this one, if that is known and they were the last from here. Some may be gone since, or, where
/// an older journal was put back, be another user's.
pub(crate) fn find(folder: &Path, grid: Fingerprint, job: JobId) -> Option<Vec<JobId>> {
    let text = fs::read_to_string(folder.join(FILE)).ok()?;
    let Together { version, fingerprint, jobs } = serde_json::from_str(&text).ok()?;
    (version == 1 && fingerprint == grid.to_string() && jobs.contains(&job)).then_some(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_one_submission_are_known_until_the_next() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("home");
        let grid = |byte: &str| byte.repeat(32).parse::<Fingerprint>().expect("a fingerprint");
        let jobs = vec![JobId(33), JobId(34)];
        assert_eq!(find(&folder, grid("ab"), JobId(34)), None, "nothing was written down");
        note(&folder, grid("ab"), &jobs);
        assert_eq!(find(&folder, grid("ab"), JobId(34)), Some(jobs));
        assert_eq!(find(&folder, grid("ab"), JobId(35)), None, "somebody submitted elsewhere since");
        assert_eq!(find(&folder, grid("cd"), JobId(34)), None, "another grid's");
        note(&folder, grid("ab"), &[JobId(34)]);
        assert_eq!(find(&folder, grid("ab"), JobId(34)), None, "of an older journal that was put back");
    }
}
