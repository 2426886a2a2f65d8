//! Which of the walls around tasks stand on this machine: an agent's own trial at its start, and what is behind it.

use super::trial::{Ground, holds_inotify, holds_memory};
use super::{Control, Limiter, SandboxLevel, Settings, Version, Why, available, can_be_apart, user};
use crate::keeper::{Keeper, KeeperError};
use crate::{beneath, descriptors};
use rustix::process::geteuid;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What was found of one wall.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// Its name.
    pub wall: &'static str,
    /// Whether it stands.
    pub stands: bool,
    /// What it is made of, or what is missing; for people.
    pub why: String,
}

/// Why nothing could be found out.
#[derive(Debug, thiserror::Error)]
pub enum DoctorError {
    /// The trial needs a keeper.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The trial needs a folder.
    #[error("{0}")]
    Folder(#[from] io::Error),
}

/// The first wall in what [`examine`] finds, without which an agent takes no tasks of others.
pub const SANDBOX: &str = "sandbox";

const MEMORY: &str = "cgroup: memory";

/// Tries every wall, with `scratch` for a folder that is empty and nobody else's, and `program` as for [`Keeper::start`].
pub fn examine(program: &Path, scratch: &Path) -> Result<Vec<Finding>, DoctorError> {
    let keeper = Keeper::start(program, Stdio::null())?;
    // Beside the task's folder: that is given to its user with all that is in it.
    let (task, settings) = (scratch.join("task"), Settings::make(&scratch.join("settings")));
    let ground = Ground { keeper: &keeper, scratch: &task, settings: settings.folder() };
    let level = available(&keeper, &task, ground.settings);
    let limiter = Limiter::find(&format!("doctor-{}", std::process::id()));
    let mut found = sandbox(&level);
    found.extend(Control::ALL.map(|control| cgroup(&limiter, control)));
    let memory = found.iter_mut().find(|finding| finding.wall == MEMORY && finding.stands);
    if let Some(memory) = memory.filter(|_| level.is_ok()) {
        match holds_memory(ground, &limiter) {
            Ok(()) => memory.why.push_str(", tried: a task that takes more than it may is ended"),
            Err(why) => *memory = finding(MEMORY, Err(format!("{}: {why}", memory.why))),
        }
    }
    found.push(finding(
        "inotify",
        match &level {
            Ok(level) if level.own_users => Ok("not needed: each task gets a user id of its own".to_owned()),
            Ok(_) => holds_inotify(ground).map(|()| {
                "tried: all tasks together get half of what this user may have, in equal parts".to_owned()
            }),
            Err(_) => Err("not tried: the sandbox failed before".to_owned()),
        },
    ));
    drop(keeper);
    limiter.remove();
    let apart =
        can_be_apart().map(|()| "with `network = \"internet\"` a task has a network of its own".to_owned());
    found.push(finding("network of its own", apart));
    found.extend([openat2(scratch)?, removed_files(scratch), quota(scratch)?, clock()]);
    Ok(found)
}

fn finding(wall: &'static str, found: Result<String, String>) -> Finding {
    let stands = found.is_ok();
    Finding { wall, stands, why: found.unwrap_or_else(|why| why) }
}

fn sandbox(level: &Result<SandboxLevel, Why>) -> Vec<Finding> {
    let whole = level.as_ref().map(ToString::to_string).map_err(ToString::to_string);
    let bubblewrap = match level {
        Err(Why::NoBubblewrap) => Err(Why::NoBubblewrap.to_string()),
        _ => Ok("the command bwrap is there".to_owned()),
    };
    let users = match level {
        Ok(level) if level.own_users => Ok("not needed: each task gets a user id of its own".to_owned()),
        Ok(_) => Ok("open to this user".to_owned()),
        Err(why @ Why::NoUserNamespaces { .. }) => Err(why.to_string()),
        Err(_) => Err("not tried: the sandbox failed before".to_owned()),
    };
    let landlock = match level {
        Ok(SandboxLevel { landlock_abi: 0, .. }) => Err("the kernel has none".to_owned()),
        Ok(level) => Ok(format!("ABI {}", level.landlock_abi)),
        Err(_) => Err("not tried: the sandbox failed before".to_owned()),
    };
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let seccomp = if actions.contains("errno") {
        Ok("the kernel filters system calls".to_owned())
    } else {
        Err("the kernel filters no system calls".to_owned())
    };
    vec![
        finding(SANDBOX, whole),
        finding("bubblewrap", bubblewrap),
        finding("user namespaces", users),
        finding("Landlock", landlock),
        finding("seccomp", seccomp),
    ]
}

fn cgroup(limiter: &Limiter, control: Control) -> Finding {
    let (wall, without) = match control {
        Control::Memory => (
            MEMORY,
            "the agent looks at a task's memory every second, and the address space of each process in the sandbox is limited; what the kernel holds for sockets and pipes of a task is not bounded",
        ),
        Control::Processes => ("cgroup: processes", "they are limited in the sandbox, by its user"),
        Control::Cpu => ("cgroup: processor time", "it is shared and not limited"),
        Control::Freezer => ("cgroup: freezer", "tasks are suspended by signals"),
        Control::Kill => ("cgroup: kill", "tasks are ended process by process"),
    };
    let by = limiter.version_of(control).map(|version| match version {
        Version::V1 => "version 1".to_owned(),
        Version::V2 => "version 2".to_owned(),
    });
    finding(wall, by.ok_or_else(|| format!("none that may be written to: {without}")))
}

fn openat2(scratch: &Path) -> io::Result<Finding> {
    let folder = beneath::open_root(scratch)?;
    Ok(finding(
        "openat2",
        if beneath::has_openat2(&folder) {
            Ok("what tasks leave is opened in one call".to_owned())
        } else {
            Err("the kernel refuses it: what tasks leave is opened folder by folder, without following links"
                .to_owned())
        },
    ))
}

/// How long the file is that is removed to see whether it is seen.
const REMOVED_SIZE: usize = 1 << 16;

/// A file that was removed and is open, and its disk.
fn removed(path: &Path) -> io::Result<(File, u64)> {
    let written = fs::write(path, vec![1; REMOVED_SIZE]).and_then(|()| File::open(path));
    let removed = fs::remove_file(path);
    let file = written?;
    removed?;
    file.sync_all()?;
    let disk = file.metadata()?.dev();
    Ok((file, disk))
}

/// A file that a task removed and holds open takes room that no folder shows. A full disk keeps nothing else from being tried.
fn removed_files(scratch: &Path) -> Finding {
    const WALL: &str = "removed files";
    let (file, disk) = match removed(&scratch.join("removed")) {
        Ok(removed) => removed,
        Err(why) => {
            let free =
                if why.kind() == io::ErrorKind::StorageFull { "; free some space and try again" } else { "" };
            return finding(WALL, Err(format!("not tried: {}: {why}{free}", scratch.display())));
        }
    };
    let mut holding = Command::new("sleep");
    holding.arg("60").stdin(file).stdout(Stdio::null()).stderr(Stdio::null());
    if geteuid().is_root() {
        holding.uid(user::FIRST).gid(user::FIRST);
    }
    let seen = holding.spawn().map(|mut child| {
        let seen = descriptors::removed_bytes(child.id(), disk);
        // It ends by itself otherwise.
        let _ = child.kill().and_then(|()| child.wait());
        seen
    });
    let found = match seen {
        Ok(Some(bytes)) if bytes >= REMOVED_SIZE as u64 => {
            Ok("tried: files that tasks removed and hold open count as what they take".to_owned())
        }
        Ok(_) => Err("files that tasks removed and hold open are not seen, so that --disk holds each file and not all \
                      of them: the agent lacks CAP_SYS_PTRACE"
            .to_owned()),
        Err(why) => Err(format!("not tried: {why}")),
    };
    finding(WALL, found)
}

/// Quotas of projects are what a task's folder could be given.
fn quota(scratch: &Path) -> io::Result<Finding> {
    let place = scratch.canonicalize()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let under = mounts.lines().filter_map(|line| Some((line.split(' ').nth(4)?, line)));
    let mount = under.filter(|(at, _)| place.starts_with(at)).max_by_key(|(at, _)| at.len());
    let has = mount.is_some_and(|(_, line)| {
        line.split([' ', ',']).any(|option| ["prjquota", "pquota"].contains(&option))
    });
    Ok(finding(
        "disk quota",
        if has {
            Ok("the file system has quotas of projects; they are not used yet".to_owned())
        } else {
            Err("the file system has no quotas of projects: folders are measured every few seconds"
                .to_owned())
        },
    ))
}

/// A lease must end while the machine sleeps.
fn clock() -> Finding {
    let seconds = |clock| clock_gettime(clock).tv_sec;
    let counts_sleep = seconds(ClockId::Boottime) >= seconds(ClockId::Monotonic);
    let why = "the clock of leases counts the machine's sleep".to_owned();
    finding(
        "clock",
        if counts_sleep { Ok(why) } else { Err("the clock of leases stands still in sleep".to_owned()) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on a full disk: the folder is named, and the other walls are tried all the same.
    #[test]
    fn what_cannot_be_written_is_not_tried_and_no_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("not there");
        let found = removed_files(&there);
        assert!(
            !found.stands && found.why.starts_with(&format!("not tried: {}: ", there.display())),
            "{found:?}"
        );
    }
}
