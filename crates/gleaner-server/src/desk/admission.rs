//! What is refused at the door: what has no meaning, and what is more than anyone may hand in.

use crate::ledger::Job;
use crate::store::{PastReader, ReadError};
use gleaner_classad::Expr;
use gleaner_net::UserPublicKey;
use gleaner_units::Time;
use gleaner_wire::JobId;
use gleaner_wire::job::{
    Confinement, JobSpec, OwnInputs, Signed, SignedText, TaskList, is_length, stays_inside,
};
use gleaner_wire::limits::{
    EXPRESSION_BYTES_MAX, ITEMS_MAX, LENGTH_MAX, MEMORY_BYTES_MAX, NAME_BYTES_MAX, ORDER_BYTES_MAX,
    OWN_INPUTS_MAX, PARAMETERS_MAX, PROGRAM_BYTES_MAX, QUORUM_MAX, SIGNED_BYTES_MAX, SLOTS_MAX,
    TASKS_PER_JOB_MAX, WORD_BYTES_MAX,
};
use gleaner_wire::outputs::{names_nothing, pattern};
use gleaner_wire::text::{is_blank, is_hidden, is_name};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why a request is refused: a word for programs, a sentence for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// What kind of refusal.
    pub kind: RejectionKind,
    /// What, where, and what to do.
    pub message: String,
}

/// What kind of refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RejectionKind {
    /// What was asked for has no meaning.
    Invalid,
    /// Who asks was let in, and would not be any more.
    Unknown,
    /// Who asks may not.
    Forbidden,
    /// What it is about does not exist.
    NotFound,
    /// It does not go with what was asked for before.
    Conflict,
    /// It is more than who asks may have.
    Quota,
}

impl Rejection {
    pub(super) fn of(kind: RejectionKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::of(RejectionKind::Invalid, message)
    }
}

pub(super) fn refuse_if(refuse: bool, message: impl FnOnce() -> String) -> Result<(), Rejection> {
    if refuse { Err(Rejection::invalid(message())) } else { Ok(()) }
}

/// A job that can be recorded, as whoever takes it in has found before it reaches the desk: what that costs grows with the
/// description, and the desk's thread decides for all.
#[derive(Clone, PartialEq, Debug)]
pub struct Admitted {
    spec: Arc<JobSpec>,
    signature: Option<Signature>,
    /// The retired job that its user submitted under the same key, and whether that is the same.
    retired: Option<(JobId, bool)>,
}

/// What a signature says of itself.
#[derive(Clone, PartialEq, Debug)]
struct Signature {
    user: String,
    /// Which grid may run it.
    grid: String,
    /// In seconds since 1970.
    expires_s: u64,
}

impl Admitted {
    /// What is refused has no meaning, or is more than anyone may hand in.
    pub fn check(spec: JobSpec) -> Result<Self, Rejection> {
        check_job(&spec)?;
        let signature = spec.signed.as_deref().map(|signed| check_signed(&spec, signed)).transpose()?;
        Ok(Self { spec: Arc::new(spec), signature, retired: None })
    }

    /// Finds out whether it is the same as the retired job that its user submitted under a key, if there is one.
    pub fn compare_with_retired(
        &mut self,
        past: &dyn PastReader,
        user: &str,
        key: &str,
    ) -> Result<(), ReadError> {
        let Some((id, _)) = Job::find_listed_with_key(past, user, key)? else { return Ok(()) };
        let retired = Job::find_past(past, id)?;
        self.retired = retired.map(|retired| (id, self.is_same(&retired.spec)));
        Ok(())
    }

    /// Whether it is the same as a retired job, if [that was found out](Self::compare_with_retired).
    pub(super) fn is_same_as_retired(&self, id: JobId) -> Option<bool> {
        self.retired.filter(|(retired, _)| *retired == id).map(|(_, is_same)| is_same)
    }

    /// Whether the same was handed in as before. A signature is another each time.
    pub(super) fn is_same(&self, earlier: &JobSpec) -> bool {
        let is_signed = earlier.signed.is_some() || self.spec.signed.is_some();
        *earlier == *self.spec || (is_signed && earlier.unsigned() == self.spec.unsigned())
    }

