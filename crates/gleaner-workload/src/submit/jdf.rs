//! OurGrid job descriptions as jobs here.
//!
//! A task's command runs in a shell, in the task's own folder, which is both `$PLAYPEN` and `$STORAGE`, and in which the
//! shell finds programs; `$TASK` is its number, from 1, and `$JOB` is 1. What cannot be done is refused with its line.
#![doc = include_str!("../../../../docs/job-description-files.md")]

use super::fold::{Folding, Terms};
use super::submission::{Notes, Refusals, SentFile, Submission, SubmitFileError, unmet};
use super::{JobDescription, LocalFile, Source};
use crate::ourgrid::Condition;
use crate::ourgrid::jdf::{self, Job, Task, Transfer, Verb};
use gleaner_classad::Expr;
use gleaner_wire::job::JobSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

const TERMS: Terms =
    Terms { tasks: "tasks", inputs: "init (how many files)", outputs: "final (how many files)" };
/// Before what `remote` says.
const PREPARED: &str = "PLAYPEN=$PWD STORAGE=$PWD PATH=$PWD:$PATH; export PLAYPEN STORAGE PATH\n";
/// Of every job: it is not known before the submission, and each job's files lie apart from those of others anyway.
const JOB: &str = "1";
/// What OurGrid calls attributes that machines have here by another name.
const ATTRIBUTES: [(&str, &str); 9] = [
    ("os", "OpSys"),
    ("so", "OpSys"),
    ("mem", "Memory"),
    ("ram", "Memory"),
    ("gluehostmainmemoryramsize", "Memory"),
    ("arch", "Arch"),
    ("num_procs", "Cpus"),
    ("machine", "Machine"),
    ("username", "Machine"),
];

/// What descriptions call attributes that every machine has.
pub fn words() -> impl Iterator<Item = &'static str> {
    ATTRIBUTES.iter().map(|(theirs, _)| *theirs)
}

/// Reads a description; files of the user's are relative to `folder`. Keys in `ignored` are gone on without.
pub fn translate(source: &Source, folder: &Path, ignored: &[String]) -> Result<Submission, SubmitFileError> {
    let job = jdf::read(source)?;
    let (refused, notes, files) = (Refusals::default(), Notes::default(), BTreeMap::new());
    let mut translation = Translation { folder, ignored, refused, notes, files };
    let requirements = translation.requirements(&job);
    let mut folding = Folding::default();
    for (number, task) in (1..).zip(&job.tasks) {
        folding.add(number - 1, translation.task(&job, task, number, requirements.as_deref()));
        if let Some((found, expected)) = folding.excess(&TERMS) {
            return Err(source.place().at_line(task.line).error("task", found, expected).into());
        }
    }
    if translation.refused.is_empty() {
        let (mut jobs, notes) = (folding.into_jobs(), translation.notes.into_notes());
        // There they count from 1.
        jobs.iter_mut().flat_map(|job| &mut job.processes).for_each(|number| *number += 1);
        let requirements_line = requirements.is_some().then_some(job.requirements_line);
        return Ok(Submission {
            jobs,
            notes,
            files: translation.files.into_values().collect(),
            requirements_line,
            unmet: unmet(ignored, &ignorable(&job)),
        });
    }
    Err(SubmitFileError::Unsupported {
        file: source.name().to_owned(),
        keys: translation.refused.into_keys(),
    })
}

struct Translation<'a> {
    folder: &'a Path,
    ignored: &'a [String],
    refused: Refusals,
    notes: Notes,
    /// By where they lie.
    files: BTreeMap<String, SentFile>,
}

