//! The tables of a scenario of brokers and sites.

use crate::InputError;
use crate::error::{Place, quoted};
use crate::names::one_of;
use crate::section::Section;
use crate::settings::{ABOVE_0, SPEED, is_speed};
use crate::table::{Column, Limit, Row, Table};
use crate::words::words;
use gleaner_classad::{Expr, Value};
use gleaner_core::{Ad, Needs, TaskClass};
use gleaner_sim::brokering::{Element, File, Job, JobClass, LaterCopy, Link, Storage};
use gleaner_units::{FileId, Ops, SiteId, TaskClassId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FILE: &str = "the name of a file, as \"elements.csv\"";
const MANY: u64 = 10_000_000;

/// All that the tables say.
pub(super) struct Tables {
    pub(super) elements: Vec<Element>,
    pub(super) element_names: Vec<String>,
    pub(super) storage: Vec<Storage>,
    pub(super) site_names: Vec<String>,
    pub(super) links: Vec<Link>,
    pub(super) files: Vec<File>,
    pub(super) file_names: Vec<String>,
    pub(super) copies: Vec<LaterCopy>,
    pub(super) classes: Vec<JobClass>,
    /// Where the first job of each class is.
    pub(super) class_places: Vec<Place>,
    pub(super) jobs: Vec<Job>,
    pub(super) job_names: Vec<String>,
}

/// Names in order of first appearance.
#[derive(Default)]
struct Numbered {
    names: Vec<String>,
    by_name: BTreeMap<String, usize>,
}

impl Numbered {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        self.by_name.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// A name that is new.
    fn add(&mut self, row: &Row<'_>, column: Column) -> Result<(), InputError> {
        let name = row.id(column)?;
        if self.by_name.contains_key(name) {
            return Err(row.error(column, format!("{} a second time", quoted(name)), "each once"));
        }
        self.number(name);
        Ok(())
    }

    fn find(&self, row: &Row<'_>, column: Column, name: &str) -> Result<usize, InputError> {
        let unknown = || row.error(column, quoted(name), one_of(name, self.names.iter().map(String::as_str)));
        self.by_name.get(name).copied().ok_or_else(unknown)
    }
}

impl Tables {
    pub(super) fn read(
        base: &Path,
        (sites, work): (&Section<'_>, &Section<'_>),
        parts: &[String],
        brokers: usize,
    ) -> Result<Self, InputError> {
        let open = |section: &Section<'_>, name: &str, of: &'static str| {
            let key = section.key(name, FILE)?;
            Table::open(&base.join(key.text(FILE)?), &key, Limit { rows: MANY, of })
        };
        let mut at = Numbered::default();
        let (mut elements, element_names) = elements(open(sites, "elements", "elements")?, &mut at, parts)?;
        let count = at.names.len();
        let mut storage = vec![Storage { bytes_per_s: f64::INFINITY, quota: None }; count];
        if sites.find("storage").is_some() {
            read_storage(open(sites, "storage", "storage elements")?, &at, &mut storage)?;
        }
        let site_names = at.names.clone();
        let (files, file_numbers) = match sites.find("files") {
            Some(_) => files(open(sites, "files", "files")?, &at)?,
            None => (Vec::new(), Numbered::default()),
        };
        let links = match sites.find("links") {
            Some(_) => links(open(sites, "links", "links")?, &mut at)?,
            None => Vec::new(),
        };
        let copies = match sites.find("copies") {
            Some(_) => copies(open(sites, "copies", "copies")?, &file_numbers, (&at, count))?,
            None => Vec::new(),
        };
        let mut jobs = Jobs::default();
        let fastest = elements.iter().map(|element| element.ops_per_s).fold(0.0, f64::max);
        let known = Known { files: &file_numbers, elements: &element_names, brokers, fastest };
        jobs.read(open(work, "jobs", "jobs")?, &known)?;
        for &named in &jobs.named {
            elements[named].provides.insert(only(&element_names.names[named]));
        }
        Ok(Self {
            elements,
            element_names: element_names.names,
            storage,
            site_names,
            links,
            files,
            file_names: file_numbers.names,
            copies,
            classes: jobs.classes,
            class_places: jobs.places,
            jobs: jobs.rows,
            job_names: jobs.names.names,
        })
    }
}

fn ad(row: &Row<'_>, column: Option<Column>) -> Result<Option<Ad>, InputError> {
    let Some(column) = column.filter(|column| !row.text(*column).is_empty()) else { return Ok(None) };
    let expected = "a ClassAd, as [Memory = 16; Requirements = TARGET.Owner == \"ada\"]";
    Ad::parse(row.text(column)).map(Some).map_err(|error| row.error(column, error.to_string(), expected))
}

/// An element's ad with what its row says besides, under the names that a machine of the live grid has for it. What the ad
/// says of these itself, stands.
fn described(ad: Option<Ad>, row: &Row<'_>, [id, site, cpus, speed]: [Column; 4]) -> Ad {
    let mut described = ad.map(|ad| ad.class_ad().clone()).unwrap_or_default();
    let text = |column| Value::String(row.text(column).into()).to_string();
    let values = [
        ("Machine", text(id)),
        ("Site", text(site)),
        ("Cpus", row.text(cpus).to_owned()),
        ("OpsPerSecond", row.text(speed).to_owned()),
    ];
    for (name, value) in values {
        if described.get(name).is_none()
            && let Ok(value) = Expr::parse(&value)
        {
            described.insert(name, value);
        }
    }
    Ad::from(described)
}

fn whole(row: &Row<'_>, column: Column, least: u64) -> Result<u64, InputError> {
    let number = row.text(column).parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| row.wrong(column, &format!("a whole number, {least} or more")))
}

