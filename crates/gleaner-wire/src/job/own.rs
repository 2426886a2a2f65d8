//! Files that differ from task to task.

use super::filling::fill_in_at_most;
use super::{Input, JobSpec, fill_in};
use crate::BlobHash;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Files of which each task finds its own in its folder: those that lie under what [`of`](Self::of) comes to with its
/// parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnInputs {
    /// Whose files are whose, as `data/part-{GLEANER_INDEX}.csv`.
    pub of: String,
    /// The files, by what that comes to, as `data/part-7.csv`.
    pub files: BTreeMap<String, Vec<Input>>,
}

/// Which tasks of a job read a file.
#[derive(Clone, Debug)]
pub enum ReadBy<'a> {
    /// Each of them.
    All,
    /// Those of which it is an input of their own.
    Some(Vec<Whose<'a>>),
    /// None of them.
    None,
}

/// Whose own a file is: of tasks for which [`OwnInputs::of`] comes to one of some texts.
#[derive(Clone, Debug)]
pub struct Whose<'a> {
    of: &'a str,
    texts: BTreeSet<&'a str>,
    longest: usize,
}

impl Whose<'_> {
    /// Whether a task with these parameters is one of those. Asks for no more of them than a text could have.
    pub(super) fn has<'v>(&self, parameter: impl FnMut(&str) -> Option<Cow<'v, str>>) -> bool {
        let text = fill_in_at_most(self.of, self.longest, parameter);
        text.is_some_and(|text| self.texts.contains(text.as_str()))
    }
}

impl OwnInputs {
    /// Whose own a file is, if it is anybody's here. Costs O(files).
    pub(super) fn whose(&self, file: &BlobHash) -> Option<Whose<'_>> {
        let with_it = self.files.iter().filter(|(_, files)| files.iter().any(|input| input.blob == *file));
        let texts: BTreeSet<&str> = with_it.map(|(text, _)| text.as_str()).collect();
        let longest = texts.iter().map(|text| text.len()).max()?;
        Some(Whose { of: &self.of, texts, longest })
    }

    /// The files of the task with these parameters; none where nobody thought of it.
    pub fn of_task(&self, parameters: &[(&str, String)]) -> Option<&[Input]> {
        self.files.get(&fill_in(&self.of, parameters)).map(Vec::as_slice)
    }

    /// How many files there are, of all tasks.
    pub fn count(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }
}

impl JobSpec {
    /// Which of its tasks read a file. Costs O(its files).
    pub fn read_by(&self, file: &BlobHash) -> ReadBy<'_> {
        if self.stdin.as_ref() == Some(file) || self.inputs.iter().any(|input| input.blob == *file) {
            return ReadBy::All;
        }
        let whose: Vec<Whose<'_>> = self.own_inputs.iter().filter_map(|own| own.whose(file)).collect();
        if whose.is_empty() { ReadBy::None } else { ReadBy::Some(whose) }
    }

    /// Whether the task at a position is one of these. What its parameters have that cannot matter is not looked at: they may be long.
    pub fn is_read_by(&self, read_by: &ReadBy<'_>, position: u32) -> bool {
        match read_by {
            ReadBy::All => true,
            ReadBy::Some(whose) => {
                whose.iter().any(|whose| whose.has(|name| self.tasks.parameter(name, position)))
            }
            ReadBy::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TaskList;
    use super::*;

    #[test]
    fn a_file_is_read_by_all_tasks_or_by_those_whose_own_it_is() {
        let input = |name: &str| Input {
            path: name.to_owned(),
            blob: BlobHash::of(name.as_bytes()),
            executable: false,
        };
        let own = OwnInputs {
            of: "{a}".to_owned(),
            files: [("1", "one"), ("2", "two"), ("3", "three")]
                .map(|(value, name)| (value.to_owned(), vec![input(name)]))
                .into(),
        };
        let values = |values: &[&str]| values.iter().map(ToString::to_string).collect();
        let tasks = TaskList::Sweep {
            axes: vec![("a".into(), values(&["1", "2"])), ("b".into(), values(&["x", "y", "z"]))],
        };
        let stdin = Some(BlobHash::of(b"words"));
        let job = JobSpec { tasks, inputs: vec![input("data")], stdin, ..JobSpec::new(["run"]) };
        let with_own = JobSpec { own_inputs: vec![own], ..job.clone() };
        let all = || (0..6).collect::<Vec<u32>>();
        for (name, of_all, with_own_to) in [
            ("data", all(), all()),
            ("words", all(), all()),
            ("one", vec![], vec![0, 1, 2]),
            ("two", vec![], vec![3, 4, 5]),
            ("three", vec![], vec![]),
            ("other", vec![], vec![]),
        ] {
            let file = BlobHash::of(name.as_bytes());
            for (job, expected) in [(&job, of_all), (&with_own, with_own_to)] {
                let read_by = job.read_by(&file);
                let found: Vec<u32> =
                    all().into_iter().filter(|&position| job.is_read_by(&read_by, position)).collect();
                assert_eq!(found, expected, "{name}");
            }
        }
    }

    /// Each run of a machine had all parameters of its task made, for each look.
    #[test]
    fn no_more_parameters_are_asked_for_than_a_text_could_have() {
        let input = Input { path: "in".to_owned(), blob: BlobHash::of(b"in"), executable: false };
        let own = OwnInputs { of: "{a}/{b}".to_owned(), files: [("short/1".to_owned(), vec![input])].into() };
        let whose = own.whose(&BlobHash::of(b"in")).expect("it is somebody's");
        let long = "x".repeat(1 << 17);
        for (values, expected) in
            [(["short", "1"], (true, 2)), (["short", "2"], (false, 2)), ([long.as_str(), "1"], (false, 1))]
        {
            let mut asked = 0;
            let is_read = whose.has(|name| {
                asked += 1;
                Some(Cow::Borrowed(values[usize::from(name == "b")]))
            });
            assert_eq!((is_read, asked), expected);
        }
    }
}
