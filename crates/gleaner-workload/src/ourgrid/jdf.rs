//! Job description files.
//!
//! ```text
//! job :
//! label : primes
//! requirements : ( os == linux and mem >= 100 )
//!
//! task :
//! init : put Primes.class Primes.class
//!        if ( arch == x86_64 ) then
//!          store lib64.so lib.so
//!        else
//!          store lib32.so lib.so
//!        endif
//! remote : java Primes 3 1000 > out-$TASK
//! final : get out-$TASK results/out-$TASK
//! ```
//!
//! The clauses `init`, `remote`, `final` and `check` of the job hold for each task that has none of its own; all may be
//! left out, and come in this order, below `label` and `requirements`. A job has at least one task.

use super::condition::{self, Condition, Ending};
use super::ranges;
use super::text::{Spot, Text, Token};
use crate::InputError;
use crate::limits::TRANSFER_BYTES_MAX;
use crate::submit::Source;
use std::sync::Arc;

/// A job as its file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// For people; empty if nothing is said.
    pub label: String,
    /// On machines.
    pub requirements: Option<Condition>,
    /// Where the requirements stand.
    pub requirements_line: u64,
    /// At least one, each with what it takes over from the job.
    pub tasks: Vec<Task>,
}

/// A task of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Where it begins.
    pub line: u64,
    /// The files that it is sent.
    pub init: Arc<[Transfer]>,
    /// What a shell runs; none if neither task nor job say.
    pub remote: Option<Arc<str>>,
    /// The files that it gives back.
    pub finals: Arc<[Transfer]>,
    /// What the user's machine runs to find out whether the result can be true, and where that stands.
    pub check: Option<(u64, Arc<str>)>,
}

/// A file that is brought somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Where it stands.
    pub line: u64,
    /// How.
    pub verb: Verb,
    /// The file, with the user for `put` and `store`, with the task for `get`.
    pub from: String,
    /// What it is called on the other side.
    pub to: String,
    /// Only on machines of which this holds.
    pub when: Option<Arc<Condition>>,
}

/// How a file is brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// To the task's own folder.
    Put,
    /// To where it stays for later tasks.
    Store,
    /// Back to the user.
    Get,
}

/// Reads a job.
pub fn read(source: &Source) -> Result<Job, InputError> {
    let mut reader = Reader { text: Text::new(source.text(), source.place()), transfer_bytes: 0 };
    reader.job()
}

/// The clauses of a job or of a task, as far as they are there.
#[derive(Default)]
struct Clauses {
    init: Option<Arc<[Transfer]>>,
    remote: Option<Arc<str>>,
    finals: Option<Arc<[Transfer]>>,
    check: Option<(u64, Arc<str>)>,
}

struct Reader<'a> {
    text: Text<'a>,
    /// Of the names of files, ranges written out.
    transfer_bytes: usize,
}

