//! The arguments of the commands about ClassAds.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `gleaner classad`.
#[derive(Debug, Subcommand)]
pub(crate) enum ClassadArguments {
    /// Print the value of an expression
    Eval(EvalArguments),
    /// Say whether two ads match, and their ranks; exits with 1 if they do not match
    Match(MatchArguments),
}

const EVAL_HELP: &str = "\
Examples:
  gleaner classad eval 'strcat(\"a\", 1 + 2)'
  gleaner classad eval 'TARGET.Memory >= 8' --my task.ad --target machine.ad
  printf '1 + 1\\n[a = 1].a\\n' | gleaner classad eval --batch

Files hold one ad in the new form ([a = 1; b = 2]), the old one (a = 1, a line each), XML or JSON.";

/// `gleaner classad eval`.
#[derive(Args, Debug)]
#[command(after_help = EVAL_HELP)]
pub(crate) struct EvalArguments {
    /// The expression
    #[arg(required_unless_present = "batch", conflicts_with = "batch", allow_hyphen_values = true)]
    pub(crate) expression: Option<String>,
    /// Read one expression a line from standard input and print one value a line; exits with 1 if one does not parse
    #[arg(long, conflicts_with = "json")]
    pub(crate) batch: bool,
    /// The ad in which names and MY. are looked up
    #[arg(long, value_name = "FILE")]
    pub(crate) my: Option<PathBuf>,
    /// The ad in which TARGET. is looked up
    #[arg(long, value_name = "FILE")]
    pub(crate) target: Option<PathBuf>,
    /// Print type and value as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gleaner classad match`.
#[derive(Args, Debug)]
pub(crate) struct MatchArguments {
    /// The file of one ad
    #[arg(value_name = "A")]
    pub(crate) one: PathBuf,
    /// The file of the other
    #[arg(value_name = "B")]
    pub(crate) other: PathBuf,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
