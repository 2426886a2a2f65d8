//! Tasks a second through keeper and minders, beside a bare loop that starts the same and waits: `cargo bench --bench rate`.
//!
//! `/bin/true`, two at a time and then one, three rounds in turn; what counts is the ratio within a round.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use gleaner_agent::confine::Limits;
use gleaner_agent::confine::{Limiter, Settings, available, bare_sandbox};
use gleaner_agent::keeper::{
    Confinement, Keeper, Minder, Network, Order, ProgramEnd, Report, RunSpec, Sandbox,
};

const AT_A_TIME: usize = 2;
const ROUNDS: usize = 3;
const OWN_TASKS: usize = 4000;
const BOXED_TASKS: usize = 200;

fn main() {
    let keeper =
        Keeper::start(Path::new(env!("CARGO_BIN_EXE_gleaner-processes")), Stdio::null()).expect("a keeper");
    let folder = tempfile::TempDir::new().expect("a folder");
    let mut minders: Vec<Minder> = (0..AT_A_TIME).map(|_| keeper.minder().expect("a minder")).collect();
    compare(
        "own",
        OWN_TASKS,
        || Command::new("/bin/true"),
        &mut minders,
        &spec(Confinement::Own, folder.path()),
    );
    let beside = tempfile::TempDir::new().expect("a folder");
    let settings = Settings::make(&beside.path().join("settings"));
    match available(&keeper, folder.path(), settings.folder()) {
        Ok(level) => println!("sandbox: {level}"),
        Err(why) => return println!("no sandbox: {why}"),
    }
    let sandbox = Sandbox {
        folder: folder.path().to_owned(),
        inputs: Vec::new(),
        settings: settings.folder().map(Path::to_owned),
        network: Network::None,
    };
    let bare = || bare_sandbox(folder.path(), settings.folder(), "/bin/true").expect("bubblewrap");
    let boxed = spec(Confinement::Sandbox(sandbox), Path::new("/task"));
    compare("sandbox", BOXED_TASKS, bare, &mut minders, &boxed);
    let limiter = Limiter::find(&format!("bench-{}", std::process::id()));
    println!("limits: {limiter}");
    let limits = Limits {
        memory_unless_named: None,
        memory_of_all: None,
        memory_bytes: Some(1 << 30),
        processes: Some(100),
        cpu_milli: Some(2000),
        file_bytes: Some(1 << 30),
        open_files: Some(4_096),
        user_parts: None,
    };
    let limited = RunSpec { limits, limiter: limiter.clone(), ..boxed };
    compare("sandbox with limits", BOXED_TASKS, bare, &mut minders, &limited);
    limiter.remove();
}

fn compare(
    name: &str,
    tasks: usize,
    bare: impl Fn() -> Command + Sync,
    minders: &mut [Minder],
    spec: &RunSpec,
) {
    for at_a_time in [AT_A_TIME, 1].into_iter().flat_map(|at_a_time| [at_a_time; ROUNDS]) {
        let each = tasks / AT_A_TIME;
        let minders = &mut minders[..at_a_time];
        let floor = rate(each * at_a_time, || {
            thread::scope(|scope| {
                for _ in 0..at_a_time {
                    scope.spawn(|| (0..each).for_each(|_| bare_run(bare())));
                }
            });
        });
        let ours = rate(each * at_a_time, || {
            thread::scope(|scope| {
                for minder in &mut *minders {
                    scope.spawn(|| (0..each).for_each(|_| run(minder, spec)));
                }
            });
        });
        println!(
            "{name}, {at_a_time} at a time: bare {floor:.0}/s, ours {ours:.0}/s, ratio {:.2}",
            ours / floor
        );
    }
}

fn rate(tasks: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    tasks as f64 / start.elapsed().as_secs_f64()
}

fn bare_run(mut command: Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{status}");
}

fn run(minder: &mut Minder, spec: &RunSpec) {
    minder.order(&Order::Run { id: 1, spec: Box::new(spec.clone()) }).expect("the minder listens");
    loop {
        if let Report::Exited { outcome, .. } = minder.report().expect("the minder answers") {
            return assert_eq!(outcome, ProgramEnd::Code(0));
        }
    }
}

fn spec(confinement: Confinement, cwd: &Path) -> RunSpec {
    RunSpec {
        argv: vec!["/bin/true".to_owned()],
        env: Vec::new(),
        cwd: cwd.to_owned(),
        stdin: None,
        stdout: "/dev/null".into(),
        stderr: "/dev/null".into(),
        limits: Limits::default(),
        limiter: Limiter::default(),
        confinement,
    }
}