    /// A job that was signed for another grid, or until an earlier moment, would come to nothing wherever signatures are looked at.
    pub fn check_signed_for(&self, grid: &str, now: Time) -> Result<(), Rejection> {
        let Some(signature) = &self.signature else { return Ok(()) };
        refuse_if(signature.grid != grid, || {
            format!("signed is for the grid {}; expected {grid}, which this one is", signature.grid)
        })?;
        refuse_if(signature.expires_s <= now.seconds() as u64, || {
            "signed has expired: sign the job again, with --sign-for where it may take longer".to_owned()
        })
    }

    /// Nobody hands in what another signed.
    pub(super) fn check_signer(&self, user: &str) -> Result<(), Rejection> {
        let other = self.signature.as_ref().filter(|signature| signature.user != user);
        other.map_or(Ok(()), |signature| {
            Err(Rejection::invalid(format!(
                "signed is by {}; expected {user}'s own signature",
                signature.user
            )))
        })
    }

    /// What was handed in.
    pub fn spec(&self) -> &Arc<JobSpec> {
        &self.spec
    }
}

/// Whether a job can be recorded, which whoever submits it can find out before. Whether any machine could run it is another matter:
/// machines come and go.
pub fn check_job(spec: &JobSpec) -> Result<(), Rejection> {
    refuse_if(spec.command.first().is_none_or(String::is_empty), || {
        "command is empty; expected a program and its arguments".to_owned()
    })?;
    refuse_if(spec.command[0].len() > PROGRAM_BYTES_MAX, || {
        format!(
            "command names a program by {} bytes; no path is longer than {PROGRAM_BYTES_MAX}",
            spec.command[0].len()
        )
    })?;
    check_tasks(&spec.tasks)?;
    check_counts(spec)?;
    check_words(spec)?;
    check_order(spec)?;
    check_numbers(spec)?;
    for (key, text) in [("requirements", &spec.requirements), ("rank", &spec.rank)] {
        if let Some(text) = text {
            check_expression(key, text)?;
        }
    }
    check_paths(spec)
}

/// Whether a signature is one and is under this very job, so that its user hears of a mistake before an agent does; and what it
/// says.
fn check_signed(spec: &JobSpec, signed: &Signed) -> Result<Signature, Rejection> {
    refuse_if(signed.text.len() > SIGNED_BYTES_MAX, || {
        format!(
            "signed.text has {} bytes; at most {SIGNED_BYTES_MAX} are taken, since it goes to the machine with each task: put \
             what is long into an input file, or submit several jobs",
            signed.text.len()
        )
    })?;
    let has_signed =
        signed.key.parse::<UserPublicKey>().and_then(|key| key.verify_job(&signed.text, &signed.signature));
    refuse_if(has_signed.is_err(), || {
        "signed.signature is not that of signed.key under signed.text".to_owned()
    })?;
    let text = SignedText::read(&signed.text)
        .map_err(|why| Rejection::invalid(format!("signed.text cannot be read: {why}")))?;
    refuse_if(text.job != spec.unsigned(), || {
        "signed.text is another job than the one that was handed in".to_owned()
    })?;
    refuse_if(spec.checkpoint.folder || spec.checkpoint.exit_code.is_some(), || {
        "the job is signed, and it has a checkpoint; expected one of the two: nobody signs what a task would go on from".to_owned()
    })?;
    check_name("a signer", &text.user)?;
    let SignedText { user, grid, expires_s, .. } = text;
    Ok(Signature { user, grid, expires_s })
}

