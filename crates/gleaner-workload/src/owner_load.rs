//! `owner_load.csv`: `time_s`, `machine`, `load`, in the order of time.

use crate::InputError;
use crate::ids::UniqueIds;
use crate::names::one_of;
use crate::section::Key;
use crate::table::{Limit, Table};
use gleaner_sim::LoadChange;
use gleaner_units::{MachineId, Time};
use std::path::Path;

const LIMIT: Limit = Limit { rows: 100_000_000, of: "owner loads" };

pub(crate) fn read(path: &Path, key: &Key<'_>, machines: &UniqueIds) -> Result<Vec<LoadChange>, InputError> {
    let mut table = Table::open(path, key, LIMIT)?;
    table.check_known(&["time_s", "machine", "load"])?;
    let (time_column, machine_column) = (table.column("time_s")?, table.column("machine")?);
    let load_column = table.column("load")?;
    let mut loads = Vec::new();
    let mut last = Time::ZERO;
    while let Some(row) = table.next()? {
        last = row.time(time_column, last)?;
        let id = row.text(machine_column);
        let known = || one_of(id, machines.ids().iter());
        let machine = machines.find(id).ok_or_else(|| row.wrong(machine_column, &known()))?;
        let load = row.number(load_column, "a number from 0 to 1", |load| (0.0..=1.0).contains(&load))?;
        loads.push(LoadChange { time: last, machine: MachineId::new(machine), load });
    }
    Ok(loads)
}
