//! `gleaner classad eval` and `gleaner classad match`.

use crate::cli::{ClassadArguments, EvalArguments, MatchArguments};
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_classad::{ClassAd, Context, Expr, ParseError, explain_unknown_function, matches, rank};
use serde_json::json;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::Path;

/// A longer line is no expression that anyone wrote; what is left of it is skipped.
const LINE_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn run(arguments: &ClassadArguments) -> Outcome {
    match arguments {
        ClassadArguments::Eval(arguments) => eval(arguments),
        ClassadArguments::Match(arguments) => match_ads(arguments),
    }
}

fn eval(arguments: &EvalArguments) -> Outcome {
    let mut context = Context::new();
    if let Some(file) = &arguments.my {
        context = context.with_my(&read_ad(file)?);
    }
    if let Some(file) = &arguments.target {
        context = context.with_target(&read_ad(file)?);
    }
    match &arguments.expression {
        Some(text) => eval_one(text, &context, arguments.json),
        None => eval_batch(&context),
    }
}

fn eval_one(text: &str, context: &Context, as_json: bool) -> Outcome {
    let expr = Expr::parse(text).map_err(|error| Failure::Usage(point_at(text, &error)))?;
    warn_of_unknown_functions(&expr, None);
    let value = expr.evaluate(context);
    if as_json {
        stdout::print_json(&json!({ "version": 1, "type": value.type_name(), "value": value.to_string() }))
    } else {
        stdout::print(format!("{value}\n"))
    }
}

/// One expression a line in, one value a line out, in step, so that a program can hold a conversation.
fn eval_batch(context: &Context) -> Outcome {
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let (mut line, mut number, mut broken) = (Vec::new(), 0_u64, 0_u64);
    loop {
        line.clear();
        let read = (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::io("read", Path::new("standard input"), error))?;
        if read == 0 {
            break;
        }
        number += 1;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let value = match Expr::parse(text) {
            Ok(expr) => {
                warn_of_unknown_functions(&expr, Some(number));
                expr.evaluate(context).to_string()
            }
            Err(error) => {
                broken += 1;
                eprintln!("line {number}, column {}: {}", error.column, error.problem);
                "error".to_owned()
            }
        };
        let written = writeln!(output, "{value}");
        let nothing_waits = input.fill_buf().is_ok_and(<[u8]>::is_empty);
        let written = written.and_then(|()| if nothing_waits { output.flush() } else { Ok(()) });
        if stdout::is_closed(written)? {
            return Ok(());
        }
    }
    stdout::is_closed(output.flush())?;
    match broken {
        0 => Ok(()),
        _ => Err(Failure::Difference(format!("{broken} of {number} lines are no expressions"))),
    }
}

fn warn_of_unknown_functions(expr: &Expr, line: Option<u64>) {
    let place = line.map_or(String::new(), |line| format!("line {line}: "));
    for name in expr.unknown_functions() {
        eprintln!("{place}{}", explain_unknown_function(&name));
    }
}

fn match_ads(arguments: &MatchArguments) -> Outcome {
    let (one, other) = (read_ad(&arguments.one)?, read_ad(&arguments.other)?);
    let context = Context::new();
    let wants = matches(&other, &one, &context);
    let wanted = matches(&one, &other, &context);
    let (likes, liked) = (rank(&one, &other, &context), rank(&other, &one, &context));
    if arguments.json {
        let document = json!({
            "version": 1, "match": wants && wanted, "a_wants_b": wants, "b_wants_a": wanted,
            "a_ranks_b": likes, "b_ranks_a": liked,
        });
        stdout::print_json(&document)?;
    } else {
        let names = (arguments.one.display(), arguments.other.display());
        stdout::print(format!(
            "match  {}\n{} wants {}  {wants}, rank {likes}\n{} wants {}  {wanted}, rank {liked}\n",
            wants && wanted,
            names.0,
            names.1,
            names.1,
            names.0
        ))?;
    }
    if wants && wanted { Ok(()) } else { Err(Failure::Difference("the ads do not match".to_owned())) }
}

fn read_ad(file: &Path) -> Result<ClassAd, Failure> {
    let text = std::fs::read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    ClassAd::parse_any(&text).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))
}

/// The line with the error, and a mark under the token.
fn point_at(text: &str, error: &ParseError) -> String {
    let line = text.lines().nth(error.line - 1).unwrap_or_default();
    let mark = " ".repeat(error.column - 1);
    format!("{error}\n  {line}\n  {mark}^")
}
