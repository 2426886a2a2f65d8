//! What can block, on threads of its own: files that are brought here and stored, folders that are measured and
//! removed, what is to be written down. What comes of it is an event for the worker's loop.

use super::latest::Latest;
use super::room::Bound;
use super::transfers::{Answer, Next, Transfers};
use super::{WorkError, joining, spool};
use crate::allowance::{Allowance, LEFT_FREE_MIN, Reserved};
use crate::cache::Cache;
use crate::confine::Settings;
use crate::duties::{Duties, Event, TransferError, Wanted};
use crate::folder;
use crate::home::{Home, Identity};
use crate::owner::Said;
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
    settings: Arc<Settings>,
    cache: Arc<Cache>,
    /// For files, since the coordinator gave a token for them.
    client: Option<Client>,
    /// Which coordinator it was with last, as it is written down.
    met: Arc<Mutex<Option<Met>>>,
    turns: Arc<Semaphore>,
    transfers: Transfers,
    /// What they may still write to the disk.
    reserved: Reserved,
    /// Small files that the loop has written: one after the other, and none waits for transfers.
    writes: Arc<Semaphore>,
    said: Arc<Latest<Said>>,
    identity: Arc<Latest<Identity>>,
    /// Whether what could not be removed is being tried again.
    is_clearing: Arc<AtomicBool>,
    /// Whether files of the cache are being removed to make room.
    gives_way: Arc<AtomicBool>,
    /// Whether it is being tried whether the disk works again: transfers that hang do not keep it from that.
    is_disk_tried: Arc<AtomicBool>,
    /// Whether nothing is brought here for guests, and whether nothing is stored of what they left: the owner wants the machine.
    brings_nothing: Arc<AtomicBool>,
    stores_nothing: Arc<AtomicBool>,
    /// Runs whose folders are being measured.
    measuring: Arc<Mutex<BTreeSet<RunId>>>,
    events: mpsc::Sender<Event>,
    /// While this is here there is a thread: where the system has none left for another, what is to be done waits then, and does not
    /// end the loop.
    _one: std::sync::mpsc::Sender<()>,
}

