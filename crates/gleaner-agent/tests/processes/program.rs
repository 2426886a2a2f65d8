//! The agent's processes without the agent: what `gleaner` does for `keeper`, `mind` and `launch`, and an agent that can
//! be killed.

use std::io::Read;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use gleaner_agent::confine::Limits;
use gleaner_agent::keeper::{Confinement, FrameError, Keeper, Minder, Order, ProgramEnd, Report, RunSpec};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let failure = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["keeper"] => gleaner_agent::keeper::keep().err().map(|error| error.to_string()),
        ["mind"] => {
            if std::env::var_os(BLIND).is_some() {
                cannot_watch();
            }
            gleaner_agent::keeper::mind().err().map(|error| error.to_string())
        }
        // The launcher is a program of its own, which has no arguments of interest.
        ["launch"] | [] => {
            gleaner_agent::launch::launch();
            return ExitCode::FAILURE;
        }
        ["agent", folder, script] => Some(agent(Path::new(folder), script)),
        ["once", folder, script] => {
            once(Path::new(folder), script);
            None
        }
        ["many", folder] => {
            many(Path::new(folder));
            None
        }
        _ => Some(
            "expected keeper, mind, launch, agent FOLDER SCRIPT, once likewise, or many FOLDER".to_owned(),
        ),
    };
    match failure {
        None => ExitCode::SUCCESS,
        Some(why) => {
            eprintln!("gleaner-processes: {why}");
            ExitCode::FAILURE
        }
    }
}

/// A variable that has minders without the means to watch a process.
const BLIND: &str = "GLEANER_TEST_BLIND";

fn cannot_watch() {
    let rules = [(libc::SYS_pidfd_open, Vec::new())].into_iter().collect();
    let (refuse, arch) = (SeccompAction::Errno(libc::ENOMEM as u32), std::env::consts::ARCH);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch.try_into().expect("known"));
    let program: BpfProgram = filter.and_then(TryInto::try_into).expect("a filter");
    seccompiler::apply_filter(&program).expect("the kernel takes it");
}

fn keeper() -> Keeper {
    Keeper::start(&std::env::current_exe().expect("a program has a path"), Stdio::null()).expect("a keeper")
}

/// Runs a script and hears its reports; returns only if something fails.
fn agent(folder: &Path, script: &str) -> String {
    let keeper = keeper();
    let mut minder = keeper.minder().expect("a minder");
    order(&minder, folder, script);
    loop {
        if let Err(error) = minder.report() {
            return error.to_string();
        }
    }
}

/// Runs a script, says how it ended, and stays until nobody is there any more.
fn once(folder: &Path, script: &str) {
    let keeper = keeper();
    let mut minder = keeper.minder().expect("a minder");
    order(&minder, folder, script);
    println!("{:?}", end(&mut minder).expect("the minder says how it ended"));
    let _ = std::io::stdin().read(&mut [0]);
}

/// Runs a task, and then has more minders than there can be; then has no file left itself. Says what came of each.
fn many(folder: &Path) {
    let keeper = keeper();
    let mut first = keeper.minder().expect("a minder");
    order(&first, folder, "while [ ! -e end ]; do sleep 0.01; done; exit 5");
    let mut others: Vec<Minder> = (0..MANY).map(|_| keeper.minder().expect("a socket")).collect();
    for other in &others {
        order(other, folder, "exit 0");
    }
    let held = others.iter_mut().filter_map(|other| end(other).ok()).count();
    println!("held some: {}, and not all: {}", held > 0, held < MANY);
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    println!("{}", keeper.minder().expect_err("no file is left"));
    drop(files);
    std::fs::write(folder.join("end"), "").expect("a file");
    println!("the first: {:?}", end(&mut first));
}

/// More than a keeper holds that may have 40 files open.
const MANY: usize = 20;

fn end(minder: &mut Minder) -> Result<ProgramEnd, FrameError> {
    loop {
        if let Report::Exited { outcome, .. } = minder.report()? {
            return Ok(outcome);
        }
    }
}

/// One that is gone already says so when it is listened to.
fn order(minder: &Minder, folder: &Path, script: &str) {
    let spec = Box::new(RunSpec {
        argv: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        env: Vec::new(),
        cwd: folder.to_owned(),
        stdin: None,
        stdout: folder.join("out"),
        stderr: folder.join("err"),
        limits: Limits::default(),
        limiter: gleaner_agent::confine::Limiter::default(),
        confinement: Confinement::Own,
    });
    let _ = minder.order(&Order::Run { id: 1, spec });
}
