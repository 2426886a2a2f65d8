//! The tables of a scenario of peers.

use crate::InputError;
use crate::error::quoted;
use crate::limits::{PEER_TASKS_MAX, PEER_WORKERS_MAX, PEERS_MAX};
use crate::names::one_of;
use crate::section::Section;
use crate::settings::{self, SPEED, is_speed};
use crate::table::{Column, Limit, Row, Table};
use gleaner_core::{Ad, MachineClass, WATTS};
use gleaner_sim::peers::{Absence, BrokerAbsence, Frail, Job, Outage, Silence, Site};
use gleaner_units::{MachineClassId, Ops, PartyId, Span, TaskClassId, Time};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

const FILE: &str = "the name of a file, as \"workers.csv\"";

/// Peers by name, in order of first appearance.
#[derive(Default)]
pub(super) struct Peers {
    pub(super) names: Vec<String>,
    by_name: BTreeMap<String, usize>,
}

impl Peers {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn of_row(&self, row: &Row<'_>, column: Column) -> Result<usize, InputError> {
        let name = row.text(column);
        let known = || one_of(name, self.names.iter().map(String::as_str));
        self.find(name).ok_or_else(|| row.error(column, quoted(name), known()))
    }
}

/// What peers have, and when it is away.
#[derive(Default)]
pub(super) struct Workers {
    pub(super) peers: Peers,
    pub(super) sites: Vec<Site>,
    pub(super) classes: Vec<MachineClass>,
    pub(super) outages: Vec<Outage>,
    pub(super) silences: Vec<Silence>,
    pub(super) absences: Vec<Absence>,
    pub(super) frail: Vec<Frail>,
}

fn open(base: &Path, section: &Section<'_>, name: &str, limit: Limit) -> Result<Table, InputError> {
    let key = section.key(name, FILE)?;
    Table::open(&base.join(key.text(FILE)?), &key, limit)
}

fn whole(row: &Row<'_>, column: Column, most: u64) -> Result<u64, InputError> {
    let number = row.text(column).parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| row.wrong(column, &format!("a whole number, from 1 to {most}")))
}

