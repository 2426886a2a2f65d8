//! The tables of what left memory. Beside the journal, and never in place of it: they can be made of it again.

use super::reader::{SqliteReader, read_error};
use crate::store::past::{FoundJob, Past, PastJob, PastReader, PastTask, Wanted};
use crate::store::{ReadError, Seq, TaskRange};
use gleaner_units::TaskId;
use gleaner_wire::api::JobState;
use gleaner_wire::{BlobHash, JobId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

const UPTO: &str = "UPDATE past SET upto = ?1";
const TASK: &str = "INSERT OR REPLACE INTO past_tasks (task, body) VALUES (?1, ?2)";
const JOB: &str = "INSERT OR REPLACE INTO past_jobs (job, user, key, state, ended, body, spec) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const BACK: &str = "DELETE FROM past_jobs WHERE job = ?1";
const TASKS_BACK: &str = "DELETE FROM past_tasks WHERE task BETWEEN ?1 AND ?2";
/// What tasks left, and what jobs read.
const FILE: &str = "INSERT OR IGNORE INTO past_files (file, is_left, owner) VALUES (?1, ?2, ?3)";
const FILES_BACK: &str = "DELETE FROM past_files WHERE is_left = ?1 AND owner BETWEEN ?2 AND ?3";
const NOTHING: &str = "
    DELETE FROM past_tasks;
    DELETE FROM past_jobs;
    DELETE FROM past_files;
    UPDATE past SET upto = 0;
";

/// Within the transaction of the rows.
pub(super) fn write(connection: &Connection, past: &Past) -> rusqlite::Result<()> {
    let mut files_back = connection.prepare_cached(FILES_BACK)?;
    for job in &past.recalled {
        connection.prepare_cached(BACK)?.execute([job.0])?;
        files_back.execute(params![false, job.0, job.0])?;
    }
    for (first, last) in past.recalled_tasks.iter().map(|range| ends(*range)) {
        connection.prepare_cached(TASKS_BACK)?.execute([first, last])?;
        files_back.execute(params![true, first, last])?;
    }
    let (mut insert_task, mut insert_file) =
        (connection.prepare_cached(TASK)?, connection.prepare_cached(FILE)?);
    for PastTask { task, files, body } in &past.tasks {
        insert_task.execute(params![number(*task), body])?;
        for file in files {
            insert_file.execute(params![bytes(file), true, number(*task)])?;
        }
    }
    let mut insert_job = connection.prepare_cached(JOB)?;
    for PastJob { job, user, key, state, ended, files, body, spec } in &past.jobs {
        insert_job.execute(params![
            job.0,
            user,
            key,
            state.name(),
            ended.nanos().cast_signed(),
            body,
            spec
        ])?;
        for file in files {
            insert_file.execute(params![bytes(file), false, job.0])?;
        }
    }
    connection.prepare_cached(UPTO)?.execute([past.upto.number().cast_signed()]).map(drop)
}

pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("BEGIN IMMEDIATE; {NOTHING} COMMIT;"))
}

/// Half of its text.
fn bytes(file: &BlobHash) -> Vec<u8> {
    let digits = file.as_str().as_bytes();
    let digit = |at: usize| (digits[at] as char).to_digit(16).unwrap_or(0) as u8;
    (0..digits.len() / 2).map(|at| digit(2 * at) << 4 | digit(2 * at + 1)).collect()
}

fn job(row: &Row<'_>) -> rusqlite::Result<FoundJob> {
    Ok(FoundJob { job: JobId(row.get(0)?), body: row.get(1)?, spec: row.get(2)? })
}

fn number(task: TaskId) -> i64 {
    task.index().cast_signed() as i64
}

fn ends(range: TaskRange) -> (i64, i64) {
    (number(range.first()), number(range.last()))
}

/// The database's numbers end there.
fn limit(at_most: usize) -> i64 {
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
        let found = "SELECT job, body, spec FROM past_jobs WHERE job = ?1";
        self.ask(|ask| ask.prepare_cached(found)?.query_row([id.0], job).optional())
    }

    fn past_job_with_key(&self, user: &str, key: &str) -> Result<Option<FoundJob>, ReadError> {
        let found = "SELECT job, body, spec FROM past_jobs WHERE user = ?1 AND key = ?2";
        self.ask(|ask| ask.prepare_cached(found)?.query_row([user, key], job).optional())
    }

    fn past_jobs(&self, wanted: &Wanted) -> Result<Vec<FoundJob>, ReadError> {
        let of_user = if wanted.user.is_some() { "user = ?1" } else { "?1 IS NULL" };
        let found = format!(
            "SELECT job, body, x'' FROM past_jobs WHERE {of_user} AND (?2 IS NULL OR state = ?2) ORDER BY job DESC LIMIT ?3"
        );
        let state = wanted.state.map(JobState::name);
        self.ask(|ask| {
            let mut found = ask.prepare_cached(&found)?;
            found.query_map(params![wanted.user, state, limit(wanted.limit)], job)?.collect()
        })
    }

    fn names_file(&self, file: &BlobHash) -> Result<bool, ReadError> {
        let named = "SELECT EXISTS (SELECT 1 FROM past_files WHERE file = ?1)";
        self.ask(|ask| ask.prepare_cached(named)?.query_row([bytes(file)], |row| row.get(0)))
    }
}
