//! What sites are believed to have free, and which of them that changed for.

use gleaner_core::{Availability, Grid, Room};
use gleaner_units::MachineId;

/// By site.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    free: Vec<Room>,
    slots: u64,
    /// How often any had more than before.
    growths: u64,
    /// The sites whose room changed, in turn, for whoever keeps what follows from it.
    changes: Vec<MachineId>,
}

impl Rooms {
    pub(super) fn of(grid: &Grid) -> Self {
        let mut rooms = Self::default();
        (0..grid.machines().len()).for_each(|site| rooms.update(grid, MachineId::new(site)));
        rooms
    }

    pub(super) fn update(&mut self, grid: &Grid, site: MachineId) {
        let room = believed(grid, site);
        if site.index() == self.free.len() {
            self.free.push(Room { slots: Some(0), ..Room::default() });
        }
        let free = &mut self.free[site.index()];
        if *free == room {
            return;
        }
        self.slots = self.slots - slots(free) + slots(&room);
        self.growths += u64::from(!is_within(&room, free));
        *free = room;
        self.changes.push(site);
    }

    /// In order of site.
    pub(super) fn free(&self) -> &[Room] {
        &self.free
    }

    /// Of all sites together.
    pub(super) fn slots(&self) -> u64 {
        self.slots
    }

    /// How often any had more than before.
    pub(super) fn growths(&self) -> u64 {
        self.growths
    }

    pub(super) fn changes(&self) -> &[MachineId] {
        &self.changes
    }

    pub(super) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    pub(super) fn check(&self, grid: &Grid) -> Result<(), String> {
        let fresh = Self::of(grid);
        if (&fresh.free, fresh.slots) == (&self.free, self.slots) {
            return Ok(());
        }
        Err("what sites have free is not what the grid says".to_owned())
    }
}

/// Whether a room has no more than another of anything.
fn is_within(room: &Room, other: &Room) -> bool {
    let fits =
        |has: Option<u64>, most: Option<u64>| most.is_none_or(|most| has.is_some_and(|has| has <= most));
    fits(room.slots.map(u64::from), other.slots.map(u64::from))
        && fits(room.memory, other.memory)
        && fits(room.disk, other.disk)
}

fn slots(room: &Room) -> u64 {
    room.slots.map_or(u64::from(u32::MAX), u64::from)
}

/// What a site has free as far as is known: what was sent there leaves of it, and no more than it last said, less what was
/// sent there since.
fn believed(grid: &Grid, site: MachineId) -> Room {
    let machine = grid.machine(site);
    // Of one whose processors are all taken the rest counts all the same: they become free.
    let is_shut = machine.availability() != Availability::Open || machine.capacity() <= 0.0;
    if is_shut || grid.is_dropped(site) {
        return Room { slots: Some(0), ..Room::default() };
    }
    let own = machine.free();
    let Some(belief) = grid.belief(site) else { return own };
    let state = belief.state();
    let said =
        Room { slots: Some(state.cores_free), memory: Some(state.memory_free), disk: Some(state.disk_free) };
    let sent = belief.sent_since().iter().filter_map(|sent| {
        let needs = grid.classes().demand(grid.task(sent.run.task).class()).needs;
        let part = grid.parts_of(grid.find_run(sent.run)?).find(|part| part.on == site)?;
        Some(needs.of_part(part.cores))
    });
    let said = sent.fold(said, |left, part| Room {
        slots: left.slots.map(|slots| slots.saturating_sub(part.cores)),
        memory: left.memory.map(|bytes| bytes.saturating_sub(part.memory)),
        disk: left.disk.map(|bytes| bytes.saturating_sub(part.disk)),
    });
    Room {
        slots: least(own.slots, said.slots),
        memory: least(own.memory, said.memory),
        disk: least(own.disk, said.disk),
    }
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
