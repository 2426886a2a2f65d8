//! `gleaner audit`: who did what, as the journal has it.

use crate::cli::{AuditArguments, Since};
use crate::columns::{Side, shown, with_sentences};
use crate::failure::Failure;
use crate::journal::{fault, whole};
use crate::moments::clock;
use crate::{Outcome, home, stdout};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::recovery::{entry, rows};
use gleaner_server::store::{OpenError, Reader as _, Seq, SqliteReader};
use gleaner_server::told::{TaskNames, Told, told};
use gleaner_units::MachineId;
use gleaner_wire::meant::meant;
use gleaner_wire::{Head, VERSION};
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};

const ABOUT_WIDTH: usize = 100;

struct Line {
    seq: u64,
    at_s: f64,
    told: Told,
}

pub(crate) fn run(arguments: &AuditArguments) -> Outcome {
    let reader =
        SqliteReader::open(&home::folder(arguments.home.as_deref())?).map_err(|error| match error {
            OpenError::Behind { .. } => Failure::Difference(error.to_string()),
            other => other.into(),
        })?;
    if arguments.head {
        let head = head(&reader)?;
        return if arguments.json {
            stdout::print_json(&json!({ "version": VERSION, "head": head.to_string() }))
        } else {
            stdout::print(format!("{head}\n"))
        };
    }
    if arguments.verify {
        return verify(&reader, arguments);
    }
    let (mut names, mut tasks) = (Vec::<String>::new(), TaskNames::default());
    let (mut lines, mut actors, mut last_s) = (VecDeque::new(), BTreeSet::new(), None);
    for stored in rows(&reader, Seq::FIRST) {
        let stored = stored.map_err(fault)?;
        let about = stored.row.tasks.clone();
        let (seq, Entry { at, fact }) = entry(stored).map_err(fault)?;
        if let Fact::AgentEnrolled { name, .. } = &fact {
            names.push(name.clone());
        }
        tasks.note(&fact, &about);
        let machine = |agent: MachineId| names.get(agent.index()).cloned().unwrap_or_default();
        let told = told(&fact, machine, |task| tasks.name(task));
        let Some(told) = told else { continue };
        last_s = Some(at.seconds());
        if arguments.by.is_some() && !actors.contains(actor(&told)) {
            actors.insert(actor(&told).to_owned());
        }
        if !arguments.wants(seq, at.seconds(), &told) {
            continue;
        }
        lines.push_back(Line { seq: seq.number(), at_s: at.seconds(), told });
        if lines.len() as u64 > arguments.limit {
            lines.pop_front();
        }
    }
    if let Some(by) = arguments.by.as_ref().filter(|by| !actors.contains(*by)) {
        let near = meant(by, actors.iter().map(String::as_str));
        anstream::eprintln!("note: the trail has nothing by {}{near}", shown(by, ABOUT_WIDTH));
    } else if lines.is_empty() {
        let last = last_s.map_or_else(String::new, |at_s| format!("; its last entry is of {}", clock(at_s)));
        anstream::eprintln!("note: the trail has nothing like that since then{last}");
    }
    if arguments.json { stdout::print_json(&as_json(&lines)) } else { stdout::print(as_table(&lines)) }
}

/// The name of whoever did it.
fn actor(told: &Told) -> &str {
    told.by.rsplit(' ').next().unwrap_or_default()
}

fn head(reader: &SqliteReader) -> Result<Head, Failure> {
    let last = reader.last().map_err(fault)?;
    let hash = reader.chain(last).map_err(fault)?;
    // Nothing takes rows away while this looks.
    hash.map(|hash| Head { row: last.number(), hash }).ok_or_else(|| fault("the journal's last row is gone"))
}

fn verify(reader: &SqliteReader, arguments: &AuditArguments) -> Outcome {
    let rows = whole(reader)?;
    let kept = match arguments.since {
        None => String::new(),
        Some(Since::Moment(_)) => {
            return Err(Failure::Usage(
                "--verify takes --since HEAD, as `gleaner audit --head` printed it".to_owned(),
            ));
        }
        Some(Since::Head(known)) => {
            let found = reader.chain(Seq::new(known.row)).map_err(fault)?;
            let row = known.row;
            let begins = reader.beginning().map_err(fault)?;
            let last = reader.last().map_err(fault)?;
            let why = match found {
                Some(hash) if hash == known.hash => None,
                Some(_) => Some(format!(
                    "a row up to {row} was changed or taken away since that head was written down"
                )),
                None if begins.is_some_and(|begins| row < begins.at.number()) => Some(format!(
                    "the journal was compacted since, and row {row} was dropped: only heads of later rows can be compared"
                )),
                None => Some(format!(
                    "the journal ends at row {last}: rows {} to {row} were taken away",
                    last.next()
                )),
            };
            why.map_or(Ok(()), |why| Err(Failure::Difference(why)))?;
            format!("; up to row {row} they are those of that head")
        }
    };
    let head = head(reader)?;
    if arguments.json {
        return stdout::print_json(&json!({ "version": VERSION, "rows": rows, "head": head.to_string() }));
    }
    stdout::print(format!("{rows} rows, each follows from those before it{kept}\nhead {head}\n"))
}

impl AuditArguments {
    fn wants(&self, seq: Seq, at_s: f64, told: &Told) -> bool {
        let by = self.by.as_ref().is_none_or(|by| actor(told) == by);
        by && self.since.is_none_or(|since| match since {
            Since::Moment(since_s) => at_s >= since_s,
            Since::Head(head) => seq.number() > head.row,
        })
    }
}

fn as_json(lines: &VecDeque<Line>) -> Value {
    let line = |Line { seq, at_s, told: Told { by, what, about } }: &Line| json!({ "seq": seq, "at_s": at_s, "by": by, "what": what, "about": about });
    json!({ "version": VERSION, "entries": lines.iter().map(line).collect::<Vec<_>>() })
}

fn as_table(lines: &VecDeque<Line>) -> String {
    let headings = [("WHEN", Side::Left), ("WHO", Side::Left), ("WHAT", Side::Left), ("ABOUT", Side::Left)];
    let row = |Line { at_s, told: Told { by, what, about }, .. }: &Line| {
        vec![clock(*at_s), shown(by, ABOUT_WIDTH), (*what).to_owned(), shown(about, ABOUT_WIDTH)]
    };
    with_sentences(&headings, &lines.iter().map(row).collect::<Vec<_>>())
}
