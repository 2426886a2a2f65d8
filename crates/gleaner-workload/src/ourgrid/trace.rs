//! Traces of bags of tasks that users of peers submit, as OurGrid's simulator reads them.
//!
//! The first line names the columns, in any order: `taskId`, `time`, `jobId`, `jobSize`, `runtime`, `user`, `peer`. A line
//! is a task; those of a job share its number, and stand anywhere. **Users are closed loops**: a job comes a think time
//! after the last one of its user ended, however long that took in whatever grid. The trace has no think times, but when
//! jobs came: each is the one before and a gap that was drawn. Two readings: the gap is the think time, as in OurGrid's
//! simulator ([`Job::gap`]); or it holds the job's own time as well, of a grid that ran all its tasks at once, and where
//! jobs overlap there is none left ([`Job::think`]).

use crate::InputError;
use crate::error::{Place, quoted};
use crate::limits::TRACE_TASKS_MAX;
use crate::packed;
use gleaner_units::{Span, Time};
use hashbrown::HashMap;
use std::path::Path;

/// What the columns are called.
const COLUMNS: [&str; 7] = ["taskId", "time", "jobId", "jobSize", "runtime", "user", "peer"];
const TIME: usize = 1;
const JOB: usize = 2;
const SIZE: usize = 3;
const RUN: usize = 4;
const USER: usize = 5;
const PEER: usize = 6;

/// What the users of peers submit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Workload {
    /// As the trace calls them, by first appearance.
    pub peers: Vec<String>,
    /// By first appearance.
    pub users: Vec<User>,
    /// By when they came, then by first appearance.
    pub jobs: Vec<Job>,
    /// How long each task runs, job by job.
    pub runs: Vec<Span>,
}

/// Somebody who submits a job, waits for its end, thinks, and submits the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct User {
    /// As the trace calls them.
    pub name: String,
    /// In [`Workload::peers`].
    pub peer: usize,
    /// In [`Workload::jobs`], one after the other.
    pub jobs: Vec<usize>,
}

/// A bag of tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// As the trace calls it.
    pub name: String,
    /// In [`Workload::users`].
    pub user: usize,
    /// When it came in the trace.
    pub submit: Time,
    /// How long after the user's last job, or the beginning, it came in the trace.
    pub gap: Span,
    /// How long after the end of the user's last job, or the beginning, had each of its tasks a machine at once.
    pub think: Span,
    /// Where its tasks begin in [`Workload::runs`].
    pub first: usize,
    /// How many it has, at least 1.
    pub tasks: usize,
}

impl Workload {
    /// Whether a text, unpacked, begins as such a trace does.
    pub fn is_in(text: &[u8]) -> bool {
        let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_there =
            |column: &str| header.split(u8::is_ascii_whitespace).any(|word| word == column.as_bytes());
        COLUMNS.into_iter().all(is_there)
    }

    /// Reads the trace at `path`, packed with gzip or not.
    pub fn load(path: &Path) -> Result<Self, InputError> {
        Self::parse(&path.display().to_string(), packed::read(path)?)
    }

    /// Reads a trace that is named `name`, packed with gzip or not.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        let place = Place::whole(name);
        let text = packed::text(packed::unpack(bytes, &place)?, &place)?;
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((number, header)) = lines.next() else {
            return Err(place.error("", "an empty file", "the names of the columns, then tasks"));
        };
        let columns = columns(header, &place.at_line(number))?;
        let mut reading = Reading::default();
        for (number, line) in lines {
            reading.task(line, &columns, &place.at_line(number))?;
        }
        reading.workload(&place)
    }

    /// How long the tasks of a job run.
    pub fn runs_of(&self, job: &Job) -> &[Span] {
        &self.runs[job.first..job.first + job.tasks]
    }
}

/// Where each of [`COLUMNS`] stands.
fn columns(header: &str, place: &Place) -> Result<[usize; 7], InputError> {
    let names: Vec<&str> = header.split_whitespace().collect();
    let mut found = [0; 7];
    for (column, found) in COLUMNS.iter().zip(&mut found) {
        let at = names.iter().position(|name| name.eq_ignore_ascii_case(column));
        *found = at.ok_or_else(|| {
            place.error(column, format!("the columns {}", quoted(header.trim())), "a column of that name")
        })?;
    }
    Ok(found)
}

/// A job while its tasks are read.
struct Bag {
    name: String,
    user: usize,
    submit: Time,
    size: usize,
    runs: Vec<Span>,
    place: Place,
}

