//! A live grid's past as a log of rigid jobs: a line for each task that ran to its end.

use crate::failure::Failure;
use crate::replay::without;
use gleaner_replay::{LoggedTask, TaskLog, read_log};
use gleaner_server::store::DATABASE;
use gleaner_units::Span;
use gleaner_workload::InputError;
use gleaner_workload::logs::{JOURNAL_BEGINNING, is_journal};
use gleaner_workload::swf::{Job, Log};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Names by numbers from 1, in the order of their first appearance.
#[derive(Default)]
struct Names<'a> {
    numbers: BTreeMap<&'a str, u64>,
    in_order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.in_order.push(name);
        let number = self.in_order.len() as u64;
        self.numbers.insert(name, number);
        number
    }

    /// What a header says of each.
    fn entries(&self, key: &'static str) -> impl Iterator<Item = (&'static str, String)> {
        (1_u64..).zip(&self.in_order).map(move |(number, name)| (key, format!("{number} {name}")))
    }
}

/// Whether a coordinator's folder, its database, or what `gleaner journal export` wrote lies there.
pub(super) fn is_there(path: &Path) -> bool {
    let is_database = path.file_name().is_some_and(|name| name == DATABASE);
    // A pipe gives its text once only.
    path.is_dir() || is_database || (path.is_file() && begins_as_journal(path).unwrap_or(false))
}

fn begins_as_journal(path: &Path) -> io::Result<bool> {
    let mut text = Vec::new();
    File::open(path)?.take(JOURNAL_BEGINNING as u64).read_to_end(&mut text)?;
    Ok(is_journal(&text))
}

/// Reads a grid's journal, and tells to standard error what of it is not in the log.
pub(super) fn read(path: &Path) -> Result<Log, Failure> {
    let past = read_log(path)?;
    let (count, left_out) = (past.tasks.len(), without(&past.left_out));
    let name = path.display().to_string();
    if count == 0 {
        let why = format!("{name}: no task of this journal ran to its end{left_out}");
        return Err(Failure::Usage(why));
    }
    if !left_out.is_empty() {
        anstream::eprintln!("note: {count} tasks{left_out}");
    }
    Ok(log_of(&name, &past)?)
}

fn log_of(name: &str, past: &TaskLog) -> Result<Log, InputError> {
    let (mut users, mut labels) = (Names::default(), Names::default());
    let mut jobs: Vec<Job> = Vec::with_capacity(past.tasks.len());
    for (number, task) in (1..).zip(&past.tasks) {
        let of = &past.jobs[&task.job];
        let user = Some(users.number(&of.user));
        let queue = of.label.as_deref().map(|label| labels.number(label));
        jobs.push(Job { user, queue, ..job(number, task, past) });
    }
    let largest = jobs.iter().filter_map(|job| job.processors).max().unwrap_or(1);
    let mut header = vec![
        ("Version", "2.2".to_owned()),
        ("Computer", "a grid of Gleaner".to_owned()),
        ("Conversion", "from its journal: a line is a task, its executable the number of its job".to_owned()),
        ("UnixStartTime", past.begun.seconds().to_string()),
        ("MaxProcs", past.cores.max(u64::from(largest)).to_string()),
    ];
    let left_out = without(&past.left_out);
    if !left_out.is_empty() {
        header.push(("Note", format!("{} tasks{left_out}", jobs.len())));
    }
    header.extend(users.entries("User"));
    header.extend(labels.entries("Queue"));
    Log::of(name, &header, &jobs)
}

/// All but whose it is and what it is called.
fn job(number: u64, task: &LoggedTask, past: &TaskLog) -> Job {
    let needs = &past.jobs[&task.job].needs;
    let cores = needs.cores.max(1);
    let each_kb = |bytes: u64| (bytes > 0).then(|| (bytes as f64 / 1024.0 / f64::from(cores)).round());
    let each_s = task.cpu_s / f64::from(cores);
    Job {
        number: Some(number),
        submit_s: Some(to_milliseconds(task.came.seconds())),
        wait_s: Some(between(task.started.since(task.came))),
        run_s: Some(between(task.ran)),
        processors: Some(cores),
        cpu_s: (each_s > 0.0).then(|| to_milliseconds(each_s)),
        memory_kb: each_kb(task.memory_bytes),
        requested_processors: Some(cores),
        requested_s: (needs.time_limit_s > 0.0).then_some(needs.time_limit_s),
        requested_memory_kb: each_kb(needs.memory),
        status: Some(u64::from(task.is_done)),
        executable: Some(u64::from(task.job.0)),
        ..Job::default()
    }
}

fn between(span: Span) -> f64 {
    to_milliseconds(span.seconds())
}

/// Finer than that, nobody knows when a task began.
fn to_milliseconds(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_replay::{LeftOut, LoggedJob};
    use gleaner_units::Time;
    use gleaner_wire::JobId;
    use gleaner_wire::job::Needs;

    #[test]
    fn a_line_says_of_a_task_what_its_user_asked_for_and_what_came_of_it() {
        let at = |second: f64| Time::from_nanos((second * 1e9) as u64);
        let task = |job: u32, [came, started, ended]: [f64; 3], is_done: bool| LoggedTask {
            job: JobId(job),
            came: at(came),
            started: at(started),
            ran: at(ended).since(at(started)),
            ended: at(ended),
            is_done,
            cpu_s: if is_done { 5.0 } else { 0.0 },
            memory_bytes: if is_done { 4 << 20 } else { 0 },
        };
        let needs = Needs { cores: 2, memory: 8 << 20, time_limit_s: 30.0, ..Needs::default() };
        let of = |user: &str, label: Option<&str>, needs: Needs| LoggedJob {
            user: user.to_owned(),
            label: label.map(str::to_owned),
            needs,
        };
        let past = TaskLog {
            begun: at(1_700_000_000.0),
            tasks: vec![
                task(3, [0.5, 1.0, 4.0004], true),
                task(4, [2.0, 2.0, 3.0], false),
                task(3, [9.0, 9.0, 9.0], true),
            ],
            jobs: BTreeMap::from([
                (JobId(3), of("bob", Some("long ones"), needs)),
                (JobId(4), of("ann", None, Needs::default())),
            ]),
            cores: 4,
            left_out: LeftOut { cancelled: 1, unfinished: 2, without_work: 0 },
        };
        let log = log_of("home", &past).expect("a log");
        let expected = "\
; Version: 2.2
; Computer: a grid of Gleaner
; Conversion: from its journal: a line is a task, its executable the number of its job
; UnixStartTime: 1700000000
; MaxProcs: 4
; Note: 3 tasks; left out: 1 cancelled, 2 not ended
; User: 1 bob
; User: 2 ann
; Queue: 1 long ones
1 0.5 0.5 3 2 2.5 2048 2 30 4096 1 1 -1 3 1 -1 -1 -1
2 2 0 1 1 -1 -1 1 -1 -1 0 2 -1 4 -1 -1 -1 -1
3 9 0 0 2 2.5 2048 2 30 4096 1 1 -1 3 1 -1 -1 -1
";
        assert_eq!(String::from_utf8_lossy(log.text()), expected);
        assert_eq!((log.processors(), log.unix_start()), (Some(4), Some(1_700_000_000.0)));
    }
}
