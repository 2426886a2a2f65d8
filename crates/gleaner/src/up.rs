//! `gleaner up`: a coordinator and an agent for this machine, with one command.
//!
//! The agent is a process of its own: it outlives a coordinator that crashes, and goes on working until its lease ends.

use crate::cli::UpArguments;
use crate::demo::Demonstration;
use crate::failure::Failure;
use crate::serve::{document, start_log, stop_requested};
use crate::{Outcome, home, settings, stdout, work};
use gleaner_agent::home::worker_in;
use gleaner_agent::keeper::OPEN_FILES;
use gleaner_agent::owner;
use gleaner_http::serve::{Ready, ServeOptions, serve};
use gleaner_net::Address;
use gleaner_server::store::{CERTIFICATE_FILE, TOKEN_FILE};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::sync::watch::{self, Receiver};

/// How long an agent that ended is left alone before it is started again: twice as long after each that ended soon, up to the
/// longest.
const PAUSE: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// An agent that lasted so long did not end soon.
const LASTING: Duration = Duration::from_mins(1);
/// The exit codes of an agent that would end alike if it were started again, and what they say.
const FINAL: [(i32, &str); 2] =
    [(2, "a setting of it makes no sense"), (3, "the coordinator does not take it")];
/// What an agent gets to end in order besides what its owner's rules give its tasks.
const SPARE: Duration = Duration::from_secs(5);

/// How often it is looked whether an agent that is no child has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A person sits at the terminal: what goes well is not logged.
const WARNED: &str = "warn";
/// The owner's rules in an agent's folder.
const RULES_FILE: &str = "rules.toml";
/// The variable with which an agent is given its token.
const JOIN_TOKEN: &str = "GLEANER_JOIN_TOKEN";
/// How many tasks an agent of the demonstration takes.
const DEMO_SLOTS: u32 = 4;

/// The second agent's folder.
const DEMO_SECOND: &str = "agent-2";
/// What they are called.
const DEMO_AGENTS: [&str; 2] = ["desk", "attic"];

/// An agent of this machine.
#[derive(Clone, Debug)]
pub(crate) struct LocalAgent {
    pub(crate) home: PathBuf,
    pub(crate) name: Option<String>,
    /// The user whose tasks may run outside the sandbox.
    pub(crate) user: Option<String>,
    pub(crate) slots: Option<u32>,
    /// How many files its tasks may have open, as whoever started this program may; none is no limit.
    pub(crate) open_files: Option<u64>,
}

pub(crate) fn run(arguments: &UpArguments) -> Outcome {
    start_log(arguments.serve.log, WARNED);
    home::keep_private();
    let folder = home::folder(arguments.serve.home.as_deref())?;
    let options = settings::serve_options(folder, &arguments.serve)?;
    let agents = agents(&options, arguments);
    for agent in &agents {
        check_rules(&agent.home, arguments.demo)?;
    }
    let demo = arguments.demo.then(|| Demonstration {
        home: options.home.clone(),
        agents: DEMO_AGENTS.into_iter().zip(agents.iter().map(|agent| agent.home.clone())).collect(),
        may_leave_sandbox: arguments.user.as_ref() == Some(&options.user),
    });
    let (home, json) = (options.home.clone(), arguments.serve.json);
    let (tell, shown) = channel();
    serve(&options, |ready| async move {
        let announced =
            if json { stdout::print_json(&document(&ready, &home)) } else { announce(&ready, &home).await };
        if let Err(error) = announced {
            tracing::error!("{error}");
        }
        let mut running = tokio::task::JoinSet::new();
        let (stop, _) = watch::channel(false);
        for agent in agents {
            running.spawn(keep_up(agent, ready.clone(), stop.subscribe()));
        }
        match demo {
            Some(demonstration) => show(demonstration, tell).await,
            None => stop_requested().await,
        }
        stop.send_replace(true);
        while running.join_next().await.is_some() {}
    })?;
    // Nothing was told where nothing was shown to its end.
    shown.try_recv().unwrap_or(Ok(()))
}

/// Shows it, tells how it went, and stays up where somebody sits at the terminal.
async fn show(demonstration: Demonstration, tell: Sender<Outcome>) {
    let (done, shown) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(demonstration.show()));
    tokio::select! {
        Ok(outcome) = shown => {
            if let Err(failure) = &outcome {
                anstream::eprintln!("{failure}");
            }
            // Whoever started it is still there.
            let _ = tell.send(outcome);
            if !io::stdout().is_terminal() {
                return;
            }
            let _ = stdout::print("The grid stays up until Ctrl-C; `gleaner up` starts it again, and it goes on where it was.\n");
            stop_requested().await;
        }
        () = stop_requested() => {}
    }
}

