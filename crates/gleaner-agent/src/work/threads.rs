//! What can block, on threads of its own: files that are brought here and stored, folders that are measured and
//! removed, what is to be written down. What comes of it is an event for the worker's loop.

use super::room::Bound;
use super::{WorkError, joining, spool};
use crate::allowance::Allowance;
use crate::cache::Cache;
use crate::duties::{Duties, Event, TransferError, Wanted};
use crate::folder;
use crate::home::{Home, Identity};
use crate::probes::Benchmark;
use gleaner_net::Client;
use gleaner_units::RunId;
use gleaner_wire::Met;
use gleaner_wire::session::{Profile, Run};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, mpsc};

/// Transfers at a time.
const TRANSFERS_MAX: usize = 4;

pub(super) struct Threads {
    home: Arc<Home>,
    cache: Arc<Cache>,
    /// For files, since the coordinator gave a token for them.
    client: Option<Client>,
    /// Which coordinator it was with last, as it is written down.
    met: Arc<Mutex<Option<Met>>>,
    transfers: Arc<Semaphore>,
    /// Whether it is being tried whether the disk works again: transfers that hang do not keep it from that.
    is_disk_tried: Arc<AtomicBool>,
    /// Whether nothing is brought here for guests, and whether nothing is stored of what they left: the owner wants the machine.
    brings_nothing: Arc<AtomicBool>,
    stores_nothing: Arc<AtomicBool>,
    /// Runs whose folders are being measured.
    measuring: Arc<Mutex<BTreeSet<RunId>>>,
    events: mpsc::Sender<Event>,
}

impl Threads {
    pub(super) fn new(home: Arc<Home>, cache: Cache, met: Option<Met>, events: mpsc::Sender<Event>) -> Self {
        Self {
            home,
            cache: Arc::new(cache),
            client: None,
            met: Arc::new(Mutex::new(met)),
            transfers: Arc::new(Semaphore::new(TRANSFERS_MAX)),
            is_disk_tried: Arc::default(),
            brings_nothing: Arc::default(),
            stores_nothing: Arc::default(),
            measuring: Arc::default(),
            events,
        }
    }

    /// What is under way breaks off where the duties say so.
    pub(super) fn heed(&self, duties: &Duties) {
        self.brings_nothing.store(duties.brings_nothing(), Ordering::Relaxed);
        self.stores_nothing.store(duties.stores_nothing(), Ordering::Relaxed);
    }

    /// Files come and go through this client from now on.
    pub(super) fn use_client(&mut self, client: Client, found: &Profile) {
        if joining::lacks_network(&self.home, &client) {
            let (home, client) = (self.home.clone(), client.clone());
            self.measure(found, move || joining::measure_network_too(&home, &client));
        }
        self.client = Some(client);
    }

    pub(super) fn prepare(&self, run: Arc<Run>, path: PathBuf, disk_free_min: u64) {
        let (cache, client) = (self.cache.clone(), self.client.clone());
        let allowance = self.allowance(&self.brings_nothing, disk_free_min);
        let broken = Event::Prepared(run.id, Err(broke_off("what it needs was brought here")));
        self.on_thread_or(broken, move || {
            Event::Prepared(run.id, folder::prepare(&run, &path, &cache, client.as_ref(), &allowance))
        });
    }

    pub(super) fn collect(&self, run: Arc<Run>, path: PathBuf, wanted: Wanted, disk_free_min: u64) {
        let client = self.client.clone();
        let goes_all_the_same = Arc::default();
        let is_stopped = if wanted.checkpoint { &goes_all_the_same } else { &self.stores_nothing };
        let allowance = self.allowance(is_stopped, disk_free_min);
        let broken = Event::Collected(run.id, Err(broke_off("what it left was stored")));
        self.on_thread_or(broken, move || {
            let result = match client {
                Some(client) => folder::collect(&run, &path, wanted, &client, &allowance),
                None => Err(TransferError::Later("there is no token for files".into())),
            };
            if let Err(TransferError::Later(why)) = &result {
                tracing::warn!(
                    task = run.name,
                    run = run.id.number,
                    why,
                    "what it left is kept here until it can be stored"
                );
            }
            Event::Collected(run.id, result)
        });
    }

    /// What may be done for guests, unless `is_stopped`.
    fn allowance(&self, is_stopped: &Arc<AtomicBool>, disk_free_min: u64) -> Allowance {
        Allowance::new(is_stopped.clone(), self.home.path(), disk_free_min)
    }

