//! What each key of a submit file means here, and which mean nothing here.

use super::setting::Setting;
use crate::submit::submission::Refusals;
use gleaner_wire::meant::meant;
use std::collections::{BTreeMap, BTreeSet};

/// Keys that are honoured; `translate` reads them.
const HONOURED: [&str; 38] = [
    "executable",
    "transfer_executable",
    "arguments",
    "environment",
    "env",
    "getenv",
    "initialdir",
    "initial_dir",
    "input",
    "stdin",
    "output",
    "stdout",
    "error",
    "stderr",
    "log",
    "transfer_input_files",
    "transfer_output_files",
    "should_transfer_files",
    "when_to_transfer_output",
    "request_cpus",
    "request_memory",
    "request_disk",
    "requirements",
    "rank",
    "priority",
    "prio",
    "hold",
    "max_retries",
    "batch_name",
    "jobbatchname",
    "universe",
    "checkpoint_exit_code",
    "allowed_execute_duration",
    "job_max_vacate_time",
    "stream_output",
    "stream_error",
    "transfer_checkpoint_files",
    "gleaner_length",
];

/// Keys that are taken where they ask for nothing: the values with which they do, and what is not done otherwise.
const NOTHING_ASKED: [(&str, &[&str], &str); 16] = [
    ("notification", &["never"], "no mail is sent; `gleaner wait` and `gleaner watch` tell how jobs end"),
    ("leave_in_queue", &["false", "0"], "every job stays listed, whatever becomes of it"),
    ("on_exit_hold", &["false", "0"], "a task that ends is done or failed; hold it with `gleaner hold`"),
    ("on_exit_remove", &["true", "1"], "a task that ends is done or failed; max_retries runs it again"),
    ("periodic_hold", &["false", "0"], "no condition is watched while a task runs"),
    ("periodic_release", &["false", "0"], "no condition is watched while a task is held"),
    ("periodic_remove", &["false", "0"], "no condition is watched; allowed_execute_duration limits the time"),
    ("periodic_vacate", &["false", "0"], "no condition is watched while a task runs"),
    ("wantcorefile", &["false", "0"], "core files are not kept"),
    ("want_core_file", &["false", "0"], "core files are not kept"),
    ("coresize", &["0"], "core files are not kept"),
    ("kill_sig", &["sigterm", "15"], "a task is asked to stop by SIGTERM"),
    ("hold_kill_sig", &["sigterm", "15"], "a task is asked to stop by SIGTERM"),
    ("remove_kill_sig", &["sigterm", "15"], "a task is asked to stop by SIGTERM"),
    ("copy_to_spool", &["false", "0"], "files are sent when the job is submitted"),
    ("nice_user", &["false", "0"], "there is no lower class of users; give the job a low priority"),
];

/// Keys that nothing here stands for, with a better word than that they are unknown; a star stands for any end.
const REFUSED: [(&str, &str); 14] = [
    ("request_gpus", "machines do not tell of GPUs; ask for a machine that has one in requirements"),
    ("require_gpus", "machines do not tell of GPUs"),
    ("use_oauth_services", "credentials are not handed to tasks"),
    ("accounting_group*", "there are no groups of users"),
    ("notify_user", "no mail is sent"),
    ("transfer_files", "this key is older than should_transfer_files: use that"),
    ("transfer_output_remaps", "outputs keep their names"),
    ("concurrency_limits*", "there are no limits over all jobs"),
    ("retry_until", "a task is tried again until it ends with exit code 0: see max_retries"),
    ("success_exit_code", "a task has done well if it ends with exit code 0"),
    ("+*", "own attributes of a job are seen by nobody here"),
    ("my.*", "own attributes of a job are seen by nobody here"),
    ("docker_*", "there are no containers"),
    ("container_*", "there are no containers"),
];

/// Refuses the keys among the settings of a batch that nothing here stands for, whatever their values. `referred` has the
/// names that conditions and queues refer to.
pub(super) fn refuse_keys(
    settings: &BTreeMap<String, Setting>,
    referred: &BTreeSet<String>,
    refused: &mut Refusals,
) {
    let mut of_values: Option<BTreeSet<String>> = None;
    let mut is_macro = |lower: &String| {
        let values = || settings.values().flat_map(|setting| references(&setting.value)).collect();
        referred.contains(lower) || of_values.get_or_insert_with(values).contains(lower)
    };
    for (lower, setting) in settings {
        if setting.is_ignored || HONOURED.contains(&lower.as_str()) {
            continue;
        }
        if let Some((_, nothing, why)) = NOTHING_ASKED.iter().find(|(key, ..)| key == lower) {
            let value = setting.value.to_ascii_lowercase();
            if !nothing.contains(&value.as_str()) {
                refused.add(setting.line, &setting.name, *why);
            }
        } else if let Some((_, why)) = REFUSED.iter().find(|(key, _)| means(key, lower)) {
            refused.add(setting.line, &setting.name, *why);
        } else if !is_macro(lower) {
            let known = HONOURED.into_iter().chain(NOTHING_ASKED.map(|(key, ..)| key));
            let meant = meant(lower, known);
            let why = format!("neither a key that Gleaner knows, nor used as a macro{meant}");
            refused.add(setting.line, &setting.name, why);
        }
    }
}

fn means(pattern: &str, key: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == key, |start| key.starts_with(start))
}

/// The names in lower case that a text refers to, each as a macro or as what a function takes: whoever has such a name is no
/// key but a macro.
pub(super) fn references(text: &str) -> impl Iterator<Item = String> {
    text.match_indices('(').filter_map(|(at, _)| {
        // Behind `$(` or a function's parenthesis, and before what can end a name there.
        let inside = text[at + 1..].trim_start();
        let end = inside.find(|c: char| !is_of_name(c)).unwrap_or(inside.len());
        let after = inside[end..].trim_start();
        (end > 0 && after.starts_with([')', ':', ','])).then(|| inside[..end].to_ascii_lowercase())
    })
}

/// Whether a name of a key or a macro may have it.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.+-".contains(c)
}
