//! Progress of long work: on a terminal only, with a rate and an estimate.

use crate::moments::span;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;

/// A bar over `total` steps called `what`; silent where standard error is no terminal.
pub(crate) fn bar(total: u64, what: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    // No wider than 80 columns with seven digits.
    let template = "{prefix} [{bar:16}] {human_pos}/{human_len} · {rate} · {left} left {msg}";
    let style = ProgressStyle::with_template(template).expect("a template that parses");
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        // A terminal that takes no more text is no concern of the work.
        let _ = write!(out, "{:.0}/s", state.per_sec());
    };
    let left = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}", left(state));
    };
    let style = style.with_key("rate", rate).with_key("left", left);
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(what.to_owned());
    bar
}

/// How much longer it takes, once there is a pace to tell by.
fn left(state: &ProgressState) -> String {
    let left_s = state.eta().as_secs_f64();
    let all = state.len().unwrap_or(0);
    match state.pos() {
        0 => "?".to_owned(),
        done if done < all && left_s < 1.0 => "<1s".to_owned(),
        _ => span(left_s.round()),
    }
}
