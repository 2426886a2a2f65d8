//! `tasks.csv`: `id`, `arrival_s`, `length`, and one column a dimension or a `label`; optionally `declared`,
//! `cores`, `memory_bytes`, `disk_bytes`, `priority`, `checkpoint`, `domain`, `ad` and `user`.

use crate::InputError;
use crate::ads::Ads;
use crate::columns;
use crate::error::Place;
use crate::ids::UniqueIds;
use crate::kinds::{Kinds, Met as Meeting};
use crate::labels::{Labels, SHARE, check_sum};
use crate::machines::MachineTable;
use crate::runnable::Runnable;
use crate::section::Key;
use crate::settings::finite_from_zero;
use crate::table::{Column, Limit, Row, Table};
use crate::words::WordSets;
use gleaner_classad::ClassAd;
use gleaner_core::Needs;
use gleaner_sim::Ids;
use gleaner_units::{Ops, Time};
use std::collections::BTreeSet;
use std::path::Path;

const LIMIT: Limit = Limit { rows: 100_000_000, of: "tasks" };
/// What a length is to be.
const LENGTH: &str = "operations as a finite number above 0";

/// What tasks of equal needs have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskKind {
    /// C: how the operations divide over the dimensions; the shares add up to 1.
    pub composition: Vec<f64>,
    /// What it takes of a machine's room.
    pub needs: Needs,
    /// Of those that wait, tasks with the highest go first.
    pub priority: i32,
    /// Whether it goes on where it was when it is moved, and does not start again.
    pub checkpoint: bool,
    /// What a machine must provide, all of it.
    pub domain: BTreeSet<String>,
    /// What it says of itself, asks of machines, and likes in them.
    pub ad: Option<ClassAd>,
    /// Whose they are: a number in [`TaskTable::users`].
    pub user: u32,
}

/// All tasks, in the order of the file, which is that of their arrivals; at least one. A column each, since there
/// may be millions.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskTable {
    ids: Ids,
    arrivals: Vec<Time>,
    lengths: Vec<Ops>,
    /// Nothing where the true lengths are declared.
    declared: Option<Vec<Option<Ops>>>,
    kind_numbers: Vec<u32>,
    kinds: Vec<TaskKind>,
    users: Ids,
    /// Where the first task of each kind is in the file.
    kind_places: Vec<Met>,
    /// Where the first task is of which no length is declared.
    undeclared: Option<Met>,
}

/// Where something was first met.
#[derive(Clone, Debug)]
struct Met(Place);

/// Where that was is no part of what it is.
impl PartialEq for Met {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl TaskTable {
    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Their names, each unlike the others.
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The name of the `task`-th.
    #[inline]
    pub fn id(&self, task: usize) -> &str {
        self.ids.id(task)
    }

    /// When each arrives: never before the one above it.
    pub fn arrivals(&self) -> &[Time] {
        &self.arrivals
    }

    /// How long each is.
    pub fn lengths(&self) -> &[Ops] {
        &self.lengths
    }

    /// How long the `task`-th is said to be, if anything is said: its true length, where the table has no column for it.
    #[inline]
    pub fn declared(&self, task: usize) -> Option<Ops> {
        self.declared.as_ref().map_or(Some(self.lengths[task]), |declared| declared[task])
    }

    /// Where the kind of each is in [`kinds`](Self::kinds).
    pub fn kind_numbers(&self) -> &[u32] {
        &self.kind_numbers
    }

    /// Each kind, in order of first appearance.
    pub fn kinds(&self) -> &[TaskKind] {
        &self.kinds
    }

    /// The users, in order of first appearance; the one without a name has the tasks of which nothing is said.
    pub fn users(&self) -> &Ids {
        &self.users
    }

    /// For the stage that knows what a kind means: an error at the first task of that kind.
    pub fn error_at_kind(
        &self,
        kind: usize,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        self.kind_places[kind].0.error(field, found, expected)
    }

    /// For the stage that knows whether lengths matter, and why: an error at the first task that declares none.
    pub fn check_declared(&self, why: &str) -> Result<(), InputError> {
        let Some(Met(place)) = &self.undeclared else { return Ok(()) };
        Err(place.error("declared", "an empty field", format!("{LENGTH}, since {why}")))
    }

    /// The kind of the `task`-th.
    #[inline]
    pub fn kind_of(&self, task: usize) -> &TaskKind {
        &self.kinds[self.kind_numbers[task] as usize]
    }
}

/// What the rows are read against.
pub(crate) struct Context<'a> {
    pub(crate) dimensions: &'a [String],
    /// W, one for each dimension.
    pub(crate) weights: &'a [f64],
    pub(crate) machines: &'a MachineTable,
    /// None where the scenario has none.
    pub(crate) labels: Option<&'a Labels>,
}