fn check_tasks(tasks: &TaskList) -> Result<(), Rejection> {
    match tasks {
        TaskList::Array { step: 0, .. } => {
            return Err(Rejection::invalid("tasks.array.step is 0; expected 1 or more"));
        }
        TaskList::Rows { names, values } => {
            refuse_if(names.is_empty() || values.len() % names.len() != 0, || {
                format!(
                    "tasks.rows has {} values for {} names; expected whole rows",
                    values.len(),
                    names.len()
                )
            })?;
            check_parameters(names.len(), names.iter())?;
            let mut values = names.iter().cycle().zip(values.iter());
            values.try_for_each(|(name, value)| check_value("tasks.rows", name, value))?;
        }
        TaskList::Sweep { axes } => {
            refuse_if(axes.is_empty(), || "tasks.sweep has no parameter; expected at least one".to_owned())?;
            check_parameters(axes.len(), axes.iter().map(|(name, _)| name))?;
            for (name, values) in axes {
                values.iter().try_for_each(|value| check_value("tasks.sweep", name, value))?;
            }
        }
        TaskList::Numbers(numbers) => {
            refuse_if(!numbers.is_sorted_by(|one, next| one < next), || {
                "tasks.numbers do not rise; expected each number once, in order".to_owned()
            })?;
        }
        TaskList::One | TaskList::Array { .. } => {}
    }
    let count = tasks.count();
    refuse_if(count == 0 || count > TASKS_PER_JOB_MAX, || {
        format!("tasks stands for {count} tasks; expected 1 to {TASKS_PER_JOB_MAX}")
    })
}

/// It becomes a variable: no program is started with a longer `NAME=VALUE`.
fn check_value(key: &str, name: &str, value: &str) -> Result<(), Rejection> {
    let most = WORD_BYTES_MAX - name.len() - 1;
    refuse_if(value.len() > most, || {
        format!(
            "{key} has a value of {} bytes for {name}; at most {most} are taken: put what is long into an input file",
            value.len()
        )
    })?;
    check_no_nul(key, value)
}

/// They become variables.
fn check_parameters<'a>(count: usize, names: impl Iterator<Item = &'a String>) -> Result<(), Rejection> {
    refuse_if(count > PARAMETERS_MAX, || {
        format!("tasks has {count} parameters; at most {PARAMETERS_MAX} are taken")
    })?;
    let mut met = BTreeSet::new();
    for name in names {
        check_variable(name)?;
        refuse_if(!met.insert(name), || format!("the parameter {name} is named twice"))?;
    }
    Ok(())
}

pub(super) fn check_variable(name: &str) -> Result<(), Rejection> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let good = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name.bytes().all(is_word)
        && !name.as_bytes()[0].is_ascii_digit();
    refuse_if(!good, || {
        format!(
            "\"{name}\" cannot be a variable: expected letters, digits and _, not a digit first, at most {NAME_BYTES_MAX} bytes"
        )
    })
}

fn check_counts(spec: &JobSpec) -> Result<(), Rejection> {
    for (key, count) in [
        ("command", spec.command.len()),
        ("env", spec.env.len()),
        ("inputs", spec.inputs.len()),
        ("outputs", spec.outputs.len()),
    ] {
        refuse_if(count > ITEMS_MAX, || format!("{key} has {count} items; at most {ITEMS_MAX} are taken"))?;
    }
    let own: usize = spec.own_inputs.iter().map(OwnInputs::count).sum();
    refuse_if(own > OWN_INPUTS_MAX, || {
        format!("own_inputs has {own} files; at most {OWN_INPUTS_MAX} are taken, of all tasks together")
    })?;
    refuse_if(spec.own_inputs.len() > ITEMS_MAX, || {
        format!("own_inputs has {} items; at most {ITEMS_MAX} are taken", spec.own_inputs.len())
    })?;
    spec.env.iter().try_for_each(|(name, value)| {
        check_variable(name)?;
        check_value("env", name, value)
    })
}