impl Workers {
    /// Operations a second of the fastest; where there is none, nothing takes any time.
    pub(super) fn fastest(&self) -> f64 {
        self.classes.iter().map(|class| class.speeds[0]).reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    pub(super) fn read(base: &Path, section: &Section<'_>) -> Result<Self, InputError> {
        let most = PEER_WORKERS_MAX as u64;
        let mut table = open(base, section, "workers", Limit { rows: most, of: "workers" })?;
        table.check_known(&["peer", "ops_per_s", "count", "cores", "watts", "fails_after_s"])?;
        let (peer, speed) = (table.column("peer")?, table.column("ops_per_s")?);
        let [count, cores, watts, fails] =
            ["count", "cores", "watts", "fails_after_s"].map(|name| table.find(name));
        let mut workers = Self::default();
        let mut kinds: BTreeMap<(u64, u32, u64), MachineClassId> = BTreeMap::new();
        let mut all = 0;
        while let Some(row) = table.next()? {
            let at = workers.peer(&row, peer)?;
            let speed = row.number(speed, SPEED, is_speed)?;
            let cores = row.cores(cores)?;
            let watts = optional(&row, watts)?;
            let fails_after = match (fails, optional(&row, fails)?) {
                (Some(fails), Some(seconds)) => {
                    let span = Span::from_seconds(seconds);
                    Some(span.ok_or_else(|| row.wrong(fails, "seconds before the end of time"))?)
                }
                _ => None,
            };
            let count = match count {
                Some(column) if row.text(column) == "0" => 0,
                Some(column) => whole(&row, column, most)?,
                None => 1,
            };
            all += count;
            if all > most {
                return Err(row.error(peer, format!("more than {most} workers"), "fewer"));
            }
            if count == 0 {
                continue;
            }
            let classes = &mut workers.classes;
            let key = (speed.to_bits(), cores, watts.map_or(0, f64::to_bits));
            let kind = *kinds.entry(key).or_insert_with(|| {
                classes.push(class(speed, cores, watts));
                MachineClassId::new(classes.len() - 1)
            });
            let own = &mut workers.sites[at].workers;
            if let Some(fails_after) = fails_after {
                let added = own.len()..own.len() + count as usize;
                let frail = added.map(|worker| Frail { peer: PartyId::new(at), worker, fails_after });
                workers.frail.extend(frail);
            }
            own.extend((0..count).map(|_| kind));
        }
        table.check_not_empty()?;
        if all == 0 {
            return Err(section.error("no workers at any peer", "at least one"));
        }
        workers.read_outages(base, section)?;
        for (peer, from, until) in workers.spans_of_peers(base, section, "silences")? {
            workers.silences.push(Silence { peer, from, until });
        }
        for (peer, from, until) in workers.spans_of_peers(base, section, "absences")? {
            workers.absences.push(Absence { peer, from, until });
        }
        Ok(workers)
    }

    fn peer(&mut self, row: &Row<'_>, column: Column) -> Result<usize, InputError> {
        let name = row.id(column)?;
        if let Some(at) = self.peers.find(name) {
            return Ok(at);
        }
        if self.sites.len() == PEERS_MAX {
            return Err(row.error(column, format!("more than {PEERS_MAX} peers"), "fewer"));
        }
        self.peers.by_name.insert(name.to_owned(), self.sites.len());
        self.peers.names.push(name.to_owned());
        self.sites.push(Site::default());
        Ok(self.sites.len() - 1)
    }

    fn read_outages(&mut self, base: &Path, section: &Section<'_>) -> Result<(), InputError> {
        if section.find("outages").is_none() {
            return Ok(());
        }
        let limit = Limit { rows: PEER_WORKERS_MAX as u64, of: "outages" };
        let mut table = open(base, section, "outages", limit)?;
        table.check_known(&["peer", "worker", "from_s", "until_s"])?;
        let columns = ["peer", "worker", "from_s", "until_s"].map(|name| table.column(name));
        let [peer, worker, from, until] = columns;
        let (peer, worker, from, until) = (peer?, worker?, from?, until?);
        while let Some(row) = table.next()? {
            let of = self.peers.of_row(&row, peer)?;
            let there = self.sites[of].workers.len();
            if there == 0 {
                return Err(row.error(worker, "a worker of a peer that has none", "a peer with workers"));
            }
            let worker = whole(&row, worker, there as u64)? as usize - 1;
            let (from, until) = interval(&row, (from, until))?;
            self.outages.push(Outage { peer: PartyId::new(of), worker, from, until });
        }
        Ok(())
    }

    /// When which peers are silent, or away.
    fn spans_of_peers(
        &self,
        base: &Path,
        section: &Section<'_>,
        name: &'static str,
    ) -> Result<Vec<(PartyId, Time, Time)>, InputError> {
        if section.find(name).is_none() {
            return Ok(Vec::new());
        }
        let limit = Limit { rows: PEER_WORKERS_MAX as u64, of: name };
        let mut table = open(base, section, name, limit)?;
        table.check_known(&["peer", "from_s", "until_s"])?;
        let (peer, from, until) = (table.column("peer")?, table.column("from_s")?, table.column("until_s")?);
        let mut spans = Vec::new();
        while let Some(row) = table.next()? {
            let peer = PartyId::new(self.peers.of_row(&row, peer)?);
            let (from, until) = interval(&row, (from, until))?;
            spans.push((peer, from, until));
        }
        Ok(spans)
    }
}

/// A number above 0, where the column is there and says something.
fn optional(row: &Row<'_>, column: Option<Column>) -> Result<Option<f64>, InputError> {
    let said = column.filter(|column| !row.text(*column).is_empty());
    said.map(|column| row.above_0(column)).transpose()
}

/// From one moment to a later one.
fn interval(row: &Row<'_>, (from, until): (Column, Column)) -> Result<(Time, Time), InputError> {
    let start = row.time(from, Time::ZERO)?;
    let end = row.time(until, Time::ZERO)?;
    if start < end { Ok((start, end)) } else { Err(row.wrong(until, "later than it begins")) }
}

fn class(ops_per_s: f64, cores: u32, watts: Option<f64>) -> MachineClass {
    let ad = |watts: f64| Ad::parse(&format!("[ {WATTS} = {watts:?} ]")).expect("a number makes an ad");
    MachineClass { ad: watts.map(ad), ..MachineClass::plain(vec![ops_per_s], cores) }
}

/// What users hand in.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Job>,
    /// Job after job.
    pub(super) lengths: Vec<Ops>,
    /// By peer and user's name: the number of the user's broker.
    pub(super) brokers: BTreeMap<(usize, String), u32>,
}

