//! `gleaner audit`: who did what, as the journal has it.

use crate::cli::AuditArguments;
use crate::columns::{Side, shown, with_sentences};
use crate::failure::Failure;
use crate::moments::clock;
use crate::{Outcome, home, stdout};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::recovery::entries;
use gleaner_server::store::{Seq, SqliteReader};
use gleaner_server::told::{Told, told};
use serde_json::json;
use std::collections::VecDeque;

const ABOUT_WIDTH: usize = 100;

struct Line {
    seq: u64,
    at_s: f64,
    told: Told,
}

pub(crate) fn run(arguments: &AuditArguments) -> Outcome {
    let fault = |error: &dyn std::fmt::Display| Failure::Coordinator(error.to_string());
    let reader =
        SqliteReader::open(&home::folder(arguments.home.as_deref())?).map_err(|error| fault(&error))?;
    let mut names: Vec<String> = Vec::new();
    let mut lines = VecDeque::new();
    for entry in entries(&reader, Seq::FIRST) {
        let (seq, Entry { at, fact }) = entry.map_err(|error| fault(&error))?;
        if let Fact::AgentEnrolled { name, .. } = &fact {
            names.push(name.clone());
        }
        let told = told(&fact, |agent| names.get(agent.index()).cloned().unwrap_or_default());
        let Some(told) = told.filter(|told| arguments.wants(at.seconds(), told)) else { continue };
        lines.push_back(Line { seq: seq.number(), at_s: at.seconds(), told });
        if lines.len() > arguments.limit {
            lines.pop_front();
        }
    }
    stdout::print(if arguments.json { as_json(&lines) } else { as_table(&lines) })
}

impl AuditArguments {
    fn wants(&self, at_s: f64, told: &Told) -> bool {
        let by = self.by.as_ref().is_none_or(|by| told.by.split(' ').next_back() == Some(by));
        by && self.since.is_none_or(|since_s| at_s >= since_s)
    }
}

/// A document a line: there may be many.
fn as_json(lines: &VecDeque<Line>) -> String {
    let line = |Line { seq, at_s, told: Told { by, what, about } }: &Line| {
        format!(
            "{}\n",
            json!({ "version": 1, "seq": seq, "at_s": at_s, "by": by, "what": what, "about": about })
        )
    };
    lines.iter().map(line).collect()
}

fn as_table(lines: &VecDeque<Line>) -> String {
    let headings = [("WHEN", Side::Left), ("WHO", Side::Left), ("WHAT", Side::Left), ("ABOUT", Side::Left)];
    let row = |Line { at_s, told: Told { by, what, about }, .. }: &Line| {
        vec![clock(*at_s), shown(by, ABOUT_WIDTH), (*what).to_owned(), shown(about, ABOUT_WIDTH)]
    };
    with_sentences(&headings, &lines.iter().map(row).collect::<Vec<_>>())
}
