//! Progress of long work: on a terminal only, with a rate and an estimate.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar over `total` steps called `what`; silent where standard error is no terminal.
pub(crate) fn bar(total: u64, what: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let template = "{prefix} [{bar:32}] {human_pos}/{human_len} {msg} · {per_sec} · {eta} left";
    let style = ProgressStyle::with_template(template).expect("a template that parses");
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(what.to_owned());
    bar
}
