//! A whole scenario: the document and every file that it names.

use crate::availability;
use crate::columns;
use crate::error::{Place, quoted};
use crate::groups::Groups;
use crate::ids::UniqueIds;
use crate::labels::Labels;
use crate::lines::NamedBy;
use crate::machines::{self, MachineTable, Machines};
use crate::owner_load;
use crate::section::{Key, Section};
use crate::settings::{self, LiarSettings, LookSettings, Migration, Sharing};
use crate::tasks::{self, TaskTable};
use crate::{InputError, document};
use gleaner_policy::PolicySpec;
use gleaner_sim::{LoadChange, Trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The dimension that migrated bytes go over.
const NET: &str = "net";

/// The sections of a scenario.
pub(crate) const SECTIONS: [&str; 8] =
    ["grid", "groups", "letters", "work", "policy", "migration", "faults", "run"];

/// What is to be simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file it was read from.
    pub file: PathBuf,
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    /// The names of the kinds of operations; at least one.
    pub dimensions: Vec<String>,
    /// W: one for each dimension, above 0.
    pub weights: Vec<f64>,
    /// Whether the scenario says nothing of them, though there are several kinds of operations.
    pub lacks_weights: bool,
    /// At least one.
    pub machines: MachineTable,
    /// Where machines come and go: when they do. There are no owner loads then, cores are exclusive, and there is one
    /// dimension.
    pub availability: Option<AvailableMachines>,
    /// In the order of time; machines as in `machines.csv`, loads from 0 to 1.
    pub loads: Vec<LoadChange>,
    /// At least one.
    pub tasks: TaskTable,
    /// How tasks share a machine.
    pub sharing: Sharing,
    /// Who decides.
    pub policy: PolicySpec,
    /// What moving a task costs.
    pub migration: Migration,
    /// Where each group of machines has a scheduler of its own.
    pub groups: Option<Groups>,
    /// Who lies, if anybody does.
    pub liars: Option<LiarSettings>,
    /// The seed of all random streams.
    pub seed: u64,
    places: BTreeMap<String, Place>,
}

/// A trace and whose it is.
#[derive(Clone, PartialEq, Debug)]
pub struct AvailableMachines {
    /// When machines are there, and how fast they are then.
    pub trace: Trace,
    /// By the trace's machines: which one it is in the table of machines. One without an interval never comes.
    pub machines: Vec<usize>,
    /// How they are seen.
    pub look: LookSettings,
}

impl Scenario {
    /// Reads the scenario at `path` and the files that it names. Each of the `overrides` is `key=value`, as
    /// `policy.relocate.gain_min=0.05`, and is laid over the document first; its value is TOML, or else text.
    pub fn load(path: impl AsRef<Path>, overrides: &[String]) -> Result<Self, InputError> {
        let path = path.as_ref();
        let base = path.parent().unwrap_or(Path::new(""));
        let document = document::read(path, overrides)?;
        let root = Section::root(&document, &SECTIONS)?;
        let grid = root.section("grid", &["machines", "availability", "owner_load", "sharing"])?;
        let work = root.section("work", &["tasks", "weights", "labels"])?;
        // The settings come first: a mistyped key should not take reading a million tasks to be found.
        let sharing = settings::sharing(&grid)?;
        let policy = settings::policy(&root, PolicySpec::read)?;
        let migration = settings::migration(&root)?;
        let groups = Groups::read(&root)?;
        let liars = settings::liars(&root)?;
        if groups.is_some() && liars.is_some() {
            let expected = "no [groups] beside it: groups of machines compare no answers";
            return Err(root.nearest("faults.liars").error(
                "faults.liars",
                "machines that lie, in groups",
                expected,
            ));
        }
        let seed = settings::seed(&root)?;
        let weights = weights(&work)?;

        let Machines { table: machines, ids, dimensions } = read_machines(&grid, base, weights.as_ref())?;
        check_migration(&root, migration, &dimensions, &machines)?;
        let availability = match grid.find("availability") {
            Some(key) => {
                check_goes_with_a_trace(&grid, &key, sharing, &dimensions)?;
                Some(read_availability(&key, base, &ids)?)
            }
            None => None,
        };
        let loads = read_loads(&grid, base, &ids)?;
        let lacks_weights = weights.is_none() && dimensions.len() > 1;
        let weights = weights.map_or_else(|| vec![1.0; dimensions.len()], |weights| weights.values);
        let tasks = read_tasks(&work, base, (&dimensions, &weights), &machines)?;
        Ok(Self {
            file: path.to_owned(),
            base: base.to_owned(),
            weights,
            lacks_weights,
            dimensions,
            machines,
            availability,
            loads,
            tasks,
            sharing,
            policy,
            migration,
            groups,
            liars,
            seed,
            places: document::places(&document),
        })
    }

    /// Where `key` is, or else the nearest table that could hold it.
    pub(crate) fn place_of(&self, key: &str) -> &Place {
        let mut path = key;
        while !self.places.contains_key(path) {
            path = path.rfind('.').map_or("", |end| &path[..end]);
        }
        &self.places[path]
    }
}