#[derive(Default)]
struct Reading {
    peers: Vec<String>,
    peer_numbers: HashMap<String, usize>,
    users: Vec<User>,
    user_numbers: HashMap<(String, usize), usize>,
    bags: Vec<Bag>,
    bag_numbers: HashMap<String, usize>,
    tasks: usize,
}

impl Reading {
    fn task(&mut self, line: &str, columns: &[usize; 7], place: &Place) -> Result<(), InputError> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let field = |column: usize| {
            let missing = || {
                place.error(COLUMNS[column], format!("{} fields", fields.len()), "a field for each column")
            };
            fields.get(columns[column]).copied().ok_or_else(missing)
        };
        let wrong =
            |column: usize, text: &str, expected: &str| place.error(COLUMNS[column], quoted(text), expected);
        let seconds = |column: usize| {
            let text = field(column)?;
            let known = text.parse().ok().and_then(Span::from_seconds);
            known.ok_or_else(|| wrong(column, text, "seconds, 0 or more"))
        };
        let (submit, run) = (seconds(TIME)?, seconds(RUN)?);
        let size = field(SIZE)?;
        let size: usize = match size.parse() {
            Ok(count) if (1..=TRACE_TASKS_MAX).contains(&count) => count,
            _ => return Err(wrong(SIZE, size, "a number of tasks, 1 or more")),
        };
        let peer = self.peer(field(PEER)?);
        let user = self.user(field(USER)?, peer);
        let name = field(JOB)?;
        let at = *self.bag_numbers.entry_ref(name).or_insert(self.bags.len());
        if at == self.bags.len() {
            self.bags.push(Bag {
                name: name.to_owned(),
                user,
                submit: Time::from_nanos(submit.nanos()),
                size,
                runs: Vec::new(),
                place: place.clone(),
            });
        }
        let bag = &mut self.bags[at];
        let is_same = (bag.user, bag.submit.nanos(), bag.size) == (user, submit.nanos(), size);
        if !is_same {
            let found = format!("another time, size or user for the job {}", quoted(name));
            return Err(place.error(COLUMNS[JOB], found, "what its first task says"));
        }
        bag.runs.push(run);
        if bag.runs.len() > size {
            let found = format!("task {} of the job, which has {size}", bag.runs.len());
            return Err(place.error(COLUMNS[SIZE], found, "as many tasks as it says"));
        }
        if self.tasks == TRACE_TASKS_MAX {
            let found = format!("more than {TRACE_TASKS_MAX} tasks");
            return Err(place.error("", found, format!("at most {TRACE_TASKS_MAX}")));
        }
        self.tasks += 1;
        Ok(())
    }

    fn peer(&mut self, name: &str) -> usize {
        if let Some(&peer) = self.peer_numbers.get(name) {
            return peer;
        }
        self.peer_numbers.insert(name.to_owned(), self.peers.len());
        self.peers.push(name.to_owned());
        self.peers.len() - 1
    }

    /// Users of two peers are two, whatever they are called.
    fn user(&mut self, name: &str, peer: usize) -> usize {
        let key = (name.to_owned(), peer);
        if let Some(&user) = self.user_numbers.get(&key) {
            return user;
        }
        self.user_numbers.insert(key, self.users.len());
        self.users.push(User { name: name.to_owned(), peer, jobs: Vec::new() });
        self.users.len() - 1
    }

    fn workload(self, place: &Place) -> Result<Workload, InputError> {
        let Self { peers, mut users, mut bags, tasks, .. } = self;
        if bags.is_empty() {
            return Err(place.error("", "no tasks", "tasks, one a line below the names of the columns"));
        }
        bags.sort_by_key(|bag| bag.submit);
        let mut ends = vec![Time::ZERO; users.len()];
        let mut last = vec![Time::ZERO; users.len()];
        let mut jobs = Vec::with_capacity(bags.len());
        let mut runs = Vec::with_capacity(tasks);
        for bag in bags {
            if bag.runs.len() < bag.size {
                let found =
                    format!("{} of the {} tasks of the job {}", bag.runs.len(), bag.size, quoted(&bag.name));
                return Err(bag.place.error(COLUMNS[SIZE], found, "all of them"));
            }
            let longest = bag.runs.iter().max().copied().unwrap_or_default();
            let end = &mut ends[bag.user];
            users[bag.user].jobs.push(jobs.len());
            jobs.push(Job {
                name: bag.name,
                user: bag.user,
                submit: bag.submit,
                gap: bag.submit.since(last[bag.user]),
                think: bag.submit.since(*end),
                first: runs.len(),
                tasks: bag.size,
            });
            last[bag.user] = bag.submit;
            *end = (bag.submit + longest).max(*end);
            runs.extend(bag.runs);
        }
        Ok(Workload { peers, users, jobs, runs })
    }
}
