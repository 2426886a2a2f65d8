//! The agent's processes without the agent: what `gleaner` does for `keeper`, `mind` and `launch`, and an agent that can
//! be killed.

use std::path::Path;
use std::process::{ExitCode, Stdio};

use gleaner_agent::confine::Limits;
use gleaner_agent::keeper::{Confinement, Keeper, Order, RunSpec};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let failure = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["keeper"] => gleaner_agent::keeper::keep().err().map(|error| error.to_string()),
        ["mind"] => gleaner_agent::keeper::mind().err().map(|error| error.to_string()),
        // The launcher is a program of its own, which has no arguments of interest.
        ["launch"] | [] => {
            gleaner_agent::launch::launch();
            return ExitCode::FAILURE;
        }
        ["agent", folder, script] => Some(agent(Path::new(folder), script)),
        _ => Some("expected keeper, mind, launch, or agent FOLDER SCRIPT".to_owned()),
    };
    match failure {
        None => ExitCode::SUCCESS,
        Some(why) => {
            eprintln!("gleaner-processes: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a script and hears its reports; returns only if something fails.
fn agent(folder: &Path, script: &str) -> String {
    let keeper = Keeper::start(&std::env::current_exe().expect("a program has a path"), Stdio::null())
        .expect("a keeper");
    let mut minder = keeper.minder().expect("a minder");
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
    minder.order(&Order::Run { id: 1, spec }).expect("the minder listens");
    loop {
        if let Err(error) = minder.report() {
            return error.to_string();
        }
    }
}
