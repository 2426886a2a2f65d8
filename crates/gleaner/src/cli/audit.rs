//! The arguments of `gleaner audit`.

use crate::moments::parse_moment;
use clap::Args;
use gleaner_wire::{Head, InvalidHead};
use std::path::PathBuf;

const AUDIT_HELP: &str = "\
It is read from the journal in the coordinator's folder, so it is asked for on the coordinator's machine.

Examples:
  gleaner audit
  gleaner audit --by ada --since '2026-11-01 00:00:00' --json
  gleaner audit --head | ssh elsewhere 'cat >> heads'
  gleaner audit --verify --since 1021:5f0c…";

/// `gleaner audit`.
#[derive(Args, Debug)]
#[command(after_help = AUDIT_HELP)]
pub(crate) struct AuditArguments {
    /// Only what this user or agent did
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Only what was done since then, or behind a head
    #[arg(long, value_name = "MOMENT|HEAD", value_parser = parse_since)]
    pub(crate) since: Option<Since>,
    /// Print the head, ROW:HASH, to be kept on another machine: whoever has it notices later if anything up to it was changed or
    /// taken away
    #[arg(long, conflicts_with_all = ["verify", "by", "since"])]
    pub(crate) head: bool,
    /// Check that each row follows from the row before it, and with --since HEAD that nothing up to that head was changed or
    /// taken away; exits with 1 if something was
    #[arg(long, conflicts_with = "by")]
    pub(crate) verify: bool,
    /// How many to show, the latest ones
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: u64,
    /// The coordinator's folder
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where something begins that is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Since {
    /// At a moment, in seconds since 1970.
    Moment(f64),
    /// Behind a row.
    Head(Head),
}

fn parse_since(text: &str) -> Result<Since, String> {
    match text.parse() {
        Ok(head) => Ok(Since::Head(head)),
        Err(_) => parse_moment(text).map(Since::Moment).map_err(|why| format!("{why}, or {InvalidHead}")),
    }
}
