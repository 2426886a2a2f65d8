//! `HTCondor`'s `ClassAd` language: parse, evaluate, match.
mod ad;
mod context;
mod diagnostic;
mod eval;
mod expr;
mod functions;
mod lexer;
mod limits;
mod matching;
mod name;
mod number;
mod ops;
mod parser;
mod scope;
mod stack;
mod time;
mod unparse;
mod value;

pub use ad::ClassAd;
pub use context::{Clock, Context};
pub use diagnostic::{ParseError, Problem, explain_unknown_function, nearest_functions};
pub use expr::Expr;
pub use limits::Limits;
pub use matching::{RANK, REQUIREMENTS, matches, rank, symmetric_match};
pub use name::Name;
pub use scope::Scope;
pub use value::{AbsTime, List, Text, Value};
