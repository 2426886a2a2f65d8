//! HTCondor's ClassAd language: parse, evaluate, match.
//!
//! A classified advertisement names expressions: what a machine has, what a task needs, what each asks of the other.
//! This crate reads ads in every form of HTCondor's, evaluates their expressions and matches them, with the values HTCondor gives.
//!
//! ```
//! use gleaner_classad::{ClassAd, Context, Expr, Value, matches, rank};
//!
//! let machine = ClassAd::parse(r#"[ Name = "m0"; Memory = 2048; Cpus = 4; LoadAvg = 0.25 ]"#)?;
//! let task = ClassAd::parse(
//!     r#"[ RequestMemory = 1024;
//!          Requirements = TARGET.Memory >= RequestMemory && TARGET.LoadAvg < 0.5;
//!          Rank = TARGET.Cpus * 10 ]"#,
//! )?;
//! let context = Context::new();
//! assert!(matches(&machine, &task, &context));
//! assert_eq!(rank(&task, &machine, &context), 40.0);
//!
//! let expr = Expr::parse("strcat(Name, \":\", Memory / Cpus)")?;
//! assert_eq!(expr.evaluate(&context.with_my(&machine)), Value::string("m0:512"));
//! # Ok::<(), gleaner_classad::ParseError>(())
//! ```
//!
//! # Four truths
//!
//! Besides `true` and `false` there are `undefined`, for what is missing, and `error`, for what is wrong. Operators
//! are strict: one operand that is `error` or `undefined` makes the result so. `&&`, `||`, `?:`, `=?=` and `=!=` are
//! not: `false && undefined` is `false`, and `undefined =?= undefined` is `true`.
//!
//! ```
//! # use gleaner_classad::{Context, Expr};
//! # let context = Context::new();
//! # let evaluate = |text: &str| Ok::<_, gleaner_classad::ParseError>(Expr::parse(text)?.evaluate(&context).to_string());
//! assert_eq!(evaluate("missing > 5")?, "undefined");
//! assert_eq!(evaluate("missing > 5 || true")?, "true");
//! assert_eq!(evaluate("missing ?: 5")?, "5");
//! assert_eq!(evaluate("1 + \"a\"")?, "error");
//! # Ok::<(), gleaner_classad::ParseError>(())
//! ```
//!
//! # Many matches
//!
//! [`CompiledAd`] reads an ad once, for meeting many others: comparisons of numbers and strings then take tens of
//! nanoseconds and no allocation. [`Expr::references`] says which attributes an expression reads.
//!
//! # Agreement with HTCondor
//!
//! Values and types are those of the module `classad2` 25.14.1, quirks included; `tests/classads/differential.rs` compares
//! hundreds of thousands of generated expressions and pairs of ads. Some quirks that surprise:
//!
//! - `a ?: b` binds tighter than any other operator: `1 ?: 2 + 3` is 4.
//! - Integers are decimal; `0x1F` is 0 and an integer that does not fit is 0. There are no suffixes such as `K`.
//! - Arithmetic of integers wraps; a real result of plus infinity is an error, one of minus infinity is not.
//! - `relTime("…")` with a string written out is a real; `relTime(5)` is a relative time.
//! - An attribute whose evaluation needs itself is `undefined` there.
//! - A subscript such as `x["y"]` gives an ad from which nothing can be selected: `x["y"].z` is `undefined`.
//! - Elements of a list are evaluated with the names of the place where a function gets the list.
//!
//! Known differences:
//!
//! - Where `classad2` runs into its own limits (an evaluation about 400 levels deep fails), this crate goes on up to
//!   [`Limits`]. Where it reads memory it has given back (lists of ads out of a subscript), this crate has a value.
//! - `unresolved`, `evalInEachContext` and `countMatches` of an attribute that does not exist leave `classad2`
//!   evaluating the rest of the expression in another ad; here they do not.
//! - Functions that HTCondor registers on top of the language (`stringListMember`, `split`, `userHome` and their
//!   like) are always there; in `classad2` they are once an ad has been a value, or with `htcondor2` loaded. Integers
//!   such as `0x1F` and `010` are read by `classad2` until then, and always here.
//! - `userMap` has no maps, `debug` writes nothing.
//! - Comments that run to the end of the line are fine at the end of an expression.
//!
//! Regular expressions are PCRE2, the library HTCondor uses, over bytes: a Rust engine would differ in what it
//! accepts, in back-references and look-around, and in giving up on patterns that explode. Its unsafe code stays in
//! the crate `pcre2`; where the system has the library that is used, else it is built along.
//!
//! # Limits
//!
//! Whatever the input, there is an answer soon and no crash: see [`Limits`]. Recursion grows the stack on the heap,
//! so that threads with small stacks do as well.

#![expect(
    clippy::cast_possible_wrap,
    reason = "integers of the language wrap as HTCondor's do, and lengths are far from the 63rd bit"
)]

mod ad;
mod comparison;
mod compiled;
mod conjunction;
mod context;
mod counted;
mod diagnostic;
mod eval;
mod expr;
mod functions;
mod json;
mod lexer;
mod limits;
mod matching;
mod name;
mod number;
mod old;
mod ops;
mod parser;
mod scope;
mod stack;
mod time;
mod unparse;
mod value;
mod xml;

pub use ad::ClassAd;
pub use comparison::{Comparator, Comparison};
pub use compiled::{CompiledAd, Names};
pub use context::{Clock, Context};
pub use diagnostic::{ParseError, Problem, explain_unknown_function, nearest_functions};
pub use expr::Expr;
pub use limits::{Budget, Limits};
pub use matching::{RANK, REQUIREMENTS, matches, rank};
pub use name::Name;
pub use scope::Scope;
pub use value::{AbsTime, List, Text, Value};
