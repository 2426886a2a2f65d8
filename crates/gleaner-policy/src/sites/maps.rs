//! The virtual map of each kind of job, kept up to date: for a kind that is known only sites that changed are looked at anew.

use super::map::{self, Amounts, Direction};
use super::rooms::Rooms;
use super::traffic::Traffic;
use crate::parts::sites::{Has, SiteRule};
use gleaner_core::{Grid, Room};
use gleaner_units::{FileId, MachineId, SiteId, TaskClassId, TaskId};
use std::collections::BTreeMap;

/// The most distances that are kept, over all kinds of jobs.
const DISTANCES_MAX: usize = 1 << 21;

/// Jobs with the same needs, data and length.
type Kind = (TaskClassId, u64);

/// All maps, and what they are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Maps {
    /// None before it is asked for.
    layout: Option<Layout>,
    /// What is counted in the maps.
    traffic: Traffic,
    by_kind: BTreeMap<Kind, VirtualMap>,
}

/// One job's coordinates at a site.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coordinates {
    /// Which site.
    pub site: MachineId,
    /// The cores that are free there, as far as is known; none where it has any number.
    pub free: Option<u32>,
    /// How far it falls short of the job, equation (1).
    pub x: f64,
    /// How long the data takes relative to the run time, equation (2).
    pub y: f64,
    /// How far the quality of service falls short, where the rule counts that.
    pub quality: Option<f64>,
    /// What it costs relative to what would be paid, where the rule counts that.
    pub cost: Option<f64>,
    /// How far it is from the origin.
    pub distance: f64,
}

/// Where machines are, and what their links come to.
#[derive(Clone, Debug)]
struct Layout {
    /// By machine.
    sites: Vec<Option<SiteId>>,
    /// P, by machine.
    potentials: Vec<f64>,
    /// P, by site of the catalogue.
    by_site: Vec<f64>,
}

/// What a map is made by.
#[derive(Clone, Copy)]
struct By<'a> {
    grid: &'a Grid,
    rule: &'a SiteRule,
    layout: &'a Layout,
    traffic: &'a Traffic,
}

/// What a kind of job asks of sites.
#[derive(Clone, Debug)]
struct Asked {
    needs: Amounts,
    /// How many seconds it takes to bring its data, by machine; none where it has no data.
    bring_s: Option<Vec<f64>>,
    run_s: f64,
    quality: f64,
    would_pay: f64,
}

#[derive(Clone, Debug)]
struct VirtualMap {
    asked: Asked,
    /// The nearest first, of equals the lowest.
    sorted: Vec<(f64, MachineId)>,
    distances: Vec<f64>,
    /// How many of the changes of rooms are in it.
    seen: usize,
}

impl Maps {
    /// Links, files, classes or sites are others than before.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The sites in order of their distance. Costs O(sites·log sites) for a kind of job that was not met before; else
    /// O(log sites) for each site whose room changed since, and what it takes to move it. When the traffic
    /// is other than before, so is every map.
    pub(super) fn nearest_first(
        &mut self,
        (grid, rule): (&Grid, &SiteRule),
        rooms: &mut Rooms,
        traffic: Traffic,
        task: TaskId,
    ) -> impl Iterator<Item = MachineId> + '_ {
        if traffic != self.traffic {
            self.by_kind.clear();
            self.traffic = traffic;
        }
        let sites = rooms.free().len();
        if rooms.changes().len() > 2 * sites || (self.by_kind.len() + 1) * sites > DISTANCES_MAX {
            self.by_kind.clear();
            rooms.forget_changes();
        }
        let kind = kind_of(grid, task);
        let layout = self.layout.get_or_insert_with(|| Layout::of(grid, rule.reading.direction));
        let by = By { grid, rule, layout, traffic: &self.traffic };
        let map = self.by_kind.entry(kind).or_insert_with(|| VirtualMap::new(by, rooms, task));
        map.catch_up(by, rooms, task);
        map::nearest_first(&map.sorted)
    }
}

impl Maps {
    /// Whether each map that is kept is what it would be if made afresh. Costs O(kinds × sites).
    pub(super) fn check(&self, grid: &Grid, rule: &SiteRule, rooms: &Rooms) -> Result<(), String> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let by = By { grid, rule, layout, traffic: &self.traffic };
        for (task, _) in grid.tasks() {
            let Some(map) = self.by_kind.get(&kind_of(grid, task)) else { continue };
            let mut map = map.clone();
            map.catch_up(by, rooms, task);
            if map.sorted != VirtualMap::new(by, rooms, task).sorted {
                return Err(format!("the virtual map of {task} is not what the grid says"));
            }
        }
        Ok(())
    }
}

