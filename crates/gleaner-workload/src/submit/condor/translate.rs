//! One process of a submit file as a job of one task.

use super::arguments;
use super::macros::{Scope, evaluated};
use super::setting::Setting;
use super::statements::Batch;
use crate::error::Place;
use crate::submit::quantity::size_in;
use crate::submit::submission::{Notes, Refusals};
use crate::submit::{JobDescription, LocalFile, duration_s, operations};
use gleaner_classad::Expr;
use gleaner_wire::job::{Checkpointing, JobSpec, Needs};
use gleaner_wire::limits::SLOTS_MAX;
use gleaner_wire::outputs::ALL_FILES;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::{BTreeMap, BTreeSet};

/// What stands for the job's number in names of local files, until there is one: no file's name has it.
pub const JOB_NUMBER: &str = "\0";

/// What cannot be honoured, and what is done in another way: no job is of any use where anything is refused.
#[derive(Default)]
pub(super) struct Told {
    pub(super) refused: Refusals,
    pub(super) notes: Notes,
}

/// What the processes of a row have in common, once one of them was translated.
#[derive(Default)]
pub(super) struct Common(Option<(u32, JobSpec)>);

/// The job that one process of a row is. What does not depend on its number is translated once for the row.
pub(super) fn translate(
    batch: &Batch,
    (row, scope): (u32, Scope<'_>),
    common: &mut Common,
    told: &mut Told,
) -> JobDescription {
    let mut translation = Translation::of(batch, scope, told, "");
    let known = common.0.take().filter(|(of, _)| *of == row);
    let spec = known.map_or_else(|| translation.common(), |(_, spec)| spec);
    if !translation.scope.counted.get() {
        common.0 = Some((row, spec.clone()));
    }
    translation.job(spec)
}

/// The job that all processes are in whose scope `mark` stands for the number, and the keys whose values have it.
pub(super) fn translate_all(
    batch: &Batch,
    scope: Scope<'_>,
    told: &mut Told,
    mark: &str,
) -> (JobDescription, BTreeSet<String>) {
    let mut translation = Translation::of(batch, scope, told, mark);
    let spec = translation.common();
    let job = translation.job(spec);
    (job, translation.with_mark)
}

struct Translation<'a> {
    file: &'a Place,
    settings: &'a BTreeMap<String, Setting>,
    queue_line: u64,
    scope: Scope<'a>,
    refused: &'a mut Refusals,
    notes: &'a mut Notes,
    mark: &'a str,
    /// The keys whose values have the mark.
    with_mark: BTreeSet<String>,
}

impl<'a> Translation<'a> {
    fn of(batch: &'a Batch, scope: Scope<'a>, told: &'a mut Told, mark: &'a str) -> Self {
        let Told { refused, notes } = told;
        let (settings, queue_line) = (&*batch.settings, batch.queue.line);
        let file = &batch.place;
        Self { file, settings, queue_line, scope, refused, notes, mark, with_mark: BTreeSet::new() }
    }

    /// All of a job but its texts: what it runs, with what, and which files.
    fn common(&mut self) -> JobSpec {
        self.universe();
        self.transfers();
        self.note("log", "what a log tells, `gleaner history JOB/TASK` and `gleaner watch` tell");
        JobSpec {
            name: self.value("batch_name").or_else(|| self.value("jobbatchname")).unwrap_or_default(),
            length: self.parsed("gleaner_length", length),
            needs: self.needs(),
            requirements: self.parsed("requirements", expression),
            rank: self.parsed("rank", expression),
            priority: self
                .either("priority", "prio", |text| whole(text).map(|number| number as i32))
                .unwrap_or(0),
            retries: self.parsed("max_retries", count).unwrap_or(0),
            checkpoint: self.checkpointing(),
            hold: self.parsed("hold", flag).unwrap_or(false),
            ..JobSpec::new([])
        }
    }

    /// The job, with its texts.
    fn job(&mut self, common: JobSpec) -> JobDescription {
        let (program, executable) = self.program();
        let mut command = vec![program];
        command.extend(self.parsed("arguments", arguments::arguments).unwrap_or_default());
        let mut inputs: Vec<LocalFile> = executable.into_iter().collect();
        inputs
            .extend(self.list("transfer_input_files").unwrap_or_default().iter().map(|name| self.sent(name)));
        let outputs = self.list("transfer_output_files").unwrap_or_else(|| vec![ALL_FILES.to_owned()]);
        let spec = JobSpec { command, env: self.variables(), outputs, ..common };
        let stdin = ["input", "stdin"].into_iter().find_map(|key| {
            let source = self.local(key)?;
            Some(self.file_of(key, source))
        });
        self.scope.cluster = Some(JOB_NUMBER);
        let stdout = self.local("output").or_else(|| self.local("stdout"));
        let stderr = self.local("error").or_else(|| self.local("stderr"));
        JobDescription { inputs, stdin, stdout, stderr, ..JobDescription::new(spec) }
    }