pub(crate) fn read(path: &Path, key: &Key<'_>, context: &Context<'_>) -> Result<TaskTable, InputError> {
    let mut table = Table::open(path, key, LIMIT)?;
    let columns = Columns::find(&table, context)?;
    let mut reading = Reading {
        ids: UniqueIds::default(),
        arrivals: Vec::new(),
        lengths: Vec::new(),
        declared: columns.declared.map(|_| Vec::new()),
        kind_numbers: Vec::new(),
        kinds: Vec::new(),
        kind_places: Vec::new(),
        undeclared: None,
        ads: Ads::default(),
        users: UniqueIds::default(),
        met: Kinds::default(),
        word_sets: WordSets::default(),
        runnable: Runnable::new(context.machines, context.dimensions),
        weights: context.weights,
        best_seconds_per_op: Vec::new(),
        composition: Vec::new(),
    };
    while let Some(row) = table.next()? {
        reading.add(&row, &columns)?;
    }
    table.check_not_empty()?;
    Ok(reading.finish())
}

struct Columns<'a> {
    id: Column,
    arrival: Column,
    length: Column,
    declared: Option<Column>,
    cores: Option<Column>,
    memory: Option<Column>,
    disk: Option<Column>,
    priority: Option<Column>,
    checkpoint: Option<Column>,
    shares: Shares<'a>,
    domain: Option<Column>,
    ad: Option<Column>,
    user: Option<Column>,
}

/// Where a composition is.
enum Shares<'a> {
    Columns(Vec<Column>),
    Label(Column, &'a Labels),
}

impl<'a> Columns<'a> {
    fn find(table: &Table, context: &Context<'a>) -> Result<Self, InputError> {
        let known: Vec<&str> =
            columns::TASKS.into_iter().chain(context.dimensions.iter().map(String::as_str)).collect();
        table.check_known(&known)?;
        Ok(Self {
            id: table.column("id")?,
            arrival: table.column("arrival_s")?,
            length: table.column("length")?,
            declared: table.find("declared"),
            cores: table.find("cores"),
            memory: table.find("memory_bytes"),
            disk: table.find("disk_bytes"),
            priority: table.find("priority"),
            checkpoint: table.find("checkpoint"),
            shares: Shares::find(table, context)?,
            domain: table.find("domain"),
            ad: table.find("ad"),
            user: table.find("user"),
        })
    }
}

impl<'a> Shares<'a> {
    fn find(table: &Table, context: &Context<'a>) -> Result<Self, InputError> {
        let dimension = context.dimensions.iter().find(|name| table.find(name).is_some());
        match (table.find("label"), dimension) {
            (Some(_), Some(dimension)) => {
                let found = format!("a column for {dimension} too");
                Err(table.header_error("label", found, "either labels or a column for each dimension"))
            }
            (Some(column), None) => match context.labels {
                Some(labels) => Ok(Shares::Label(column, labels)),
                None => Err(table.header_error(
                    "label",
                    "labels that mean nothing",
                    "work.labels in the scenario",
                )),
            },
            (None, Some(_)) => Ok(Shares::Columns(table.columns(context.dimensions)?)),
            (None, None) => {
                let first = &context.dimensions[0];
                Err(table.header_error(first, "no composition", "a column for each dimension, or one label"))
            }
        }
    }

    fn read(&self, row: &Row<'_>, composition: &mut Vec<f64>) -> Result<(), InputError> {
        match self {
            Shares::Columns(columns) => {
                row.vector(columns, (SHARE, finite_from_zero), composition)?;
                check_sum(composition)
                    .map_err(|(found, expected)| row.error_in("composition", found, expected))
            }
            Shares::Label(column, labels) => {
                let label = row.text(*column);
                let shares = labels.find(label).ok_or_else(|| row.wrong(*column, &labels.nearest(label)))?;
                composition.clear();
                composition.extend_from_slice(shares);
                Ok(())
            }
        }
    }
}

struct Reading<'a> {
    ids: UniqueIds,
    arrivals: Vec<Time>,
    lengths: Vec<Ops>,
    declared: Option<Vec<Option<Ops>>>,
    kind_numbers: Vec<u32>,
    kinds: Vec<TaskKind>,
    kind_places: Vec<Met>,
    undeclared: Option<Met>,
    ads: Ads,
    users: UniqueIds,
    met: Kinds,
    word_sets: WordSets,
    runnable: Runnable<'a>,
    weights: &'a [f64],
    /// By kind: on the machine that suits it best.
    best_seconds_per_op: Vec<f64>,
    composition: Vec<f64>,
}