fn elements(
    mut table: Table,
    sites: &mut Numbered,
    parts: &[String],
) -> Result<(Vec<Element>, Numbered), InputError> {
    table.check_known(&["id", "site", "cpus", "ops_per_s", "provides", "ad", "index"])?;
    let [id, site, cpus, speed] = columns(&table, ["id", "site", "cpus", "ops_per_s"])?;
    let [provides, ads, index] = ["provides", "ad", "index"].map(|name| table.find(name));
    let (mut elements, mut names) = (Vec::new(), Numbered::default());
    while let Some(row) = table.next()? {
        names.add(&row, id)?;
        let part = match index {
            Some(column) => {
                let name = row.text(column);
                let known = || one_of(name, parts.iter().map(String::as_str));
                parts.iter().position(|part| part == name).ok_or_else(|| row.wrong(column, &known()))?
            }
            None => 0,
        };
        let many = whole(&row, cpus, 1)?;
        elements.push(Element {
            site: SiteId::new(sites.number(row.id(site)?)),
            cpus: u32::try_from(many)
                .map_err(|_| row.wrong(cpus, "a whole number, 1 or more, below 2^32"))?,
            ops_per_s: row.number(speed, SPEED, is_speed)?,
            provides: provides.map(|column| words(row.text(column))).unwrap_or_default(),
            ad: Some(described(ad(&row, ads)?, &row, [id, site, cpus, speed])),
            index: part,
        });
    }
    table.check_not_empty()?;
    Ok((elements, names))
}

/// What only the element of that name provides: what jobs that name it require, instead of all else.
fn only(element: &str) -> String {
    format!("to be the element {element}")
}

fn columns<const N: usize>(table: &Table, names: [&str; N]) -> Result<[Column; N], InputError> {
    let found: Vec<Column> = names.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?;
    Ok(std::array::from_fn(|at| found[at]))
}

fn read_storage(mut table: Table, sites: &Numbered, storage: &mut [Storage]) -> Result<(), InputError> {
    table.check_known(&["site", "bytes_per_s", "quota"])?;
    let [site] = columns(&table, ["site"])?;
    let [speed, quota] = ["bytes_per_s", "quota"].map(|name| table.find(name));
    while let Some(row) = table.next()? {
        let at = sites.find(&row, site, row.text(site))?;
        let said = |column: &Column| !row.text(*column).is_empty();
        let bytes_per_s = speed.filter(said).map(|column| row.above_0(column)).transpose()?;
        let quota = quota.filter(said).map(|column| whole(&row, column, 0)).transpose()?;
        storage[at] = Storage { bytes_per_s: bytes_per_s.unwrap_or(f64::INFINITY), quota };
    }
    Ok(())
}

fn files(mut table: Table, sites: &Numbered) -> Result<(Vec<File>, Numbered), InputError> {
    table.check_known(&["id", "bytes", "sites"])?;
    let [id, bytes, at] = columns(&table, ["id", "bytes", "sites"])?;
    let (mut files, mut names) = (Vec::new(), Numbered::default());
    while let Some(row) = table.next()? {
        names.add(&row, id)?;
        let holders = words(row.text(at));
        let holders = holders.iter().map(|name| sites.find(&row, at, name).map(SiteId::new));
        files.push(File { bytes: whole(&row, bytes, 0)?, at: holders.collect::<Result<_, _>>()? });
    }
    Ok((files, names))
}

fn links(mut table: Table, places: &mut Numbered) -> Result<Vec<Link>, InputError> {
    table.check_known(&["from", "to", "bytes_per_s"])?;
    let [from, to, speed] = columns(&table, ["from", "to", "bytes_per_s"])?;
    let mut links = Vec::new();
    while let Some(row) = table.next()? {
        let between = (places.number(row.id(from)?), places.number(row.id(to)?));
        if between.0 == between.1 {
            return Err(row.wrong(to, "another place than where the link begins"));
        }
        links.push(Link { between, bytes_per_s: row.above_0(speed)? });
    }
    Ok(links)
}