fn check_words(spec: &JobSpec) -> Result<(), Rejection> {
    let names = [("name", Some(&spec.name)), ("label", spec.label.as_ref())];
    for (key, name) in names.into_iter().filter_map(|(key, name)| Some((key, name?))) {
        refuse_if(name.len() > NAME_BYTES_MAX, || {
            format!("{key} has {} bytes; at most {NAME_BYTES_MAX} bytes are taken", name.len())
        })?;
        refuse_if(name.starts_with('-'), || {
            format!("{key} begins with -, as options do; expected another beginning")
        })?;
        refuse_if(name.chars().any(is_hidden), || format!("{key} has characters that are not seen"))?;
    }
    if let Some(label) = spec.label.as_deref() {
        refuse_if(is_blank(label), || {
            format!("label is {label:?}; expected a text that is seen, or null for no label")
        })?;
    }
    let texts = spec.command.iter().map(|word| ("command", word));
    let texts = texts.chain(spec.cwd.iter().map(|folder| ("cwd", folder)));
    let texts = texts.chain(spec.own_inputs.iter().map(|own| ("own_inputs", &own.of)));
    let mut texts = texts.chain(spec.outputs.iter().map(|pattern| ("outputs", pattern)));
    texts.try_for_each(|(key, text)| {
        refuse_if(text.len() > WORD_BYTES_MAX, || {
            format!("{key} has a text of {} bytes; at most {WORD_BYTES_MAX} are taken", text.len())
        })?;
        check_no_nul(key, text)
    })
}

/// No argument and no variable can have one.
fn check_no_nul(key: &str, text: &str) -> Result<(), Rejection> {
    refuse_if(text.contains('\0'), || format!("{key} has a text with a NUL in it; expected none"))
}

/// Whether answers can be compared as a job says.
fn check_compare(spec: &JobSpec) -> Result<(), Rejection> {
    if spec.compare.is_empty() {
        return Ok(());
    }
    let refused = [
        (
            spec.quorum == 1,
            "quorum is 1; expected 2 or more, or no compare: one answer is compared with nothing",
        ),
        (
            spec.outputs.is_empty(),
            "outputs is empty; expected the output files that the program is to compare",
        ),
        (
            spec.signed.is_some(),
            "the job is signed; expected no signature: machines run of a signed job what was signed, and who knows \
                                 the answers to compare before they were given",
        ),
    ];
    if let Some((_, why)) = refused.into_iter().find(|(is_so, _)| *is_so) {
        return Err(Rejection::invalid(format!("compare is given, and {why}")));
    }
    let bytes: usize = spec.compare.iter().map(String::len).sum();
    let is_bad = spec.compare.iter().any(|word| word.contains('\0')) || spec.compare[0].is_empty();
    refuse_if(is_bad || bytes > WORD_BYTES_MAX || spec.compare.len() > ITEMS_MAX, || {
        format!(
            "compare has {} words of {bytes} bytes; expected a program and at most {ITEMS_MAX} words of {WORD_BYTES_MAX} bytes together, \
             without a NUL",
            spec.compare.len()
        )
    })
}

/// How long the longest order to run one of its tasks is. Nothing is filled in to find that.
fn check_order(spec: &JobSpec) -> Result<(), Rejection> {
    let bytes = spec.order_bytes_max();
    refuse_if(bytes > ORDER_BYTES_MAX, || {
        format!(
            "with its parameters filled in, a task's command, variables and file names have {bytes} bytes; at most \
             {ORDER_BYTES_MAX} are taken: put what is long into an input file"
        )
    })
}