fn agents(options: &ServeOptions, arguments: &UpArguments) -> Vec<LocalAgent> {
    // What a demonstration began goes on on both.
    let is_shown = arguments.demo || options.home.join(DEMO_SECOND).is_dir();
    let agent = |folder: &str, name: Option<&str>| LocalAgent {
        home: options.home.join(folder),
        name: name.map(str::to_owned),
        user: arguments.user.clone(),
        // The demonstration needs room on either agent for what moves to it.
        slots: arguments.slots.or(is_shown.then_some(DEMO_SLOTS)),
        // The coordinator in this process raises its own.
        open_files: getrlimit(Resource::Nofile).current,
    };
    if is_shown {
        let [first, second] = DEMO_AGENTS;
        vec![agent("agent", Some(first)), agent(DEMO_SECOND, Some(second))]
    } else {
        vec![agent("agent", None)]
    }
}

async fn announce(ready: &Ready, home: &Path) -> Result<(), Failure> {
    let address = &ready.reached.address;
    let parsed = address.parse::<Address>().ok();
    let join = if let Some(alone) = parsed.filter(Address::is_loopback) {
        let port = alone.port();
        format!("  Other machines cannot reach it: start it with --listen 0.0.0.0:{port} to let them join.\n")
    } else {
        let line = ready.join_line().await?;
        format!("  Let another machine join (the token is good once, for a day):\n    {line}\n")
    };
    let elsewhere = if home::folder(None).is_ok_and(|usual| usual == home) {
        String::new()
    } else {
        format!("  So that commands find it: export GLEANER_HOME={}\n", home.display())
    };
    stdout::print(format!(
        "The grid is up at {address}, and keeps everything in {}.\n{elsewhere}\
         \x20 Submit something:       gleaner submit -- echo hello\n\
         \x20 See how it is doing:    gleaner status\n\
         \x20 In a browser:           {address}/   (token: {})\n\
         \x20 Its authority, for browsers and curl --cacert: {}\n{join}\
         \x20 Tasks give way to your own programs. If they need not: gleaner owner set programs ignore\n\
         \x20 Ctrl-C ends it; start it again and it goes on where it was.\n",
        home.display(),
        home.join(TOKEN_FILE).display(),
        home.join(CERTIFICATE_FILE).display(),
    ))
}

/// Starts the agent, and starts it again should it end, unless it would end alike again.
async fn keep_up(agent: LocalAgent, ready: Ready, mut stop: Receiver<bool>) {
    if !outlast_earlier(&agent.home, &mut stop).await {
        return;
    }
    let mut pauses = Pauses::default();
    loop {
        let started = Instant::now();
        let ended = match start(&agent, &ready).await {
            Ok(mut child) => {
                tokio::select! {
                    status = child.wait() => status,
                    _ = stop.changed() => return end(&mut child, patience(&agent.home)).await,
                }
            }
            Err(error) => Err(error),
        };
        if let Some(why) = ended.as_ref().ok().copied().and_then(is_final) {
            let folder = agent.home.display();
            tracing::error!(
                "the agent in {folder} ended, since {why}, and is not started again: see what it said, mend that, and \
                 start `gleaner up` again"
            );
            return;
        }
        let pause = pauses.after(started.elapsed());
        report(&agent, ended, pause);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.changed() => return,
        }
    }
}

/// The agent of a `gleaner up` that was killed goes on with what it runs, and ends when this one ends. Whether it ended before
/// that.
async fn outlast_earlier(folder: &Path, stop: &mut Receiver<bool>) -> bool {
    let Some(pid) = worker_in(folder) else { return true };
    tracing::warn!("the agent in {} was there before (process {pid}), and goes on", folder.display());
    while worker_in(folder) == Some(pid) {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = stop.changed() => {
                end_earlier(folder, pid).await;
                return false;
            }
        }
    }
    true
}

async fn end_earlier(folder: &Path, pid: u32) {
    let ended = async {
        while worker_in(folder) == Some(pid) {
            tokio::time::sleep(LOOK).await;
        }
    };
    let asked = Pid::from_raw(pid.cast_signed()).is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
    if !asked || tokio::time::timeout(patience(folder), ended).await.is_err() {
        tracing::warn!("the agent in {} (process {pid}) could not be ended", folder.display());
    }
}

/// How long agents that ended are left alone.
#[derive(Default)]
struct Pauses {
    /// The last one, of an agent that ended soon.
    last: Option<Duration>,
}

