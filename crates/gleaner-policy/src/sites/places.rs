//! Orders of sites other than the virtual map's, and where jobs wait that wait at sites.

use super::estimate;
use super::split::{cores_that_fit, fill};
use crate::parts::sites::{Queues, SiteRule, Split};
use gleaner_core::{Chance, Grid, Part, Purpose};
use gleaner_units::{MachineId, TaskId};

/// Those that could take the most of a job first, of equals the lowest.
pub(super) fn most_free(fitting: &[u32]) -> Vec<MachineId> {
    let mut sites: Vec<usize> = (0..fitting.len()).collect();
    sites.sort_by_key(|site| std::cmp::Reverse(fitting[*site]));
    sites.into_iter().map(MachineId::new).collect()
}

/// Those where a job's data would be first, of equals the lowest.
pub(super) fn by_data(grid: &Grid, task: TaskId) -> Vec<MachineId> {
    let mut sites: Vec<(f64, MachineId)> = (0..grid.machines().len())
        .map(MachineId::new)
        .map(|site| (bring_s(grid, task, site), site))
        .collect();
    sites.sort_by(|(one, a), (other, b)| one.total_cmp(other).then(a.cmp(b)));
    sites.into_iter().map(|(_, site)| site).collect()
}

fn bring_s(grid: &Grid, task: TaskId, on: MachineId) -> f64 {
    let site = grid.catalogue().site_of(on);
    site.map_or(0.0, |site| grid.catalogue().seconds_to_bring(grid.task(task).class(), site))
}

/// The parts with which a job is estimated to end first; of those that end together the fewest, then the lowest. Looked at
/// are, among the sites at least as fast as each of them, those where its data is first and those that take the most, each
/// filled before the next; and each site that takes all of it. Costs O(sites²).
pub(super) fn earliest_end(grid: &Grid, rule: &SiteRule, task: TaskId, fitting: &[u32]) -> Option<Vec<Part>> {
    let class = grid.task(task).class();
    let cores = grid.classes().demand(class).needs.cores;
    let seconds_per_op =
        |site: MachineId| grid.classes().seconds_per_op_in_parts(class, grid.machine(site).class());
    let takes = |site: &MachineId| fitting[site.index()];
    let usable = |order: Vec<MachineId>| order.into_iter().filter(|site| takes(site) > 0).collect::<Vec<_>>();
    let orders = [usable(by_data(grid, task)), usable(most_free(fitting))];
    let mut best: Option<(f64, usize, Vec<Part>)> = None;
    let mut offer = |parts: Vec<Part>| {
        let end = estimate::hold_s(grid, rule, task, &parts);
        let is_better = best.as_ref().is_none_or(|(before, count, _)| {
            let tie = 1e-12 * before.abs();
            end < before - tie || (end <= before + tie && parts.len() < *count)
        });
        if is_better || best.is_none() {
            best = Some((end, parts.len(), parts));
        }
    };
    for &on in orders[0].iter().filter(|site| takes(site) >= cores) {
        offer(vec![Part { on, cores }]);
    }
    if rule.split != Split::Whole {
        let mut speeds: Vec<f64> = orders[0].iter().map(|site| seconds_per_op(*site)).collect();
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        for slowest in speeds {
            for order in &orders {
                let fast = order.iter().copied().filter(|site| seconds_per_op(*site) <= slowest);
                if let Some(parts) = fill(fast, cores, takes) {
                    offer(parts.into_iter().map(|(on, cores)| Part { on, cores }).collect());
                }
            }
        }
    }
    best.map(|(_, _, parts)| parts)
}

/// The sites that the copies of a job wait at, as many as there are to be if there are so many. What is drawn depends on
/// the grid's seed and the job alone.
pub(super) fn homes(grid: &Grid, rule: &SiteRule, task: TaskId) -> Vec<MachineId> {
    let class = grid.task(task).class();
    let needs = grid.classes().demand(class).needs;
    let able = |site: &MachineId| {
        let on = grid.machine(*site).class();
        cores_that_fit(&grid.classes().machine_class(on).room, needs) >= needs.cores
            && grid.classes().seconds_per_op_in_parts(class, on).is_finite()
    };
    let mut sites: Vec<MachineId> = (0..grid.machines().len()).map(MachineId::new).filter(able).collect();
    shuffle(&mut sites, &mut grid.chance_of_first_run(Purpose::Home, task));
    if rule.queues == Queues::AtData {
        sites.sort_by_key(|site| bring_s(grid, task, *site) > 0.0);
    }
    sites.truncate(rule.copies as usize);
    sites
}

/// Every order is as likely as the others.
fn shuffle(sites: &mut [MachineId], chance: &mut Chance) {
    for left in (2..=sites.len()).rev() {
        sites.swap(left - 1, chance.below(left as u32) as usize);
    }
}
