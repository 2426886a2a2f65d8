//! How a run's program is started: its environment, its limits, and what it may reach. `docs/tasks.md` says the same
//! for those who write tasks.

use crate::confine::Limiter;
use crate::confine::{Limits, MEMORY_BYTES_MIN, nearly_all};
use crate::duties::can_go_on;
use crate::keeper::{Confinement as Walls, Input, Network, RunSpec, Sandbox, TASK_FOLDER};
use crate::owner::Rules;
use gleaner_wire::job::Confinement;
use gleaner_wire::session::{Profile, Run};
use gleaner_wire::task_folder::{CHECKPOINT, STDIN, TEMPORARY};
use gleaner_wire::text::amount;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Memory of a task that names none, at least, where all tasks have that much: less starts no interpreter.
const MEMORY_MIN: u64 = 256 << 20;
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The memory of a task that names none: what the owner says, or else its slot's share of what tasks may have of the machine's. None
/// where it is not known how much the machine has, and nothing is said.
///
/// Who may take all comes to the bound around all tasks before its own, and it is not known who it was: so it is fifteen sixteenths at most.
///
/// Where slots have less than [`MEMORY_MIN`] each, tasks that name none can together take more than all tasks may.
pub(crate) fn memory_unless_named(owners: Option<u64>, profile: &Profile) -> Option<u64> {
    let all = (profile.memory > 0).then_some(profile.memory);
    let share = |all: u64| (all / u64::from(profile.slots.max(1))).max(MEMORY_MIN);
    let wanted = owners.or_else(|| all.map(share))?;
    Some(all.map_or(wanted, |all| wanted.min(nearly_all(all))))
}

/// How much memory a task may use, and who says so, as the end of "too much …". Of those that name none the owner may have said it.
pub(crate) fn memory_words(limits: &Limits, owners: Option<u64>) -> String {
    let whose = match (limits.memory_bytes, owners) {
        (Some(_), _) => "as its job asks (--memory)",
        (None, Some(_)) => "as the machine's owner says of jobs that name none (--memory)",
        (None, None) => "its slot's share, since its job names none (--memory)",
    };
    match limits.memory() {
        Some(bytes) => format!("memory: it may use {}, {whose}", amount(bytes)),
        None => "memory".to_owned(),
    }
}

/// What is to be started; the error says why this agent will not.
pub(crate) fn spec_of(
    run: &Run,
    folder: &Path,
    (profile, rules): (&Profile, &Rules),
    limiter: &Limiter,
    memory_unless_named: Option<u64>,
    outputs: [PathBuf; 2],
    (home, settings): (&Path, Option<&Path>),
) -> Result<RunSpec, String> {
    rules.admit(&run.user, run.label.as_deref())?;
    let inputs = rules.looked_at(home).filter_map(|(folder, found)| match found {
        Ok(input) => Some(input),
        Err(why) => {
            tracing::warn!(
                task = run.name,
                "of the owner's folders, {} {why}: it does not see that one",
                folder.display()
            );
            None
        }
    });
    let inputs = inputs.collect();
    let confinement = walls(run, (profile, rules), folder, inputs, settings)?;
    let seen = match &confinement {
        Walls::Own => folder.to_owned(),
        Walls::Sandbox(_) => PathBuf::from(TASK_FOLDER),
    };
    let cwd = run.cwd.as_deref().map_or_else(|| Ok(seen.clone()), chosen)?;
    let [stdout, stderr] = outputs;
    Ok(RunSpec {
        argv: run.command.clone(),
        env: environment(run, &seen, rules.bounds().grace(run).seconds()),
        cwd,
        stdin: run.stdin.as_ref().map(|_| folder.join(STDIN)),
        stdout,
        stderr,
        limits: limits(run, memory_unless_named, &confinement, (profile, rules)),
        limiter: limiter.clone(),
        confinement,
    })
}

/// The folder that a task asks to run in. One that is not absolute would begin where somebody started this agent.
fn chosen(folder: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(folder);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(format!("the working folder {folder:?} does not begin with /: no machine knows where that is"))
    }
}

