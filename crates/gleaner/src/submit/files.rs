//! The files that a job sends along: found, hashed, and uploaded where the coordinator does not have them.
//!
//! Where a name differs from task to task, each task gets the files that the name stands for with its own parameters.

use crate::api::Api;
use crate::failure::Failure;
use crate::progress;
use gleaner_wire::BlobHash;
use gleaner_wire::job::{Input, JobSpec, OwnInputs, fill_in};
use gleaner_wire::limits::{BLOB_BYTES_MAX, ITEMS_MAX, OWN_INPUTS_MAX};
use gleaner_workload::submit::{JobDescription, LocalFile, is_pattern, matching};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

/// The files of one job, hashed.
pub(super) struct Sending {
    inputs: Files,
    /// Of which each task gets its own.
    own: Vec<OwnFiles>,
    stdin: Option<Hashed>,
}

/// Files by their names in a task's folder.
#[derive(Default)]
struct Files(BTreeMap<String, Hashed>);

/// Files that differ from task to task.
struct OwnFiles {
    /// Their name as the user gave it, with parameters.
    of: String,
    /// By that name, with a task's parameters filled in.
    files: BTreeMap<String, Files>,
}

struct Hashed {
    from: PathBuf,
    blob: BlobHash,
    size: u64,
    executable: bool,
}

impl Sending {
    /// Finds and hashes all that `job` names.
    pub(super) fn of(job: &JobDescription) -> Result<Self, Failure> {
        let mut sending = Self { inputs: Files::default(), own: Vec::new(), stdin: None };
        let mut own_count = 0;
        for (file, sources) in job.inputs.iter().zip(own_sources(job)?) {
            let added = if sources.is_empty() {
                sending.inputs.add_all(&file.source, file)
            } else {
                OwnFiles::of(file, sources, &mut own_count).map(|own| sending.own.push(own))
            };
            added.map_err(|failure| at_place(file, failure))?;
        }
        sending.check_names(&job.spec)?;
        if let Some(file) = &job.stdin {
            let name = &file.source;
            let hashed = if differs(name, &job.spec) {
                let why = "standard input is one file for all tasks of a job, and this one differs from task to task: \
                           send the files as inputs, and let each task read its own";
                Err(Failure::Usage(why.to_owned()))
            } else {
                hash(&file.folder.join(name), false)
            };
            sending.stdin = Some(hashed.map_err(|failure| at_place(file, failure))?);
        }
        Ok(sending)
    }

    /// The job with the hashes in it.
    pub(super) fn spec(&self, spec: &JobSpec) -> JobSpec {
        let own_inputs = self.own.iter().map(|own| OwnInputs {
            of: own.of.clone(),
            files: own.files.iter().map(|(name, files)| (name.clone(), files.inputs())).collect(),
        });
        let stdin = self.stdin.as_ref().map(|file| file.blob);
        JobSpec { inputs: self.inputs.inputs(), own_inputs: own_inputs.collect(), stdin, ..spec.clone() }
    }