/// In order of time; the first so many of the places are sites.
fn copies(
    mut table: Table,
    files: &Numbered,
    (places, sites): (&Numbered, usize),
) -> Result<Vec<LaterCopy>, InputError> {
    table.check_known(&["file", "site", "time_s"])?;
    let [file, site, time] = columns(&table, ["file", "site", "time_s"])?;
    let (mut copies, mut last) = (Vec::new(), Time::ZERO);
    while let Some(row) = table.next()? {
        last = row.time(time, last)?;
        let number = places.find(&row, site, row.text(site))?;
        if number >= sites {
            return Err(row.wrong(site, "a site that has an element"));
        }
        let file = FileId::new(files.find(&row, file, row.text(file))?);
        copies.push(LaterCopy { at: last, file, site: SiteId::new(number) });
    }
    Ok(copies)
}

/// What a row of jobs may refer to, and the fastest element.
struct Known<'a> {
    files: &'a Numbered,
    elements: &'a Numbered,
    brokers: usize,
    /// Operations a second of the fastest element.
    fastest: f64,
}

/// Jobs, and the classes that they make.
#[derive(Default)]
struct Jobs {
    rows: Vec<Job>,
    names: Numbered,
    classes: Vec<JobClass>,
    places: Vec<Place>,
    /// By what is written in the columns that make a class.
    met: BTreeMap<[String; 5], usize>,
    /// The elements that jobs name.
    named: BTreeSet<usize>,
}

impl Jobs {
    fn read(&mut self, mut table: Table, known: &Known<'_>) -> Result<(), InputError> {
        table.check_known(&[
            "id",
            "arrival_s",
            "length",
            "estimate",
            "cores",
            "inputs",
            "requires",
            "ad",
            "element",
            "broker",
        ])?;
        let [id, arrival, length] = columns(&table, ["id", "arrival_s", "length"])?;
        let own = ["inputs", "requires", "ad", "element", "cores"].map(|name| table.find(name));
        let estimate = table.find("estimate");
        let broker = table.find("broker");
        let mut last = Time::ZERO;
        while let Some(row) = table.next()? {
            self.names.add(&row, id)?;
            last = row.time(arrival, last)?;
            let ops = |column| Ops::new(row.above_0(column)?).ok_or_else(|| row.wrong(column, ABOVE_0));
            let (column, length) = (length, ops(length)?);
            row.check_duration(column, length.amount() / known.fastest, "element")?;
            let said = estimate.filter(|column| !row.text(*column).is_empty());
            let estimate = said.map_or(Ok(length), ops)?;
            let class = TaskClassId::new(self.class(&row, own, known)?);
            let broker = match broker {
                None => 0,
                Some(column) => {
                    let number = whole(&row, column, 0)?;
                    let broker = usize::try_from(number).ok().filter(|number| *number < known.brokers);
                    broker.ok_or_else(|| {
                        row.wrong(column, &format!("a broker's number, from 0 to {}", known.brokers - 1))
                    })?
                }
            };
            self.rows.push(Job { arrival: last, length, estimate, class, broker });
        }
        table.check_not_empty()
    }

    fn class(
        &mut self,
        row: &Row<'_>,
        columns: [Option<Column>; 5],
        known: &Known<'_>,
    ) -> Result<usize, InputError> {
        let written = columns.map(|column| column.map_or("", |column| row.text(column)).to_owned());
        if let Some(&class) = self.met.get(&written) {
            return Ok(class);
        }
        let mut inputs = Vec::new();
        if let Some(column) = columns[0] {
            for name in words(&written[0]) {
                inputs.push(FileId::new(known.files.find(row, column, &name)?));
            }
        }
        let (mut requires, mut ad) = (words(&written[1]), ad(row, columns[2])?);
        // Who names an element is asked for nothing else, and ranks nothing.
        if let Some(column) = columns[3].filter(|_| !written[3].is_empty()) {
            let named = known.elements.find(row, column, &written[3])?;
            self.named.insert(named);
            (requires, ad) = ([only(&written[3])].into_iter().collect(), None);
        }
        let cores = match columns[4].filter(|_| !written[4].is_empty()) {
            None => 1,
            Some(column) => u32::try_from(whole(row, column, 1)?)
                .map_err(|_| row.wrong(column, "a whole number, 1 or more, below 2^32"))?,
        };
        let task = TaskClass {
            needs: Needs { cores, ..Needs::default() },
            requires,
            ad,
            ..TaskClass::plain(vec![1.0])
        };
        self.met.insert(written, self.classes.len());
        self.classes.push(JobClass { task, inputs });
        self.places.push(row.place());
        Ok(self.classes.len() - 1)
    }
}
