//! `gleaner journal`: looks after a coordinator's journal.

mod compact;
mod folder;
mod restore;

pub(crate) use folder::fault;

use crate::cli::{JournalArguments, JournalFolderArguments, JournalVerifyArguments};
use crate::failure::Failure;
use crate::{Outcome, home, moments, stdout};
use folder::with_journal;
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::recovery::{entries, make_past_anew, replay_all};
use gleaner_server::store::{self, Reader, Seq, SqliteReader, SqliteStore, Store as _};
use gleaner_server::verify::{self, Before, Depth};
use serde_json::json;
use std::io::Write as _;

pub(crate) fn run(arguments: &JournalArguments) -> Outcome {
    match arguments {
        JournalArguments::Verify(arguments) => verify(arguments),
        JournalArguments::Rebuild(of) => rebuild(of),
        JournalArguments::Export(of) => export(of),
        JournalArguments::Compact(arguments) => compact::run(arguments),
        JournalArguments::Restore(arguments) => restore::run(arguments),
    }
}

/// How many rows there are, each as it was written behind the one before it.
pub(crate) fn whole(reader: &dyn Reader) -> Result<u64, Failure> {
    let rows = store::verify(reader).map_err(fault)?;
    if rows.damaged == 0 {
        sealed(reader)?;
        return Ok(rows.intact);
    }
    let named: Vec<String> = rows.named.iter().map(|(seq, damage)| format!("row {seq}: {damage}")).collect();
    let all = rows.damaged + rows.intact;
    let message = format!("{} of {all} rows are damaged: {}", rows.damaged, named.join("; "));
    Err(Failure::Difference(message))
}

/// What a compacted journal keeps of what was before is what its row of that day says.
fn sealed(reader: &dyn Reader) -> Result<(), Failure> {
    let Some(beginning) = reader.beginning().map_err(fault)? else { return Ok(()) };
    for entry in entries(reader, beginning.at.next()) {
        let (row, Entry { fact, .. }) = entry.map_err(fault)?;
        match fact {
            Fact::JournalCompacted { upto, seal, .. } if upto == beginning.at.number() => {
                let message =
                    format!("the journal begins at row {upto} with something else than row {row} says");
                return if seal == beginning.seal { Ok(()) } else { Err(Failure::Difference(message)) };
            }
            _ => {}
        }
    }
    Ok(())
}

/// So many of them, and whether there are more.
pub(crate) fn named(wrong: &[String]) -> String {
    let named = wrong[..wrong.len().min(store::NAMED_DAMAGES)].join("; ");
    if wrong.len() > store::NAMED_DAMAGES { named + "; …" } else { named }
}

/// A damaged row, a decision that would be another now, or a file that is not there, is a difference.
fn verify(JournalVerifyArguments { of, files }: &JournalVerifyArguments) -> Outcome {
    let home = home::folder(of.home.as_deref())?;
    let reader = SqliteReader::open(&home)?;
    let rows = whole(&reader)?;
    let mut unreadable = None;
    let facts =
        entries(&reader, Seq::FIRST).map_while(|entry| entry.map_err(|error| unreadable = Some(error)).ok());
    let report = verify::verify(Before::of(&reader).map_err(fault)?, facts);
    unreadable.map_or(Ok(()), |error| Err(fault(error)))?;
    let report = report.map_err(|error| Failure::Difference(error.to_string()))?;
    let depth = if *files { Depth::Content } else { Depth::Lengths };
    let kept = verify::files(&home, &report, depth);
    if !kept.wrong.is_empty() {
        let (wrong, named) = (kept.wrong.len(), named(&kept.wrong));
        let message = format!("{wrong} of {} files are not as the journal says: {named}", kept.files);
        return Err(Failure::Difference(message));
    }
    let beginning = reader.beginning().map_err(fault)?;
    if of.json {
        let begins = beginning.map_or(0, |beginning| beginning.at.number());
        let decisions = report.decisions;
        return stdout::print_json(
            &json!({ "version": 1, "rows": rows, "begins_behind": begins, "decisions": decisions, "files": kept.files }),
        );
    }
    let are = if *files { "what they were" } else { "there" };
    let compacted = beginning.map(|beginning| {
        let (at, moment) = (beginning.at, moments::clock(beginning.moment.seconds()));
        format!(
            "the journal was compacted at row {at}, of {moment}: decisions up to there are not made again\n"
        )
    });
    stdout::print(format!(
        "{} rows are intact; {} decisions were made again, and alike; {} files are {are}\n{}",
        rows,
        report.decisions,
        kept.files,
        compacted.unwrap_or_default()
    ))
}

fn rebuild(of: &JournalFolderArguments) -> Outcome {
    let home = with_journal(of)?;
    let mut store = SqliteStore::open(&home)?;
    let recovered = replay_all(&*store.reader().map_err(fault)?).map_err(fault)?;
    make_past_anew(&mut store).map_err(fault)?;
    let (rows, snapshot) = (recovered.rows, recovered.snapshot());
    store.snapshots().map_err(fault)?.save(&snapshot).map_err(fault)?;
    if of.json {
        return stdout::print_json(
            &json!({ "version": 1, "rows": rows, "snapshot_bytes": snapshot.body.len() }),
        );
    }
    stdout::print(format!(
        "read {rows} rows; the next start begins from here ({} bytes)\n",
        snapshot.body.len()
    ))
}

fn export(of: &JournalFolderArguments) -> Outcome {
    let reader = SqliteReader::open(&home::folder(of.home.as_deref())?)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for entry in entries(&reader, Seq::FIRST) {
        let (seq, Entry { at, fact }) = entry.map_err(fault)?;
        let line =
            json!({ "version": store::FORMAT, "seq": seq.number(), "at_ns": at.nanos(), "fact": fact });
        if stdout::is_closed(writeln!(out, "{line}"))? {
            return Ok(());
        }
    }
    stdout::is_closed(out.flush()).map(drop)
}
