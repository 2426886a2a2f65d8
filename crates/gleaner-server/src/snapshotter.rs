//! Saves snapshots on a thread of its own, since others wait for the desk's.
//!
//! **A snapshot is made of the journal, not of the desk's ledger**: of the one before it and the rows since, as a start
//! would read them. To write its ledger down would stop the desk for as long as the ledger is large. For that time the
//! ledger is in memory twice.

use crate::recovery::{RecoveryError, recover};
use crate::store::{Reader, Snapshots};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

pub(crate) struct Snapshotter {
    orders: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Snapshotter {
    pub(crate) fn start(reader: Box<dyn Reader>, snapshots: Box<dyn Snapshots>) -> io::Result<Self> {
        let (orders, ordered) = sync_channel(1);
        let work = Work { reader, snapshots };
        let thread = Builder::new().name("snapshots".to_owned()).spawn(move || work.serve(&ordered));
        Ok(Self { orders, thread: thread? })
    }

    /// Has a snapshot made of what is committed.
    pub(crate) fn order(&self) {
        // If one is waited for already, that one will have what is committed now.
        let _ = self.orders.try_send(());
    }

    /// Waits until what was ordered is done.
    pub(crate) fn finish(self) {
        drop(self.orders);
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

struct Work {
    reader: Box<dyn Reader>,
    snapshots: Box<dyn Snapshots>,
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
        let recovered = recover(&*self.reader, &*self.snapshots)?;
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
    use crate::driver::row;
    use crate::journal::{Entry, Fact};
    use crate::ledger::FORMAT;
    use crate::recovery::Recovered;
    use crate::store::{MemoryDisk, MemoryStore, Store};
    use gleaner_units::Time;

    #[test]
    fn a_snapshot_has_all_that_was_committed_before_it_was_ordered() {
        let disk = MemoryDisk::default();
        let mut store = MemoryStore::open(&disk);
        let snapshotter = Snapshotter::start(store.reader().unwrap(), store.snapshots().unwrap()).unwrap();
        for epoch in 1..=3 {
            let lineage = gleaner_wire::Lineage::of([epoch as u8; 8]);
            let fact = Fact::CoordinatorStarted {
                epoch,
                lineage,
                program: "test".to_owned(),
                seed: 1,
                policy: None,
            };
            let entry = Entry { at: Time::from_nanos(u64::from(epoch)), fact };
            store.commit(&[row(&Recorded { entry, steps: Vec::new() })]).unwrap();
            snapshotter.order();
        }
        snapshotter.finish();
        let snapshot = store.snapshots().unwrap().latest(FORMAT).unwrap().unwrap();
        assert_eq!(snapshot.at, store.last());
        let Recovered { ledger, rows, .. } =
            recover(&*store.reader().unwrap(), &*store.snapshots().unwrap()).unwrap();
        assert_eq!((ledger.epoch(), rows), (3, 0));
    }
}
