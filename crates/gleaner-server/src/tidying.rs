//! Removes files that nobody can ask for any more: checkpoints that newer ones replaced, results of runs that were run
//! again, and inputs that were sent for a job that never came.

use crate::app::App;
use crate::blobs::{BlobError, BlobId, Removed};
use crate::driver::Stopped;
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::task::{JoinError, spawn_blocking};

/// How often to look.
const EVERY: Duration = Duration::from_hours(1);
/// What was put or asked for since is kept: it may be meant for a fact that is not committed yet.
pub const YOUNG: Duration = Duration::from_hours(24);

/// Why nothing was removed, or not all that could be.
#[derive(Debug, Error)]
pub enum TidyError {
    /// The coordinator ends.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The files cannot be got at.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// A defect.
    #[error("looking for files to remove: {0}")]
    Panic(#[from] JoinError),
}

/// Removes what is not needed and was last put or asked for before `before`. Costs O(jobs and tasks in memory + files), a small
/// part of it on the desk's thread.
pub async fn tidy(app: &Arc<App>, before: Time) -> Result<Removed, TidyError> {
    let keep: BTreeSet<BlobId> = app
        .desk
        .look(|desk, _| desk.ledger().files().filter_map(|hash| hash.as_str().parse().ok()).collect())
        .await?;
    // What left memory since is in the store by now.
    let app = Arc::clone(app);
    let is_kept = move |app: &App, id: BlobId| {
        let hash = BlobHash::try_from(id.to_string()).expect("a blob is named by its hash");
        // What cannot be looked up stays.
        keep.contains(&id) || app.readers.read(|reader| reader.names_file(&hash)).unwrap_or(true)
    };
    let remove = move || app.blobs.remove_unreferenced(&|id| is_kept(&app, id), before);
    Ok(spawn_blocking(remove).await??)
}

/// Tidies for as long as the coordinator runs.
pub(crate) async fn keep_tidy(app: Arc<App>) {
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
