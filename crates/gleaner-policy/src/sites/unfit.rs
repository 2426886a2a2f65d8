//! Which jobs found too little room. **Until a site has more than it had then, their like find too little too**, and are not looked at.

use super::rooms::Rooms;
use gleaner_units::{MachineId, TaskClassId};
use std::collections::BTreeSet;

/// Jobs that find room alike: a class, and the site where they wait, if they wait at one.
pub(super) type Like = (TaskClassId, Option<MachineId>);

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Unfit {
    /// How often any site had had more than before.
    growths: u64,
    likes: BTreeSet<Like>,
}

impl Unfit {
    /// How many of a job's cores each site could take, by `look`, where they are enough for it. Costs a look for each like that finds too
    /// little, and O(log likes) for the others.
    pub(super) fn look(
        &mut self,
        rooms: &Rooms,
        (cores, like): (u32, Option<Like>),
        look: impl FnOnce() -> Option<Vec<u32>>,
    ) -> Option<Vec<u32>> {
        if u64::from(cores) > rooms.slots() {
            return None;
        }
        if self.growths != rooms.growths() {
            *self = Self { growths: rooms.growths(), likes: BTreeSet::new() };
        }
        if like.is_some_and(|like| self.likes.contains(&like)) {
            return None;
        }
        let found = look();
        if found.is_none() {
            self.likes.extend(like);
        }
        found
    }

    /// Those that find too little room now, as far as they were looked at.
    pub(super) fn likes(&self, rooms: &Rooms) -> impl Iterator<Item = Like> {
        let is_so = self.growths == rooms.growths();
        self.likes.iter().copied().filter(move |_| is_so)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_core::{
        Change, Decision, Event, Grid, GridConfig, MachineClass, Migration, Occasion, Policy, Room, Scheduler,
    };
    use gleaner_units::{MachineClassId, Time};
    use std::cell::Cell;

    struct Nobody;

    impl Policy for Nobody {
        fn observe(&mut self, _: &Grid, _: &Change) {}
        fn propose(&mut self, _: &Grid, _: Time, _: Occasion) -> Option<Decision> {
            None
        }
        fn rebuild(&mut self, _: &Grid) {}
        fn check(&self, _: &Grid) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn one_job_is_looked_at_for_all_its_like_until_a_site_has_more_room() {
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, Nobody);
        let (site, class) = (MachineId::FIRST, MachineClassId::FIRST);
        let room = Room { slots: Some(4), ..Room::default() };
        let four = MachineClass { room, ..MachineClass::plain(vec![1.0], 4) };
        scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(four)));
        scheduler.apply(Time::ZERO, &Event::MachineJoined { machine: site, class });
        let mut rooms = Rooms::of(scheduler.grid());

        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            None
        };
        let mut unfit = Unfit::default();
        let mut all = |rooms: &Rooms, cores: u32, home: Option<MachineId>| {
            looks.set(0);
            for _ in 0..1_000 {
                assert_eq!(unfit.look(rooms, (cores, Some((TaskClassId::FIRST, home))), look), None);
            }
            looks.get()
        };
        assert_eq!(all(&rooms, 5, None), 0, "all sites together have four");
        assert_eq!(all(&rooms, 4, None), 1);
        assert_eq!(all(&rooms, 4, Some(site)), 1, "who waits at a site is another");
        scheduler.apply(Time::ZERO, &Event::MachineClosed { machine: site });
        rooms.update(scheduler.grid(), site);
        assert_eq!(all(&rooms, 4, None), 0);
        scheduler.apply(Time::ZERO, &Event::MachineOpened { machine: site });
        rooms.update(scheduler.grid(), site);
        assert_eq!(all(&rooms, 4, None), 1, "it has room again");
        let enough = unfit.look(&rooms, (4, None), || Some(vec![4]));
        assert_eq!(enough, Some(vec![4]));
    }
}
