//! The tables of what left memory. Beside the journal, and never in place of it: they can be made of it again, from where it begins.
//! What is to go from them is written down here, and goes [later](super::sweeping).

use super::base;
use super::reader::{SqliteReader, read_error};
use crate::store::past::{
    Amount, FoundJob, Past, PastJob, PastReader, PastTask, Removal, Results, Wanted, WithResults,
};
use crate::store::{ReadError, Seq, TaskRange};
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::{BlobHash, JobId};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

const UPTO: &str = "UPDATE past SET upto = ?1";
const TASK: &str = "INSERT OR REPLACE INTO past_tasks (task, body, since) VALUES (?1, ?2, ?3)";
const JOB: &str = "INSERT OR REPLACE INTO past_jobs
    (job, user, key, state, ended, results, bytes, removed_at, kept_for, body, spec, since)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const RESULTS: &str = "UPDATE past_jobs SET results = ?2 WHERE job = ?1";
const REMOVED: &str =
    "UPDATE past_jobs SET results = 'going', bytes = 0, removed_at = ?2, kept_for = ?3 WHERE job = ?1";
/// The order in which [`job`] reads them.
const FOUND: &str = "SELECT job, results, bytes, removed_at, kept_for, body, spec FROM past_jobs";
const LISTED: &str = "SELECT job, results, bytes, removed_at, kept_for, body, x'' FROM past_jobs";
const BACK: &str = "DELETE FROM past_jobs WHERE job = ?1";
const TASKS_BACK: &str = "DELETE FROM past_tasks WHERE task BETWEEN ?1 AND ?2";
/// What tasks left, and what jobs read.
const FILE: &str = "INSERT OR IGNORE INTO past_files (file, is_left, owner, since) VALUES (?1, ?2, ?3, ?4)";
const FILES_BACK: &str = "DELETE FROM past_files WHERE is_left = ?1 AND owner BETWEEN ?2 AND ?3";
/// Where the first value is nothing, what is due are tasks themselves.
const DUE: &str = "INSERT INTO past_due (is_left, low, high, upto) VALUES (?1, ?2, ?3, ?4)";

/// Within the transaction of the rows. What is due to go stays until it is [swept](super::sweeping::sweep).
pub(super) fn write(connection: &Connection, past: &Past) -> rusqlite::Result<()> {
    let since = past.upto.number().cast_signed();
    let mut files_back = connection.prepare_cached(FILES_BACK)?;
    for job in &past.revived {
        connection.prepare_cached(BACK)?.execute([job.0])?;
        files_back.execute(params![false, job.0, job.0])?;
    }
    for (first, last) in past.revived_tasks.iter().map(|range| ends(*range)) {
        connection.prepare_cached(TASKS_BACK)?.execute([first, last])?;
        files_back.execute(params![true, first, last])?;
    }
    let (mut insert_task, mut insert_file) =
        (connection.prepare_cached(TASK)?, connection.prepare_cached(FILE)?);
    for PastTask { task, files, body } in &past.tasks {
        insert_task.execute(params![number(*task), body, since])?;
        for file in files {
            insert_file.execute(params![file.as_bytes(), true, number(*task), since])?;
        }
    }
    let mut insert_job = connection.prepare_cached(JOB)?;
    for past in &past.jobs {
        let PastJob { job, user, key, state, ended, files, results, bytes: size, removed, body, spec } = past;
        insert_job.execute(params![
            job.0,
            user,
            key,
            state.name(),
            ended.nanos().cast_signed(),
            results.name(),
            size.cast_signed(),
            removed.map(|removed| removed.at.nanos().cast_signed()),
            removed.map(|removed| removed.kept_for.nanos().cast_signed()),
            body,
            spec,
            since
        ])?;
        for file in files {
            insert_file.execute(params![file.as_bytes(), false, job.0, since])?;
        }
    }
    write_results(connection, past)?;
    connection.prepare_cached(UPTO)?.execute([since]).map(drop)
}

fn write_results(connection: &Connection, past: &Past) -> rusqlite::Result<()> {
    let since = past.upto.number().cast_signed();
    let mut due = connection.prepare_cached(DUE)?;
    let mut goes = |is_left: Option<bool>, (low, high): (i64, i64)| {
        due.execute(params![is_left, low, high, since]).map(drop)
    };
    for (job, tasks, Removal { at, kept_for }) in &past.removed {
        let (at, kept_for) = (at.nanos().cast_signed(), kept_for.nanos().cast_signed());
        connection.prepare_cached(REMOVED)?.execute(params![job.0, at, kept_for])?;
        goes(Some(false), of_job(*job))?;
        goes(Some(true), ends(*tasks))?;
    }
    for (job, results) in &past.results {
        connection.prepare_cached(RESULTS)?.execute(params![job.0, results.name()])?;
    }
    for (job, tasks) in &past.forgotten {
        connection.prepare_cached(BACK)?.execute([job.0])?;
        goes(Some(false), of_job(*job))?;
        goes(Some(true), ends(*tasks))?;
        goes(None, ends(*tasks))?;
    }
    Ok(())
}

