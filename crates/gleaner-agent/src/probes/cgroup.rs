//! One cgroup, in whichever versions and hierarchies the machine has it.

use gleaner_units::Span;

use super::error::ProbeError;
use super::hierarchy::{Controller, Hierarchy};
use super::root::Root;

/// A cgroup by its path in the hierarchies. A controller that the machine lacks, or has it not in, answers `None`.
#[derive(Clone, Debug)]
pub struct Cgroup {
    root: Root,
    path: String,
    cpu: Option<Place>,
    accounting: Option<Place>,
    memory: Option<Place>,
}

/// How much CPU a cgroup may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// In cores: 0.25 is a quarter of one.
    pub cores: f64,
    /// How many levels above the cgroup the quota is set; 0 is the cgroup itself.
    pub levels_up: usize,
}

/// The cgroup's folder in one hierarchy.
#[derive(Clone, Debug)]
struct Place {
    hierarchy: Hierarchy,
    folder: String,
}

impl Cgroup {
    /// The cgroup called `path`, as `/proc/PID/cgroup` would say, in every hierarchy.
    pub fn at(root: &Root, path: &str) -> Result<Self, ProbeError> {
        let all = Hierarchy::all(root)?;
        let place = |controller| {
            let hierarchy = Hierarchy::find(&all, controller)?;
            Place::below(hierarchy, path)
        };
        Ok(Self {
            root: root.clone(),
            path: path.to_owned(),
            cpu: place(Controller::Cpu),
            accounting: place(Controller::Accounting),
            memory: place(Controller::Memory),
        })
    }

    /// The agent's own cgroup. Its path is the one in the CPU hierarchy.
    pub fn own(root: &Root) -> Result<Self, ProbeError> {
        let all = Hierarchy::all(root)?;
        let own = root.read("/proc/self/cgroup")?;
        let path = |controller| match (Hierarchy::find(&all, controller), &own) {
            (Some(hierarchy), Some(own)) => hierarchy.own_path(own).map(|path| Some((hierarchy, path))),
            _ => Ok(None),
        };
        let place = |controller| {
            let found = path(controller)?;
            Ok(found.and_then(|(hierarchy, path)| Place::below(hierarchy, &path)))
        };
        Ok(Self {
            root: root.clone(),
            path: path(Controller::Cpu)?.map_or_else(|| "/".to_owned(), |(_, path)| path),
            cpu: place(Controller::Cpu)?,
            accounting: place(Controller::Accounting)?,
            memory: place(Controller::Memory)?,
        })
    }

    /// What the hierarchies call it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The CPU time that its processes and those below it have used since it was made.
    pub fn cpu_used(&self) -> Result<Option<Span>, ProbeError> {
        let Some(place) = &self.accounting else { return Ok(None) };
        let nanos = if place.hierarchy.is_v2() {
            let micros = place.number_of(&self.root, "cpu.stat", "usage_usec")?;
            micros.map(|micros| micros.saturating_mul(1000))
        } else {
            place.number(&self.root, "cpuacct.usage")?
        };
        Ok(nanos.map(Span::from_nanos))
    }

    /// The tightest quota of it and the cgroups above it.
    pub fn quota(&self) -> Result<Option<Quota>, ProbeError> {
        let Some(place) = &self.cpu else { return Ok(None) };
        let mut tightest: Option<Quota> = None;
        for (levels_up, folder) in place.hierarchy.up_from(&place.folder).enumerate() {
            let cores = place.quota_in(&self.root, folder)?;
            let tighter = |cores: &f64| tightest.as_ref().is_none_or(|quota| *cores < quota.cores);
            if let Some(cores) = cores.filter(tighter) {
                tightest = Some(Quota { cores, levels_up });
            }
        }
        Ok(tightest)
    }

    /// The cgroup so many levels above, but not above the mounts.
    pub(crate) fn above(&self, levels: usize) -> Self {
        let up = |place: &Option<Place>| place.as_ref().map(|place| place.above(levels));
        let path =
            (0..levels).fold(self.path.as_str(), |path, _| path.rsplit_once('/').map_or("", |(up, _)| up));
        Self {
            root: self.root.clone(),
            path: if path.is_empty() { "/".to_owned() } else { path.to_owned() },
            cpu: up(&self.cpu),
            accounting: up(&self.accounting),
            memory: up(&self.memory),
        }
    }

