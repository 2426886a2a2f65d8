//! `machines.csv`: an id and one column a dimension; optionally `site`, `cores`, `memory_bytes`, `disk_bytes`,
//! `price`, `provides`, `ad`.

use crate::InputError;
use crate::ads::Ads;
use crate::columns;
use crate::error::{Place, quoted};
use crate::ids::UniqueIds;
use crate::kinds::{Kinds, Met};
use crate::section::Key;
use crate::settings::{finite_from_zero, is_speed};
use crate::table::{Column, Limit, Row, Table};
use crate::words::WordSets;
use gleaner_classad::ClassAd;
use std::collections::BTreeSet;
use std::path::Path;

const LIMIT: Limit = Limit { rows: 10_000_000, of: "machines" };

/// One machine.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineRow {
    /// Its name, unlike any other machine's.
    pub id: String,
    /// Where its kind is in [`MachineTable::kinds`].
    pub kind: u32,
    /// Where it stands.
    pub site: Option<String>,
    /// Credits for an operation.
    pub price: Option<f64>,
}

/// What machines that run tasks alike have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineKind {
    /// S: operations a second, one for each dimension.
    pub speeds: Vec<f64>,
    /// At least one.
    pub cores: u32,
    /// What tasks may have of it, if there is a bound.
    pub memory_bytes: Option<u64>,
    /// Likewise.
    pub disk_bytes: Option<u64>,
    /// The words that tasks may ask for.
    pub provides: BTreeSet<String>,
    /// What they say of themselves and ask of tasks.
    pub ad: Option<ClassAd>,
}

/// All machines, in the order of the file; at least one.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineTable {
    rows: Vec<MachineRow>,
    kinds: Vec<MachineKind>,
    unpriced: Option<Unpriced>,
}

/// The first machine without a price, and where.
#[derive(Clone, Debug)]
struct Unpriced {
    id: String,
    place: Place,
}

