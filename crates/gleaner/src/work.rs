//! `gleaner work`: an agent.

use crate::cli::WorkArguments;
use crate::failure::Failure;
use crate::serve::{LOGGED, start_log, stop_requested};
use crate::{Outcome, home};
use gleaner_agent::work::{Join, Stop, WorkError, WorkOptions, work};
use gleaner_classad::Expr;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn run(arguments: &WorkArguments) -> Outcome {
    start_log(arguments.log, LOGGED);
    home::keep_private();
    let (stop, stopped) = tokio::sync::watch::channel(Stop::No);
    let options = options(arguments)?;
    // The agent's own runtime lives on this thread: signals get a small one of their own.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            stop_requested().await;
            stop.send_replace(Stop::Orderly);
            stop_requested().await;
            stop.send_replace(Stop::AtOnce);
        });
    });
    Ok(work(options, stopped)?)
}

/// The folder of this machine's agent.
pub(crate) fn folder(given: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    given.map_or_else(|| Ok(home::folder(None)?.join("agent")), |folder| Ok(folder.clone()))
}

fn options(arguments: &WorkArguments) -> Result<WorkOptions, Failure> {
    Ok(WorkOptions {
        home: folder(arguments.home.as_ref())?,
        // Not by the path of the program, which may be replaced by a newer one while the agent runs.
        program: PathBuf::from("/proc/self/exe"),
        join: join(arguments)?,
        user: arguments.user.clone().unwrap_or_default(),
        slots: arguments.slots,
        tags: arguments.tags.clone(),
        attributes: attributes(&arguments.attributes)?,
        cache_bytes: bytes(arguments.cache_gb),
        task_memory: arguments.task_memory_gb.map(bytes),
        measure_cgroup: arguments.measure_cgroup.clone(),
        speeds: None,
    })
}

fn bytes(gigabytes: f64) -> u64 {
    (gigabytes.clamp(0.0, 1e6) * 1e9) as u64
}

fn join(arguments: &WorkArguments) -> Result<Option<Join>, Failure> {
    let (Some(address), Some(token)) = (&arguments.join, &arguments.token) else {
        if arguments.join.is_some() != arguments.token.is_some() {
            return Err(Failure::Usage("--join and --token belong together".to_owned()));
        }
        return Ok(None);
    };
    Ok(Some(Join {
        address: address.parse().map_err(|error| Failure::Usage(format!("--join: {error}")))?,
        token: token.parse().map_err(|error| Failure::Usage(format!("--token: {error}")))?,
        name: arguments.name.clone().unwrap_or_else(host_name),
        replace: arguments.replace,
    }))
}

fn attributes(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let attribute = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::Usage(format!("--attribute {text}: expected NAME=EXPR, as 'Building=\"B2\"'"))
        })?;
        Expr::parse(value).map_err(|error| Failure::Usage(format!("--attribute {name}: {error}")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(attribute).collect()
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "machine".to_owned() } else { name.to_owned() }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let message = error.to_string();
        match error {
            WorkError::Rules(error) => error.into(),
            WorkError::NotJoined => Self::Usage(message),
            WorkError::Joining(_) | WorkError::Refused(_) => Self::NotTaken(message),
            _ => Self::Agent(message),
        }
    }
}
