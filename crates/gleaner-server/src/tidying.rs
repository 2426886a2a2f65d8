//! Removes what was kept for long enough, and files that nobody can ask for any more: checkpoints that newer ones replaced, results
//! of runs that were run again or removed, and inputs that were sent for a job that never came.
//!
//! **That results are removed is a fact before a file is touched**, and that their files are gone is another behind it. A coordinator
//! that ends between the two goes on from the first.
//!
//! **No file is removed that a job in memory or in the store names.** What memory names is looked at once, before the files are walked
//! through; what comes back from the store after that had its files renewed before (`http/jobs.rs`), as what is submitted has.

use crate::app::App;
use crate::blobs::{BlobError, Removed};
use crate::desk::{Answer, Keeping, Order, Requester};
use crate::driver::Stopped;
use crate::ledger::Job;
use crate::limits::{REMOVED_AT_ONCE, YOUNG};
use crate::outputs::{self, OutputError};
use crate::store::{Amount, ReadError, Results, WithResults};
use gleaner_units::Time;
use gleaner_wire::{BlobHash, JobId};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::task::{JoinError, spawn_blocking};

/// How often to look.
const EVERY: Duration = Duration::from_hours(1);

/// Why nothing was removed, or not all that could be.
#[derive(Debug, Error)]
pub enum TidyError {
    /// The coordinator ends.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The files cannot be got at.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// What left memory cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Output cannot be removed.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A defect.
    #[error("looking for files to remove: {0}")]
    Panic(#[from] JoinError),
}

/// How often to look for what is due: as often as for files, or as soon as it may be.
fn every(keeping: Keeping) -> Duration {
    let shortest =
        keeping.results.into_iter().chain(keeping.records).map(|kept| Duration::from_nanos(kept.nanos()));
    shortest.min().unwrap_or(EVERY).clamp(Duration::from_secs(1), EVERY)
}

/// Removes the results of jobs that were over for long enough, and the records of those that were for longer. Little of it is done
/// on the desk's thread.
pub async fn remove_due(app: &Arc<App>) -> Result<Amount, TidyError> {
    let keeping = app.desk.look(|desk, _| desk.terms().keeping).await?;
    remove_going(app).await?;
    let mut removed = Amount::default();
    for (kept_for, results) in [(keeping.results, Results::There), (keeping.records, Results::Gone)] {
        let Some(kept_for) = kept_for else { continue };
        let over = app.desk.look(move |desk, now| desk.ledger().long_over(now, kept_for)).await?;
        let mut over = over.into_iter();
        let mut ended = over.next();
        let mut before = Vec::new();
        while let Some((from, by)) = ended {
            let due = jobs_with(app, results, (from, by)).await?;
            let ids: Vec<JobId> = due.iter().map(|(id, _)| *id).collect();
            // What the desk does not remove stays for the next look.
            if ids == before || ids.is_empty() {
                ended = over.next();
                continue;
            }
            before.clone_from(&ids);
            if results == Results::There {
                if let Answer::Removed(amount) = order(app, Order::RemoveResults(ids)).await? {
                    removed.jobs += amount.jobs;
                    removed.bytes += amount.bytes;
                }
                remove_going(app).await?;
            } else {
                order(app, Order::ForgetJobs(ids)).await?;
            }
        }
    }
    Ok(removed)
}

/// Removes the files of results that were removed.
async fn remove_going(app: &Arc<App>) -> Result<(), TidyError> {
    loop {
        let going = jobs_with(app, Results::Going, (Time::ZERO, Time::NEVER)).await?;
        if going.is_empty() {
            return Ok(());
        }
        let (home, began) = (app.home.folder().to_owned(), app.desk.began());
        let tasks = going.iter().map(|(_, job)| job.range()).collect();
        spawn_blocking(move || outputs::remove(&home, began, tasks)).await??;
        order(app, Order::ResultsGone(going.into_iter().map(|(id, _)| id).collect())).await?;
    }
}

async fn jobs_with(
    app: &Arc<App>,
    results: Results,
    ended: (Time, Time),
) -> Result<Vec<(JobId, Job)>, TidyError> {
    let app = Arc::clone(app);
    let wanted = WithResults { results, user: None, ended };
    let read = move || app.readers.read(|reader| Job::list_with(reader, &wanted, REMOVED_AT_ONCE));
    Ok(spawn_blocking(read).await??)
}

async fn order(app: &App, order: Order) -> Result<Answer, TidyError> {
    // An order of the coordinator's own is not refused.
    Ok(app.desk.order(Requester::coordinator(), order).await?.unwrap_or(Answer::Done))
}

/// Removes what is due for as long as the coordinator runs; at once only what was begun before it started.
pub async fn keep_removing(app: Arc<App>) {
    let Ok(keeping) = app.desk.look(|desk, _| desk.terms().keeping).await else { return };
    let mut done = remove_going(&app).await.map(|()| Amount::default());
    loop {
        match done {
            Ok(Amount { jobs: 0, .. }) => {}
            Ok(Amount { jobs, bytes }) => {
                tracing::info!(jobs, bytes, "removed results that were kept for long enough");
            }
            Err(TidyError::Stopped(_)) => return,
            Err(error) => tracing::warn!("results could not be removed: {error}"),
        }
        tokio::time::sleep(every(keeping)).await;
        done = remove_due(&app).await;
    }
}

/// Removes what is not needed and was last put or asked for before `before`. Costs O(jobs and tasks in memory + files), a small
/// part of it on the desk's thread.
pub async fn tidy(app: &Arc<App>, before: Time) -> Result<Removed, TidyError> {
    let keep: BTreeSet<BlobHash> = app.desk.look(|desk, _| desk.ledger().files().copied().collect()).await?;
    // What left memory since is in the store by now.
    let app = Arc::clone(app);
    let is_kept = move |app: &App, id: BlobHash| {
        // What cannot be looked up stays.
        keep.contains(&id) || app.readers.read(|reader| reader.names_file(&id)).unwrap_or(true)
    };
    let remove = move || app.blobs.remove_unreferenced(&|id| is_kept(&app, id), before);
    Ok(spawn_blocking(remove).await??)
}

/// Tidies for as long as the coordinator runs.
pub async fn keep_tidy(app: Arc<App>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let young = YOUNG.as_nanos() as u64;
        let before = Time::from_nanos(app.desk.now().nanos().saturating_sub(young));
        match tidy(&app, before).await {
            Ok(Removed { blobs: 0, .. }) => {}
            Ok(removed) => tracing::info!(removed.blobs, removed.bytes, "removed files that nobody needs"),
            Err(TidyError::Stopped(_)) => return,
            Err(error) => tracing::warn!("files that nobody needs could not be removed: {error}"),
        }
    }
}