fn kind_of(grid: &Grid, task: TaskId) -> Kind {
    let length = grid.declared_length(task).map_or(0, |length| length.amount().to_bits());
    (grid.task(task).class(), length)
}

impl VirtualMap {
    fn new(by: By<'_>, rooms: &Rooms, task: TaskId) -> Self {
        let asked = asked(by, task);
        let sites = (0..rooms.free().len()).map(MachineId::new);
        let distances: Vec<f64> =
            sites.clone().map(|site| coordinates(by, &asked, rooms.free(), task, site).distance).collect();
        let mut sorted: Vec<(f64, MachineId)> = distances.iter().copied().zip(sites).collect();
        sorted.sort_unstable_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b)));
        Self { asked, sorted, distances, seen: rooms.changes().len() }
    }

    fn catch_up(&mut self, by: By<'_>, rooms: &Rooms, task: TaskId) {
        for &site in &rooms.changes()[self.seen..] {
            let distance = coordinates(by, &self.asked, rooms.free(), task, site).distance;
            let before = std::mem::replace(&mut self.distances[site.index()], distance);
            let place = |sorted: &[(f64, MachineId)], distance: f64| {
                sorted.partition_point(|(other, at)| other.total_cmp(&distance).then(at.cmp(&site)).is_lt())
            };
            let at = place(&self.sorted, before);
            self.sorted.remove(at);
            let to = place(&self.sorted, distance);
            self.sorted.insert(to, (distance, site));
        }
        self.seen = rooms.changes().len();
    }
}

impl Layout {
    /// Costs O(links + machines·log machines).
    fn of(grid: &Grid, direction: Direction) -> Self {
        let mut by_site: Vec<f64> = Vec::new();
        // In order of the other end, so that whoever adds them up by itself comes to the same.
        for ((from, to), rate) in grid.catalogue().links() {
            let at = match direction {
                Direction::Obtaining => to,
                Direction::Sending => from,
            };
            if by_site.len() <= at.index() {
                by_site.resize(at.index() + 1, 0.0);
            }
            by_site[at.index()] += rate;
        }
        let machines = (0..grid.machines().len()).map(MachineId::new);
        let sites: Vec<Option<SiteId>> = machines.map(|machine| grid.catalogue().site_of(machine)).collect();
        let potential = |site: &Option<SiteId>| {
            site.map_or(0.0, |site| by_site.get(site.index()).copied().unwrap_or(0.0))
        };
        let potentials = sites.iter().map(potential).collect();
        Self { sites, potentials, by_site }
    }
}

/// What one core of a job of that class does at the mean of the sites that can run it. The paper gives a job one C and one
/// run time, the same at all sites, and only processors and lengths are declared: both follow from this speed, so that a fast site
/// has more than is asked for and a slow one less.
fn mean_speed(grid: &Grid, class: TaskClassId) -> f64 {
    let speeds =
        grid.machines().iter().map(|machine| grid.classes().seconds_per_op_in_parts(class, machine.class()));
    let (count, sum) = speeds
        .filter(|seconds| seconds.is_finite())
        .fold((0_u32, 0.0), |(count, sum), seconds| (count + 1, sum + 1.0 / seconds));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// The site where a job's data lies: the lowest that has its first file.
fn source(grid: &Grid, class: TaskClassId) -> Option<SiteId> {
    let file = grid.catalogue().inputs(class).first()?;
    grid.catalogue().holders(*file).first().copied()
}

/// What equations (1) and (2) take a job to ask for, the same at all sites.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// C: operations a second, those of its cores at the mean speed of the sites that can run it.
    pub compute: f64,
    /// Its run time at that speed, in seconds, by its declared length; infinite if nothing is declared.
    pub run_s: f64,
}

/// A job's C and run time.
pub fn demand(grid: &Grid, task: TaskId) -> Demand {
    let class = grid.task(task).class();
    let speed = mean_speed(grid, class);
    Demand {
        compute: f64::from(grid.classes().demand(class).needs.cores) * speed,
        run_s: grid.declared_length(task).map_or(f64::INFINITY, |length| length.amount() / speed),
    }
}