fn walls(
    run: &Run,
    (profile, rules): (&Profile, &Rules),
    folder: &Path,
    inputs: Vec<Input>,
    settings: Option<&Path>,
) -> Result<Walls, String> {
    let network = match run.confinement {
        // Nobody is named where no user is: neither the user whose name is empty.
        Confinement::None if profile.user.is_empty() => {
            return Err(format!(
                "a task of {:?} runs here in the sandbox only; outside of it this agent runs tasks of nobody",
                run.user
            ));
        }
        Confinement::None if run.user != profile.user => {
            return Err(format!(
                "a task of {:?} runs here in the sandbox only; outside of it this agent runs tasks of {:?}",
                run.user, profile.user
            ));
        }
        Confinement::None => return Ok(Walls::Own),
        Confinement::Sandbox => Network::None,
        Confinement::SandboxWithNetwork => rules.network()?,
    };
    if let Err(why) = &profile.sandbox {
        return Err(format!("this agent cannot build the sandbox: {why}"));
    }
    if run.cwd.is_some() {
        return Err(
            "in the sandbox a task runs in its own folder; a working folder can only be chosen outside"
                .into(),
        );
    }
    let settings = settings.map(Path::to_owned);
    Ok(Walls::Sandbox(Sandbox { folder: folder.into(), inputs, settings, network }))
}

/// What users give goes before what is only usual, and what Gleaner says of the run goes before both.
fn environment(run: &Run, folder: &Path, grace_s: f64) -> Vec<(String, String)> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut env = BTreeMap::from([
        ("PATH".to_owned(), PATH.to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("HOME".to_owned(), text(folder.into())),
        ("TMPDIR".to_owned(), text(folder.join(TEMPORARY))),
    ]);
    env.extend(run.env.clone());
    let job = run.name.split('/').next().unwrap_or_default();
    env.insert("GLEANER_TASK".into(), run.name.clone());
    env.insert("GLEANER_JOB".into(), job.into());
    env.insert("GLEANER_ATTEMPT".into(), run.id.number.to_string());
    env.insert("GLEANER_CORES".into(), run.needs.cores.to_string());
    env.insert("GLEANER_GRACE".into(), grace_s.to_string());
    if can_go_on(&run.checkpoint) {
        env.insert("GLEANER_CHECKPOINT".into(), text(folder.join(CHECKPOINT)));
    }
    if run.resume_from.is_some() {
        env.insert("GLEANER_RESUMED".into(), "1".into());
    }
    env.into_iter().collect()
}