    fn universe(&mut self) {
        let Some(name) = self.value("universe") else { return };
        match name.to_ascii_lowercase().as_str() {
            "vanilla" | "5" => {}
            "local" | "12" | "scheduler" | "7" => {
                self.note(
                    "universe",
                    "it runs on any machine of the grid, not on the one it is submitted from",
                );
            }
            other => self.refuse("universe", format!("there is no universe {other}: use vanilla")),
        }
    }

    fn transfers(&mut self) {
        if let Some(wanted) = self.value("should_transfer_files")
            && !["yes", "if_needed"].contains(&wanted.to_ascii_lowercase().as_str())
        {
            let why = format!("{wanted}: files are always sent, since machines share none: use yes");
            self.refuse("should_transfer_files", why);
        }
        let Some(when) = self.value("when_to_transfer_output") else { return };
        match when.to_ascii_lowercase().as_str() {
            "on_exit" => {}
            "on_success" => self.note("when_to_transfer_output", "what a failed task leaves is kept too"),
            _ => self.refuse(
                "when_to_transfer_output",
                format!("{when}: keep in $GLEANER_CHECKPOINT what is to survive a move, and use on_exit"),
            ),
        }
        if self.find("transfer_checkpoint_files").is_some() {
            let why = "a checkpoint is what lies in the folder $GLEANER_CHECKPOINT: write it there";
            self.refuse("transfer_checkpoint_files", why);
        }
    }

    /// What to run, and the file to send for it.
    fn program(&mut self) -> (String, Option<LocalFile>) {
        let Some(path) = self.value("executable").filter(|path| !path.is_empty()) else {
            if self.find("executable").is_none() {
                self.refused.add(self.queue_line, "queue", "there is no executable to queue");
            }
            return (String::new(), None);
        };
        if !self.parsed("transfer_executable", flag).unwrap_or(true) {
            return (path, None);
        }
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        // The program is found from where the job is submitted, whatever initialdir says.
        let file = LocalFile { executable: true, ..self.file_of("executable", path) };
        (format!("./{name}"), Some(file))
    }

    fn variables(&mut self) -> BTreeMap<String, String> {
        let mut variables = self.inherited();
        let given = self.either("environment", "env", arguments::environment);
        variables.extend(given.unwrap_or_default());
        variables
    }

