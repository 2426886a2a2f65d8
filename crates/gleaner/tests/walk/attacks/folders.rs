//! Tasks that leave hostile folders behind, or take more of the disk and the memory than they say.
//!
//! What a task leaves is walked by descriptors, beneath its folder (`gleaner-agent/src/beneath.rs`), so a link leads
//! nowhere, and no depth is too deep. Its memory is bounded by its minder's cgroup where it names none.

use crate::disk::SmallDisk;
use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use crate::up::Up;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";
/// Deeper than a stack, and than the descriptors of a process.
const DEPTH: u32 = 30_000;

fn grid(test: &str, options: &[&str]) -> Grid {
    let mut grid = Grid::new(test, 30);
    grid.start();
    grid.add("lab", 100, RULES, options);
    grid
}

fn submit(grid: &Grid, options: &[&str], script: &str) -> String {
    grid.json(&[&["submit"], options, &["--", "sh", "-c", script]].concat())["job"].to_string()
}

fn said(grid: &Grid, job: &str) -> String {
    grid.ok(&["logs", &format!("{job}/0")])
}

fn until_it_says(grid: &Grid, job: &str, text: &str) {
    until(&format!("the task says {text}"), PATIENCE, || {
        let said = grid.json(&["logs", job])["outputs"][0]["text"].take();
        said.as_str().is_some_and(|said| said.contains(text)).then_some(())
    });
}

/// An agent of root's reads everything; a task must not have it read for it.
#[test]
fn a_link_in_place_of_the_checkpoint_is_not_followed() {
    let mut grid = grid("checkpoint-link", &[]);
    let home = grid.machine("lab").home.clone();
    let script = format!(
        "if [ $GLEANER_ATTEMPT = 1 ]; then rm -rf $GLEANER_CHECKPOINT; ln -s {} $GLEANER_CHECKPOINT; exit 85; fi
         ls -a $GLEANER_CHECKPOINT/ && cat $GLEANER_CHECKPOINT/agent.key; echo looked",
        home.display()
    );
    let job = submit(&grid, &["--checkpoint", "--checkpoint-exit-code", "85"], &script);
    grid.cli(&["wait", &job]);
    let said = said(&grid, &job);
    assert!(said.contains("looked") && !said.contains("agent.key"), "{said}");
    let history = grid.ok(&["history", &format!("{job}/0")]);
    assert!(history.contains("could not be stored: .checkpoint is no folder"), "{history}");
    grid.wind_up();
}

/// Links, pipes, sockets and names for others' files among what is to be handed in.
#[test]
fn only_its_own_files_are_handed_in_and_none_is_waited_for() {
    let mut grid = grid("outputs", &[]);
    let script = "mkdir -p out/in; echo mine > out/in/file; cd out; ln -s /etc/passwd link; ln -s / root
                  mkfifo pipe; ln /etc/passwd hard 2>/dev/null; echo done";
    let job = submit(&grid, &["--output", "out"], script);
    grid.ok(&["wait", &job]);
    let to = grid.folder.path().join("fetched");
    let fetch = ["fetch", &format!("{job}/0"), "--to", to.to_str().expect("text")];
    grid.ok(&fetch);
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
    };
    assert_eq!((names(&to), names(&to.join("out"))), (vec!["out".to_owned()], vec!["in".to_owned()]));

    // What is there already is its owner's.
    let file = to.join("out/in/file");
    fs::write(&file, "the owner's").expect("a file");
    let refused = grid.cli(&fetch);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("out/in/file is there already"), "{said}");
    assert_eq!(fs::read(&file).expect("a file"), b"the owner's");
    grid.ok(&[&fetch[..], &["--force"]].concat());
    assert_eq!(fs::read(&file).expect("a file"), b"mine\n");
    grid.wind_up();
}

#[test]
fn an_agent_starts_again_whatever_a_task_left() {
    // In memory: a disk takes minutes to remove as much.
    let disk = SmallDisk::new(96);
    let mut grid = Grid::new("deep", 30);
    grid.start();
    grid.add_at("lab", disk.path().join("lab"), 100, RULES, &[]);
    // From the innermost folder on. The other way round the kernel walks up from each one, minutes in all.
    let nest = format!(
        "[ $GLEANER_ATTEMPT -gt 1 ] || {{ mkdir -p n/n/closed; chmod 0 n/n/closed
         perl -e 'for (1..{DEPTH}) {{ mkdir \"o\" and rename \"n\", \"o/n\" and rename \"o\", \"n\" or die $! }}'; }}
         mkdir -p closed/inner; chmod 0 closed/inner closed; echo nested in $GLEANER_ATTEMPT; sleep 300"
    );
    let job = submit(&grid, &[], &nest);
    until_it_says(&grid, &job, "nested in 1");
    let lab = grid.machine("lab");
    lab.kill();
    lab.wait_until_quiet();
    lab.start();
    until_it_says(&grid, &job, "nested in 2");
    grid.expect_all_alive();
    // What was left is removed as it works, and so is what is cancelled.
    grid.ok(&["cancel", &job]);
    let home = grid.machine("lab").home.clone();
    until("the folders are gone", PATIENCE, || {
        let is_empty = fs::read_dir(home.join("tasks")).expect("a folder").next().is_none();
        (is_empty && !home.join("trouble").exists()).then_some(())
    });
    grid.wind_up();
}