/// What a task left, or a job reads, where the journal begins.
fn files_of(connection: &Connection, is_left: bool, owner: i64) -> rusqlite::Result<Vec<BlobHash>> {
    let mut statement = connection.prepare_cached(base::FILES_OF)?;
    let files =
        statement.query_map(params![is_left, owner], |row| row.get::<_, [u8; 32]>(0).map(BlobHash::from))?;
    files.collect()
}

/// With all columns as they were written, less its files.
fn whole_job(row: &Row<'_>) -> rusqlite::Result<PastJob> {
    let number =
        |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned));
    let unknown =
        |column: usize, name: &str| rusqlite::Error::InvalidColumnType(column, name.to_owned(), Type::Text);
    let (state, results): (String, String) = (row.get(3)?, row.get(5)?);
    let removed = number(7)?.zip(number(8)?);
    Ok(PastJob {
        job: JobId(row.get(0)?),
        user: row.get(1)?,
        key: row.get(2)?,
        state: serde_json::from_value(state.as_str().into()).map_err(|_| unknown(3, &state))?,
        ended: Time::from_nanos(number(4)?.unwrap_or(0)),
        files: Vec::new(),
        results: Results::named(&results).ok_or_else(|| unknown(5, &results))?,
        bytes: number(6)?.unwrap_or(0),
        removed: removed
            .map(|(at, kept_for)| Removal { at: Time::from_nanos(at), kept_for: Span::from_nanos(kept_for) }),
        body: row.get(9)?,
        spec: row.get(10)?,
    })
}

fn job(row: &Row<'_>) -> rusqlite::Result<FoundJob> {
    let results: String = row.get(1)?;
    let unknown = || rusqlite::Error::InvalidColumnType(1, results.clone(), Type::Text);
    let number =
        |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned));
    let removed = number(3)?.zip(number(4)?);
    Ok(FoundJob {
        job: JobId(row.get(0)?),
        results: Results::named(&results).ok_or_else(unknown)?,
        bytes: number(2)?.unwrap_or(0),
        removed: removed
            .map(|(at, kept_for)| Removal { at: Time::from_nanos(at), kept_for: Span::from_nanos(kept_for) }),
        body: row.get(5)?,
        spec: row.get(6)?,
    })
}

/// Which rows [`WithResults`] stands for: its results, the moments, and its user, in this order.
fn with(wanted: &WithResults) -> (&'static str, [rusqlite::types::Value; 4]) {
    let which = match wanted.user {
        Some(_) => "results = ?1 AND ended BETWEEN ?2 AND ?3 AND user = ?4",
        None => "results = ?1 AND ended BETWEEN ?2 AND ?3 AND ?4 IS NULL",
    };
    let moment = |at: Time| at.nanos().min(i64::MAX.cast_unsigned()).cast_signed();
    let (from, by) = (moment(wanted.ended.0), moment(wanted.ended.1));
    (which, [wanted.results.name().to_owned().into(), from.into(), by.into(), wanted.user.clone().into()])
}

fn number(task: TaskId) -> i64 {
    task.index().cast_signed() as i64
}

fn ends(range: TaskRange) -> (i64, i64) {
    (number(range.first()), number(range.last()))
}

fn of_job(job: JobId) -> (i64, i64) {
    (i64::from(job.0), i64::from(job.0))
}

/// The database's numbers end there.
pub(super) fn limit(at_most: usize) -> i64 {
    i64::try_from(at_most).unwrap_or(i64::MAX)
}

fn task(number: i64) -> TaskId {
    TaskId::new(usize::try_from(number).unwrap_or(usize::MAX))
}

impl SqliteReader {
    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ReadError> {
        ask(self.connection()).map_err(read_error)
    }
}

impl PastReader for SqliteReader {
    fn past_at(&self) -> Result<Seq, ReadError> {
        let upto = |row: &Row<'_>| row.get::<_, i64>(0);
        let found = self.ask(|ask| ask.query_row("SELECT upto FROM past", [], upto));
        found.map(|upto| Seq::new(upto.cast_unsigned()))
    }

    fn past_task(&self, task: TaskId) -> Result<Option<Vec<u8>>, ReadError> {
        let body = "SELECT body FROM past_tasks WHERE task = ?1";
        self.ask(|ask| ask.prepare_cached(body)?.query_row([number(task)], |row| row.get(0)).optional())
    }

