//! What a look at a job costs when sites multiply: MRS, with a kind of job that was not met before, and with one that was.

use crate::processor_seconds;
use gleaner_core::{
    Alarm, Event, Grid, GridConfig, MachineClass, Migration, Needs, Room, Scheduler, TaskClass,
};
use gleaner_policy::{AnyPolicy, Recipe, SiteRule};
use gleaner_units::{FileId, MachineClassId, MachineId, Ops, SiteId, TaskClassId, TaskId, Time};

/// From a hundred to ten thousand.
pub const SITES: [usize; 3] = [100, 1_000, 10_000];
/// Speeds of processors, in turn.
const KINDS: usize = 8;

/// So many sites, all idle, linked with the one that has the data.
#[derive(Debug)]
pub struct Idle {
    scheduler: Scheduler<AnyPolicy>,
    sites: usize,
    submitted: usize,
}

impl Idle {
    /// Nothing was handed in yet.
    pub fn new(sites: usize) -> Self {
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, Recipe::over_sites(SiteRule::MRS).build());
        for kind in 0..KINDS {
            let room = Room { slots: Some(64), memory: Some(1 << 36), disk: Some(1 << 40) };
            let class = MachineClass { room, ..MachineClass::plain(vec![1.0 + kind as f64 / 4.0], 64) };
            scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
        }
        for index in 0..sites {
            let (machine, site) = (MachineId::new(index), SiteId::new(index));
            let class = MachineClassId::new(index % KINDS);
            scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class });
            scheduler.apply(Time::ZERO, &Event::MachineSited { machine, site });
            let (from, bytes_per_s) = (SiteId::FIRST, 1e6 * (1 + index % 97) as f64);
            if index > 0 {
                scheduler.apply(Time::ZERO, &Event::LinkMeasured { from, to: site, bytes_per_s });
                scheduler.apply(Time::ZERO, &Event::LinkMeasured { from: site, to: from, bytes_per_s });
            }
        }
        scheduler.apply(Time::ZERO, &Event::FileMet { file: FileId::FIRST, bytes: 10_000_000_000 });
        scheduler.apply(Time::ZERO, &Event::FileStored { file: FileId::FIRST, site: SiteId::FIRST });
        let class = TaskClass {
            needs: Needs { cores: 24, memory: 1 << 34, disk: 1 << 30 },
            restarts: true,
            ..TaskClass::plain(vec![1.0])
        };
        scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(class)));
        let inputs = Event::InputsNamed { class: TaskClassId::FIRST, files: vec![FileId::FIRST] };
        scheduler.apply(Time::ZERO, &inputs);
        let mut idle = Self { scheduler, sites, submitted: 0 };
        // What is kept of links is made with the first job.
        idle.place(1.0);
        idle
    }

    /// Seconds for each site, of a look at a job: of a kind that was not met before, or of one that was.
    pub fn seconds_per_site(&mut self, looks: usize, is_known: bool) -> f64 {
        let from = self.submitted;
        let took: f64 = (0..looks)
            .map(|look| {
                let length = if is_known { 1.0 } else { (2 + from + look) as f64 };
                self.place(length)
            })
            .sum();
        took / (looks * self.sites) as f64
    }

    /// Hands in a job of so many operations; seconds from there until it has its sites.
    fn place(&mut self, length: f64) -> f64 {
        let Self { scheduler, submitted, .. } = self;
        let now = Time::from_nanos(1 + *submitted as u64);
        let first = TaskId::new(*submitted);
        *submitted += 1;
        let length = Ops::new(length);
        let event = Event::TasksSubmitted { first, count: 1, class: TaskClassId::FIRST, length };
        let mut decisions = Vec::new();
        let took = processor_seconds(|| {
            scheduler.apply(now, &event);
            scheduler.decide(now, &mut decisions);
            scheduler.apply(now, &Event::WokeUp { alarm: Alarm::Batch });
            scheduler.decide(now, &mut decisions);
        });
        scheduler.take_orders().for_each(drop);
        assert!(scheduler.grid().runs_of(first).next().is_some(), "it has its sites");
        took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_gives_a_job_its_sites() {
        let mut idle = Idle::new(40);
        for is_known in [false, true] {
            assert!(idle.seconds_per_site(5, is_known) >= 0.0);
        }
    }
}
