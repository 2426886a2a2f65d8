//! Any bytes as an expression: parsing and evaluating end, and what is written parses back to the same.
#![no_main]

use gleaner_classad::{Context, Expr, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(expr) = Expr::parse(bytes) else { return };
    let again = Expr::parse(expr.to_string()).expect("what is written parses");
    assert_eq!(expr, again);
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let _ = expr.evaluate(&Context::new().with_limits(limits)).to_string();
});