impl Pauses {
    /// The pause after an agent that lasted so long.
    fn after(&mut self, lasted: Duration) -> Duration {
        let longer = self.last.filter(|_| lasted < LASTING).map(|last| (last * 2).min(PAUSE_MAX));
        *self.last.insert(longer.unwrap_or(PAUSE))
    }
}

/// Why an agent that ended so would end alike again, if it would.
fn is_final(status: ExitStatus) -> Option<&'static str> {
    let code = status.code()?;
    FINAL.iter().find(|(known, _)| *known == code).map(|(_, why)| *why)
}

fn report(agent: &LocalAgent, ended: io::Result<ExitStatus>, pause: Duration) {
    let (folder, seconds) = (agent.home.display(), pause.as_secs());
    match ended {
        Ok(status) => {
            tracing::warn!("the agent in {folder} ended ({status}); it is started again in {seconds} s");
        }
        Err(error) => {
            tracing::warn!(
                "the agent in {folder} could not be started: {error}; that is tried again in {seconds} s"
            );
        }
    }
}

async fn start(agent: &LocalAgent, ready: &Ready) -> io::Result<Child> {
    // Not by the path of the program, which may have been replaced by a newer one since.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("gleaner").arg("work").arg("--home").arg(&agent.home);
    // Who has joined needs no token, but must know where the coordinator listens now.
    command.args(["--join", ready.reached.from_here()]).env_remove(JOIN_TOKEN);
    if !work::has_joined(&agent.home) {
        command.env(JOIN_TOKEN, ready.join_token().await.map_err(io::Error::other)?);
    }
    match agent.open_files {
        Some(most) => command.env(OPEN_FILES, most.to_string()),
        None => command.env_remove(OPEN_FILES),
    };
    if std::env::var_os("GLEANER_LOG").is_none() {
        command.env("GLEANER_LOG", WARNED);
    }
    if let Some(name) = &agent.name {
        command.args(["--name", name]);
    }
    if let Some(user) = &agent.user {
        command.args(["--as", user]);
    }
    if let Some(slots) = agent.slots {
        command.args(["--slots", &slots.to_string()]);
    }
    // Ctrl-C in the terminal is for us: we end the agent ourselves.
    command.process_group(0).stdin(std::process::Stdio::null()).spawn()
}

/// How long an agent may take to end in order.
fn patience(folder: &Path) -> Duration {
    let rules = owner::read(&folder.join(RULES_FILE)).unwrap_or_default();
    Duration::from_nanos(rules.bounds().leaving_max().nanos()) + SPARE
}

async fn end(child: &mut Child, patience: Duration) {
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid
        && kill_process(pid, Signal::TERM).is_ok()
        && tokio::time::timeout(patience, child.wait()).await.is_ok()
    {
        return;
    }
    if let Err(error) = child.kill().await {
        tracing::warn!("the agent could not be ended: {error}");
    }
}

/// Who types `gleaner up` sits at the machine: logins would stop everything until they left. Programs that they use, and
/// their word, count. The rules of a machine's owner are left as they are; a mistake in them is named before anything
/// starts.
fn check_rules(folder: &Path, is_shown: bool) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| Failure::io("create", folder, error))?;
    let file = folder.join(RULES_FILE);
    let preset = if is_shown { owner::Preset::Demonstration } else { owner::Preset::Submitters };
    owner::write_if_none(&file, preset)?;
    owner::read(&file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_ends_again_and_again_is_left_alone_for_longer_and_longer() {
        let mut pauses = Pauses::default();
        let mut after = |lasted_s| pauses.after(Duration::from_secs(lasted_s)).as_secs();
        assert_eq!([0, 1, 0, 5, 0, 0, 0, 0].map(&mut after), [5, 10, 20, 40, 80, 160, 300, 300]);
        assert_eq!([3_600, 0].map(after), [5, 10]);
    }

    #[test]
    fn an_agent_that_would_end_alike_is_not_started_again() {
        use std::os::unix::process::ExitStatusExt;
        for (status, is_over) in
            [(0, false), (1 << 8, false), (2 << 8, true), (3 << 8, true), (4 << 8, false), (9, false)]
        {
            assert_eq!(is_final(ExitStatus::from_raw(status)).is_some(), is_over, "{status}");
        }
    }

    #[test]
    fn an_agent_may_take_as_long_as_its_owner_gives_its_tasks() {
        let folder = tempfile::tempdir().expect("a folder");
        for (rules, grace) in [("", 60), ("grace_max_seconds = 600", 600), ("grace_max_seconds = 0", 0)] {
            fs::write(folder.path().join(RULES_FILE), rules).expect("a file");
            let patience = patience(folder.path());
            assert!(patience > Duration::from_secs(grace + 11), "{rules:?}: {patience:?}");
        }
    }
}
