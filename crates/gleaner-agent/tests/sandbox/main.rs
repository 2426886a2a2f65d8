//! What a hostile task tries, and what limits hold. Skipped, loudly, where the machine cannot build a sandbox.
//!
//! A program of its own: it starts real processes, and waits for each no longer than some time.

mod limits;
#[path = "../processes/mod.rs"]
mod processes;
mod starting;
mod waking;
mod walls;

use gleaner_agent::confine::{Control, Limiter, SandboxLevel, Settings, available};
use gleaner_agent::keeper::{Confinement, Network, RunSpec, Sandbox};
use processes::Stage;
use std::fs;

/// A stage on which sandboxes can be built, or the reason why the test is skipped.
pub(crate) fn stage() -> Option<(Stage, SandboxLevel)> {
    let stage = Stage::new();
    let settings = Settings::make(&stage.path("settings"));
    assert_eq!(settings.folder(), Some(&*stage.path("settings/etc")));
    match available(&stage.keeper, &stage.path("scratch"), settings.folder()) {
        Ok(level) => Some((stage, level)),
        Err(why) => {
            eprintln!("SKIPPED: no sandbox on this machine: {why}");
            None
        }
    }
}

/// Scripts in a sandbox, which sees copies of the machine's settings where the stage has them.
pub(crate) trait Boxed {
    fn boxed(&self, script: &str) -> RunSpec;
}

impl Boxed for Stage {
    fn boxed(&self, script: &str) -> RunSpec {
        let task = self.path("task");
        fs::create_dir_all(&task).unwrap();
        RunSpec {
            cwd: "/task".into(),
            confinement: Confinement::Sandbox(Sandbox {
                folder: task,
                inputs: Vec::new(),
                settings: Some(self.path("settings/etc")).filter(|copies| copies.exists()),
                network: Network::None,
            }),
            ..self.own(script)
        }
    }
}

/// Agents of tests running at the same time are agents of different names.
pub(crate) fn limiter(test: &str) -> Limiter {
    Limiter::find(&format!("test-{test}-{}", std::process::id()))
}

pub(crate) fn has(limiter: &Limiter, control: Control) -> bool {
    let has = limiter.hierarchies().iter().any(|hierarchy| hierarchy.controls.contains(&control));
    if !has {
        eprintln!("SKIPPED: no {control:?} by cgroup on this machine: {limiter}");
    }
    has
}
