//! Holds the crate to HTCondor's own classad2 module, version 25.14.1.
//!
//! Runs where `GLEANER_CLASSAD2_PYTHON` names a Python that has it:
//!
//! ```text
//! python3 -m venv /tmp/classad2 && /tmp/classad2/bin/pip install htcondor==25.14.1
//! GLEANER_CLASSAD2_PYTHON=/tmp/classad2/bin/python cargo test -p gleaner-classad --release --test classads differential
//! ```
//!
//! `GLEANER_CLASSAD2_SEED` and `GLEANER_CLASSAD2_CASES` choose other cases and another number of them.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::generate::{Generator, Random};
use gleaner_classad::{ClassAd, Context, Expr, Value, matches};

const SEED: u64 = 20_261_121;
const EXPRESSIONS: usize = 120_000;
const SHOWN_MAX: usize = 60;

struct Case {
    kind: &'static str,
    expr: String,
    my: String,
    target: String,
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn python() -> Option<PathBuf> {
    let python = std::env::var_os("GLEANER_CLASSAD2_PYTHON").map(PathBuf::from);
    if python.is_none() {
        println!(
            "skipped: set GLEANER_CLASSAD2_PYTHON to a Python with the module classad2, for example\n  \
             python3 -m venv /tmp/classad2 && /tmp/classad2/bin/pip install htcondor==25.14.1\n  \
             GLEANER_CLASSAD2_PYTHON=/tmp/classad2/bin/python cargo test -p gleaner-classad --test classads differential"
        );
    }
    python
}

/// The answers of classad2, `crashed` where it crashed.
fn ask(python: &Path, cases: &[Case]) -> Vec<String> {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "{}\t{}\t{}\t{}", case.kind, case.expr, case.my, case.target);
    }
    let file = std::env::temp_dir().join(format!("gleaner-classad-cases-{}", std::process::id()));
    std::fs::write(&file, text).expect("the temporary folder takes a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classads/oracle.py");
    let mut answers = Vec::new();
    while answers.len() < cases.len() {
        let mut child = Command::new(python)
            .arg(&script)
            .arg(&file)
            .arg(answers.len().to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("GLEANER_CLASSAD2_PYTHON starts");
        let output = child.stdout.take().expect("it has an output");
        answers.extend(BufReader::new(output).lines().map_while(Result::ok));
        let status = child.wait().expect("it ends");
        if answers.len() < cases.len() {
            assert!(!status.success() && status.code().is_none(), "the oracle gave up: {status}");
            answers.push("crashed".to_owned());
        }
    }
    let _ = std::fs::remove_file(&file);
    answers
}

fn normal(text: &str) -> String {
    let mut kept = String::new();
    let mut quote = None;
    let mut escaped = false;
    for char in text.chars() {
        if let Some(open) = quote {
            kept.push(char);
            if escaped {
                escaped = false;
            } else if char == '\\' {
                escaped = true;
            } else if char == open {
                quote = None;
            }
        } else if !char.is_whitespace() {
            kept.push(char);
            if matches!(char, '"' | '\'') {
                quote = Some(char);
            }
        }
    }
    kept
}

fn ours(case: &Case) -> String {
    let mut context = Context::new();
    let (my, target) = (ClassAd::parse(&case.my), ClassAd::parse(&case.target));
    for (written, ad) in [(&case.my, &my), (&case.target, &target)] {
        if !written.is_empty() && ad.is_err() {
            return "unparsable".to_owned();
        }
    }
    if case.kind == "match" {
        let (my, target) = (my.expect("parsed"), target.expect("parsed"));
        let truth = |truth: bool| if truth { "True" } else { "False" };
        let wanted = matches(&my, &target, &context);
        return format!("match {} {}", truth(wanted), truth(wanted && matches(&target, &my, &context)));
    }
    let Ok(expr) = Expr::parse(&case.expr) else { return "unparsable".to_owned() };
    if let Ok(my) = my
        && !case.my.is_empty()
    {
        context = context.with_my(&my);
    }
    if let Ok(target) = target
        && !case.target.is_empty()
    {
        context = context.with_target(&target);
    }
    match expr.evaluate(&context) {
        Value::Real(real) if real.is_nan() => "real NaN".to_owned(),
        Value::Real(real) => format!("real {:016x}", real.to_bits()),
        value => format!("value {}", normal(&value.to_htcondor_string())),
    }
}

/// Every NaN is one NaN; a failed evaluation is an error to us.
fn theirs(answer: &str) -> String {
    match answer.strip_prefix("real ").and_then(|bits| u64::from_str_radix(bits, 16).ok()) {
        Some(bits) if f64::from_bits(bits).is_nan() => "real NaN".to_owned(),
        _ if answer == "failed" => "value error".to_owned(),
        _ => answer.to_owned(),
    }
}

fn compare(python: &Path, cases: &[Case]) {
    let answers = ask(python, cases);
    let (mut agreed, mut unparsable, mut crashed, mut differing) = (0, 0, 0, Vec::new());
    for (case, answer) in cases.iter().zip(&answers) {
        match answer.as_str() {
            "crashed" => crashed += 1,
            // What HTCondor does not read is no concern here; the tests of the parser are elsewhere.
            "unparsable" => {
                unparsable += 1;
                if std::env::var_os("GLEANER_CLASSAD2_SHOW_UNPARSABLE").is_some() && unparsable < SHOWN_MAX {
                    println!("it cannot read {} | {} | {}", case.expr, case.my, case.target);
                }
            }
            answer => {
                let (theirs, ours) = (theirs(answer), ours(case));
                if theirs == ours {
                    agreed += 1;
                } else {
                    differing.push(format!(
                        "{}\n  MY {}\n  TARGET {}\n  theirs {theirs}\n  ours   {ours}",
                        case.expr, case.my, case.target
                    ));
                }
            }
        }
    }
    println!("{agreed} agree, {} differ, {unparsable} it cannot read, {crashed} crash it", differing.len());
    for difference in differing.iter().take(SHOWN_MAX) {
        println!("{difference}");
    }
    assert!(differing.is_empty(), "{} of {} cases differ", differing.len(), cases.len());
}

fn cases(count: usize) -> Vec<Case> {
    let seed = setting("GLEANER_CLASSAD2_SEED", SEED);
    println!("seed {seed}");
    let mut generator = Generator { random: Random::new(seed) };
    (0..count)
        .map(|number| {
            let bare = number % 3 == 0;
            let my = if bare { String::new() } else { generator.asking_ad() };
            let target = if bare || number % 3 == 1 { String::new() } else { generator.asking_ad() };
            if number % 12 == 11 {
                return Case { kind: "match", expr: String::new(), my, target };
            }
            let depth = 1 + number % 3;
            Case { kind: "eval", expr: generator.expr(depth), my, target }
        })
        .collect()
}

#[test]
fn expressions_and_pairs_of_ads_agree() {
    if let Some(python) = python() {
        let count = setting("GLEANER_CLASSAD2_CASES", EXPRESSIONS as u64) as usize;
        compare(&python, &cases(count));
    }
}
