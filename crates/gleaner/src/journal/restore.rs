//! `gleaner journal restore`: a backup, or what can be saved, in the journal's place.

mod access;

use super::folder::fault;
use crate::cli::JournalRestoreArguments;
use crate::failure::Failure;
use crate::{Outcome, home, moments, stdout};
use gleaner_net::random_bytes;
use gleaner_server::ledger::Ledger;
use gleaner_server::recovery::RecoveryError;
use gleaner_server::restoring::{
    Access, Behind, Loss, behind, changed_access, is_of_another_grid, ledger_at, loss, put_back,
};
use gleaner_server::store::{
    self, AUTHORITY_FOLDER, DATABASE, Home, NetworkFolder, OpenError, ReadError, Readable, Reader,
    ReplaceError, Seq, SqliteReader, readable,
};
use gleaner_wire::{JobId, Lineage};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

const OTHERS: &str = "This is the journal of another grid: no token, no user and no machine of the grid whose folder it is would be known \
                      any more. Its own folder, or a whole copy of it, has its keys too";

pub(super) fn run(
    JournalRestoreArguments { file, yes, other_grid, of }: &JournalRestoreArguments,
) -> Outcome {
    let folder = home::folder(of.home.as_deref())?;
    let backup = file.as_deref().map(backup).transpose()?;
    if backup.is_none() && !folder.join(DATABASE).exists() {
        let why = format!("there is no journal in {}: name a copy of one", folder.display());
        return Err(Failure::Usage(why));
    }
    if let Some(from) = file.as_deref() {
        check_has_keys(from, &folder)?;
    }
    let home = if *yes { Home::open(&folder, NetworkFolder::Refuse) } else { Home::look(&folder) }?;
    let compared = compare(&home, backup)?;
    let Compared { reader, last, loss, access, unread, is_others, .. } = &compared;
    if *is_others && *yes && !other_grid {
        return Err(Failure::Usage(format!(
            "{OTHERS}. Nothing was changed; to do it all the same, add --other-grid"
        )));
    }
    let lineage = Lineage::of(random_bytes().map_err(fault)?);
    let [_, until] = loss.until;
    let aside = yes.then(|| put_back(&home, &**reader, (*last, until), lineage)).transpose();
    let aside = aside.map_err(|error| if file.is_some() { error.into() } else { unsaved(&home, error) })?;
    if of.json {
        return stdout::print_json(&json!({
            "version": 1,
            "rows": last.number(),
            "rows_lost": unread,
            "jobs_lost": loss.jobs,
            "results_lost": loss.results,
            "machines_lost": loss.machines,
            "access": access,
            "access_is_whole": compared.is_access_whole(),
            "other_grid": is_others,
            "restored": yes,
            "replaced": aside,
        }));
    }
    let others = if *is_others { format!("{OTHERS}.\n") } else { String::new() };
    stdout::print(others + &told(&compared, aside.as_deref()))
}

/// A journal that is to take the place of what is in a folder, and what is lost by that.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, of which another line tells")]
struct Compared {
    reader: Box<dyn Reader>,
    last: Seq,
    loss: Loss,
    /// What changes for users, tokens and machines; nothing where what it replaces says less than it, or is another grid's.
    access: Option<Access>,
    /// How many rows were committed behind its last.
    unread: u64,
    is_others: bool,
    was_there: bool,
    /// Whether what it replaces can be read.
    is_readable: bool,
    /// Whether all of that can be read.
    is_read_to_its_end: bool,
}

impl Compared {
    /// Whether nothing but what is said changes for users, tokens and machines.
    fn is_access_whole(&self) -> bool {
        self.access.is_some() && self.is_read_to_its_end
    }
}

/// A backup beside what is in the folder, or else what can be saved of that beside all of it.
fn compare(home: &Home, backup: Option<(Box<dyn Reader>, Seq)>) -> Result<Compared, Failure> {
    let was_there = home.folder().join(DATABASE).exists();
    let there = match was_there.then(|| readable(home)).transpose() {
        // What is to be replaced need not be readable.
        Err(ReplaceError::Open(_) | ReplaceError::Read(_)) if backup.is_some() => None,
        there => there.map_err(|error| unsaved(home, error))?,
    };
    let now = match there.as_ref().map(|there| ledger_at(&*there.reader, there.last)).transpose() {
        Err(_) if backup.is_some() => None,
        now => now.map_err(|error| match error {
            RecoveryError::Read(error) => unsaved(home, error.into()),
            other => fault(other),
        })?,
    };
    let known = there.as_ref().and_then(|there| there.known);
    let saved = there.map(|Readable { reader, last, .. }| (reader, last));
    if backup.is_none() && saved.as_ref().is_some_and(|(_, last)| *last == Seq::NONE) {
        return Err(nothing_saved(home, "it has no row that is what was written"));
    }
    let ends = saved.as_ref().map_or(Seq::NONE, |(_, last)| *last);
    let damaged = saved.as_ref().map_or_else(Behind::default, |(reader, last)| behind(&**reader, *last));
    let (reader, last) = backup.or(saved).expect("one of the two is there");
    let then = ledger_at(&*reader, last).map_err(fault)?;
    let mut loss = loss(now.as_ref().unwrap_or(&Ledger::new()), &then);
    let is_known = |job: &JobId| *job < then.next_job() || loss.jobs.contains(job);
    let more: Vec<JobId> = damaged.jobs.iter().copied().filter(|job| !is_known(job)).collect();
    loss.jobs.extend(more);
    let committed = known.max(damaged.last).unwrap_or(Seq::NONE);
    let unread = committed.number().saturating_sub(last.number());
    let is_others = now.as_ref().is_some_and(|now| is_of_another_grid(now, &then));
    let access = now.as_ref().filter(|_| !is_others && ends >= last).map(|now| changed_access(now, &then));
    let (is_readable, is_read_to_its_end) = (now.is_some(), ends >= committed);
    Ok(Compared { reader, last, loss, access, unread, is_others, was_there, is_readable, is_read_to_its_end })
}