/// Where a machine is in its file is no part of what it is.
impl PartialEq for Unpriced {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl MachineTable {
    /// For the stage that knows whether prices matter: an error at the first machine that has none.
    pub fn check_priced(&self) -> Result<(), InputError> {
        let Some(Unpriced { id, place }) = &self.unpriced else { return Ok(()) };
        let found = format!("no price of machine {}", quoted(id));
        Err(place.error("price", found, "credits for an operation, since there is a budget; for machines that come and go also grid.availability = {trace = \"FILE\", prices = \"speed\"}"))
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Each machine.
    pub fn rows(&self) -> &[MachineRow] {
        &self.rows
    }

    /// Each kind, in order of first appearance.
    pub fn kinds(&self) -> &[MachineKind] {
        &self.kinds
    }

    /// The kind of the `machine`-th.
    #[inline]
    pub fn kind_of(&self, machine: usize) -> &MachineKind {
        &self.kinds[self.rows[machine].kind as usize]
    }
}

/// What `machines.csv` holds.
pub(crate) struct Machines {
    pub(crate) table: MachineTable,
    pub(crate) ids: UniqueIds,
    pub(crate) dimensions: Vec<String>,
}

/// Reads the table at `path`. Without `dimensions`, every column that is not the machine's own is one.
pub(crate) fn read(
    path: &Path,
    key: &Key<'_>,
    dimensions: Option<Vec<String>>,
) -> Result<Machines, InputError> {
    let mut table = Table::open(path, key, LIMIT)?;
    let dimensions = dimensions.map_or_else(|| dimensions_of(&table), Ok)?;
    let columns = Columns::find(&table, &dimensions)?;
    let mut reading = Reading::default();
    while let Some(row) = table.next()? {
        reading.add(&row, &columns)?;
    }
    table.check_not_empty()?;
    Ok(Machines {
        table: MachineTable { rows: reading.rows, kinds: reading.kinds, unpriced: reading.unpriced },
        ids: reading.ids,
        dimensions,
    })
}

fn dimensions_of(table: &Table) -> Result<Vec<String>, InputError> {
    let names: Vec<String> =
        table.names().filter(|name| !columns::MACHINES.contains(name)).map(str::to_owned).collect();
    if let Some(name) = names.iter().find(|name| columns::is_taken(name)) {
        return Err(table.header_error(
            name,
            "a dimension of that name",
            "a name that tasks have no column for",
        ));
    }
    if names.is_empty() {
        return Err(table.header_error("", "no dimension", "an id and one column a dimension, as cpu"));
    }
    Ok(names)
}

struct Columns {
    id: Column,
    speeds: Vec<Column>,
    cores: Option<Column>,
    memory: Option<Column>,
    disk: Option<Column>,
    site: Option<Column>,
    price: Option<Column>,
    provides: Option<Column>,
    ad: Option<Column>,
}

impl Columns {
    fn find(table: &Table, dimensions: &[String]) -> Result<Self, InputError> {
        let known: Vec<&str> =
            columns::MACHINES.into_iter().chain(dimensions.iter().map(String::as_str)).collect();
        table.check_known(&known)?;
        Ok(Self {
            id: table.column("id")?,
            speeds: table.columns(dimensions)?,
            cores: table.find("cores"),
            memory: table.find("memory_bytes"),
            disk: table.find("disk_bytes"),
            site: table.find("site"),
            price: table.find("price"),
            provides: table.find("provides"),
            ad: table.find("ad"),
        })
    }
}

#[derive(Default)]
struct Reading {
    ids: UniqueIds,
    rows: Vec<MachineRow>,
    kinds: Vec<MachineKind>,
    unpriced: Option<Unpriced>,
    met: Kinds,
    word_sets: WordSets,
    ads: Ads,
    speeds: Vec<f64>,
}

impl Reading {
    fn add(&mut self, row: &Row<'_>, columns: &Columns) -> Result<(), InputError> {
        let id = row.id(columns.id)?;
        if !self.ids.insert(id) {
            return Err(row.wrong(columns.id, "an id that no machine above has"));
        }
        let speeds =
            ("operations a second: 0, or from 1e-9 to 1e18", |speed| speed == 0.0 || is_speed(speed));
        row.vector(&columns.speeds, speeds, &mut self.speeds)?;
        let cores = row.cores(columns.cores)?;
        let room = (row.find_size(columns.memory)?, row.find_size(columns.disk)?);
        let provides = columns.provides.map_or("", |column| row.text(column));
        let ad = self.ads.number(row, columns.ad)?;
        let machine = MachineRow {
            id: id.to_owned(),
            kind: self.kind(cores, room, provides, ad),
            site: columns
                .site
                .map(|column| row.text(column))
                .filter(|site| !site.is_empty())
                .map(str::to_owned),
            price: columns.price.map_or(Ok(None), |column| price(row, column))?,
        };
        if machine.price.is_none() && self.unpriced.is_none() {
            self.unpriced = Some(Unpriced { id: id.to_owned(), place: row.place() });
        }
        self.rows.push(machine);
        Ok(())
    }

    fn kind(
        &mut self,
        cores: u32,
        (memory_bytes, disk_bytes): (Option<u64>, Option<u64>),
        provides: &str,
        ad: u32,
    ) -> u32 {
        let words = self.word_sets.number(provides);
        // No size is as large as what stands for none.
        let sizes = [memory_bytes, disk_bytes].map(|bytes| bytes.unwrap_or(u64::MAX));
        let rest = [u64::from(cores), sizes[0], sizes[1], u64::from(words), u64::from(ad)];
        match self.met.meet(&self.speeds, &rest) {
            Met::Before(kind) => kind,
            Met::First(kind) => {
                let provides = self.word_sets.set(words).clone();
                let ad = self.ads.ad(ad).cloned();
                let speeds = self.speeds.clone();
                self.kinds.push(MachineKind { speeds, cores, memory_bytes, disk_bytes, provides, ad });
                kind
            }
        }
    }
}

/// An empty field is no price.
fn price(row: &Row<'_>, column: Column) -> Result<Option<f64>, InputError> {
    if row.text(column).is_empty() {
        return Ok(None);
    }
    row.number(column, "credits for an operation as a finite number, 0 or more", finite_from_zero).map(Some)
}
