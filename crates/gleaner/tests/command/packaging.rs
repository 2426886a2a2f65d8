//! The systemd units: that systemd understands them, that they stay as closed as they are, and that what they start is
//! there. Where systemd is not installed, the first two say so and test nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/systemd");
/// Where the units say that the program is.
const INSTALLED: &str = "/usr/bin/gleaner";

/// The units, with this build's program in them: systemd refuses a unit whose program is not there.
struct Units(TempDir);

impl Units {
    fn copy() -> Self {
        let folder = TempDir::new().expect("a folder for the test");
        fs::create_dir(folder.path().join("user")).expect("a folder in it");
        let program = assert_cmd::cargo::cargo_bin!("gleaner");
        for (name, text) in sources() {
            let text = text.replace(INSTALLED, program.to_str().expect("a path that is text"));
            fs::write(folder.path().join(name), text).expect("a file of the test");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Each unit file by its name below the units' folder.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for inner in ["", "user/"] {
        for entry in fs::read_dir(Path::new(SOURCES).join(inner)).expect("the units' folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name that is text");
                found.push((format!("{inner}{name}"), fs::read_to_string(&path).expect("a unit")));
            }
        }
    }
    found
}

/// What `systemd-analyze` says about a unit; nothing where there is no systemd.
fn analyze(arguments: &[&str], unit: &Path) -> Option<Output> {
    let mut command = Command::new("systemd-analyze");
    let runtime = TempDir::new().expect("a folder for the test");
    command.args(arguments).arg(unit).env("XDG_RUNTIME_DIR", runtime.path());
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: {} was not checked, systemd-analyze cannot be run: {error}", unit.display());
            None
        }
    }
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

#[test]
fn systemd_understands_every_unit() {
    let units = Units::copy();
    for (name, _) in sources() {
        let manager = if name.starts_with("user/") { "--user" } else { "--system" };
        let arguments = [manager, "verify", "--recursive-errors=no", "--man=no"];
        if let Some(output) = analyze(&arguments, &units.path(&name)) {
            assert!(output.status.success() && output.stderr.is_empty(), "{name}: {}", said(&output));
        }
    }
}

/// In tenths of what `systemd-analyze security` prints, with some room for the checks of newer versions.
#[test]
fn the_services_stay_as_closed_as_they_are() {
    let units = Units::copy();
    for (name, exposure_max) in [("gleaner-coordinator.service", 20), ("gleaner-agent.service", 52)] {
        let threshold = format!("--threshold={exposure_max}");
        let arguments = ["security", "--offline=true", "--no-pager", &threshold];
        if let Some(output) = analyze(&arguments, &units.path(name)) {
            assert!(output.status.success(), "{name}: {}", said(&output));
        }
    }
}

/// An agent holds each program by some open files, and takes as many as its unit lets it.
#[test]
fn the_units_let_agent_and_coordinator_have_many_files_open() {
    let sources = sources();
    let services = sources.iter().filter(|(name, _)| name.ends_with(".service"));
    for (name, unit) in services {
        let limit = unit.lines().find_map(|line| line.strip_prefix("LimitNOFILE=")).expect(name);
        let most = limit.rsplit(':').next().and_then(|most| most.parse::<u32>().ok());
        assert!(most >= Some(65_536), "{name}: {limit}");
    }
}

#[test]
fn what_the_units_start_is_there() {
    let mut checked = 0;
    for (name, text) in sources() {
        for start in text.lines().filter_map(|line| line.strip_prefix("ExecStart=")) {
            let mut words = start.split(' ');
            assert_eq!(words.next(), Some(INSTALLED), "{name}");
            let command = words.next().expect("a command of the program");
            let help = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner"))
                .args([command, "--help"])
                .assert()
                .success();
            let help = said(help.get_output());
            for option in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(option), "{name}: `gleaner {command}` has no {option}\n{help}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 3, "each service starts one program");
}

#[test]
fn the_agents_unit_leaves_the_capabilities_that_the_sandbox_needs() {
    let (_, unit) =
        sources().into_iter().find(|(name, _)| name == "gleaner-agent.service").expect("the unit");
    let left =
        unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).expect("what is left");
    let left = left.split(' ').map(|name| format!(",+{}", name.trim_start_matches("CAP_").to_lowercase()));
    let bounding = format!("--bounding-set=-all{}", left.collect::<String>());
    let home = TempDir::new().expect("a folder for the test");
    let doctor = |launcher: &[&str]| {
        let program = assert_cmd::cargo::cargo_bin!("gleaner").to_str().expect("a path that is text");
        let [command, arguments @ ..] = &[launcher, &[program, "doctor", "--home"]].concat()[..] else {
            unreachable!("a command");
        };
        Command::new(command).args(arguments).arg(home.path()).output().expect("the command runs")
    };
    if !rustix::process::geteuid().is_root() || !doctor(&[]).status.success() {
        eprintln!("SKIPPED: the sandbox of an agent of root's cannot be built here");
        return;
    }
    let confined = doctor(&["setpriv", "--no-new-privs", &bounding]);
    assert!(confined.status.success(), "{}", said(&confined));
    let text = String::from_utf8_lossy(&confined.stdout).into_owned();
    let removed = text.lines().find(|line| line.starts_with("removed files")).expect("a line of it");
    assert!(removed.contains("stands"), "{text}");
}
