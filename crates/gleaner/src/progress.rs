//! Progress of long work: on a terminal only, with a rate and an estimate.

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
    let template = "{prefix} [{bar:16}] {human_pos}/{human_len} · {rate} · {eta} left {msg}";
    let style = ProgressStyle::with_template(template).expect("a template that parses");
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        // A terminal that takes no more text is no concern of the work.
        let _ = write!(out, "{:.0}/s", state.per_sec());
    };
    let style = style.with_key("rate", rate);
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(what.to_owned());
    bar
}
