//! How a command fails: what it prints and which code it exits with.

mod folders;

use crate::cli::Cli;
use anstyle::{AnsiColor, Style};
use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use gleaner_net::{ClientError, TlsFailure};
use gleaner_papers::KeptError;
use gleaner_wire::JobId;
use gleaner_workload::InputError;
use gleaner_workload::submit::SubmitFileError;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use thiserror::Error;

/// Why a command did not do what it was asked for.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A file or a setting makes no sense.
    #[error("{0}")]
    Input(#[from] InputError),
    /// A submit file makes no sense, or asks for what there is not.
    #[error("{0}")]
    SubmitFile(#[from] SubmitFileError),
    /// The arguments make no sense together, or name what there is not.
    #[error("{0}")]
    Usage(String),
    /// The operating system refused.
    #[error("{what}: {error}")]
    Io {
        /// What was tried, with the path.
        what: String,
        /// What it said.
        error: io::Error,
    },
    /// What was compared is not the same, or part of the work went wrong; the output says what.
    #[error("{0}")]
    Difference(String),
    /// The coordinator cannot be reached, or refused.
    #[error("{0}{advice}", advice = moved(.0))]
    Grid(#[source] ClientError),
    /// Of several things that were asked for, not all are done.
    #[error("{}", not_all(*.done, .failed, .left))]
    NotAll {
        /// How many are.
        done: usize,
        /// Which are not, and why; the exit code is the first one's.
        failed: Vec<(String, Failure)>,
        /// What was not asked for any more.
        left: Vec<String>,
    },
    /// Jobs were submitted, and how they end is not known here.
    #[error("{why}")]
    Submitted {
        /// Which.
        jobs: Vec<JobId>,
        /// Why not.
        why: Box<Failure>,
    },
    /// There is no coordinator to ask, as far as is known here.
    #[error("{0}")]
    NoGrid(String),
    /// The coordinator does not take the agent here.
    #[error("{0}")]
    NotTaken(String),
    /// The coordinator here cannot start, or go on.
    #[error("{0}")]
    Coordinator(String),
    /// The agent here cannot start, or go on.
    #[error("{0}")]
    Agent(String),
    /// Something could not be measured.
    #[error("{0}")]
    Bench(String),
    /// Somebody pressed Ctrl-C; what was kept is said.
    #[error("{0}")]
    Interrupted(String),
}

impl From<KeptError> for Failure {
    fn from(error: KeptError) -> Self {
        match error {
            KeptError::Io { path, error } => Failure::io("keep results in", &path, error),
            KeptError::Foreign { .. } => Failure::Usage(format!("--out: {error}")),
        }
    }
}

/// What a command ends with.
pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    /// That `what` could not be done with `path`.
    pub(crate) fn io(what: &str, path: &Path, error: io::Error) -> Self {
        Self::Io { what: format!("cannot {what} {}", path.display()), error }
    }

    /// Whether the coordinator was asked, and does not do or know it: it may do or know other things.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::Grid(ClientError::Refused { .. }))
    }

    fn code(&self) -> u8 {
        match self {
            Failure::Difference(_) => 1,
            Failure::Io { error, .. } | Failure::Grid(ClientError::Local(error))
                if is_mistake(error.kind()) =>
            {
                2
            }
            Failure::Input(_)
            | Failure::SubmitFile(_)
            | Failure::Usage(_)
            | Failure::Grid(ClientError::Path(_) | ClientError::Key(_)) => 2,
            Failure::Grid(ClientError::Local(_) | ClientError::NotJson(_))
            | Failure::Io { .. }
            | Failure::Coordinator(_)
            | Failure::Agent(_)
            | Failure::Bench(_) => 4,
            Failure::Submitted { why, .. } => why.code(),
            Failure::NotAll { failed, .. } => failed.first().map_or(3, |(_, failure)| failure.code()),
            Failure::Grid(_) | Failure::NoGrid(_) | Failure::NotTaken(_) => 3,
            Failure::Interrupted(_) => 130,
        }
    }

    /// Prints the failure to standard error and gives the exit code, which stands also where nobody reads the rest.
    pub(crate) fn report(&self) -> ExitCode {
        let mut out = anstream::stderr().lock();
        let _ = if wants_json() {
            writeln!(out, "{}", self.as_json())
        } else {
            let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            let label = if matches!(self, Failure::Interrupted(_)) { "interrupted" } else { "error" };
            writeln!(out, "{style}{label}:{style:#} {self}")
        };
        ExitCode::from(self.code())
    }

    fn as_json(&self) -> Value {
        if let Failure::Submitted { jobs, why } = self {
            let mut document = why.as_json();
            document["submitted"] = json!(jobs);
            return document;
        }
        let mut document = json!({ "version": 1, "error": self.to_string(), "code": self.code() });
        if let Failure::Input(input) | Failure::SubmitFile(SubmitFileError::Input(input)) = self {
            document["input"] = json!(input);
        }
        if let Failure::SubmitFile(SubmitFileError::Unsupported { keys, .. }) = self {
            document["unsupported"] = json!(keys);
        }
        if let Failure::Grid(ClientError::Refused { status, code, .. }) = self {
            document["refused"] = json!({ "status": status, "code": code });
        }
        if let Failure::NotAll { failed, left, .. } = self {
            let failed = failed.iter().map(|(what, why)| json!({ "of": what, "error": why.to_string() }));
            document["failed"] = failed.collect();
            document["left"] = json!(left);
        }
        document
    }
}

