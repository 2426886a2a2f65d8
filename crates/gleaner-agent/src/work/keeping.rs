//! Writes down what runs keep or left, and removes it when the coordinator has taken it: on a thread of its own, one after the other.

use crate::home::{Home, Record};
use gleaner_units::RunId;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::sync::oneshot;

/// What is written down, or was told to be.
pub(super) struct Keeping {
    runs: BTreeSet<RunId>,
    orders: mpsc::Sender<Order>,
    done: oneshot::Receiver<()>,
}

enum Order {
    Keep(Vec<Record>),
    Clear(RunId, PathBuf),
}

impl Keeping {
    /// These runs are written down already.
    pub(super) fn start(home: Arc<Home>, runs: BTreeSet<RunId>) -> io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (is_done, done) = oneshot::channel();
        thread::Builder::new().spawn(move || {
            for order in taken {
                carry_out(&home, order);
            }
            // Nobody may wait for it.
            let _ = is_done.send(());
        })?;
        Ok(Self { runs, orders, done })
    }

    pub(super) fn has(&self, run: RunId) -> bool {
        self.runs.contains(&run)
    }

    pub(super) fn keep(&mut self, records: Vec<Record>) {
        self.runs.extend(records.iter().map(|record| record.kept.id()));
        self.order(Order::Keep(records));
    }

    pub(super) fn clear(&mut self, run: RunId, folder: PathBuf) {
        self.runs.remove(&run);
        self.order(Order::Clear(run, folder));
    }

    fn order(&self, order: Order) {
        self.orders.send(order).expect("the thread takes orders as long as there may be some");
    }

    /// Waits until all is done.
    pub(super) async fn finish(self) {
        drop(self.orders);
        let _ = self.done.await;
    }
}

/// A task can leave so much that its removal takes hours, and other runs' records do not wait for that. What is left when the agent ends
/// the next one removes.
fn clear_beside(home: &Arc<Home>, folder: PathBuf) {
    let beside = home.clone();
    if thread::Builder::new().spawn(move || beside.clear(&folder)).is_err() {
        // The next start removes it.
        tracing::warn!("there is no thread that could remove what a run left");
    }
}

fn carry_out(home: &Arc<Home>, order: Order) {
    match order {
        Order::Keep(records) => {
            let over = records.iter().filter(|record| !record.kept.is_under_way());
            let tasks: Vec<&str> = over.map(|record| &*record.kept.run.name).collect();
            match home.keep(&records) {
                Ok(()) if tasks.is_empty() => {}
                Ok(()) => tracing::info!(?tasks, "what they left is kept until the coordinator takes it"),
                Err(why) => {
                    let tasks: Vec<&str> = records.iter().map(|record| &*record.kept.run.name).collect();
                    tracing::warn!(%why, ?tasks, "what they left is lost if this agent ends before the coordinator takes it");
                }
            }
        }
        Order::Clear(run, folder) => {
            if home.forget_kept(run) {
                clear_beside(home, folder);
            }
        }
    }
}