fn limits(
    run: &Run,
    memory_unless_named: Option<u64>,
    walls: &Walls,
    (profile, rules): (&Profile, &Rules),
) -> Limits {
    let given = |amount: u64| (amount > 0).then_some(amount);
    let boxed = |most: u32| matches!(walls, Walls::Sandbox(_)).then_some(most);
    Limits {
        memory_bytes: given(run.needs.memory).map(|bytes| bytes.max(MEMORY_BYTES_MIN)),
        memory_unless_named,
        memory_of_all: given(profile.memory),
        processes: boxed(rules.processes_max),
        // So that all together keep to the owner's cores: there are no more places than these.
        cpu_milli: rules.cores_max.map(|most| run.needs.cores.min(most).saturating_mul(1_000)),
        file_bytes: given(run.needs.disk),
        open_files: boxed(rules.open_files_max),
        // All tasks together have half of what their user may have.
        user_parts: boxed(profile.slots.saturating_mul(2) / run.needs.cores.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Network as OwnersNetwork;
    use crate::work::folders::tests::run;

    #[test]
    fn outside_of_the_sandbox_runs_the_named_user_and_nobody_where_none_is_named() {
        for (orders, named, is_run) in [
            ("ann", "ann", true),
            ("bob", "ann", false),
            ("", "ann", false),
            ("ann", "", false),
            ("", "", false),
        ] {
            let run = Run { user: orders.to_owned(), ..run(1, Confinement::None) };
            let profile = Profile { user: named.to_owned(), ..Profile::new([1.0; 3], 1) };
            let found = walls(&run, (&profile, &Rules::default()), Path::new("/"), Vec::new(), None);
            assert_eq!(found.is_ok(), is_run, "{orders:?} at an agent of {named:?}: {found:?}");
        }
    }

    #[test]
    fn rules_that_change_end_the_tasks_that_they_forbid() {
        let all = || Rules { network: OwnersNetwork::All, ..Rules::default() };
        let users = |name: &str| Rules { users: Some(vec![name.to_owned()]), ..all() };
        let labels = |name: &str| Rules { labels: Some(vec![name.to_owned()]), ..all() };
        let networked = Confinement::SandboxWithNetwork;
        let ours = run(1, Confinement::Sandbox);
        let labelled = Run { label: Some("render".to_owned()), ..ours.clone() };
        let talking = Run { confinement: networked, ..ours.clone() };
        for (run, rules, is_forbidden) in [
            (&ours, all(), false),
            (&ours, users(&ours.user), false),
            (&ours, users("somebody"), true),
            (&ours, labels("render"), true),
            (&labelled, labels("render"), false),
            (&labelled, labels("weather"), true),
            (&talking, all(), false),
            (&talking, Rules { network: OwnersNetwork::No, ..all() }, true),
            (&talking, Rules { network: OwnersNetwork::Internet, ..all() }, true),
            (&ours, Rules { network: OwnersNetwork::No, ..all() }, false),
        ] {
            assert_eq!(rules.forbid(run, &all()), is_forbidden, "{run:?} {rules:?}");
        }
        let not_all = Rules { network: OwnersNetwork::No, ..all() };
        assert!(!all().forbid(&talking, &not_all), "who has less may have more");
    }

    #[test]
    fn whoever_names_no_memory_gets_a_share_of_what_the_rules_give_now() {
        let found = Profile { memory: 16 << 30, ..Profile::new([1.0; 3], 8) };
        for (cores_max, memory_max_gb, owners, expected) in [
            (None, None, None, 2 << 30),
            (Some(1), None, None, 15 << 30),
            (Some(4), Some(8.0), None, 2_000_000_000),
            // Less than an interpreter takes, and never as much as all tasks together.
            (None, Some(1.0), None, MEMORY_MIN),
            (None, Some(0.1), None, 93_750_000),
            (None, Some(1.0), Some(5), 5),
            (None, Some(1.0), Some(2_000_000_000), 937_500_000),
        ] {
            let rules = Rules { cores_max, memory_max_gb, ..Rules::default() };
            let profile = rules.profile(&found, Path::new("/"));
            let row = format!("{cores_max:?} {memory_max_gb:?} {owners:?}");
            assert_eq!(memory_unless_named(owners, &profile), Some(expected), "{row}");
        }
    }

    #[test]
    fn whoever_takes_too_much_memory_is_told_how_much_it_may_take_and_why() {
        for (named, unless_named, owners, expected) in [
            (Some(64_000_000), Some(2 << 30), None, "memory: it may use 64 MB, as its job asks (--memory)"),
            (
                None,
                Some(2 << 30),
                None,
                "memory: it may use 2 GiB, its slot's share, since its job names none (--memory)",
            ),
            (
                None,
                Some(2 << 30),
                Some(2 << 30),
                "memory: it may use 2 GiB, as the machine's owner says of jobs that name none (--memory)",
            ),
            (None, None, None, "memory"),
        ] {
            let limits =
                Limits { memory_bytes: named, memory_unless_named: unless_named, ..Limits::default() };
            assert_eq!(memory_words(&limits, owners), expected);
        }
    }

    #[test]
    fn whoever_names_next_to_no_memory_gets_what_a_start_takes() {
        let profile = Profile::new([1.0; 3], 1);
        for (named, expected) in [
            (0, None),
            (1, Some(MEMORY_BYTES_MIN)),
            (60_000, Some(MEMORY_BYTES_MIN)),
            (1 << 30, Some(1 << 30)),
        ] {
            let mut run = run(1, Confinement::None);
            run.needs.memory = named;
            let limits = limits(&run, None, &Walls::Own, (&profile, &Rules::default()));
            assert_eq!(limits.memory_bytes, expected, "{named}");
        }
    }
}
