//! Which names the inputs of a task can have in its folder: such as every machine can make, one beside the other.

use super::{Input, JobSpec};
use crate::limits::{FILE_NAME_BYTES_MAX, WORD_BYTES_MAX};
use crate::task_folder::{ANSWERS, CHECKPOINT, STDIN, TEMPORARY};
use std::cmp::Ordering;

/// Whether a text can be the path of something within a folder.
pub fn stays_inside(path: &str) -> bool {
    let bounded = !path.is_empty() && path.len() <= WORD_BYTES_MAX && !path.contains('\0');
    bounded && !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

impl JobSpec {
    /// Whether a machine can make all inputs in the folder of a task, as far as their names say before any parameter is filled in. Of files
    /// that differ from task to task, those under one name are looked at beside the others, and not those under several. Costs O(names).
    pub fn check_inputs(&self) -> Result<(), String> {
        let own = self.own_inputs.iter().flat_map(|own| own.files.values());
        let paths = self.inputs.iter().chain(own.clone().flatten()).map(|input| input.path.as_str());
        let folders = self.folders();
        paths.clone().try_for_each(|path| check_alone(path, &folders))?;
        let stdin = self.stdin.is_some().then_some(STDIN);
        let common = sorted(self.inputs.iter().map(|input| input.path.as_str()).chain(stdin));
        check_neighbours(&common)?;
        for files in own {
            check_neighbours(&sorted(files.iter().map(|Input { path, .. }| path.as_str())))?;
            files.iter().try_for_each(|Input { path, .. }| check_beside(path, &common))?;
        }
        Ok(())
    }

    fn folders(&self) -> Vec<&'static str> {
        let goes_on = self.checkpoint.folder || self.checkpoint.exit_code.is_some();
        let answers = ANSWERS.into_iter().filter(|_| !self.compare.is_empty());
        std::iter::once(TEMPORARY).chain(goes_on.then_some(CHECKPOINT)).chain(answers).collect()
    }
}

fn check_alone(path: &str, folders: &[&str]) -> Result<(), String> {
    if !stays_inside(path) || path.split('/').any(|part| part == ".") || parts(path).next().is_none() {
        return Err(format!(
            "\"{path}\" is no name within the task's folder: expected a relative path without \".\" and \"..\""
        ));
    }
    // What is filled in may be shorter than what stands there for it.
    if let Some(part) = parts(path).find(|part| part.len() > FILE_NAME_BYTES_MAX && !part.contains('{')) {
        return Err(format!(
            "the name of an input has {} bytes between two slashes; at most {FILE_NAME_BYTES_MAX} are taken, as a file's name may have: \"{part}\"",
            part.len()
        ));
    }
    match folders.iter().find(|folder| is_within(folder, path)) {
        Some(folder) => {
            Err(format!("\"{path}\" can be no input: the task has a folder {folder} in its folder"))
        }
        None => Ok(()),
    }
}

/// In order, no two of these may be one file, or one a file within the other.
fn check_neighbours(sorted: &[&str]) -> Result<(), String> {
    sorted.windows(2).try_for_each(|pair| check_pair(pair[0], pair[1]))
}

/// Of names that go beside each other, only those next to another can be in its way.
fn check_beside(path: &str, sorted: &[&str]) -> Result<(), String> {
    let at = sorted.partition_point(|other| order(other, path) == Ordering::Less);
    if let Some(before) = at.checked_sub(1) {
        check_pair(sorted[before], path)?;
    }
    sorted.get(at).map_or(Ok(()), |next| check_pair(path, next))
}

/// The first is no later than the second.
fn check_pair(first: &str, second: &str) -> Result<(), String> {
    if !is_within(second, first) {
        Ok(())
    } else if is_within(first, second) {
        Err(format!("two inputs are \"{second}\" in the task's folder: expected each name once"))
    } else {
        Err(format!(
            "the inputs \"{first}\" and \"{second}\" cannot lie in one folder: the first is a file, and the second lies within it"
        ))
    }
}

