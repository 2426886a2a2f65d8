//! Saves snapshots on a thread of its own, since others wait for the desk's.
//!
//! **A snapshot is made of the journal, not of the desk's ledger**: of the one before it and the rows since, as a start
//! would read them. To write its ledger down would stop the desk for as long as the ledger is large. For that time the
//! ledger is in memory twice.

use crate::limits::LAST_SNAPSHOT_MAX;
use crate::recovery::{RecoveryError, recover_unless};
use crate::store::{Reader, Snapshots};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

pub(crate) struct Snapshotter {
    orders: SyncSender<()>,
    /// Nothing comes of it but its end.
    ended: Receiver<()>,
    given_up: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Snapshotter {
    pub(crate) fn start(reader: Box<dyn Reader>, snapshots: Box<dyn Snapshots>) -> io::Result<Self> {
        let (orders, ordered) = sync_channel(1);
        let (ends, ended) = sync_channel(0);
        let given_up = Arc::new(AtomicBool::new(false));
        let work = Work { reader, snapshots, given_up: Arc::clone(&given_up), _ends: ends };
        let thread = Builder::new().name("snapshots".to_owned()).spawn(move || work.serve(&ordered));
        Ok(Self { orders, ended, given_up, thread: thread? })
    }

    /// Has a snapshot made of what is committed.
    pub(crate) fn order(&self) {
        // If one is waited for already, that one will have what is committed now.
        let _ = self.orders.try_send(());
    }

    /// Waits until what was ordered is done, or has taken too long: whoever stops a coordinator is not to wait for what the next start
    /// can do as well.
    pub(crate) fn finish(self) {
        drop(self.orders);
        if self.ended.recv_timeout(LAST_SNAPSHOT_MAX) == Err(RecvTimeoutError::Timeout) {
            self.given_up.store(true, Ordering::Relaxed);
            tracing::info!(
                "the last snapshot takes too long and is given up; the next start reads more of the journal"
            );
        }
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

struct Work {
    reader: Box<dyn Reader>,
    snapshots: Box<dyn Snapshots>,
    given_up: Arc<AtomicBool>,
    /// Dropped at the end.
    _ends: SyncSender<()>,
}

impl Work {
    fn serve(mut self, ordered: &Receiver<()>) {
        while ordered.recv().is_ok() {
            match self.save() {
                Ok(()) => {}
                // The journal has it all; only the next start takes longer.
                Err(error) => tracing::warn!("no snapshot was saved: {error}"),
            }
        }
    }

    fn save(&mut self) -> Result<(), RecoveryError> {
        let given_up = || self.given_up.load(Ordering::Relaxed);
        let Some(recovered) = recover_unless(given_up, &*self.reader, &*self.snapshots)? else {
            return Ok(());
        };
        if recovered.rows > 0 {
            let snapshot = recovered.snapshot();
            self.snapshots.save(&snapshot)?;
            tracing::info!(rows = recovered.rows, bytes = snapshot.body.len(), "snapshot saved");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Recorded;
    use crate::journal::{Entry, Fact};
    use crate::ledger::FORMAT;
    use crate::recovery::{Recovered, recover};
    use crate::store::{MemoryDisk, MemoryStore, Snapshot, Store};
    use gleaner_units::Time;

    fn commit(store: &mut MemoryStore, epoch: u32) {
        let lineage = gleaner_wire::Lineage::of([epoch as u8; 8]);
        let program = "test".to_owned();
        let fact = Fact::CoordinatorStarted { epoch, lineage, program, seed: 1, policy: None };
        let entry = Entry { at: Time::from_nanos(u64::from(epoch)), fact };
        store.commit(&[Recorded::without_steps(entry).row()]).unwrap();
    }

    #[test]
    fn a_snapshot_has_all_that_was_committed_before_it_was_ordered() {
        let disk = MemoryDisk::default();
        let mut store = MemoryStore::open(&disk);
        let snapshotter = Snapshotter::start(store.reader().unwrap(), store.snapshots().unwrap()).unwrap();
        for epoch in 1..=3 {
            commit(&mut store, epoch);
            snapshotter.order();
        }
        snapshotter.finish();
        let snapshot = store.snapshots().unwrap().latest(FORMAT).unwrap().unwrap();
        assert_eq!(snapshot.at, store.last());
        let Recovered { ledger, rows, .. } =
            recover(&*store.reader().unwrap(), &*store.snapshots().unwrap()).unwrap();
        assert_eq!((ledger.epoch(), rows), (3, 0));
    }

    #[test]
    fn one_that_cannot_be_read_is_passed_over() {
        let disk = MemoryDisk::default();
        let mut store = MemoryStore::open(&disk);
        commit(&mut store, 1);
        let snapshot = Snapshot { at: store.last(), format: FORMAT, body: vec![0xff; 64] };
        store.snapshots().unwrap().save(&snapshot).unwrap();
        let Recovered { ledger, rows, .. } =
            recover(&*store.reader().unwrap(), &*store.snapshots().unwrap()).unwrap();
        assert_eq!((ledger.epoch(), rows), (1, 1));
    }

    #[test]
    fn one_that_takes_too_long_at_the_end_is_given_up() {
        let disk = MemoryDisk::default();
        let mut store = MemoryStore::open(&disk);
        commit(&mut store, 1);
        let snapshotter = Snapshotter::start(store.reader().unwrap(), store.snapshots().unwrap()).unwrap();
        snapshotter.given_up.store(true, Ordering::Relaxed);
        snapshotter.order();
        snapshotter.finish();
        assert!(store.snapshots().unwrap().latest(FORMAT).unwrap().is_none());
    }
}