    /// Whether CPU time is accounted for in the same set of processes that the quota is for.
    pub(crate) fn accounts_for_its_cpu(&self) -> bool {
        let Some(cpu) = &self.cpu else { return true };
        self.accounting.as_ref().is_some_and(|accounting| accounting.below_mount() == cpu.below_mount())
    }

    /// How many more bytes it may take, by the tightest limit of it and those above; `None` without a limit.
    /// Pages of files that can be dropped count as free.
    pub(crate) fn memory_left(&self) -> Result<Option<u64>, ProbeError> {
        let Some(place) = &self.memory else { return Ok(None) };
        let mut left: Option<u64> = None;
        for folder in place.hierarchy.up_from(&place.folder) {
            let here = place.memory_left_in(&self.root, folder)?;
            left = [left, here].into_iter().flatten().min();
        }
        Ok(left)
    }
}

impl Place {
    fn below(hierarchy: &Hierarchy, path: &str) -> Option<Self> {
        Some(Self { folder: hierarchy.folder(path)?, hierarchy: hierarchy.clone() })
    }

    fn above(&self, levels: usize) -> Self {
        let folder = self.hierarchy.up_from(&self.folder).take(levels + 1).last().unwrap_or(&self.folder);
        Self { hierarchy: self.hierarchy.clone(), folder: folder.to_owned() }
    }

    /// The cgroup's path from the mount, which is the same in two hierarchies for the same cgroup.
    fn below_mount(&self) -> &str {
        self.hierarchy.below_mount(&self.folder)
    }

    fn number(&self, root: &Root, file: &str) -> Result<Option<u64>, ProbeError> {
        let text = root.read(&format!("{}/{file}", self.folder))?;
        text.map(|text| text.first().number(0, "a whole number")).transpose()
    }

    fn number_of(&self, root: &Root, file: &str, key: &str) -> Result<Option<u64>, ProbeError> {
        match root.read(&format!("{}/{file}", self.folder))? {
            Some(text) => text.find_number(key),
            None => Ok(None),
        }
    }

    fn quota_in(&self, root: &Root, folder: &str) -> Result<Option<f64>, ProbeError> {
        let file = if self.hierarchy.is_v2() { "cpu.max" } else { "cpu.cfs_quota_us" };
        let Some(text) = root.read(&format!("{folder}/{file}"))? else { return Ok(None) };
        let quota = text.first();
        if matches!(quota.words().next(), Some("max" | "-1")) {
            return Ok(None);
        }
        let micros: u64 = quota.number(0, "a quota in microseconds")?;
        let period: Option<u64> = if self.hierarchy.is_v2() {
            Some(quota.number(1, "a quota and its period in microseconds")?)
        } else {
            let text = root.read(&format!("{folder}/cpu.cfs_period_us"))?;
            text.map(|text| text.first().number(0, "a period in microseconds")).transpose()?
        };
        match period {
            Some(0) => Err(quota.garbled("a period above 0")),
            Some(period) if micros > 0 => Ok(Some(micros as f64 / period as f64)),
            Some(_) => Err(quota.garbled("a quota above 0")),
            None => Ok(None),
        }
    }

    fn memory_left_in(&self, root: &Root, folder: &str) -> Result<Option<u64>, ProbeError> {
        let (limit, used, droppable) = if self.hierarchy.is_v2() {
            ("memory.max", "memory.current", "inactive_file")
        } else {
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        };
        let Some(limit) = root.read(&format!("{folder}/{limit}"))? else { return Ok(None) };
        if limit.first().text == "max" {
            return Ok(None);
        }
        let limit: u64 = limit.first().number(0, "a limit in bytes")?;
        let Some(used) = root.read(&format!("{folder}/{used}"))? else { return Ok(None) };
        let used: u64 = used.first().number(0, "a use in bytes")?;
        let droppable = match root.read(&format!("{folder}/memory.stat"))? {
            Some(stat) => stat.find_number(droppable)?.unwrap_or(0),
            None => 0,
        };
        Ok(Some(limit.saturating_sub(used.saturating_sub(droppable))))
    }
}