/// Where no walk by paths comes, and where no walk comes at all.
#[test]
fn what_is_written_out_of_sight_counts() {
    let mut grid = grid("hidden", &[]);
    let write = "open my $f, \">\", \"f$_\" or die; print $f \"x\" x 30_000_000 or die; push @f, $f";
    let deep =
        format!("for (1..5000) {{ mkdir \"n\"; chdir \"n\" }} for (1..4) {{ {write}; close $f }} sleep 300");
    let unlinked = format!("for (1..4) {{ {write}; $f->flush; unlink \"f$_\" }} sleep 300");
    for script in [deep, unlinked] {
        let script = format!("perl -e 'use IO::Handle; {script}'");
        let job = submit(&grid, &["--disk", "60MB", "--retries", "0"], &script);
        assert!(!grid.cli(&["wait", &job]).status.success());
        let status = grid.ok(&["status", &job, "--tasks"]);
        assert!(status.contains("disk"), "{status}");
    }
    grid.wind_up();
}

#[test]
fn a_task_that_names_no_memory_has_a_bound() {
    let mut grid = grid("memory", &["--task-memory-gb", "0.1"]);
    let hog = submit(&grid, &["--retries", "0"], "exec tail /dev/zero");
    assert!(!grid.cli(&["wait", &hog]).status.success());
    let status = grid.ok(&["status", &hog, "--tasks"]);
    assert!(status.contains("too much memory: it may use 100 MB, as the machine's owner says"), "{status}");
    let status = grid.ok(&["status", &hog]);
    assert!(status.contains("needs      1 core\n") && status.contains(": at its peak it used "), "{status}");
    // Both folders that are memory.
    let kept = "for at in /tmp /dev/shm; do head -c 300000000 /dev/zero > $at/x; done 2>/dev/null
                cat /tmp/x /dev/shm/x | wc -c";
    let kept = submit(&grid, &["--memory", "1GB", "--retries", "0"], kept);
    let little = "head -c 90000000 /dev/zero > /dev/shm/x; echo $(cat /dev/shm/x | wc -c)";
    let little = submit(&grid, &["--retries", "0"], little);
    grid.ok(&["wait", &kept]);
    grid.ok(&["wait", &little]);
    let bytes = |job: &str| said(&grid, job).trim().parse::<u64>().expect("a number");
    assert_eq!(bytes(&kept), 600_000_000, "as much as it named");
    assert!(bytes(&little) <= 51_000_000, "half of its memory in each");
    grid.wind_up();
}

/// Nothing that it keeps is open to others, whatever the umask; and nobody's tasks leave the sandbox unasked.
#[test]
fn a_grid_of_one_machine_keeps_to_itself() {
    let grid = Grid::new("up", 30);
    let home = grid.folder.path().join("up");
    let path = home.to_str().expect("text");
    // Its folders are made, its rules are written: others than the usual, since this machine has more to do.
    let up = Up::start(&grid, &home, &[]);
    until("the agent has joined", PATIENCE, || {
        grid.try_json(&["machines", "--home", path])?["machines"]
            .as_array()
            .filter(|list| !list.is_empty())
            .cloned()
    });
    drop(up);
    fs::write(home.join("agent/rules.toml"), RULES).expect("the owner's rules");
    let up = Up::start(&grid, &home, &[]);
    let machines = until("the agent is there", PATIENCE, || {
        let machines = grid.try_json(&["machines", "--home", path])?["machines"].take();
        (machines[0]["state"] == "open").then_some(machines)
    });
    assert_eq!(machines[0]["profile"]["user"], "", "{machines}");
    let input = grid.folder.path().join("input");
    fs::write(&input, "given").expect("a file");
    let input = input.to_str().expect("text");
    let job = grid.json(&["submit", "--home", path, "--input", input, "--", "cat", "input"]);
    grid.ok(&["wait", "--home", path, &job["job"].to_string()]);
    let mut open = vec![home];
    while let Some(path) = open.pop() {
        // The grid goes on meanwhile: what it used for a moment may be gone.
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        let mode = about.permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} has the mode {mode:o}", path.display());
        // In there are copies of what everybody may read in `/etc`, and nobody gets there.
        if about.is_dir() && !path.ends_with("agent/settings") {
            open.extend(
                fs::read_dir(&path).into_iter().flatten().map(|entry| entry.expect("an entry").path()),
            );
        }
    }
    drop(up);
}