impl Reading<'_> {
    fn add(&mut self, row: &Row<'_>, columns: &Columns<'_>) -> Result<(), InputError> {
        let id = row.id(columns.id)?;
        if !self.ids.insert(id) {
            return Err(row.wrong(columns.id, "an id that no task above has"));
        }
        let earliest = self.arrivals.last().copied().unwrap_or_default();
        self.arrivals.push(row.time(columns.arrival, earliest)?);
        let length = row.number(columns.length, LENGTH, |length| Ops::new(length).is_some())?;
        self.lengths.extend(Ops::new(length));
        if let (Some(column), Some(all)) = (columns.declared, &mut self.declared) {
            let length = declared(row, column)?;
            if length.is_none() && self.undeclared.is_none() {
                self.undeclared = Some(Met(row.place()));
            }
            all.push(length);
        }
        columns.shares.read(row, &mut self.composition)?;
        let kind = self.kind(row, columns)?;
        self.kind_numbers.push(kind);
        let seconds = length * self.best_seconds_per_op[kind as usize];
        row.check_duration(columns.length, seconds, "machine")
    }

    fn kind(&mut self, row: &Row<'_>, columns: &Columns<'_>) -> Result<u32, InputError> {
        let field = columns.domain.map_or("", |column| row.text(column));
        let words = self.word_sets.number(field);
        let ad = self.ads.number(row, columns.ad)?;
        let user = self.user(columns.user.map_or("", |column| row.text(column)));
        let needs = Needs {
            cores: row.cores(columns.cores)?,
            memory: row.find_size(columns.memory)?.unwrap_or(0),
            disk: row.find_size(columns.disk)?.unwrap_or(0),
        };
        let (priority, checkpoint) = (priority(row, columns.priority)?, checkpoint(row, columns.checkpoint)?);
        let key = [
            u64::from(words),
            u64::from(ad),
            u64::from(user),
            u64::from(needs.cores),
            needs.memory,
            needs.disk,
            u64::from(priority.cast_unsigned()),
            u64::from(checkpoint),
        ];
        match self.met.meet(&self.composition, &key) {
            Meeting::Before(kind) => Ok(kind),
            Meeting::First(kind) => {
                let domain = self.word_sets.set(words);
                self.runnable.check(&self.composition, domain, words).map_err(|why| {
                    let found = format!("{}, which no machine could ever run: {why}", row.text(columns.id));
                    row.error(columns.id, found, "a task that some machine could run")
                })?;
                let best = self.runnable.best_seconds_per_op(self.weights, &self.composition, domain);
                self.best_seconds_per_op.push(best);
                self.kind_places.push(Met(row.place()));
                self.kinds.push(TaskKind {
                    composition: self.composition.clone(),
                    needs,
                    priority,
                    checkpoint,
                    domain: domain.clone(),
                    ad: self.ads.ad(ad).cloned(),
                    user,
                });
                Ok(kind)
            }
        }
    }

    fn user(&mut self, name: &str) -> u32 {
        self.users.insert(name);
        self.users.find(name).expect("it was just added") as u32
    }

    fn finish(self) -> TaskTable {
        TaskTable {
            ids: self.ids.into_ids(),
            arrivals: self.arrivals,
            lengths: self.lengths,
            declared: self.declared,
            kind_numbers: self.kind_numbers,
            kinds: self.kinds,
            users: self.users.into_ids(),
            kind_places: self.kind_places,
            undeclared: self.undeclared,
        }
    }
}

/// An empty field declares nothing.
fn declared(row: &Row<'_>, column: Column) -> Result<Option<Ops>, InputError> {
    if row.text(column).is_empty() {
        return Ok(None);
    }
    let expected = format!("{LENGTH}, or nothing");
    row.number(column, &expected, |length| Ops::new(length).is_some()).map(Ops::new)
}

/// An empty field is 0.
fn priority(row: &Row<'_>, column: Option<Column>) -> Result<i32, InputError> {
    let Some(column) = column.filter(|column| !row.text(*column).is_empty()) else { return Ok(0) };
    row.text(column).parse().map_err(|_| row.wrong(column, "a whole number from -2147483648 to 2147483647"))
}

/// An empty field is yes.
fn checkpoint(row: &Row<'_>, column: Option<Column>) -> Result<bool, InputError> {
    match column.map_or("", |column| row.text(column)) {
        "" | "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(row.wrong(column.expect("a column with a text"), "yes or no")),
    }
}