impl Jobs {
    pub(super) fn read(base: &Path, section: &Section<'_>, workers: &Workers) -> Result<Self, InputError> {
        if let Some(key) = section.find("gap").or_else(|| section.find("ops_per_s")) {
            return Err(key.error_found("a key about a trace", "ourgrid = \"trace.txt.gz\" with it"));
        }
        let mut table = open(base, section, "jobs", Limit { rows: PEER_TASKS_MAX as u64, of: "jobs" })?;
        table.check_known(&["id", "peer", "arrival_s", "lengths", "user", "think_s"])?;
        let (id, peer) = (table.column("id")?, table.column("peer")?);
        let (arrival, lengths) = (table.column("arrival_s")?, table.column("lengths")?);
        let [user, think] = ["user", "think_s"].map(|name| table.find(name));
        let (mut jobs, peers, fastest) = (Self::default(), &workers.peers, workers.fastest());
        // The users of each peer, each with the number of its broker and its latest job.
        let mut users: BTreeMap<(usize, String), (u32, u32)> = BTreeMap::new();
        let mut last = Time::ZERO;
        while let Some(row) = table.next()? {
            last = row.time(arrival, last)?;
            let of = peers.of_row(&row, peer)?;
            let tasks = jobs.add_lengths(&row, lengths, fastest)?;
            let index = jobs.rows.len() as u32;
            let whose = user.map_or("", |column| row.text(column));
            let (broker, before) = if whose.is_empty() {
                (0, None)
            } else {
                let next = users.len() as u32 + 1;
                match users.entry((of, whose.to_owned())) {
                    Entry::Vacant(new) => (new.insert((next, index)).0, None),
                    Entry::Occupied(mut known) => {
                        let (broker, before) = known.insert((known.get().0, index));
                        (broker, Some(before))
                    }
                }
            };
            let thinks = match think.filter(|column| !row.text(*column).is_empty()) {
                None => Span::ZERO,
                Some(column) => {
                    let seconds = row.number(column, settings::SECONDS, |seconds| seconds >= 0.0)?;
                    Span::from_seconds(seconds).ok_or_else(|| row.wrong(column, settings::SECONDS))?
                }
            };
            jobs.names.push(row.id(id)?.to_owned());
            jobs.rows.push(Job {
                submitted: last,
                peer: PartyId::new(of),
                broker,
                class: TaskClassId::FIRST,
                tasks,
                after: before.map(|before| (before, thinks)),
            });
        }
        table.check_not_empty()?;
        jobs.brokers = users.into_iter().map(|(user, (broker, _))| (user, broker)).collect();
        Ok(jobs)
    }

    /// When which users' brokers are away.
    pub(super) fn brokers_away(
        &self,
        base: &Path,
        section: &Section<'_>,
        peers: &Peers,
    ) -> Result<Vec<BrokerAbsence>, InputError> {
        if section.find("brokers").is_none() {
            return Ok(Vec::new());
        }
        let mut table = open(base, section, "brokers", Limit { rows: PEER_TASKS_MAX as u64, of: "brokers" })?;
        table.check_known(&["peer", "user", "from_s", "until_s"])?;
        let columns = ["peer", "user", "from_s", "until_s"].map(|name| table.column(name));
        let [peer, user, from, until] = columns;
        let (peer, user, from, until) = (peer?, user?, from?, until?);
        let mut away = Vec::new();
        while let Some(row) = table.next()? {
            let of = peers.of_row(&row, peer)?;
            let whose = row.id(user)?.to_owned();
            let Some(&broker) = self.brokers.get(&(of, whose.clone())) else {
                let names = self.brokers.keys().filter(|(at, _)| *at == of).map(|(_, user)| user.as_str());
                return Err(row.error(user, quoted(&whose), one_of(&whose, names)));
            };
            let (from, until) = interval(&row, (from, until))?;
            away.push(BrokerAbsence { peer: PartyId::new(of), broker, from, until });
        }
        Ok(away)
    }

    /// `600x30`, or `600 500 700`, or both.
    fn add_lengths(&mut self, row: &Row<'_>, column: Column, fastest: f64) -> Result<u32, InputError> {
        let expected = "the operations of each task, as 600 500, or 600x30 for 30 tasks";
        let before = self.lengths.len();
        for word in row.text(column).split_whitespace() {
            let (length, count) = word.split_once('x').unwrap_or((word, "1"));
            let length = length.parse().ok().filter(|length: &f64| *length > 0.0).and_then(Ops::new);
            let count = count.parse().ok().filter(|count: &usize| *count > 0);
            let (Some(length), Some(count)) = (length, count) else {
                return Err(row.wrong(column, expected));
            };
            row.check_duration(column, length.amount() / fastest, "worker")?;
            if count > PEER_TASKS_MAX - self.lengths.len() {
                return Err(row.error(column, format!("more than {PEER_TASKS_MAX} tasks in all"), "fewer"));
            }
            self.lengths.extend((0..count).map(|_| length));
        }
        match self.lengths.len() - before {
            0 => Err(row.wrong(column, expected)),
            count => Ok(u32::try_from(count).expect("no more than there may be")),
        }
    }
}
