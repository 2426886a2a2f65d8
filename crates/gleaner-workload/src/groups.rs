//! The sections `[groups]` and `[letters]` of a scenario of machines: a scheduler for each group of them.
//!
//! ```toml
//! [groups]
//! size = 5                 # machines of a group; they are dealt out in turn
//! neighbours = 2           # whom a group knows: so many, or "all"
//! topology = "ring"        # those next to it, or "drawn"
//! publish_s = 60           # how often a group tells its neighbours how its machines are
//! change = 3               # optional: it tells before where a machine differs by so many tasks
//! gap_s = 1                # and then not for so long
//! hops = 1                 # how often a task may be handed on
//! [letters]
//! delay_s = 0.1
//! loss = 0.0               # the part that never comes; it needs repeat_s
//! repeat_s = 1             # what is not answered is said again after so long
//! ```

use crate::InputError;
use crate::section::Section;
use crate::settings;
use gleaner_sim::neighbours::{Change, GroupsSetup, Topology};
use gleaner_sim::{Setup, Way};
use gleaner_units::{PartyId, Span};

/// What a group tells makes others move tasks, which is news again.
const GAP: Span = Span::from_nanos(1_000_000_000);

/// How machines are in groups.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Groups {
    /// Machines of each; the last groups may have one less.
    pub size: u32,
    /// Who knows whom.
    pub topology: Topology,
    /// How often each tells how its machines are.
    pub every: Span,
    /// When it tells before.
    pub change: Option<Change>,
    /// How often a task may be handed on.
    pub hops_max: u32,
    /// What letters meet with.
    pub way: Way,
    /// After so long, what was not answered is said again.
    pub repeat: Option<Span>,
}

impl Groups {
    /// Nothing where the scenario has one scheduler.
    pub(crate) fn read(root: &Section<'_>) -> Result<Option<Self>, InputError> {
        let keys = ["size", "neighbours", "topology", "publish_s", "change", "gap_s", "hops"];
        let groups = root.section("groups", &keys)?;
        let letters = root.section("letters", &["delay_s", "loss", "repeat_s"])?;
        if root.find("groups").is_none() {
            return match letters.keys().next() {
                Some((_, key)) => {
                    let found = "letters, and one scheduler that gets none";
                    Err(key.error_found(found, "a section [groups], as size = 5"))
                }
                None => Ok(None),
            };
        }
        let count = "a whole number, 1 or more, below 2^32";
        let size = groups.key("size", count)?.integer(1, count)?;
        let whole = |name: &str| groups.find(name).map(|key| key.integer(1, count)).transpose();
        let hops = "a whole number, 0 or more, below 2^32";
        let hops_max = groups.find("hops").map_or(Ok(1), |key| key.integer(0, hops))?;
        let every = "seconds above 0, as 60";
        let every = settings::period(&groups.key("publish_s", every)?)?;
        let part = "a part, from 0 to below 1";
        let valid = |loss: f64| (0.0..1.0).contains(&loss);
        let loss = letters.find("loss").map_or(Ok(0.0), |key| key.number(part, valid))?;
        let way = Way { delay: settings::span(&letters, "delay_s")?, loss };
        let repeat = letters.find("repeat_s").map(|key| settings::period(&key)).transpose()?;
        if loss > 0.0 && repeat.is_none() {
            let expected = "seconds, as 1: what is lost is said again after so long";
            let place = letters.nearest("repeat_s");
            return Err(place.error("letters.repeat_s", "nothing, and letters that are lost", expected));
        }
        let (topology, tasks) = (topology(&groups)?, whole("change")?);
        let gap = match (groups.find("gap_s"), tasks) {
            (Some(key), None) => return Err(key.error_found("a gap, and no change", "change = 1 beside it")),
            (Some(_), Some(_)) => settings::span(&groups, "gap_s")?,
            (None, _) => GAP,
        };
        let change = tasks.map(|tasks| Change { tasks, gap });
        Ok(Some(Self { size, topology, every, change, hops_max, way, repeat }))
    }

    /// A run with that seed.
    pub fn setup(&self, grid: &Setup, seed: u64) -> GroupsSetup {
        let machines = grid.machines.len();
        let count = machines.div_ceil(self.size as usize);
        let Self { topology, every, change, hops_max, way, repeat, .. } = *self;
        let groups = (0..machines).map(|machine| PartyId::new(machine % count)).collect();
        GroupsSetup { grid: grid.clone(), groups, topology, every, change, hops_max, way, repeat, seed }
    }
}

fn topology(groups: &Section<'_>) -> Result<Topology, InputError> {
    let kinds = [("ring", Topology::Ring as fn(u32) -> Topology), ("drawn", Topology::Drawn)];
    let kind = groups.find("topology").map(|key| key.choice(&kinds)).transpose()?;
    let Some(key) = groups.find("neighbours") else { return Ok(Topology::All) };
    match key.find_text() {
        Some("all") => Ok(Topology::All),
        Some(_) => Err(key.wrong("\"all\", or how many")),
        None => Ok(kind.unwrap_or(Topology::Ring)(key.integer(0, "\"all\", or a whole number, 0 or more")?)),
    }
}