    fn inherited(&mut self) -> BTreeMap<String, String> {
        let Some(wanted) = self.value("getenv") else { return BTreeMap::new() };
        if flag(&wanted) == Ok(false) {
            return BTreeMap::new();
        }
        let patterns = wanted.split(|c: char| c == ',' || c == ';' || c.is_whitespace());
        let (mut sent, mut kept) = (Vec::new(), Vec::new());
        for pattern in patterns.filter(|pattern| !pattern.is_empty()) {
            let (name, list) =
                pattern.strip_prefix('!').map_or((pattern, &mut sent), |name| (name, &mut kept));
            match GlobBuilder::new(name).case_insensitive(true).build() {
                Ok(glob) => list.push(glob.compile_matcher()),
                Err(_) => self.refuse("getenv", format!("{pattern:?} is no name and no pattern of names")),
            }
        }
        let is_all = |glob: &GlobMatcher| glob.glob().glob().chars().all(|c| c == '*');
        let are_all_but_some = sent.is_empty() && !kept.is_empty();
        if flag(&wanted) == Ok(true) || are_all_but_some || sent.iter().any(is_all) {
            let why = "all variables that are set would go to other machines, secrets too: name those that the \
                       task needs, as getenv = LANG, OMP_*";
            self.refuse("getenv", why.to_owned());
            return BTreeMap::new();
        }
        let is_in = |list: &[GlobMatcher], name: &str| list.iter().any(|glob| glob.is_match(name));
        let all = self.scope.environment.iter();
        let chosen = all.filter(|(name, _)| is_in(&sent, name) && !is_in(&kept, name));
        chosen.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn needs(&mut self) -> Needs {
        let otherwise = Needs::default();
        let size = |base| move |text: &str| size_in(text, base).map_err(|error| error.to_string());
        Needs {
            cores: self.parsed("request_cpus", cores).unwrap_or(otherwise.cores),
            memory: self.parsed("request_memory", size(1 << 20)).unwrap_or(otherwise.memory),
            disk: self.parsed("request_disk", size(1 << 10)).unwrap_or(otherwise.disk),
            time_limit_s: self.parsed("allowed_execute_duration", seconds).unwrap_or(otherwise.time_limit_s),
        }
    }

    fn checkpointing(&mut self) -> Checkpointing {
        let otherwise = Checkpointing::default();
        let exit_code = self.parsed("checkpoint_exit_code", whole).map(|code| code as i32);
        Checkpointing {
            folder: exit_code.is_some(),
            exit_code,
            grace_s: self.parsed("job_max_vacate_time", seconds).unwrap_or(otherwise.grace_s),
        }
    }

    /// A file of the user's, as seen from where the job is submitted.
    fn local(&mut self, key: &str) -> Option<String> {
        let name = self.value(key).filter(|name| !name.is_empty() && name != "/dev/null")?;
        Some(self.in_folder(&name))
    }

    fn sent(&mut self, name: &str) -> LocalFile {
        if name.contains("://") {
            self.refuse("transfer_input_files", format!("{name}: only files are sent, no URLs"));
        }
        let source = self.in_folder(name);
        self.file_of("transfer_input_files", source)
    }

    /// A file that a key names.
    fn file_of(&self, key: &str, source: String) -> LocalFile {
        let (line, name) = self.place(key);
        LocalFile { at: self.file.at_line(line).of(&name), ..LocalFile::new(source) }
    }

    fn in_folder(&mut self, name: &str) -> String {
        let folder = self.value("initialdir").or_else(|| self.value("initial_dir"));
        match folder {
            Some(folder) if !name.starts_with('/') && !folder.is_empty() => {
                format!("{}/{name}", folder.trim_end_matches('/'))
            }
            _ => name.to_owned(),
        }
    }

    fn list(&mut self, key: &str) -> Option<Vec<String>> {
        let text = self.value(key)?;
        Some(text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn either<T>(&mut self, one: &str, other: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        self.parsed(one, &read).or_else(|| self.parsed(other, &read))
    }

    /// The value of a key, as what it should be.
    fn parsed<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.value(key)?;
        match read(&text) {
            Ok(value) => Some(value),
            Err(why) => {
                self.refuse(key, why);
                None
            }
        }
    }

    /// The expanded value of a key. A variable of the queue that bears its name goes before.
    fn value(&mut self, key: &str) -> Option<String> {
        let of_queue =
            self.scope.process.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let text = of_queue.or_else(|| self.find(key).map(|setting| setting.value.clone()))?;
        match self.scope.expand(&text) {
            Ok(value) => {
                if !self.mark.is_empty() && value.contains(self.mark) {
                    self.with_mark.insert(key.to_owned());
                }
                Some(value.trim().to_owned())
            }
            Err(why) => {
                self.refuse(key, why);
                None
            }
        }
    }

    fn find(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key).filter(|setting| !setting.is_ignored)
    }

    fn refuse(&mut self, key: &str, why: impl Into<String>) {
        let (line, name) = self.place(key);
        self.refused.add(line, &name, why);
    }

    fn note(&mut self, key: &str, text: &'static str) {
        if self.find(key).is_some() {
            let (line, name) = self.place(key);
            self.notes.add(line, &name, text);
        }
    }

    fn place(&self, key: &str) -> (u64, String) {
        let of_queue = || (self.queue_line, key.to_owned());
        self.find(key).map_or_else(of_queue, |setting| (setting.line, setting.name.clone()))
    }
}

fn whole(text: &str) -> Result<i64, String> {
    let number = evaluated(text).filter(|number| number.fract() == 0.0 && number.abs() < 2e9);
    number.map(|number| number as i64).ok_or_else(|| format!("{text:?} is no whole number"))
}

fn count(text: &str) -> Result<u32, String> {
    let number = whole(text)?;
    u32::try_from(number).map_err(|_| format!("{number} is less than 0"))
}

fn cores(text: &str) -> Result<u32, String> {
    let cores = count(text)?;
    let wrong = || format!("{cores} is no number of cores from 1 to {SLOTS_MAX}");
    (1..=SLOTS_MAX).contains(&cores).then_some(cores).ok_or_else(wrong)
}

fn length(text: &str) -> Result<f64, String> {
    operations(text).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    duration_s(text).map_err(|error| error.to_string())
}

fn flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "t" | "1" => Ok(true),
        "false" | "no" | "f" | "0" => Ok(false),
        _ => Err(format!("{text:?} is neither true nor false")),
    }
}

fn expression(text: &str) -> Result<String, String> {
    Expr::parse(text).map_err(|error| format!("at {error}"))?;
    Ok(text.to_owned())
}