impl Threads {
    pub(super) fn new(
        home: Arc<Home>,
        settings: Arc<Settings>,
        cache: Cache,
        met: Option<Met>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let (one, until_the_end) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || until_the_end.recv());
        Self {
            home,
            settings,
            cache: Arc::new(cache),
            client: None,
            met: Arc::new(Mutex::new(met)),
            turns: Arc::new(Semaphore::new(TRANSFERS_MAX)),
            transfers: Transfers::default(),
            reserved: Reserved::default(),
            writes: Arc::new(Semaphore::new(1)),
            said: Arc::default(),
            identity: Arc::default(),
            is_clearing: Arc::default(),
            gives_way: Arc::default(),
            is_disk_tried: Arc::default(),
            brings_nothing: Arc::default(),
            stores_nothing: Arc::default(),
            measuring: Arc::default(),
            events,
            _one: one,
        }
    }

    /// What is under way breaks off where the duties say so.
    pub(super) fn heed(&self, duties: &Duties) {
        self.brings_nothing.store(duties.brings_nothing(), Ordering::Relaxed);
        self.stores_nothing.store(duties.stores_nothing(), Ordering::Relaxed);
        self.transfers.heed(|run| duties.is_transferring(run));
    }

    /// What the answer of a thread that worked for a run is.
    pub(super) fn answered(&mut self, run: RunId) -> Answer {
        self.transfers.answered(run)
    }

    /// Puts off what comes next for a run, if a thread still works for it.
    pub(super) fn put_off(&mut self, run: RunId, next: impl FnOnce() -> Next) -> bool {
        self.transfers.put_off(run, next)
    }

    /// Puts off that what is left of a run is removed, if a thread still works for it.
    pub(super) fn put_off_clearing(&mut self, run: RunId) -> bool {
        self.transfers.put_off_clearing(run)
    }

    /// Files come and go through this client from now on.
    pub(super) fn use_client(&mut self, client: Client, found: &Profile) {
        if joining::lacks_network(&self.home, &client) {
            let (home, client) = (self.home.clone(), client.clone());
            self.measure(found, move || joining::measure_network_too(&home, &client));
        }
        self.client = Some(client);
    }

    pub(super) fn prepare(&mut self, run: Arc<Run>, path: PathBuf, disk_free_min: u64) {
        let (cache, client) = (self.cache.clone(), self.client.clone());
        let is_unwanted = self.transfers.begin(run.id);
        let allowance = self.allowance(&self.brings_nothing, disk_free_min).unless(is_unwanted);
        let broken = Event::Prepared(run.id, Err(broke_off("what it needs was brought here")));
        self.transfer(broken, move || {
            Event::Prepared(run.id, folder::prepare(&run, &path, &cache, client.as_ref(), &allowance))
        });
    }

    pub(super) fn collect(&mut self, run: Arc<Run>, path: PathBuf, wanted: Wanted, disk_free_min: u64) {
        let client = self.client.clone();
        let is_unwanted = self.transfers.begin(run.id);
        let goes_all_the_same = Arc::default();
        let is_stopped = if wanted.checkpoint { &goes_all_the_same } else { &self.stores_nothing };
        let allowance = self.allowance(is_stopped, disk_free_min).unless(is_unwanted);
        let broken = Event::Collected(run.id, Err(broke_off("what it left was stored")));
        self.transfer(broken, move || {
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
        let keep_free = disk_free_min.max(LEFT_FREE_MIN);
        Allowance::new(is_stopped.clone(), self.home.path(), keep_free, self.reserved.clone())
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
            let found = bound.exceeded(&folder, first);
            measuring.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
            match found {
                Ok(Some(excess)) => drop(events.blocking_send(Event::FolderTooLarge(run, excess))),
                Ok(None) => {}
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

    /// Tries again to remove what could not be. That can take hours, so that nobody waits for it at the end.
    pub(super) fn clear_leftovers(&self) {
        if !self.home.has_trouble() || self.is_clearing.swap(true, Ordering::Relaxed) {
            return;
        }
        let (home, is_clearing) = (self.home.clone(), self.is_clearing.clone());
        let begun = std::thread::Builder::new().spawn(move || {
            home.clear_leftovers();
            is_clearing.store(false, Ordering::Relaxed);
        });
        if begun.is_err() {
            self.is_clearing.store(false, Ordering::Relaxed);
        }
    }

    /// Whether the machine's settings are being changed, as far as is known.
    pub(super) fn sees_settings_change(&self) -> bool {
        self.settings.is_changing()
    }

    /// Tasks that start from now on see the machine's settings as they are now.
    pub(super) fn follow_settings(&self) {
        let settings = self.settings.clone();
        tokio::task::spawn_blocking(move || settings.follow());
    }

    /// Removes files of the cache, where the disk is short of room.
    pub(super) fn give_way(&self) {
        if self.gives_way.swap(true, Ordering::Relaxed) {
            return;
        }
        let (cache, gives_way) = (self.cache.clone(), self.gives_way.clone());
        tokio::task::spawn_blocking(move || {
            match cache.give_way() {
                Ok(true) => tracing::info!("inputs were removed from the cache: the disk is short of room"),
                Ok(false) => {}
                Err(why) => tracing::warn!(%why, "the cache of inputs cannot make room"),
            }
            gives_way.store(false, Ordering::Relaxed);
        });
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

    /// Writes down what the owner said, and tells why not, if so.
    pub(super) fn remember_said(&self, said: Said, tell: impl FnOnce(Option<String>) + Send + 'static) {
        let (home, newest) = (self.home.clone(), self.said.clone());
        newest.set(said);
        self.write(move || {
            tell(newest.write(|said| home.remember_said(*said)).err().map(|why| why.to_string()));
        });
    }

    /// A disk can take long; the thread that comes last writes last.
    pub(super) fn remember(&self, met: Met) {
        let (home, written) = (self.home.clone(), self.met.clone());
        self.write(move || {
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
        });
    }

    pub(super) fn remember_address(&self, identity: Identity) {
        let (home, newest) = (self.home.clone(), self.identity.clone());
        newest.set(identity);
        self.write(move || {
            if let Err(why) = newest.write(|identity| home.enrol(identity)) {
                tracing::warn!(%why, "the coordinator's new address is not written down");
            }
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
        apart(self.events.clone(), None, Event::Tick, move || match measure() {
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

    /// Writes something small, one after the other.
    fn write(&self, write: impl FnOnce() + Send + 'static) {
        apart(self.events.clone(), Some(self.writes.clone()), Event::Tick, move || {
            write();
            Event::Tick
        });
    }

    /// Does what blocks, a few at a time; if it panics, the event is that it broke off.
    fn transfer(&self, broken: Event, work: impl FnOnce() -> Event + Send + 'static) {
        apart(self.events.clone(), Some(self.turns.clone()), broken, work);
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