/// What is said of the same error elsewhere advises the command that this is, without a backup.
fn unsaved(home: &Home, error: ReplaceError) -> Failure {
    match error {
        ReplaceError::Read(ReadError::File { source }) => {
            nothing_saved(home, &format!("its file is damaged where all rows hang together ({source})"))
        }
        other => other.into(),
    }
}

fn nothing_saved(home: &Home, why: &str) -> Failure {
    Failure::Coordinator(format!(
        "nothing can be saved of the journal in {}: {why}. Nothing was changed; put a backup in its place: gleaner journal restore \
         BACKUP",
        home.folder().display()
    ))
}

/// A journal is of no use in a folder without the keys by which its machines and users know the grid.
fn check_has_keys(from: &Path, to: &Path) -> Result<(), Failure> {
    let copy = if from.is_dir() { from } else { from.parent().unwrap_or(Path::new(".")) };
    if to.join(AUTHORITY_FOLDER).exists() || !copy.join(AUTHORITY_FOLDER).exists() {
        return Ok(());
    }
    let (from, to) = (copy.display(), to.display());
    Err(Failure::Usage(format!(
        "{to} has no keys of a grid, and machines and users know this one by those in {from}: copy the whole folder first, with the files \
         of its jobs (`cp -a {from}/. {to}`), then run `gleaner journal restore --home {to}`. Nothing was changed"
    )))
}

/// All rows of a copy, each of which has to be what was written. A folder stands for the journal in it.
fn backup(file: &Path) -> Result<(Box<dyn Reader>, Seq), Failure> {
    let within = file.join(DATABASE);
    let file = if file.is_dir() { within.as_path() } else { file };
    let reader = SqliteReader::unchecked(file).map_err(|error| match error {
        OpenError::Damaged { .. } => {
            let file = file.display();
            Failure::Usage(format!(
                "{file} is no journal, or one that cannot be read at all: name another copy"
            ))
        }
        other => other.into(),
    })?;
    let found = store::verify(&reader).map_err(fault)?;
    if let Some((seq, damage)) = found.named.first() {
        let (file, damaged) = (file.display(), found.damaged);
        let why =
            format!("{file}: {damaged} rows are damaged, first row {seq}, which {damage}; take another copy");
        return Err(Failure::Difference(why));
    }
    let last = reader.last().map_err(fault)?;
    Ok((Box::new(reader), last))
}

fn told(compared: &Compared, aside: Option<&Path>) -> String {
    let Compared { last, loss, access, unread, is_others, was_there, is_readable, .. } = compared;
    let Loss { jobs, results, machines, until: [_, then] } = loss;
    let (ends, lost) = if aside.is_some() { ("ends", "is lost") } else { ("would end", "would be lost") };
    let mut text = format!("The journal {ends} at row {last}, of {}.\n", moments::clock(then.seconds()));
    let mut line = |words: String| writeln!(text, "  {words}").expect("text takes more text");
    if *unread > 0 {
        line(format!("{unread} rows after that were committed: what is in them {lost}"));
    }
    if !*is_readable {
        line(
            "what it replaces is not there or cannot be read, so it cannot be said what else is lost"
                .to_owned(),
        );
    }
    if !jobs.is_empty() {
        let named: Vec<String> = jobs.iter().take(20).map(ToString::to_string).collect();
        let more = if jobs.len() > named.len() { ", …" } else { "" };
        line(format!("jobs that were handed in later, {} in all: {}{more}", jobs.len(), named.join(", ")));
    }
    if *results > 0 {
        line(format!("the results of {results} tasks of other jobs: they run again"));
    }
    if !machines.is_empty() {
        line(format!("machines that joined later, and have to join again: {}", machines.join(", ")));
    }
    if !*is_others {
        text += &access::told(access.as_ref(), compared.is_access_whole());
    }
    text + &match aside {
        Some(aside) => {
            let before = if *was_there {
                format!("What was there is in {}.\n", aside.display())
            } else {
                String::new()
            };
            format!(
                "{before}Start the coordinator: machines find their way back, and runs begin after one lease.\n"
            )
        }
        None if *is_others => {
            "Nothing was changed. To do it all the same, say it again with --yes --other-grid.\n".to_owned()
        }
        None => "Nothing was changed. To do it, say it again with --yes.\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a backup helps, and the command is not advised that was just run.
    #[test]
    fn what_cannot_be_saved_wants_a_backup() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open(folder.path(), NetworkFolder::Accept).expect("a home");
        let error = ReadError::File { source: "database disk image is malformed".into() };
        let said = unsaved(&home, error.into()).to_string();
        assert!(said.starts_with("nothing can be saved of the journal in"), "{said}");
        assert!(said.ends_with("gleaner journal restore BACKUP") && !said.contains("stop the"), "{said}");
    }
}