fn asked(by: By<'_>, task: TaskId) -> Asked {
    let By { grid, layout, .. } = by;
    let class = grid.task(task).class();
    let needs = grid.classes().demand(class).needs;
    let Demand { compute, run_s } = demand(grid, task);
    let at_source = source(grid, class).and_then(|site| layout.by_site.get(site.index()));
    let needs = Amounts {
        compute,
        memory: needs.memory as f64,
        disk: needs.disk as f64,
        potential: at_source.copied().unwrap_or(0.0),
    };
    let said = grid.classes().task_class(class);
    let (quality, would_pay) = (said.quality(), said.would_pay());
    Asked { needs, bring_s: bring_s(by, class), run_s, quality, would_pay }
}

/// The seconds that it takes to bring a job's data, by machine: infinitely many where it cannot come. None where it has no
/// data.
fn bring_s(by: By<'_>, class: TaskClassId) -> Option<Vec<f64>> {
    let By { grid, layout, traffic, .. } = by;
    let catalogue = grid.catalogue();
    let inputs = catalogue.inputs(class);
    let source = source(grid, class);
    if let (&[file], Some(source)) = (inputs, source)
        && catalogue.holders(file).len() == 1
    {
        // One look at the links of the only site that has it.
        let mut by_site = vec![f64::INFINITY; layout.by_site.len().max(source.index() + 1)];
        by_site[source.index()] = 0.0;
        for (to, rate) in catalogue.links_from(source).filter(|(to, rate)| *to != source && *rate > 0.0) {
            by_site[to.index()] = catalogue.bytes(file) as f64 / rate * traffic.sharers(source, to);
        }
        let at = |site: &Option<SiteId>| {
            site.and_then(|site| by_site.get(site.index())).copied().unwrap_or(f64::INFINITY)
        };
        return Some(layout.sites.iter().map(at).collect());
    }
    let from_copy = |file: FileId, from: SiteId, to: SiteId| match catalogue.bytes_per_s(from, to) {
        rate if rate > 0.0 => catalogue.bytes(file) as f64 / rate * traffic.sharers(from, to),
        _ => f64::INFINITY,
    };
    let bring = |file: &FileId, to: SiteId| {
        let copies = catalogue.holders(*file).iter();
        copies.map(|from| from_copy(*file, *from, to)).fold(f64::INFINITY, f64::min)
    };
    let at = |site: &Option<SiteId>| {
        site.map_or(f64::INFINITY, |site| inputs.iter().map(|file| bring(file, site)).sum())
    };
    (!inputs.is_empty()).then(|| layout.sites.iter().map(at).collect())
}

fn coordinates(by: By<'_>, asked: &Asked, free: &[Room], task: TaskId, site: MachineId) -> Coordinates {
    let By { grid, rule, layout, .. } = by;
    let class = grid.task(task).class();
    let machine = grid.machine(site);
    let of_site = grid.classes().machine_class(machine.class());
    let room = match rule.has {
        Has::Free => free[site.index()],
        Has::Total => of_site.room,
    };
    let bytes = |bytes: Option<u64>| bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
    let cores = room.slots.map_or(f64::INFINITY, f64::from);
    let has = Amounts {
        compute: cores / grid.classes().seconds_per_op_in_parts(class, machine.class()),
        memory: bytes(room.memory),
        disk: bytes(room.disk),
        potential: layout.potentials[site.index()],
    };
    let x = map::computation_index(&has, &asked.needs, &rule.weights, rule.reading.root);
    let bring_s = asked.bring_s.as_ref().map(|bring_s| bring_s[site.index()]);
    let y = bring_s.map_or(0.0, |bring_s| map::data_index(bring_s, asked.run_s, rule.reading.at_source));
    let quality = rule.axes.quality.then(|| map::quality_index(of_site.quality(), asked.quality));
    let cost = rule.axes.cost.then(|| map::cost_index(of_site.price, asked.would_pay));
    let distance = map::distance(&[x, y, quality.unwrap_or(0.0), cost.unwrap_or(0.0)]);
    Coordinates { site, free: free[site.index()].slots, x, y, quality, cost, distance }
}

/// A job's virtual map as things stand, in order of site. Costs O(sites + links): for explanations.
pub fn virtual_map(grid: &Grid, rule: &SiteRule, task: TaskId) -> Vec<Coordinates> {
    let rooms = Rooms::of(grid);
    let free = rooms.free();
    let layout = Layout::of(grid, rule.reading.direction);
    let traffic = Traffic::counted(grid, rule, grid.tasks().flat_map(|(id, _)| grid.runs_of(id)));
    let by = By { grid, rule, layout: &layout, traffic: &traffic };
    let asked = asked(by, task);
    let sites = (0..free.len()).map(MachineId::new);
    sites.map(|site| coordinates(by, &asked, free, task, site)).collect()
}