    /// Sends what the coordinator does not have.
    pub(super) fn upload(&self, grid: &Api) -> Result<(), Failure> {
        let files: BTreeMap<&BlobHash, &Hashed> =
            self.all().chain(&self.stdin).map(|file| (&file.blob, file)).collect();
        let bar = progress::bar(files.values().map(|file| file.size).sum(), "bytes");
        for file in files.into_values() {
            if !grid.has_blob(&file.blob)? {
                let mut opened =
                    File::open(&file.from).map_err(|error| Failure::io("read", &file.from, error))?;
                grid.upload(&file.blob, &mut opened, file.size)?;
            }
            bar.inc(file.size);
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Hashed> {
        let own = self.own.iter().flat_map(|own| own.files.values());
        std::iter::once(&self.inputs).chain(own).flat_map(|files| files.0.values())
    }

    /// No two files of one task may go by one name.
    fn check_names(&self, spec: &JobSpec) -> Result<(), Failure> {
        // Who has each name first, and all who have one that another has too.
        let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut sharing: BTreeSet<usize> = BTreeSet::new();
        for (position, own) in self.own.iter().enumerate() {
            for files in own.files.values() {
                self.inputs.check_beside(files)?;
                for name in files.0.keys() {
                    let first = *firsts.entry(name).or_insert(position);
                    if first != position {
                        sharing.extend([first, position]);
                    }
                }
            }
        }
        // Most jobs have no two names alike, and need no look at each task.
        if sharing.is_empty() {
            return Ok(());
        }
        for task in 0..spec.tasks.count() {
            let parameters = spec.tasks.parameters(task);
            let mut of_task: BTreeMap<&str, &Hashed> = BTreeMap::new();
            for own in sharing.iter().map(|position| &self.own[*position]) {
                for (name, file) in &own.files[&fill_in(&own.of, &parameters)].0 {
                    if let Some(other) = of_task.insert(name, file) {
                        check_same(name, other, file)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The names that each input has over all tasks, where it differs from task to task; none where it does not. Each is a file at
/// least, so that what is too much is refused before any is read.
fn own_sources(job: &JobDescription) -> Result<Vec<BTreeSet<String>>, Failure> {
    let tasks = &job.spec.tasks;
    let mut count = 0;
    let of_input = |file: &LocalFile| -> Result<BTreeSet<String>, Failure> {
        let mut sources = BTreeSet::new();
        let positions = if differs(&file.source, &job.spec) { tasks.count() } else { 0 };
        for position in 0..positions {
            if sources.insert(fill_in(&file.source, &tasks.parameters(position))) {
                count += 1;
                check_own(count)?;
            }
        }
        Ok(sources)
    };
    job.inputs.iter().map(of_input).collect()
}

/// Whether a job may have so many files, over all its tasks and inputs, of which not every task gets each.
fn check_own(count: usize) -> Result<(), Failure> {
    if count > OWN_INPUTS_MAX {
        return Err(Failure::Usage(format!(
            "the inputs that differ from task to task are more than {OWN_INPUTS_MAX} files, which is too many for one \
             job: submit its tasks as several jobs"
        )));
    }
    Ok(())
}

impl OwnFiles {
    /// `count` has how many there are of the job's inputs before this one, and then with it.
    fn of(file: &LocalFile, sources: BTreeSet<String>, count: &mut usize) -> Result<Self, Failure> {
        let mut files: BTreeMap<String, Files> = BTreeMap::new();
        for source in sources {
            let mut found = Files::default();
            found.add_all(&source, file)?;
            *count += found.0.len();
            check_own(*count)?;
            files.insert(source, found);
        }
        Ok(Self { of: file.source.clone(), files })
    }
}

impl Files {
    fn inputs(&self) -> Vec<Input> {
        let input = |(path, file): (&String, &Hashed)| Input {
            path: path.clone(),
            blob: file.blob,
            executable: file.executable,
        };
        self.0.iter().map(input).collect()
    }

    /// What `source` names: a file, a folder, or a pattern of them.
    fn add_all(&mut self, source: &str, file: &LocalFile) -> Result<(), Failure> {
        let whole = file.folder.join(source);
        let found = if is_pattern(source) && !whole.exists() {
            matching(&file.folder, source, "an input")?
        } else {
            vec![source.to_owned()]
        };
        if found.is_empty() {
            return Err(Failure::Usage(format!("no file matches the input \"{}\"", whole.display())));
        }
        if found.len() > 1 && file.target.is_some() {
            let why = format!("\"{source}\" is {} files, which cannot all have one name", found.len());
            return Err(Failure::Usage(why));
        }
        for name in found {
            let target = file.target.clone().map_or_else(|| own_name(&name), Ok)?;
            self.add(&file.folder.join(&name), target, file.executable)?;
        }
        Ok(())
    }

    fn check_beside(&self, others: &Self) -> Result<(), Failure> {
        others.0.iter().try_for_each(|(name, file)| self.check_name(name, file))
    }

    fn check_name(&self, target: &str, file: &Hashed) -> Result<(), Failure> {
        self.0.get(target).map_or(Ok(()), |other| check_same(target, other, file))
    }

    /// A file, or all that is in a folder.
    fn add(&mut self, path: &Path, target: String, executable: bool) -> Result<(), Failure> {
        let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
        if !metadata.is_dir() {
            let hashed = hash(path, executable)?;
            return self.insert(target, hashed);
        }
        let mut entries = path.read_dir().map_err(|error| unreadable(path, &error))?.peekable();
        if entries.peek().is_none() {
            anstream::eprintln!(
                "warning: {} is an empty folder, and only files are sent: have the program make it",
                path.display()
            );
        }
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(path, &error))?;
            let name = entry.file_name().into_string().map_err(|name| {
                Failure::Usage(format!("{}: names of inputs must be UTF-8", name.display()))
            })?;
            let below = if target.is_empty() { name } else { format!("{target}/{name}") };
            self.add(&entry.path(), below, executable)?;
        }
        Ok(())
    }

    fn insert(&mut self, target: String, file: Hashed) -> Result<(), Failure> {
        self.check_name(&target, &file)?;
        self.0.insert(target, file);
        if self.0.len() > ITEMS_MAX {
            let why = format!("more than {ITEMS_MAX} input files: pack them into an archive");
            return Err(Failure::Usage(why));
        }
        Ok(())
    }
}

/// What goes by one name has to be one file.
fn check_same(name: &str, one: &Hashed, other: &Hashed) -> Result<(), Failure> {
    if one.from == other.from {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{} and {} would both be \"{name}\" in the task's folder",
        one.from.display(),
        other.from.display()
    )))
}

/// Whether `text` contains a parameter.
fn differs(text: &str, spec: &JobSpec) -> bool {
    spec.tasks.count() > 0 && fill_in(text, &spec.tasks.parameters(0)) != text
}

/// The last part of a path; nothing for a folder that ends in `/`, whose contents are meant.
fn own_name(path: &str) -> Result<String, Failure> {
    if path.ends_with('/') {
        return Ok(String::new());
    }
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.map(str::to_owned)
        .ok_or_else(|| Failure::Usage(format!("the input \"{path}\" has no name of its own")))
}

fn hash(path: &Path, executable: bool) -> Result<Hashed, Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe is no file that can be sent, and is not waited for to say so.
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(without_waiting).open(path);
    let mut file = file.map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(Failure::Usage(format!("{} is no file that can be sent", path.display())));
    }
    let mut hasher = blake3::Hasher::new();
    // What is hashed counts, should the file be growing.
    let size = std::io::copy(&mut file, &mut hasher).map_err(|error| unreadable(path, &error))?;
    if size > BLOB_BYTES_MAX {
        let why = format!("{} is larger than the {} GiB of an input", path.display(), BLOB_BYTES_MAX >> 30);
        return Err(Failure::Usage(why));
    }
    let blob = BlobHash::from(hasher.finalize());
    Ok(Hashed { from: path.to_owned(), blob, size, executable: executable || may_be_run(&metadata) })
}

fn may_be_run(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

/// What is wrong with a file is said with where the description names it.
fn at_place(file: &LocalFile, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(why) if !file.at.is_empty() => Failure::Usage(format!("{}: {why}", file.at)),
        other => other,
    }
}

/// An input that is not there is the user's mistake, not ours.
fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot read the input {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::job::TaskList;
    use gleaner_workload::submit::condor::{self, Surroundings};
    use gleaner_workload::submit::{Source, array, read_job_file};

    /// The names in a task's folder of what `inputs` sends, or the error.
    fn sent(inputs: &[(&str, Option<&str>)]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["run", "a.csv", "b.csv", "data/c.bin", "data/in/d.bin", "in.1", "in.2", "in.3"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
            std::fs::write(path, name).expect("a file is written");
        }
        let root = format!("{}/", folder.path().display());
        let mut job = read_job_file(&Source::new("job", "command = ['run']")).expect("a job").job;
        job.spec.tasks = array("a test", "1-3").expect("numbers");
        job.inputs = inputs
            .iter()
            .map(|(source, target)| LocalFile {
                target: target.map(str::to_owned),
                ..LocalFile::new(format!("{root}{source}"))
            })
            .collect();
        match Sending::of(&job) {
            Ok(Sending { inputs, own, .. }) => {
                let names = |files: Files| files.0.into_keys().collect::<Vec<_>>().join(" ");
                let own = own.into_iter().flat_map(|own| own.files.into_values().map(names));
                std::iter::once(names(inputs))
                    .filter(|names| !names.is_empty())
                    .chain(own)
                    .collect::<Vec<_>>()
                    .join(" | ")
            }
            Err(failure) => failure.to_string().replace(&root, ""),
        }
    }

    #[test]
    fn the_folder_of_a_job_file_is_no_pattern_and_has_no_parameters() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("run[1] {a}");
        std::fs::create_dir(&folder).expect("a folder is made");
        std::fs::write(folder.join("in.txt"), "").expect("a file is written");
        let mut job = read_job_file(&Source::new("job", "command = ['run']")).expect("a job").job;
        job.spec.tasks = TaskList::Sweep { axes: vec![("a".to_owned(), vec!["1".to_owned()])] };
        for name in ["*.txt", "in.txt"] {
            job.inputs = vec![LocalFile { folder: folder.clone(), ..LocalFile::new(name) }];
            let sending = Sending::of(&job).map_err(|failure| failure.to_string()).expect("it is there");
            assert!(sending.own.is_empty() && sending.inputs.0.keys().eq(["in.txt"]), "{name}");
        }
    }

    #[test]
    fn names_patterns_and_folders() {
        for (inputs, expected) in [
            (vec![("run", None), ("a.csv", Some("x/y.csv"))], "run x/y.csv"),
            (vec![("*.csv", None)], "a.csv b.csv"),
            (vec![("data", None)], "data/c.bin data/in/d.bin"),
            (vec![("data/", None)], "c.bin in/d.bin"),
            (vec![("data", Some("e"))], "e/c.bin e/in/d.bin"),
            (vec![("run", None), ("in.{GLEANER_INDEX}", None)], "run | in.1 | in.2 | in.3"),
            (vec![("in.{GLEANER_INDEX}", Some("in"))], "in | in | in"),
            (
                vec![("in.{GLEANER_INDEX}", Some("part-{GLEANER_INDEX}"))],
                ["part-{GLEANER_INDEX}"; 3].join(" | ").as_str(),
            ),
            (
                vec![("missing", None)],
                "cannot read the input missing: No such file or directory (os error 2)",
            ),
            (vec![("*.png", None)], "no file matches the input \"*.png\""),
            (vec![("*.csv", Some("x"))], "\"*.csv\" is 2 files, which cannot all have one name"),
            (
                vec![("a.csv", None), ("b.csv", Some("a.csv"))],
                "a.csv and b.csv would both be \"a.csv\" in the task's folder",
            ),
            (
                vec![("a.csv", Some("in")), ("in.{GLEANER_INDEX}", Some("in"))],
                "a.csv and in.1 would both be \"in\" in the task's folder",
            ),
            (
                vec![("in.{GLEANER_INDEX}", Some("in")), ("../{GLEANER_INDEX}/in", Some("in"))],
                "cannot read the input ../1/in: No such file or directory (os error 2)",
            ),
        ] {
            assert_eq!(sent(&inputs), expected);
        }
    }

    #[test]
    fn a_file_that_is_missing_is_named_with_where_a_description_names_it() {
        let said = |job: &JobDescription| Sending::of(job).err().expect("nothing is there").to_string();
        let toml = "command = ['run']\ninputs = ['gone']";
        let job = read_job_file(&Source::new("j.toml", toml)).expect("a job").job;
        assert!(said(&job).starts_with("j.toml:2: inputs"), "{}", said(&job));
        assert!(said(&job).contains(": cannot read the input gone: "), "{}", said(&job));
        let of_submit_file = |text: &str| {
            let environment = BTreeMap::new();
            let folder = Path::new("");
            let around = Surroundings { folder, environment: &environment, macros: &[], ignored: &[] };
            let read = condor::read(&Source::new("a.sub", text), &around).expect("a submission");
            said(&read.jobs[0])
        };
        for (text, expected) in [
            ("executable = gone\nqueue", "a.sub:1: executable: cannot read the input gone: "),
            (
                "executable = /e\ntransfer_executable = no\ntransfer_input_files = $(f)\nqueue f in (gone/a gone/b)",
                "a.sub:3: transfer_input_files: cannot read the input gone/a: ",
            ),
            (
                "executable = /e\ntransfer_executable = no\ninput = in.$(Process)\nqueue 2",
                "a.sub:3: input: standard input is one file for all tasks of a job, ",
            ),
        ] {
            let found = of_submit_file(text);
            assert!(found.starts_with(expected), "{found}");
        }
    }

    fn file(source: &str) -> LocalFile {
        LocalFile::new(source)
    }

    #[test]
    fn own_files_of_all_inputs_together_are_counted_before_any_is_read() {
        let mut job = read_job_file(&Source::new("job", "command = ['run']")).expect("a job").job;
        job.inputs =
            vec![file("missing/all"), file("missing/a{GLEANER_INDEX}"), file("missing/b{GLEANER_INDEX}")];
        let most = OWN_INPUTS_MAX / 2;
        for (tasks, expected) in [
            (most, "cannot read the input missing/all: "),
            (most + 1, "the inputs that differ from task to task are more than 100000 files, "),
        ] {
            job.spec.tasks = array("a test", &format!("1-{tasks}")).expect("numbers");
            let refused = Sending::of(&job).err().expect("nothing is there").to_string();
            assert!(refused.starts_with(expected), "{tasks}: {refused}");
        }
    }

    /// Each with each they are billions of pairs, which nobody would see the end of.
    #[test]
    fn names_of_very_many_own_files_are_not_compared_each_with_each() {
        let tasks = 50_000;
        let spec = JobSpec {
            tasks: array("a test", &format!("1-{tasks}")).expect("numbers"),
            ..JobSpec::new(["run"])
        };
        let own = |folder: &str, name: &str| {
            let of_task = |task: u32| {
                let from = PathBuf::from(format!("{folder}/{task}"));
                let hashed =
                    Hashed { from, blob: BlobHash::from(blake3::hash(b"")), size: 0, executable: false };
                (format!("{folder}/{task}"), Files(BTreeMap::from([(name.to_owned(), hashed)])))
            };
            OwnFiles { of: format!("{folder}/{{GLEANER_INDEX}}"), files: (1..=tasks).map(of_task).collect() }
        };
        let sending = |own| Sending { inputs: Files::default(), own, stdin: None };
        let apart = sending(vec![own("a", "in"), own("b", "cfg")]);
        assert!(apart.check_names(&spec).is_ok());
        let alike = sending(vec![own("a", "in"), own("b", "cfg"), own("c", "in")]);
        let refused = alike.check_names(&spec).expect_err("two are alike").to_string();
        assert_eq!(refused, "a/1 and c/1 would both be \"in\" in the task's folder");
    }
}