fn check_numbers(spec: &JobSpec) -> Result<(), Rejection> {
    let cores = spec.needs.cores;
    refuse_if(cores == 0 || cores > SLOTS_MAX, || {
        format!("needs.cores is {cores}; expected 1 to {SLOTS_MAX}")
    })?;
    for (key, bytes) in [("needs.memory", spec.needs.memory), ("needs.disk", spec.needs.disk)] {
        refuse_if(bytes > MEMORY_BYTES_MAX, || {
            format!("{key} is {bytes} bytes; no machine may claim more than {MEMORY_BYTES_MAX}")
        })?;
    }
    for (key, seconds) in
        [("needs.time_limit_s", spec.needs.time_limit_s), ("checkpoint.grace_s", spec.checkpoint.grace_s)]
    {
        refuse_if(!(seconds.is_finite() && seconds >= 0.0), || {
            format!("{key} is {seconds}; expected a number of seconds, 0 or more")
        })?;
    }
    let quorum = spec.quorum;
    refuse_if(!(1..=QUORUM_MAX).contains(&quorum), || {
        format!("quorum is {quorum}; expected 1 to {QUORUM_MAX} machines that have to give the same answer")
    })?;
    check_compare(spec)?;
    let goes_on = spec.checkpoint.folder || spec.checkpoint.exit_code.is_some();
    refuse_if(quorum > 1 && goes_on, || {
        format!(
            "quorum is {quorum}, and the job has a checkpoint; expected one of the two: an answer is one machine's from its \
             beginning, or nobody could say whose is wrong"
        )
    })?;
    // With 0, a task that has done its work would run again, for ever.
    if let Some(code) = spec.checkpoint.exit_code.filter(|code| !(1..=255).contains(code)) {
        return Err(Rejection::invalid(format!(
            "checkpoint.exit_code is {code}; expected an exit code from 1 to 255, since 0 says that the task is done"
        )));
    }
    check_lengths(spec)?;
    let Some(shares) = spec.composition else { return Ok(()) };
    let sum: f64 = shares.iter().sum();
    let good = shares.iter().all(|share| (0.0..=1.0).contains(share)) && (sum - 1.0).abs() <= 1e-9;
    refuse_if(!good, || {
        format!("composition is {shares:?}; expected shares of CPU, disk and network that add up to 1")
    })
}

fn check_lengths(spec: &JobSpec) -> Result<(), Rejection> {
    if let Some(length) = spec.length.filter(|&length| !is_length(length)) {
        return Err(Rejection::invalid(format!(
            "length is {length:?}; expected operations as a number above 0, at most {LENGTH_MAX:e}"
        )));
    }
    spec.lengths().map(drop).map_err(|error| Rejection::invalid(error.to_string()))
}

pub(super) fn check_expression(key: &str, text: &str) -> Result<(), Rejection> {
    refuse_if(text.len() > EXPRESSION_BYTES_MAX, || {
        format!("{key} has {} bytes; at most {EXPRESSION_BYTES_MAX} are taken", text.len())
    })?;
    refuse_if(text.chars().any(|c| is_hidden(c) && !c.is_ascii_whitespace()), || {
        format!("{key} has characters that are not seen")
    })?;
    Expr::parse(text).map(drop).map_err(|error| Rejection::invalid(format!("{key}: {error}")))
}

fn check_paths(spec: &JobSpec) -> Result<(), Rejection> {
    spec.check_inputs().map_err(Rejection::invalid)?;
    for path in &spec.outputs {
        refuse_if(!stays_inside(path), || {
            format!("\"{path}\" is no name within the task's folder: expected a relative path without \"..\"")
        })?;
    }
    // Before anything is filled in: what is may be a pattern too, and then its run says so before it begins.
    for text in &spec.outputs {
        refuse_if(names_nothing(text), || {
            format!(
                "outputs: \"{text}\" names no file or folder within the task's folder; \"*\" names all that is in it"
            )
        })?;
        pattern(text).map_err(|why| Rejection::invalid(format!("outputs: {why}")))?;
    }
    // What begins with a parameter may be absolute: its run says if it is not.
    let is_lost = |folder: &String| !folder.starts_with(['/', '{']);
    refuse_if(spec.cwd.as_ref().is_some_and(is_lost), || {
        "cwd does not begin with /; expected an absolute path: no machine knows where it begins".to_owned()
    })?;
    refuse_if(spec.cwd.is_some() && spec.confinement != Confinement::None, || {
        "cwd is given for a task in the sandbox, which has a folder of its own; leave cwd out, or opt out of the sandbox".to_owned()
    })
}

/// A name of a machine or a user.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), Rejection> {
    refuse_if(!is_name(name), || {
        format!(
            "\"{name}\" cannot be {what}'s name: expected letters, digits and -_.@, not a - first and not dots alone, at most {NAME_BYTES_MAX}"
        )
    })
}

#[cfg(test)]
mod tests;