    fn past_tasks(&self, range: TaskRange, at_most: usize) -> Result<Vec<(TaskId, Vec<u8>)>, ReadError> {
        let bodies = "SELECT task, body FROM past_tasks WHERE task BETWEEN ?1 AND ?2 ORDER BY task LIMIT ?3";
        let (first, last) = ends(range);
        self.ask(|ask| {
            let mut found = ask.prepare_cached(bodies)?;
            let found = found.query_map(params![first, last, limit(at_most)], |row| {
                Ok((task(row.get(0)?), row.get(1)?))
            })?;
            found.collect()
        })
    }

    fn past_job(&self, id: JobId) -> Result<Option<FoundJob>, ReadError> {
        let found = format!("{FOUND} WHERE job = ?1");
        self.ask(|ask| ask.prepare_cached(&found)?.query_row([id.0], job).optional())
    }

    fn past_job_listed(&self, id: JobId) -> Result<Option<FoundJob>, ReadError> {
        let found = format!("{LISTED} WHERE job = ?1");
        self.ask(|ask| ask.prepare_cached(&found)?.query_row([id.0], job).optional())
    }

    fn past_job_with_key(&self, user: &str, key: &str) -> Result<Option<FoundJob>, ReadError> {
        let found = format!("{LISTED} WHERE user = ?1 AND key = ?2");
        self.ask(|ask| ask.prepare_cached(&found)?.query_row([user, key], job).optional())
    }

    fn past_jobs(&self, wanted: &Wanted, each: &mut dyn FnMut(FoundJob)) -> Result<(), ReadError> {
        let of_user = if wanted.user.is_some() { "user = ?1" } else { "?1 IS NULL" };
        let found = format!(
            "{LISTED} WHERE {of_user} AND (?2 IS NULL OR state = ?2) AND job < ?3 ORDER BY job DESC LIMIT ?4"
        );
        let state = wanted.state.map(TaskPhase::name);
        let before = wanted.before.map_or(i64::MAX, |before| i64::from(before.0));
        self.ask(|ask| {
            let mut found = ask.prepare_cached(&found)?;
            for found in found.query_map(params![wanted.user, state, before, limit(wanted.limit)], job)? {
                each(found?);
            }
            Ok(())
        })
    }

    fn past_with(
        &self,
        wanted: &WithResults,
        at_most: usize,
        each: &mut dyn FnMut(FoundJob),
    ) -> Result<(), ReadError> {
        let (which, [results, from, by, user]) = with(wanted);
        let found = format!("{LISTED} WHERE {which} ORDER BY ended, job LIMIT ?5");
        self.ask(|ask| {
            let mut found = ask.prepare_cached(&found)?;
            for found in found.query_map(params![results, from, by, user, limit(at_most)], job)? {
                each(found?);
            }
            Ok(())
        })
    }

    fn past_amount(&self, wanted: &WithResults) -> Result<Amount, ReadError> {
        let (which, values) = with(wanted);
        let amount = format!("SELECT count(*), coalesce(sum(bytes), 0) FROM past_jobs WHERE {which}");
        self.ask(|ask| {
            ask.prepare_cached(&amount)?.query_row(values, |row| {
                let number =
                    |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(column)?.cast_unsigned());
                Ok(Amount { jobs: number(0)?, bytes: number(1)? })
            })
        })
    }

    fn base_tasks(&self, from: TaskId, at_most: usize) -> Result<Vec<PastTask>, ReadError> {
        let found = self.ask(|ask| {
            let mut found = ask.prepare_cached(base::TASKS)?;
            let found =
                found.query_map([number(from), limit(at_most)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()
        })?;
        let tasks = found.into_iter().map(|(number, body)| {
            let files = self.ask(|ask| files_of(ask, true, number))?;
            Ok(PastTask { task: task(number), files, body })
        });
        tasks.collect()
    }

    fn base_jobs(&self, from: JobId, at_most: usize) -> Result<Vec<PastJob>, ReadError> {
        let mut jobs = self.ask(|ask| {
            let mut found = ask.prepare_cached(base::JOBS)?;
            let found = found.query_map([i64::from(from.0), limit(at_most)], whole_job)?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        for job in &mut jobs {
            job.files = self.ask(|ask| files_of(ask, false, i64::from(job.job.0)))?;
        }
        Ok(jobs)
    }

    fn names_file(&self, file: &BlobHash) -> Result<bool, ReadError> {
        let named = "SELECT EXISTS (SELECT 1 FROM past_files WHERE file = ?1)";
        self.ask(|ask| ask.prepare_cached(named)?.query_row([file.as_bytes()], |row| row.get(0)))
    }
}