impl Translation<'_> {
    fn task(&mut self, job: &Job, task: &Task, number: u32, requirements: Option<&str>) -> JobDescription {
        let mut command = String::from(PREPARED);
        match &task.remote {
            Some(remote) => command.push_str(remote),
            None => self.refused.add(task.line, "task", "there is no remote, neither here nor in the job"),
        }
        if let Some((line, _)) = &task.check
            && !self.is_ignored("check")
        {
            let why =
                "results are not checked where they were asked for: let the task itself check what it did";
            self.refused.add(*line, "check", why);
        }
        let inputs = task.init.iter().filter_map(|transfer| self.input(transfer, number)).collect();
        let outputs = task.finals.iter().filter_map(|transfer| self.output(transfer, number)).collect();
        let mut spec = JobSpec::new(["sh", "-c", &command]);
        spec.name.clone_from(&job.label);
        spec.env = [("JOB", JOB.to_owned()), ("TASK", number.to_string())]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        spec.outputs = outputs;
        spec.requirements = requirements.map(str::to_owned);
        JobDescription { inputs, ..JobDescription::new(spec) }
    }

    fn is_ignored(&self, key: &str) -> bool {
        self.ignored.iter().any(|ignored| ignored.eq_ignore_ascii_case(key))
    }

    fn input(&mut self, transfer: &Transfer, number: u32) -> Option<LocalFile> {
        let source = self.filled(transfer, &transfer.from, number)?;
        let named = self.own_file(transfer, &transfer.to, number)?;
        let source =
            if source.starts_with('/') { source } else { self.folder.join(source).display().to_string() };
        if !self.files.contains_key(&source) {
            let sent = SentFile { line: transfer.line, key: verb(transfer.verb), source: source.clone() };
            self.files.insert(source.clone(), sent);
        }
        let own = source.rsplit('/').next().unwrap_or_default();
        let target = match named.as_str() {
            "" => own.to_owned(),
            folder if folder.ends_with('/') => format!("{folder}{own}"),
            _ => named,
        };
        Some(LocalFile { target: Some(target), ..LocalFile::new(source) })
    }

    fn output(&mut self, transfer: &Transfer, number: u32) -> Option<String> {
        let here = self.filled(transfer, &transfer.to, number)?;
        let there = self.own_file(transfer, &transfer.from, number)?;
        if !here.is_empty() && here != there {
            let text =
                "it is kept under its name in the task's folder, and `gleaner fetch` brings it where you say";
            self.notes.add(transfer.line, "get", text);
        }
        Some(there)
    }

    /// A name in the task's folder, without what leads nowhere; empty for the folder itself.
    fn own_file(&mut self, transfer: &Transfer, name: &str, number: u32) -> Option<String> {
        let name = self.filled(transfer, name, number)?;
        let mut parts = Vec::new();
        for part in Path::new(&name).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => parts.push(part.to_string_lossy()),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    let why =
                        format!("{name:?} lies outside the task's folder, where nothing is brought or kept");
                    self.refused.add(transfer.line, verb(transfer.verb), why);
                    return None;
                }
            }
        }
        let is_folder = name.ends_with('/') && !parts.is_empty();
        Some(parts.join("/") + if is_folder { "/" } else { "" })
    }

    /// A name with its variables filled in; none if the transfer cannot be honoured.
    fn filled(&mut self, transfer: &Transfer, name: &str, number: u32) -> Option<String> {
        if transfer.when.is_some() {
            let why = "whether a file is brought cannot depend on the machine: bring it always, or ask for one kind \
                       of machine in requirements";
            self.refused.add(transfer.line, verb(transfer.verb), why);
            return None;
        }
        let mut filled = String::with_capacity(name.len());
        let mut rest = name;
        while let Some((before, variable)) = rest.split_once('$') {
            filled.push_str(before);
            let braced = variable.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (known, behind) = braced.unwrap_or_else(|| {
                variable.split_at(variable.find(|c| !is_word(c)).unwrap_or(variable.len()))
            });
            match known {
                "PLAYPEN" | "STORAGE" => filled.push('.'),
                "JOB" => {
                    self.notes.add(
                        transfer.line,
                        "$JOB",
                        "it is 1 in every job: files of one never meet another's",
                    );
                    filled.push_str(JOB);
                }
                "TASK" => filled += &number.to_string(),
                _ => {
                    let why =
                        format!("${known}: in names of files there are $JOB, $TASK, $PLAYPEN and $STORAGE");
                    self.refused.add(transfer.line, verb(transfer.verb), why);
                    return None;
                }
            }
            rest = behind;
        }
        filled.push_str(rest);
        Some(filled)
    }

    fn requirements(&mut self, job: &Job) -> Option<String> {
        if self.is_ignored("requirements") {
            return None;
        }
        let read = expression(job.requirements.as_ref()?).and_then(|text| match Expr::parse(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(format!("at {error}")),
        });
        match read {
            Ok(text) => Some(text),
            Err(why) => {
                self.refused.add(job.requirements_line, "requirements", why);
                None
            }
        }
    }
}

/// The keys of a description that can be gone on without, as far as they are there.
fn ignorable(job: &Job) -> BTreeSet<String> {
    let has_check = job.tasks.iter().any(|task| task.check.is_some());
    let keys = [("requirements", job.requirements_line > 0), ("check", has_check)];
    keys.into_iter().filter(|(_, is_there)| *is_there).map(|(key, _)| key.to_owned()).collect()
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Put => "put",
        Verb::Store => "store",
        Verb::Get => "get",
    }
}

/// A condition in the `ClassAd` language, where a comparison with what a machine does not have is not true.
fn expression(condition: &Condition) -> Result<String, String> {
    Ok(match condition {
        Condition::Not(inner) => format!("!({})", expression(inner)?),
        Condition::And(terms) => joined(terms, " && ")?,
        Condition::Or(terms) => joined(terms, " || ")?,
        Condition::Compare(name, comparison, value) => {
            format!("{} {} {}", attribute(name), comparison.sign(), literal(value))
        }
        Condition::Is(name) => attribute(name),
        Condition::InPath(what) | Condition::InClasspath(what) | Condition::Version(what, _) => {
            return Err(format!(
                "{what}: no machine says which programs it has; give those that have it an attribute of that name"
            ));
        }
    })
}

fn joined(terms: &[Condition], sign: &str) -> Result<String, String> {
    let terms: Vec<String> = terms.iter().map(expression).collect::<Result<_, _>>()?;
    Ok(format!("({})", terms.join(sign)))
}

fn attribute(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let known = ATTRIBUTES.iter().find(|(theirs, _)| *theirs == lower).map_or(name, |(_, ours)| ours);
    let is_plain = known.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && known.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!("TARGET.{known}") } else { format!("TARGET.'{}'", escaped(known, '\'')) }
}

fn literal(value: &str) -> String {
    if let Some(number) = number(value) {
        return number;
    }
    let is_truth = ["true", "false"].iter().any(|truth| value.eq_ignore_ascii_case(truth));
    if is_truth { value.to_ascii_lowercase() } else { format!("\"{}\"", escaped(value, '"')) }
}

/// A number as the `ClassAd` language writes it, which knows no `5.` and no `08`, and takes a long whole number for 0.
fn number(value: &str) -> Option<String> {
    if !value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    // The least number of all is there the negative of one that is too long.
    if let Some(whole) = value.parse::<i64>().ok().filter(|&whole| whole != i64::MIN) {
        return Some(whole.to_string());
    }
    value.parse::<f64>().ok().filter(|real| real.is_finite()).map(|real| format!("{real:?}"))
}

fn escaped(text: &str, quote: char) -> String {
    text.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"))
}