/// Whether `--json` is among the arguments. What comes behind two dashes is a program's.
fn wants_json() -> bool {
    std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Whether the system's answer says that the wrong thing was named, or one that is full, and not that something is broken.
fn is_mistake(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
    )
}

fn not_all(done: usize, failed: &[(String, Failure)], left: &[String]) -> String {
    let all = done + failed.len() + left.len();
    let whys: Vec<String> = failed.iter().map(|(what, why)| format!("{what} ({why})")).collect();
    let whys = whys.join(", ");
    if !left.is_empty() {
        let is = if done == 1 { "is" } else { "are" };
        return format!(
            "{done} of {all} {is} done, and the others are not: {whys}, and behind that {}",
            left.join(", ")
        );
    }
    let was = if failed.len() == 1 { "was" } else { "were" };
    let others = if done > 0 { ", and the others are done" } else { "" };
    format!("{} of {all} {was} refused{others}: {whys}", failed.len())
}

/// What to do where nobody answers at the address that is known, or somebody else.
fn moved(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable { .. } | ClientError::Tls { why: TlsFailure::Authority(_), .. } => {
            "; if the coordinator has a new address: gleaner login https://NEW:PORT (your token stays good)"
        }
        _ => "",
    }
}

/// What `gleaner submit WORD`, or `gleaner submit` alone, most likely was to be; or a word where a user is named by an option.
fn hint(error: &clap::Error) -> Option<String> {
    let is_submit = std::env::args_os().nth(1).is_some_and(|word| word == "submit");
    if is_submit && error.kind() == ErrorKind::MissingRequiredArgument {
        return Some("a program and its arguments: gleaner submit -- PROGRAM …; or a file that describes a job: gleaner submit -f FILE".to_owned());
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    if !is_submit {
        let command = named_command();
        let takes_user = command.get_arguments().any(|argument| argument.get_long() == Some("user"));
        return takes_user.then(|| format!("to name a user: --user {word}"));
    }
    let is_description =
        Path::new(word).extension().is_some_and(|end| ["toml", "sub", "jdf"].map(OsStr::new).contains(&end));
    Some(if is_description {
        format!("to submit what a file describes: gleaner submit -f {word}")
    } else {
        format!("a program and its arguments come behind two dashes: gleaner submit -- {word} …")
    })
}

/// What clap says before it says what is expected, in a line.
fn sentence(text: &str) -> String {
    let lines = text.trim_start_matches("error: ").lines().take_while(|line| !line.is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// How the command is used that the arguments name, as its help has it.
fn usage_of_command() -> StyledStr {
    named_command().render_usage()
}

/// The command that the arguments name.
fn named_command() -> clap::Command {
    let mut root = Cli::command();
    root.build();
    let mut command = &root;
    for word in std::env::args_os().skip(1) {
        let Some(below) = command.find_subcommand(word) else { break };
        command = below;
    }
    command.clone()
}

/// Where a value begins with a hyphen, clap says to put two more before it, which makes it another argument. It can be given with the
/// option that it is for; where there is none, nothing is to be said.
fn lead_somewhere(error: &mut clap::Error, words: &[String]) {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return };
    // Of several letters behind one hyphen the first that is unknown is named.
    let is_it =
        |word: &String| word == found || (!found.starts_with("--") && word.starts_with(found.as_str()));
    let command = named_command();
    let given = words.windows(2).find(|pair| takes_value(&command, &pair[0]) && is_it(&pair[1]));
    let tip = given.map(|pair| format!("to pass '{0}' as a value, use '{1}={0}'", pair[1], pair[0]));
    let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) else { return };
    let mut led: Vec<StyledStr> = Vec::new();
    for said in tips {
        if !said.to_string().contains("as a value, use") {
            led.push(said);
        } else if let Some(tip) = &tip {
            led.push(tip.into());
        }
    }
    if !led.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(led));
    }
}