impl Reader<'_> {
    fn job(&mut self) -> Result<Job, InputError> {
        self.keyword("job", "job :, which begins each description")?;
        let mut label = String::new();
        if self.clause("label")?.is_some() {
            label = self.text.line()?;
        }
        let (mut requirements, mut requirements_line) = (None, 0);
        if let Some(spot) = self.clause("requirements")? {
            requirements_line = spot.line;
            requirements = condition::read(&mut self.text, Ending::Line)?;
        }
        let of_job = self.clauses()?;
        let mut tasks = Vec::new();
        while let Some(spot) = self.clause("task")? {
            let own = self.clauses()?;
            tasks.push(Task {
                line: spot.line,
                init: own.init.or_else(|| of_job.init.clone()).unwrap_or_default(),
                remote: own.remote.or_else(|| of_job.remote.clone()),
                finals: own.finals.or_else(|| of_job.finals.clone()).unwrap_or_default(),
                check: own.check.or_else(|| of_job.check.clone()),
            });
        }
        let (spot, token) = self.text.token_below()?;
        match token {
            Token::End if !tasks.is_empty() => Ok(Job { label, requirements, requirements_line, tasks }),
            Token::End => Err(self.text.unexpected(spot, &token, "task :, at least once")),
            _ => {
                let expected = if tasks.is_empty() {
                    "label, requirements, init, remote, final, check, each once and in this order, or task"
                } else {
                    "init, remote, final, check, each once and in this order, or task"
                };
                Err(self.text.unexpected(spot, &token, expected))
            }
        }
    }

    fn clauses(&mut self) -> Result<Clauses, InputError> {
        let mut clauses = Clauses::default();
        if self.clause("init")?.is_some() {
            clauses.init = Some(self.transfers(&[("put", Verb::Put), ("store", Verb::Store)])?);
        }
        if let Some(spot) = self.clause("remote")? {
            let command = self.text.line()?;
            if command.is_empty() {
                return Err(self.text.error(spot, "a remote without a command", "remote : COMMAND"));
            }
            clauses.remote = Some(command.into());
        }
        if self.clause("final")?.is_some() {
            clauses.finals = Some(self.transfers(&[("get", Verb::Get)])?);
        }
        if let Some(spot) = self.clause("check")? {
            clauses.check = Some((spot.line, self.text.line()?.into()))
                .filter(|(_, command): &(u64, Arc<str>)| !command.is_empty());
        }
        Ok(clauses)
    }

    /// Where the clause of that name begins, if it is what comes next; its name and colon are taken then.
    fn clause(&mut self, name: &str) -> Result<Option<Spot>, InputError> {
        let before = self.text.spot();
        let (spot, token) = self.text.token_below()?;
        if !token.is(name) {
            self.text.go_to(before);
            return Ok(None);
        }
        let (colon, token) = self.text.token()?;
        if token != Token::Sign(":") {
            return Err(self.text.unexpected(colon, &token, &format!("a colon behind {name}")));
        }
        Ok(Some(spot))
    }

    fn keyword(&mut self, name: &str, expected: &str) -> Result<(), InputError> {
        if self.clause(name)?.is_some() {
            return Ok(());
        }
        let (spot, token) = self.text.token_below()?;
        Err(self.text.unexpected(spot, &token, expected))
    }

    /// The blocks of an `init` or `final`: transfers, conditional ones, or `none`.
    fn transfers(&mut self, verbs: &[(&str, Verb)]) -> Result<Arc<[Transfer]>, InputError> {
        let mut all = Vec::new();
        loop {
            let before = self.text.spot();
            let (spot, token) = self.text.token_below()?;
            if token.is("if") {
                self.conditional(verbs, &mut all)?;
            } else if token.is("none") {
                self.line_end()?;
            } else if let Some(verb) = verb_of(&token, verbs) {
                self.transfer(spot, verb, None, &mut all)?;
            } else {
                self.text.go_to(before);
                return Ok(all.into());
            }
        }
    }

    fn conditional(&mut self, verbs: &[(&str, Verb)], all: &mut Vec<Transfer>) -> Result<(), InputError> {
        let condition =
            condition::read(&mut self.text, Ending::Then)?.expect("it does not end with its line");
        let (_, then) = self.text.token_below()?;
        assert!(then.is("then"), "the condition ended there");
        let condition = Arc::new(condition);
        if self.branch(verbs, &condition, &["else", "endif"], all)? == "else" {
            let otherwise = Arc::new(Condition::Not(Box::new((*condition).clone())));
            self.branch(verbs, &otherwise, &["endif"], all)?;
        }
        Ok(())
    }

    /// Transfers up to one of the words, which it returns; at least one.
    fn branch(
        &mut self,
        verbs: &[(&str, Verb)],
        when: &Arc<Condition>,
        ends: &[&'static str],
        all: &mut Vec<Transfer>,
    ) -> Result<&'static str, InputError> {
        let before = all.len();
        loop {
            let (spot, token) = self.text.token_below()?;
            if let Some(verb) = verb_of(&token, verbs) {
                self.transfer(spot, verb, Some(when), all)?;
                continue;
            }
            let end = ends.iter().find(|end| token.is(end)).filter(|_| all.len() > before);
            return end.copied().ok_or_else(|| {
                let verbs = verbs.iter().map(|(name, _)| *name);
                let ends = ends.iter().copied().filter(|_| all.len() > before);
                let expected: Vec<&str> = verbs.chain(ends).collect();
                self.text.unexpected(spot, &token, &expected.join(" or "))
            });
        }
    }

    fn transfer(
        &mut self,
        spot: Spot,
        verb: Verb,
        when: Option<&Arc<Condition>>,
        all: &mut Vec<Transfer>,
    ) -> Result<(), InputError> {
        let (theirs, ours) = match verb {
            Verb::Put | Verb::Store => ("the file to send", "what the task finds it as"),
            Verb::Get => ("the file to bring back", "what it is called here"),
        };
        let (from, to) = (self.names(theirs)?, self.names(ours)?);
        if from.len() != to.len() && to.len() > 1 {
            let found = format!("{} files and {} names for them", from.len(), to.len());
            return Err(self.text.error(spot, found, "ranges of the same length, or one name for all"));
        }
        let bytes = |names: &[String]| names.iter().map(String::len).sum::<usize>();
        self.transfer_bytes += bytes(&from) + bytes(&to).max(to.first().map_or(0, String::len) * from.len());
        if self.transfer_bytes > TRANSFER_BYTES_MAX {
            let found = format!("names of files of more than {TRANSFER_BYTES_MAX} bytes");
            return Err(self.text.error(spot, found, &format!("at most {TRANSFER_BYTES_MAX} bytes")));
        }
        let line = spot.line;
        let to = to.into_iter().cycle();
        let transfers = from.into_iter().zip(to);
        all.extend(transfers.map(|(from, to)| Transfer { line, verb, from, to, when: when.cloned() }));
        self.line_end()
    }

    fn names(&mut self, what: &str) -> Result<Vec<String>, InputError> {
        let spot = self.text.spot();
        let name = self.text.name(what)?;
        ranges::expand(&name).map_err(|found| self.text.error(spot, found, "a shorter range"))
    }

    fn line_end(&mut self) -> Result<(), InputError> {
        let (spot, token) = self.text.token()?;
        match token {
            Token::LineEnd | Token::End => Ok(()),
            Token::Word(_) | Token::Quoted(_) | Token::Sign(_) => {
                Err(self.text.unexpected(spot, &token, "the end of the line"))
            }
        }
    }
}

fn verb_of(token: &Token<'_>, verbs: &[(&str, Verb)]) -> Option<Verb> {
    verbs.iter().find(|(name, _)| token.is(name)).map(|&(_, verb)| verb)
}
