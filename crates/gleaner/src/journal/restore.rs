//! `gleaner journal restore`: a backup, or what can be saved, in the journal's place.

use super::fault;
use crate::cli::JournalRestoreArguments;
use crate::failure::Failure;
use crate::{Outcome, home, moments, stdout};
use gleaner_net::random_bytes;
use gleaner_server::ledger::Ledger;
use gleaner_server::restoring::{Loss, ledger_at, loss, put_back};
use gleaner_server::store::{
    self, DATABASE, Home, NetworkFolder, Readable, Reader, Seq, SqliteReader, readable,
};
use gleaner_wire::Lineage;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn run(JournalRestoreArguments { file, yes, of }: &JournalRestoreArguments) -> Outcome {
    let home = Home::open(&home::folder(of.home.as_deref())?, NetworkFolder::Refuse).map_err(fault)?;
    let there = home.folder().join(DATABASE).exists().then(|| readable(&home)).transpose().map_err(fault)?;
    let now = there.as_ref().map(|there| ledger_at(&*there.reader, there.last)).transpose().map_err(fault)?;
    let known = there.as_ref().and_then(|there| there.known);
    let (reader, last) = match (file, there) {
        (Some(file), _) => backup(file)?,
        (None, Some(Readable { reader, last, .. })) => (reader, last),
        (None, None) => {
            let why = format!("there is no journal in {}: name a copy of one", home.folder().display());
            return Err(Failure::Usage(why));
        }
    };
    let then = ledger_at(&*reader, last).map_err(fault)?;
    let loss = loss(now.as_ref().unwrap_or(&Ledger::new()), &then);
    let unread = known.map_or(0, |known| known.number().saturating_sub(last.number()));
    let lineage = Lineage::of(random_bytes().map_err(fault)?);
    let aside =
        yes.then(|| put_back(&home, &*reader, (last, then.now()), lineage)).transpose().map_err(fault)?;
    if of.json {
        return stdout::print_json(&json!({
            "version": 1,
            "rows": last.number(),
            "rows_lost": unread,
            "jobs_lost": loss.jobs,
            "results_lost": loss.results,
            "machines_lost": loss.machines,
            "restored": yes,
            "replaced": aside,
        }));
    }
    stdout::print(told(last, unread, &loss, now.is_some(), aside.as_deref()))
}

/// All rows of a copy, each of which has to be what was written.
fn backup(file: &Path) -> Result<(Box<dyn Reader>, Seq), Failure> {
    let reader = SqliteReader::unchecked(file).map_err(fault)?;
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

fn told(last: Seq, unread: u64, loss: &Loss, is_compared: bool, aside: Option<&Path>) -> String {
    let Loss { jobs, results, machines, until: [_, then] } = loss;
    let (ends, lost) = if aside.is_some() { ("ends", "is lost") } else { ("would end", "would be lost") };
    let mut text = format!("The journal {ends} at row {last}, of {}.\n", moments::clock(then.seconds()));
    let mut line = |words: String| writeln!(text, "  {words}").expect("text takes more text");
    if unread > 0 {
        line(format!("{unread} rows after that were committed: what is in them {lost}"));
    }
    if !is_compared {
        line("what it replaces is not there, so it cannot be said what else is lost".to_owned());
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
    text + &match aside {
        Some(aside) => format!(
            "What was there is in {}.\nStart the coordinator: machines find their way back, and after a lease runs begin.\n",
            aside.display()
        ),
        None => "Nothing was changed. To do it, say it again with --yes.\n".to_owned(),
    }
}