    /// Each on a thread of its own: a task can make this take long, and then only it is measured less often.
    pub(super) fn measure_folder(&self, run: RunId, bound: Bound, (folder, first): (PathBuf, Option<u32>)) {
        let measuring = self.measuring.clone();
        let mut under_way = measuring.lock().unwrap_or_else(PoisonError::into_inner);
        if !under_way.insert(run) {
            return;
        }
        drop(under_way);
        let events = self.events.clone();
        tokio::task::spawn_blocking(move || {
            let found = bound.is_exceeded(&folder, first);
            measuring.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
            match found {
                Ok(true) => drop(events.blocking_send(Event::FolderTooLarge(run))),
                Ok(false) => {}
                // Most often it has just ended, and its folder is gone.
                Err(why) => {
                    tracing::debug!(%why, path = %folder.display(), "a folder cannot be measured");
                }
            }
        });
    }

    pub(super) fn clear(&self, path: PathBuf) {
        let home = self.home.clone();
        tokio::task::spawn_blocking(move || home.clear(&path));
    }

    /// Whether the disk works again.
    pub(super) fn try_disk(&self) {
        if self.is_disk_tried.swap(true, Ordering::Relaxed) {
            return;
        }
        let (home, is_tried) = (self.home.clone(), self.is_disk_tried.clone());
        apart(self.events.clone(), None, Event::Tick, move || {
            let works = spool::can_keep(&home);
            is_tried.store(false, Ordering::Relaxed);
            if works { Event::DiskWorks } else { Event::Tick }
        });
    }

    /// A disk can take long; the thread that comes last writes last.
    pub(super) fn remember(&self, met: Met) {
        let (home, written) = (self.home.clone(), self.met.clone());
        self.on_thread(move || {
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            let is_news = |old: &Met| {
                let goes_on = old.lineage == met.lineage && old.row < met.row;
                let is_later = old.lineage != met.lineage && old.epoch <= met.epoch;
                goes_on || is_later || old.restores != met.restores
            };
            if written.as_ref().is_none_or(is_news) {
                match home.remember(&met) {
                    Ok(()) => *written = Some(met),
                    Err(why) => tracing::warn!(%why, "which coordinator this was is not written down"),
                }
            }
            Event::Tick
        });
    }

    pub(super) fn remember_address(&self, identity: Identity) {
        let home = self.home.clone();
        self.on_thread(move || {
            if let Err(why) = home.enrol(&identity) {
                tracing::warn!(%why, "the coordinator's new address is not written down");
            }
            Event::Tick
        });
    }

    pub(super) fn measure_anew(&self, found: &Profile) {
        let (home, client) = (self.home.clone(), self.client.clone());
        self.measure(found, move || joining::measure_anew(&home, client.as_ref()).map(Some));
    }

    fn measure(
        &self,
        found: &Profile,
        measure: impl FnOnce() -> Result<Option<Benchmark>, WorkError> + Send + 'static,
    ) {
        let mut profile = found.clone();
        self.on_thread(move || match measure() {
            Ok(Some(measured)) => {
                (profile.speeds, profile.cpu_on_core) = joining::in_order(&measured);
                Event::Measured(profile)
            }
            Ok(None) => Event::Tick,
            Err(why) => {
                tracing::warn!(%why, "the speeds stay as they were");
                Event::Tick
            }
        });
    }

    /// Does what blocks, a few at a time.
    fn on_thread(&self, work: impl FnOnce() -> Event + Send + 'static) {
        self.on_thread_or(Event::Tick, work);
    }

    /// Likewise; if it panics, the event is that it broke off.
    fn on_thread_or(&self, broken: Event, work: impl FnOnce() -> Event + Send + 'static) {
        apart(self.events.clone(), Some(self.transfers.clone()), broken, work);
    }
}

/// A run goes on from its transfer, or ends with it: where nothing came of it, it would keep its place for good.
fn broke_off(during: &str) -> TransferError {
    TransferError::Failed(format!(
        "the agent failed while {during}; this is a defect of Gleaner, and its log has more"
    ))
}

/// Does what blocks, when its turn comes.
fn apart(
    events: mpsc::Sender<Event>,
    turns: Option<Arc<Semaphore>>,
    broken: Event,
    work: impl FnOnce() -> Event + Send + 'static,
) {
    tokio::spawn(async move {
        let _permit = match &turns {
            Some(turns) => turns.acquire().await.ok(),
            None => None,
        };
        let event = tokio::task::spawn_blocking(work).await.unwrap_or_else(|why| {
            tracing::error!(%why, "a transfer broke off");
            broken
        });
        drop(events.send(event).await);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    #[tokio::test]
    async fn a_run_hears_of_its_transfer_though_that_panicked() {
        let (events, mut heard) = mpsc::channel(1);
        let run = RunId::new(TaskId::new(0), 1);
        let broken = Event::Collected(run, Err(broke_off("what it left was stored")));
        apart(events, Some(Arc::new(Semaphore::new(1))), broken, || panic!("as it must not"));
        let told = heard.recv().await;
        assert!(matches!(told, Some(Event::Collected(about, Err(TransferError::Failed(_)))) if about == run));
    }
}