impl InputError {
    /// For the stage that knows what a value means: an error where `key`, as `policy.preset`, was given. Where the
    /// scenario does not have the key itself, it is reported where the table is that lacks it.
    pub fn at_key(
        scenario: &Scenario,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        scenario.place_of(key).error(key, found, expected)
    }
}

struct Weights {
    dimensions: Vec<String>,
    values: Vec<f64>,
}

fn weights(work: &Section<'_>) -> Result<Option<Weights>, InputError> {
    let Some(key) = work.find("weights") else { return Ok(None) };
    let mut weights = Weights { dimensions: Vec::new(), values: Vec::new() };
    for (name, key) in key.table()?.keys() {
        if columns::is_taken(name) {
            return Err(key.error_found("a dimension of that name", "a name that no other column has"));
        }
        // A dimension that weighs nothing would make tasks of it alone infinitely fast.
        let expected = "a weight as a finite number above 0";
        weights.values.push(key.number(expected, settings::finite_above_zero)?);
        weights.dimensions.push(name.to_owned());
    }
    if weights.values.is_empty() {
        return Err(key.error_found("no dimension", "at least one, as { cpu = 1 }"));
    }
    Ok(Some(weights))
}

fn read_machines(grid: &Section<'_>, base: &Path, weights: Option<&Weights>) -> Result<Machines, InputError> {
    let expected = "the name of a file, as \"machines.csv\"";
    let key = grid.key("machines", expected)?;
    let dimensions = weights.map(|weights| weights.dimensions.clone());
    machines::read(&base.join(key.text(expected)?), &key, dimensions)
}

fn read_loads(grid: &Section<'_>, base: &Path, ids: &UniqueIds) -> Result<Vec<LoadChange>, InputError> {
    let Some(key) = grid.find("owner_load") else { return Ok(Vec::new()) };
    let name = key.text("the name of a file, as \"owner_load.csv\"")?;
    owner_load::read(&base.join(name), &key, ids)
}

fn check_goes_with_a_trace(
    grid: &Section<'_>,
    key: &Key<'_>,
    sharing: Sharing,
    dimensions: &[String],
) -> Result<(), InputError> {
    if let Some(load) = grid.find("owner_load") {
        let expected = "none beside a trace, whose speeds are what owners leave";
        return Err(load.error_found("owner loads", expected));
    }
    if sharing != Sharing::Exclusive {
        let expected = "sharing = \"exclusive\", as each core runs one task as fast as the trace says";
        return Err(key.error_found("a trace for machines that share their cores", expected));
    }
    if dimensions.len() != 1 {
        let found = format!("a trace with {} dimensions", dimensions.len());
        return Err(key.error_found(found, "one, as a trace has one speed"));
    }
    Ok(())
}

fn read_availability(key: &Key<'_>, base: &Path, ids: &UniqueIds) -> Result<AvailableMachines, InputError> {
    let (name, look) = settings::availability(key)?;
    let trace = availability::named_by(NamedBy::Key(key), &base.join(name))?;
    let machine = |name: &str| {
        let unknown = || key.error_found(format!("{} in the trace", quoted(name)), "machines of the grid");
        ids.find(name).ok_or_else(unknown)
    };
    let machines = trace.machines().iter().map(machine).collect::<Result<_, _>>()?;
    Ok(AvailableMachines { trace, machines, look })
}

fn read_tasks(
    work: &Section<'_>,
    base: &Path,
    (dimensions, weights): (&[String], &[f64]),
    machines: &MachineTable,
) -> Result<TaskTable, InputError> {
    let expected = "the name of a file, as \"tasks.csv\"";
    let key = work.key("tasks", expected)?;
    let path = base.join(key.text(expected)?);
    let labels = work.find("labels").map(|key| Labels::read(&key, base, dimensions)).transpose()?;
    tasks::read(&path, &key, &tasks::Context { dimensions, weights, machines, labels: labels.as_ref() })
}

/// Bytes need a way from every machine.
fn check_migration(
    root: &Section<'_>,
    migration: Migration,
    dimensions: &[String],
    machines: &MachineTable,
) -> Result<(), InputError> {
    let section = root.section("migration", &["seconds", "bytes"])?;
    let Some(key) = section.find("bytes").filter(|_| migration.bytes > 0.0) else { return Ok(()) };
    let Some(net) = dimensions.iter().position(|name| name == NET) else {
        let found = format!("{} with no dimension {NET}", migration.bytes);
        return Err(key.error_found(found, format!("0, or a dimension {NET} to send them over")));
    };
    let cut_off = (0..machines.len()).find(|&machine| machines.kind_of(machine).speeds[net] == 0.0);
    cut_off.map_or(Ok(()), |machine| {
        let id = quoted(&machines.rows()[machine].id);
        let found = format!("{} with machine {id}, whose {NET} speed is 0", migration.bytes);
        Err(key.error_found(found, format!("0, or a {NET} speed above 0 on every machine")))
    })
}
