//! Sites and jobs that tables list.

use super::draw::MBIT;
use super::scenario::{JobsListed, SitesListed};
use crate::InputError;
use crate::error::quoted;
use crate::ids::UniqueIds;
use crate::limits::{SITE_JOBS_MAX, SITES_MAX};
use crate::names::one_of;
use crate::section::Key;
use crate::settings::{FROM_0, finite_from_zero};
use crate::table::{Column, Limit, Row, Table};
use gleaner_sim::sites::{Job, Site};
use gleaner_units::Time;
use std::path::Path;

const FILE: &str = "the name of a file, as \"sites.csv\"";
const SITE_COLUMNS: [&str; 9] =
    ["id", "processors", "gflops", "memory", "disk", "upload_mbit", "download_mbit", "price", "quality"];
const JOB_COLUMNS: [&str; 13] = [
    "id",
    "arrival_s",
    "processors",
    "run_s",
    "estimate_s",
    "memory",
    "disk",
    "data",
    "source",
    "result",
    "broker",
    "quality",
    "would_pay",
];

fn open(base: &Path, key: &Key<'_>, known: &[&str], limit: Limit) -> Result<Table, InputError> {
    let table = Table::open(&base.join(key.text(FILE)?), key, limit)?;
    table.check_known(known)?;
    Ok(table)
}

fn named(names: &mut UniqueIds, row: &Row<'_>, id: Column) -> Result<(), InputError> {
    let name = row.id(id)?;
    let twice = || row.error(id, format!("{} a second time", quoted(name)), "each once");
    if names.insert(name) { Ok(()) } else { Err(twice()) }
}

/// A number above 0; `usual` where the field is empty or there is no such column.
fn above_0(row: &Row<'_>, column: Option<Column>, usual: f64) -> Result<f64, InputError> {
    said(row, column).map_or(Ok(usual), |column| row.above_0(column))
}

/// Likewise, 0 or more.
fn from_0(row: &Row<'_>, column: Option<Column>, usual: f64) -> Result<f64, InputError> {
    said(row, column).map_or(Ok(usual), |column| row.number(column, FROM_0, finite_from_zero))
}

fn said(row: &Row<'_>, column: Option<Column>) -> Option<Column> {
    column.filter(|column| !row.text(*column).is_empty())
}

pub(super) fn sites(base: &Path, key: &Key<'_>) -> Result<SitesListed, InputError> {
    let mut table = open(base, key, &SITE_COLUMNS, Limit { rows: SITES_MAX as u64, of: "sites" })?;
    let (id, processors) = (table.column("id")?, table.column("processors")?);
    let (upload, download) = (table.column("upload_mbit")?, table.column("download_mbit")?);
    let [gflops, memory, disk, price, quality] =
        ["gflops", "memory", "disk", "price", "quality"].map(|name| table.find(name));
    let (mut names, mut sites) = (UniqueIds::default(), Vec::new());
    while let Some(row) = table.next()? {
        named(&mut names, &row, id)?;
        sites.push(Site {
            processors: row.cores(Some(processors))?,
            gflops: above_0(&row, gflops, 1.0)?,
            // Who says nothing of it has as much as anybody asks for.
            memory: row.find_size(memory)?.unwrap_or(u64::MAX),
            disk: row.find_size(disk)?.unwrap_or(u64::MAX),
            upload: MBIT * row.above_0(upload)?,
            download: MBIT * row.above_0(download)?,
            price: from_0(&row, price, 0.0)?,
            quality: from_0(&row, quality, 0.0)?,
        });
    }
    table.check_not_empty()?;
    Ok(SitesListed { names: names.into_ids().iter().map(str::to_owned).collect(), sites })
}

/// Where a job's data lies, and where its result goes: what is neither, is at the first site.
fn source(
    row: &Row<'_>,
    column: Option<Column>,
    sites: &[String],
    is_needed: bool,
) -> Result<usize, InputError> {
    let Some(column) = column.filter(|column| is_needed || !row.text(*column).is_empty()) else {
        let found = "no site for its data and its result";
        let missing = row.error_in("source", found, "a column source with the site of each job's data");
        return if is_needed { Err(missing) } else { Ok(0) };
    };
    let name = row.text(column);
    let known = || one_of(name, sites.iter().map(String::as_str));
    sites.iter().position(|site| site == name).ok_or_else(|| row.wrong(column, &known()))
}

fn broker(row: &Row<'_>, column: Option<Column>, brokers: usize) -> Result<usize, InputError> {
    let Some(column) = said(row, column) else { return Ok(0) };
    let number = row.text(column).parse().ok().filter(|number| *number < brokers);
    number.ok_or_else(|| row.wrong(column, &format!("a broker's number, from 0 to {}", brokers - 1)))
}

pub(super) fn jobs(
    base: &Path,
    key: &Key<'_>,
    sites: &SitesListed,
    brokers: usize,
) -> Result<JobsListed, InputError> {
    let mut table = open(base, key, &JOB_COLUMNS, Limit { rows: SITE_JOBS_MAX as u64, of: "jobs" })?;
    let (id, arrival) = (table.column("id")?, table.column("arrival_s")?);
    let (processors, run) = (table.column("processors")?, table.column("run_s")?);
    let [estimate, memory, disk, data, at, result, of_broker, quality, would_pay] =
        ["estimate_s", "memory", "disk", "data", "source", "result", "broker", "quality", "would_pay"]
            .map(|name| table.find(name));
    let fastest = sites.sites.iter().map(|site| site.gflops).fold(0.0, f64::max);
    let (mut names, mut listed, mut last) = (UniqueIds::default(), JobsListed::default(), Time::ZERO);
    while let Some(row) = table.next()? {
        named(&mut names, &row, id)?;
        last = row.time(arrival, last)?;
        let size = |column| row.find_size(column).map(|size| size.unwrap_or(0));
        let run_s = above_0(&row, Some(run), 1.0)?;
        row.check_duration(run, run_s / fastest, "site")?;
        let (data, result) = (size(data)?, size(result)?);
        listed.jobs.push(Job {
            submitted: last,
            processors: row.cores(Some(processors))?,
            run_s,
            // As of a log: what is less than the run time is raised to it.
            estimate_s: above_0(&row, estimate, run_s)?.max(run_s),
            memory: size(memory)?,
            disk: size(disk)?,
            data,
            source: source(&row, at, &sites.names, data + result > 0)?,
            result,
            scheduler: broker(&row, of_broker, brokers)?,
            quality: from_0(&row, quality, 0.0)?,
            would_pay: from_0(&row, would_pay, f64::INFINITY)?,
        });
        listed.places.push(row.place());
    }
    table.check_not_empty()?;
    listed.names = names.into_ids().iter().map(str::to_owned).collect();
    Ok(listed)
}
