//! Where this machine has its cgroups: version 1 with a mount for each controller or a few of them, version 2 with
//! one mount for all, or both at once.
//!
//! A controller that a version 1 mount holds is not in version 2; that decides which to ask.

use super::error::ProbeError;
use super::root::Root;
use super::text::{Line, Text};

/// What a cgroup counts or limits, by the name version 1 gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Cpu,
    Accounting,
    Memory,
}

impl Controller {
    fn v1_name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Accounting => "cpuacct",
            Self::Memory => "memory",
        }
    }
}

/// One mount of cgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// Where it is mounted.
    mount: String,
    /// Which of its cgroups the mount shows as its top: not `/` in a container that shares the host's names.
    top: String,
    /// Version 1's controllers; `None` for version 2.
    v1: Option<Vec<String>>,
}

impl Hierarchy {
    /// Every mount of cgroups, from `/proc/self/mountinfo`.
    pub(crate) fn all(root: &Root) -> Result<Vec<Self>, ProbeError> {
        let Some(mounts) = root.read("/proc/self/mountinfo")? else { return Ok(Vec::new()) };
        mounts.lines().map(Self::from_mount).filter_map(Result::transpose).collect()
    }

    /// The mount that answers for a controller.
    pub(crate) fn find(all: &[Self], controller: Controller) -> Option<&Self> {
        all.iter().find(|h| h.holds(controller)).or_else(|| all.iter().find(|h| h.v1.is_none()))
    }

    pub(crate) fn is_v2(&self) -> bool {
        self.v1.is_none()
    }

    /// The folder of the cgroup that is called `path` in `/proc/PID/cgroup`; `None` if this mount does not show it.
    pub(crate) fn folder(&self, path: &str) -> Option<String> {
        let below = if self.top == "/" { path } else { path.strip_prefix(self.top.as_str())? };
        let below = below.trim_matches('/');
        let visible = below.split('/').all(|name| name != "..");
        visible.then(|| format!("{}/{below}", self.mount).trim_end_matches('/').to_owned())
    }

    /// `folder` without the mount that it is below.
    pub(crate) fn below_mount<'a>(&self, folder: &'a str) -> &'a str {
        folder.strip_prefix(self.mount.as_str()).unwrap_or(folder)
    }

    /// `folder` and those above it, up to the mount, the lowest first.
    pub(crate) fn up_from<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let above = |folder: &&'a str| folder.rsplit_once('/').map(|(above, _)| above);
        std::iter::successors(Some(folder), above).take_while(|folder| folder.len() >= self.mount.len())
    }

    /// The path of the agent's own cgroup here, from `/proc/self/cgroup`.
    pub(crate) fn own_path(&self, own: &Text) -> Result<String, ProbeError> {
        for line in own.lines().filter(|line| !line.text.is_empty()) {
            let mut fields = line.text.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
                return Err(line.garbled("NUMBER:CONTROLLERS:PATH"));
            };
            let here = match &self.v1 {
                None => controllers.is_empty(),
                Some(held) => controllers.split(',').any(|name| held.iter().any(|held| held == name)),
            };
            if here {
                return Ok(path.to_owned());
            }
        }
        Ok("/".to_owned())
    }

    fn holds(&self, controller: Controller) -> bool {
        self.v1.as_ref().is_some_and(|held| held.iter().any(|name| name == controller.v1_name()))
    }

    /// `ID PARENT DEV TOP MOUNT OPTIONS [TAGS…] - KIND SOURCE FLAGS`; `None` for mounts of something else.
    fn from_mount(line: Line<'_>) -> Result<Option<Self>, ProbeError> {
        let garbled = || line.garbled("a mount: ID PARENT DEVICE TOP PLACE OPTIONS - KIND SOURCE FLAGS");
        let (before, after) = line.text.split_once(" - ").ok_or_else(garbled)?;
        let mut after = after.split(' ');
        let v1 = match after.next() {
            Some("cgroup2") => None,
            Some("cgroup") => {
                let flags = after.nth(1).ok_or_else(garbled)?;
                Some(flags.split(',').map(str::to_owned).collect())
            }
            _ => return Ok(None),
        };
        let mut places = before.split(' ').skip(3).map(str::to_owned);
        let (Some(top), Some(mount)) = (places.next(), places.next()) else { return Err(garbled()) };
        Ok(Some(Self { mount, top, v1 }))
    }
}