fn sorted<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut paths: Vec<&str> = paths.collect();
    paths.sort_unstable_by(|one, other| order(one, other));
    paths
}

/// What lies within something comes right behind it.
fn order(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other))
}

/// Whether a path is another, or goes on from there.
fn is_within(path: &str, other: &str) -> bool {
    let mut path = parts(path);
    parts(other).all(|part| path.next() == Some(part))
}

/// Several slashes count as one.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlobHash;
    use crate::job::OwnInputs;
    use std::collections::BTreeMap;

    fn files(paths: &str) -> Vec<Input> {
        let blob = BlobHash::from([0; 32]);
        let paths = paths.split_whitespace();
        paths.map(|path| Input { path: path.to_owned(), blob, executable: false }).collect()
    }

    fn said(inputs: &str, own: &str, change: impl Fn(&mut JobSpec)) -> String {
        let mut job = JobSpec::new(["true"]);
        job.inputs = files(inputs);
        let own = BTreeMap::from([("1".to_owned(), files(own)), ("2".to_owned(), files(own))]);
        job.own_inputs = vec![OwnInputs { of: "{GLEANER_INDEX}".to_owned(), files: own }];
        change(&mut job);
        job.check_inputs().err().unwrap_or_default()
    }

    #[test]
    fn names_that_no_machine_can_make() {
        for (inputs, own, expected) in [
            ("a b/c b/d x//y .tmp/x .checkpoint .stdin {a}/b", "e b/f {a}/c", ""),
            ("a a-b a/", "", "two inputs are \"a/\""),
            ("a", "a", "two inputs are \"a\""),
            ("", "b/c b//c", "two inputs are \"b//c\""),
            ("a a-b a/b", "", "\"a\" and \"a/b\" cannot"),
            ("a/b/c a-b", "a/b", "\"a/b\" and \"a/b/c\" cannot"),
            ("a/b a-b", "a/b/c", "\"a/b\" and \"a/b/c\" cannot"),
            (".", "", "is no name within"),
            ("./a", "", "is no name within"),
            ("a/./b", "", "is no name within"),
            ("", "a/../b", "is no name within"),
            ("/a", "", "is no name within"),
            (".tmp", "", "has a folder .tmp"),
            ("", ".tmp/", "has a folder .tmp"),
        ] {
            let said = said(inputs, own, |_| {});
            assert!(
                said.contains(expected) && said.is_empty() == expected.is_empty(),
                "{inputs}, {own}: {said}"
            );
        }
    }

    #[test]
    fn a_name_is_as_long_as_a_files_name_may_be() {
        let long = |more: usize| format!("a/{}/b", "x".repeat(FILE_NAME_BYTES_MAX + more));
        assert_eq!(said(&long(0), "", |_| {}), "");
        assert!(said(&long(1), "", |_| {}).contains("at most 255 are taken"));
        assert!(said("", &long(1), |_| {}).contains("at most 255 are taken"));
    }

    #[test]
    fn what_is_there_already_is_no_input() {
        for (input, change) in [
            (".checkpoint", (|job| job.checkpoint.folder = true) as fn(&mut JobSpec)),
            (".checkpoint", |job| job.checkpoint.exit_code = Some(85)),
            (".answers", |job| job.compare = vec!["cmp".to_owned()]),
            (".answers/2", |job| job.compare = vec!["cmp".to_owned()]),
            (".stdin", |job| job.stdin = Some(BlobHash::from([0; 32]))),
            (".stdin/a", |job| job.stdin = Some(BlobHash::from([0; 32]))),
        ] {
            assert_eq!(said(input, "", |_| {}), "", "{input}");
            assert_ne!(said(input, "", change), "", "{input}");
            assert_ne!(said("", input, change), "", "{input} of a task");
        }
    }
}
