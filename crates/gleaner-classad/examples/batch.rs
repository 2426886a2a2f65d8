//! Evaluates one expression a line.
use std::io::{BufRead, Write};

use gleaner_classad::{Context, Expr};

fn main() {
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for line in std::io::stdin().lock().split(b'\n') {
        let Ok(line) = line else { break };
        let written = match Expr::parse(&line) {
            Ok(expr) => expr.evaluate(&Context::new()).to_string(),
            Err(error) => {
                eprintln!("{error}");
                "error".to_owned()
            }
        };
        let _ = writeln!(out, "{written}");
    }
}
