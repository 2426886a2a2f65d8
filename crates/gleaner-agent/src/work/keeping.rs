//! Writes down what runs keep or left, and removes it when the coordinator has taken it: on a thread of its own, one after the other.
//!
//! **A run that gets the number of one that is being removed waits for that**: both have the same names on the disk. It happens where the
//! coordinator's journal was put back.

use crate::home::{Home, NotKept, Record};
use gleaner_units::RunId;
use gleaner_wire::session::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// What is written down, or was told to be.
pub(super) struct Keeping {
    runs: BTreeSet<RunId>,
    /// Runs that are being removed, each with another of the same number that waits for that.
    clearing: BTreeMap<RunId, Option<Arc<Run>>>,
    orders: mpsc::Sender<Order>,
    done: oneshot::Receiver<()>,
}

/// What became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// What was here of a run is removed.
    Cleared(RunId),
    /// These runs could not be written down.
    NotKept(BTreeSet<RunId>),
}

enum Order {
    Keep(Vec<Record>),
    Clear(RunId, PathBuf),
}

impl Keeping {
    /// These runs are written down already. What becomes of orders is told to `tell`.
    pub(super) fn start(
        home: Arc<Home>,
        runs: BTreeSet<RunId>,
        tell: UnboundedSender<Told>,
    ) -> io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (is_done, done) = oneshot::channel();
        thread::Builder::new().spawn(move || {
            for (number, order) in (1..).zip(taken) {
                let told = match order {
                    Order::Keep(records) => keep(&home, &records),
                    Order::Clear(run, folder) => {
                        clear(&home, run, folder, number);
                        Some(Told::Cleared(run))
                    }
                };
                if let Some(told) = told {
                    // At the end nobody waits for it.
                    let _ = tell.send(told);
                }
            }
            // Nobody may wait for it.
            let _ = is_done.send(());
        })?;
        Ok(Self { runs, clearing: BTreeMap::new(), orders, done })
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
        self.clearing.insert(run, None);
        self.order(Order::Clear(run, folder));
    }

    /// Puts off that the folder of a run is made, while another of its number is being removed.
    pub(super) fn put_off(&mut self, run: &Arc<Run>) -> bool {
        let Some(next) = self.clearing.get_mut(&run.id) else { return false };
        *next = Some(run.clone());
        true
    }

    /// Whether all that is here of a run is another's that is being removed: what was put off for it is not done.
    pub(super) fn call_off(&mut self, run: RunId) -> bool {
        let Some(next) = self.clearing.get_mut(&run) else { return false };
        *next = None;
        true
    }

    /// A run was removed; the one that waited for that.
    pub(super) fn cleared(&mut self, run: RunId) -> Option<Arc<Run>> {
        self.clearing.remove(&run).flatten()
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

fn keep(home: &Home, records: &[Record]) -> Option<Told> {
    let not_kept = home.keep(records).err();
    let is_kept = |record: &&Record| {
        not_kept.as_ref().is_none_or(|not_kept| !not_kept.runs.contains(&record.kept.id()))
    };
    let (kept, failed): (Vec<&Record>, Vec<&Record>) = records.iter().partition(is_kept);
    let over = kept.into_iter().filter(|record| !record.kept.is_under_way());
    let tasks: Vec<&str> = over.map(|record| &*record.kept.run.name).collect();
    if !tasks.is_empty() {
        tracing::info!(?tasks, "what they left is kept until the coordinator takes it");
    }
    let NotKept { runs, why } = not_kept?;
    let tasks: Vec<&str> = failed.into_iter().map(|record| &*record.kept.run.name).collect();
    tracing::warn!(
        %why,
        ?tasks,
        "what they left cannot be written down now: it is lost if this agent is killed before that works, or the coordinator takes it"
    );
    Some(Told::NotKept(runs))
}

/// `number` is another one for each run.
fn clear(home: &Arc<Home>, run: RunId, folder: PathBuf, number: u64) {
    if !home.forget_kept(run) {
        return;
    }
    // Its own name may be another run's from now on.
    let other = folder.with_added_extension(format!("cleared-{number}"));
    match fs::rename(&folder, &other) {
        Ok(()) => clear_beside(home, other),
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(_) => clear_beside(home, folder),
    }
}

#[cfg(test)]
mod tests {
    use super::super::folders::tests::run;
    use super::*;
    use gleaner_wire::job::Confinement;
    use gleaner_wire::session::Stream;
    use std::time::{Duration, Instant};
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn another_run_of_the_same_number_waits_and_keeps_what_is_its_own() {
        let within = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(within.path()).unwrap());
        let next = Arc::new(run(1, Confinement::None));
        let (id, own, spool) = (next.id, home.task(next.id), home.spool(next.id, Stream::Stdout));
        fs::create_dir(&own).unwrap();
        for file in 0..2_000 {
            fs::write(own.join(file.to_string()), "").unwrap();
        }
        fs::write(&spool, "the first's").unwrap();
        let (cleared, mut heard) = unbounded_channel();
        let mut keeping = Keeping::start(home, BTreeSet::from([id]), cleared).unwrap();
        assert!(!keeping.put_off(&next) && !keeping.call_off(id));
        keeping.clear(id, own.clone());
        assert!(keeping.put_off(&next));
        assert_eq!(heard.blocking_recv(), Some(Told::Cleared(id)));
        assert_eq!(keeping.cleared(id), Some(next.clone()));
        assert!(!keeping.put_off(&next));
        fs::create_dir(&own).expect("its name is free");
        fs::File::create_new(&spool).expect("its name is free");
        let is_removed = || fs::read_dir(within.path().join("tasks")).unwrap().count() <= 2;
        let removed_by = Instant::now() + Duration::from_mins(1);
        while !is_removed() {
            assert!(Instant::now() < removed_by, "what the other left is there yet");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(own.exists() && spool.exists());
    }

    #[test]
    fn it_says_what_the_disk_does_not_take() {
        let within = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(within.path()).unwrap());
        // Nothing can be in it.
        fs::write(within.path().join("kept"), "").unwrap();
        let order = run(1, Confinement::None);
        let nothing = serde_json::json!({"kept": 0, "dropped": 0});
        let kept = serde_json::json!({"run": order, "left": "checkpoint", "wrote": [nothing, nothing]});
        let kept = serde_json::from_value(kept).expect("it is a record");
        let (tell, mut heard) = unbounded_channel();
        let mut keeping = Keeping::start(home, BTreeSet::new(), tell).unwrap();
        keeping.keep(vec![Record::new(kept, None)]);
        assert_eq!(heard.blocking_recv(), Some(Told::NotKept(BTreeSet::from([order.id]))));
    }

    #[test]
    fn what_waited_and_is_given_up_too_is_not_done() {
        let within = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(within.path()).unwrap());
        let next = Arc::new(run(1, Confinement::None));
        let (cleared, _heard) = unbounded_channel();
        let mut keeping = Keeping::start(home.clone(), BTreeSet::from([next.id]), cleared).unwrap();
        keeping.clear(next.id, home.task(next.id));
        assert!(keeping.put_off(&next) && keeping.call_off(next.id));
        assert_eq!(keeping.cleared(next.id), None);
    }
}