fn takes_value(command: &clap::Command, option: &str) -> bool {
    let is_it = |argument: &&clap::Arg| match option.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short().is_some_and(|short| option == format!("-{short}")),
    };
    command.get_arguments().find(is_it).is_some_and(|argument| argument.get_action().takes_values())
}

/// What the standard library says of a number that is none, in words for people.
fn plain_words(text: &str) -> String {
    let words = [
        ("invalid digit found in string", "expected a whole number"),
        ("cannot parse integer from empty string", "expected a whole number"),
        ("number too large to fit in target type", "expected a smaller number"),
        ("number too small to fit in target type", "expected a larger number"),
        ("invalid float literal", "expected a number"),
    ];
    words.iter().fold(text.to_owned(), |text, (said, plain)| text.replace(said, plain))
}

/// Help, the version, or wrong arguments, as clap prints them; with `--json` among the arguments, as JSON.
pub(crate) fn usage(mut error: clap::Error) -> ExitCode {
    // In an error, clap's own usage names each option that is there as one that has to be: those of the environment too.
    if error.get(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage_of_command()));
    }
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .take_while(|word| word != "--")
        .collect();
    lead_somewhere(&mut error, &words);
    let error = &error;
    if error.use_stderr() && wants_json() {
        let hint = hint(error).map(|hint| format!("; {hint}")).unwrap_or_default();
        return Failure::Usage(sentence(&plain_words(&error.to_string())) + &hint).report();
    }
    // A closed pipe is no reason to fail again.
    let _ = if error.use_stderr() {
        write!(anstream::stderr(), "{}", plain_words(&error.render().ansi().to_string()))
    } else {
        error.print()
    };
    if let Some(hint) = hint(error) {
        let _ = writeln!(anstream::stderr(), "\n{hint}");
    }
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clap_says_is_a_sentence() {
        let missing = "error: the following required arguments were not provided:\n  <COMMAND>...\n\nUsage: gleaner submit\n";
        assert_eq!(sentence(missing), "the following required arguments were not provided: <COMMAND>...");
        assert_eq!(
            sentence("error: unexpected argument '--x' found\n\ntip"),
            "unexpected argument '--x' found"
        );
    }

    #[test]
    fn what_was_submitted_is_told_where_waiting_fails() {
        let why = Box::new(Failure::NoGrid("nobody answers".to_owned()));
        let failure = Failure::Submitted { jobs: vec![JobId(7)], why };
        let document = json!({ "version": 1, "error": "nobody answers", "code": 3, "submitted": [7] });
        assert_eq!(failure.as_json(), document);
    }

    #[test]
    fn a_path_that_is_wrong_is_no_fault_of_ours() {
        for (kind, code) in [
            (io::ErrorKind::NotFound, 2),
            (io::ErrorKind::PermissionDenied, 2),
            (io::ErrorKind::ReadOnlyFilesystem, 2),
            (io::ErrorKind::StorageFull, 2),
            (io::ErrorKind::QuotaExceeded, 2),
            (io::ErrorKind::Other, 4),
        ] {
            assert_eq!(Failure::io("read", Path::new("x"), kind.into()).code(), code, "{kind}");
        }
    }
}
