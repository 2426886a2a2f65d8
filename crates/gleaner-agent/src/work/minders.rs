//! The links to the keeper's minders, which run the programs: orders, and two pipes for what a program writes.
//!
//! A minder is used again for the next run. If it is killed, the link to it is gone and so is its program; if the
//! keeper is, all are. The next run starts a new one.

use super::spool::Spool;
use crate::confine::{Limiter, Settings};
use crate::duties::{Event, Exit};
use crate::home::{Home, ORPHANS_VARIABLE};
use crate::keeper::{
    Confinement, FrameError, Inbox, Keeper, KeeperError, Order, ProgramEnd, Report, RunSpec, Signal, encode,
};
use crate::lack::is_lack;
use crate::owner::Rules;
use gleaner_units::{RunId, Time};
use gleaner_wire::session::{Profile, Run, Stream, Usage};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// Why a program has no minder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MinderError {
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    #[error("no pipe for its output could be made: {0}")]
    Pipe(#[from] io::Error),
    #[error("{0}")]
    Spec(String),
    #[error(transparent)]
    Order(#[from] FrameError),
}

impl MinderError {
    /// What comes of a run that has none.
    pub(crate) fn exit(self) -> Exit {
        match self {
            // Another machine may do it: this one is not broken.
            Self::Spec(why) => Exit::Refused(why),
            Self::Keeper(why) if why.is_lack() => Exit::Lacking(why.to_string()),
            Self::Pipe(why) if is_lack(&why) => Exit::Lacking(Self::Pipe(why).to_string()),
            why => Exit::NotStarted(why.to_string()),
        }
    }
}

/// All links, idle and busy.
pub(crate) struct Minders {
    program: PathBuf,
    keeper: Keeper,
    limiter: Limiter,
    /// What the owner says that a task may use which names none.
    task_memory: Option<u64>,
    home: Arc<Home>,
    settings: Arc<Settings>,
    events: mpsc::Sender<Event>,
    made: u64,
    /// When what runs is killed, as the minders were told.
    lease_ends: Option<Time>,
    idle: Vec<MinderLink>,
    busy: BTreeMap<RunId, MinderLink>,
}

/// The link to a minder, by which it gets orders. When it is dropped, minder and program end.
struct MinderLink {
    outputs: [PathBuf; 2],
    /// The first process of what runs there; 0 while there is none.
    first: Arc<AtomicU32>,
    orders: mpsc::UnboundedSender<Given>,
}

enum Given {
    Run(Ordered, Vec<u8>),
    Signal(Vec<u8>),
}

/// A run that a minder was told to start.
struct Ordered {
    run: RunId,
    /// What is said of it where it takes too much memory.
    too_much_memory: String,
}

impl Minders {
    pub(crate) fn new(
        program: PathBuf,
        keeper: Keeper,
        limiter: Limiter,
        task_memory: Option<u64>,
        home: Arc<Home>,
        settings: Arc<Settings>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let (idle, busy) = (Vec::new(), BTreeMap::new());
        Self {
            program,
            keeper,
            limiter,
            task_memory,
            home,
            settings,
            events,
            made: 0,
            lease_ends: None,
            idle,
            busy,
        }
    }

    /// Starts a run's program in its folder.
    pub(crate) fn start(
        &mut self,
        run: &Run,
        folder: &Path,
        by: (&Profile, &Rules),
    ) -> Result<(), MinderError> {
        loop {
            let link = match self.idle.pop() {
                Some(link) => link,
                None => self.make()?,
            };
            let (ordered, order) = match self.order(&link, run, folder, by) {
                Ok(order) => order,
                Err(error) => {
                    self.idle.push(link);
                    return Err(error);
                }
            };
            // A link that takes none has lost its minder while it had nothing to do.
            if link.orders.send(Given::Run(ordered, order)).is_ok() {
                self.busy.insert(run.id, link);
                return Ok(());
            }
        }
    }

    /// What a task may use that names no memory and starts now, on a machine like this.
    pub(crate) fn memory_unless_named(&self, profile: &Profile) -> Option<u64> {
        super::spec::memory_unless_named(self.task_memory, profile)
    }

    /// Has the minders kill what runs when the lease ends, whatever becomes of this process.
    pub(crate) fn keep_lease(&mut self, ends: Option<Time>) {
        if ends == self.lease_ends {
            return;
        }
        self.lease_ends = ends;
        let Some(Ok(bytes)) = self.lease() else { return };
        for link in self.busy.values() {
            let _ = link.orders.send(Given::Signal(bytes.clone()));
        }
    }

    fn lease(&self) -> Option<Result<Vec<u8>, FrameError>> {
        self.lease_ends.map(|ends| encode(&Order::Lease { until_ns: ends.nanos() }))
    }

    /// Signals all processes of a run.
    pub(crate) fn signal(&self, run: RunId, signal: Signal) {
        let order = encode(&Order::Signal { id: number_of(run), signal });
        if let (Some(link), Ok(bytes)) = (self.busy.get(&run), order) {
            let _ = link.orders.send(Given::Signal(bytes));
        }
    }

    /// The first process of a run, if it has started.
    pub(crate) fn first_process(&self, run: RunId) -> Option<u32> {
        let first = self.busy.get(&run)?.first.load(Ordering::Relaxed);
        (first > 0).then_some(first)
    }

    /// Takes note that a run is over.
    pub(crate) fn observe(&mut self, event: &Event) {
        match event {
            Event::Exited(run, ..) => self.idle.extend(self.busy.remove(run)),
            Event::MinderLost(run) => drop(self.busy.remove(run)),
            _ => {}
        }
    }

    fn order(
        &self,
        link: &MinderLink,
        run: &Run,
        folder: &Path,
        by: (&Profile, &Rules),
    ) -> Result<(Ordered, Vec<u8>), MinderError> {
        let outputs = link.outputs.clone();
        let memory = self.memory_unless_named(by.0);
        let seen = (self.home.path(), self.settings.folder());
        let mut spec: RunSpec = super::spec::spec_of(run, folder, by, &self.limiter, memory, outputs, seen)
            .map_err(MinderError::Spec)?;
        if spec.confinement == Confinement::Own {
            spec.env.push((ORPHANS_VARIABLE.to_owned(), self.home.place()));
        }
        let too_much_memory = super::spec::memory_words(&spec.limits, self.task_memory);
        let ordered = Ordered { run: run.id, too_much_memory };
        let mut bytes = self.lease().transpose()?.unwrap_or_default();
        bytes.extend(encode(&Order::Run { id: number_of(run.id), spec: Box::new(spec) })?);
        Ok((ordered, bytes))
    }

    fn make(&mut self) -> Result<MinderLink, MinderError> {
        let minder = match self.keeper.minder() {
            Ok(minder) => minder,
            Err(KeeperError::Gone(_)) => {
                self.idle.clear();
                let next = Keeper::start(&self.program, self.home.held()?)?;
                end_apart(std::mem::replace(&mut self.keeper, next));
                self.keeper.minder()?
            }
            // What runs is as well as it was.
            Err(error @ (KeeperError::Start(..) | KeeperError::Lacking(_))) => return Err(error.into()),
        };
        self.made += 1;
        let outputs = Stream::ALL.map(|stream| self.home.pipe(self.made, stream));
        let stream = minder.into_stream();
        stream.set_nonblocking(true)?;
        let (orders, given) = mpsc::unbounded_channel();
        let first = Arc::new(AtomicU32::new(0));
        let seated = Seated {
            stream: UnixStream::from_std(stream)?,
            inbox: Inbox::default(),
            spools: [Spool::make(&outputs[0], Stream::Stdout)?, Spool::make(&outputs[1], Stream::Stderr)?],
            home: self.home.clone(),
            events: self.events.clone(),
            ordered: None,
            first: first.clone(),
        };
        tokio::spawn(seated.serve(given));
        Ok(MinderLink { outputs, first, orders })
    }
}

/// It may take its time to end: nobody waits for that who has anything else to do.
fn end_apart(keeper: Keeper) {
    // Where there is no thread left, it is dropped here.
    let _ = std::thread::Builder::new().spawn(move || drop(keeper));
}

/// The end of the link that talks to the minder.
struct Seated {
    stream: UnixStream,
    inbox: Inbox,
    spools: [Spool; 2],
    home: Arc<Home>,
    events: mpsc::Sender<Event>,
    ordered: Option<Ordered>,
    first: Arc<AtomicU32>,
}

impl Seated {
    async fn serve(mut self, mut given: mpsc::UnboundedReceiver<Given>) {
        // An end without an error: nobody has orders for it any more.
        let Err(why) = self.work(&mut given).await else { return };
        // From now on nobody can give it a run; one that was given too late has ended before it began.
        given.close();
        while let Ok(late) = given.try_recv() {
            if let Given::Run(ordered, _) = late {
                self.ordered = Some(ordered);
            }
        }
        if let Some(run) = self.run() {
            tracing::warn!(%why, task = %run.task, run = run.number, "its minder is gone");
            self.drain(run).await;
            let _ = self.events.send(Event::MinderLost(run)).await;
        }
    }

    /// The run that it was told to start, until that is over.
    fn run(&self) -> Option<RunId> {
        self.ordered.as_ref().map(|ordered| ordered.run)
    }

    async fn work(&mut self, given: &mut mpsc::UnboundedReceiver<Given>) -> Result<(), FrameError> {
        loop {
            let mut wrote = [false; 2];
            tokio::select! {
                order = given.recv() => match order {
                    None => return Ok(()),
                    Some(order) => self.obey(order).await?,
                },
                ready = self.stream.readable() => {
                    ready?;
                    self.hear().await?;
                }
                () = self.spools[0].wait() => wrote[0] = true,
                () = self.spools[1].wait() => wrote[1] = true,
            }
            for (spool, _) in self.spools.iter_mut().zip(wrote).filter(|(_, wrote)| *wrote) {
                let Some(run) = self.ordered.as_ref().map(|ordered| ordered.run) else {
                    // Of which all was taken, as the runtime now hears.
                    spool.discard();
                    continue;
                };
                if let Some(event) = spool.take(run) {
                    let _ = self.events.send(event).await;
                }
            }
        }
    }

    async fn obey(&mut self, order: Given) -> Result<(), FrameError> {
        let bytes = match order {
            Given::Run(ordered, bytes) => {
                if let Err(why) = self.begin(ordered.run) {
                    // The minder was told nothing, and can have the next run.
                    let exit = MinderError::Pipe(why).exit();
                    let _ = self.events.send(Event::Exited(ordered.run, exit, Usage::default())).await;
                    return Ok(());
                }
                self.ordered = Some(ordered);
                bytes
            }
            Given::Signal(bytes) => bytes,
        };
        Ok(self.stream.write_all(&bytes).await?)
    }

    /// What comes through the pipes from now on is the run's.
    fn begin(&mut self, run: RunId) -> io::Result<()> {
        self.spools.iter_mut().try_for_each(|spool| spool.begin(run, &self.home))
    }

    async fn hear(&mut self) -> Result<(), FrameError> {
        let mut chunk = [0; 4096];
        match self.stream.try_read(&mut chunk) {
            Ok(0) => return Err(FrameError::Closed),
            Ok(count) => self.inbox.extend(&chunk[..count]),
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
            Err(why) => return Err(why.into()),
        }
        while let Some(report) = self.inbox.pop()? {
            let Some(run) = self.run() else { continue };
            let event = match report {
                Report::Started { pid, .. } => {
                    self.first.store(pid, Ordering::Relaxed);
                    Event::Began(run)
                }
                Report::Exited { outcome, usage, .. } => {
                    self.first.store(0, Ordering::Relaxed);
                    self.drain(run).await;
                    let ordered = self.ordered.take();
                    let too_much_memory = ordered.map(|ordered| ordered.too_much_memory).unwrap_or_default();
                    Event::Exited(run, exit_of(outcome, &usage, too_much_memory), usage_of(&usage))
                }
            };
            let _ = self.events.send(event).await;
        }
        Ok(())
    }

    /// Nothing writes any more: what is in the pipes now is all.
    async fn drain(&mut self, run: RunId) {
        for spool in &mut self.spools {
            while let Some(event) = spool.drain(run) {
                let _ = self.events.send(event).await;
            }
            if let Some(event) = spool.finish(run) {
                let _ = self.events.send(event).await;
            }
        }
    }
}

fn number_of(run: RunId) -> u64 {
    (run.task.index() as u64) << 32 | u64::from(run.number)
}

fn exit_of(outcome: ProgramEnd, usage: &crate::keeper::Usage, too_much_memory: String) -> Exit {
    match outcome {
        // Whatever became of the rest of it then.
        ProgramEnd::Code(1..) | ProgramEnd::Signal(_) if usage.killed_for_memory > 0 => {
            Exit::OverLimit(too_much_memory)
        }
        ProgramEnd::Code(code) => Exit::Code(code),
        ProgramEnd::Signal(signal) => Exit::Signal(signal),
        ProgramEnd::CouldNotStart(why) => Exit::NotStarted(why),
        ProgramEnd::Lacking(why) => Exit::Lacking(why),
        ProgramEnd::NoProgram(why) => Exit::NoProgram(why),
        ProgramEnd::TooLittle(why) => Exit::Refused(why),
        ProgramEnd::LeaseEnded => Exit::LeaseEnded,
        ProgramEnd::OverMemory => Exit::OverLimit(too_much_memory),
        ProgramEnd::MemoryGone => Exit::MemoryGone,
        ProgramEnd::Defied => Exit::OverLimit("time: it ignored the owner's pause".into()),
    }
}

fn usage_of(usage: &crate::keeper::Usage) -> Usage {
    Usage {
        elapsed_s: 0.0,
        cpu_s: (usage.user_us + usage.system_us) as f64 / 1e6,
        read_bytes: usage.read_bytes,
        written_bytes: usage.written_bytes,
        network_bytes: usage.network_bytes,
        memory_bytes: usage.memory_peak_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use std::fs;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_run_for_which_no_pipe_can_be_made_costs_no_minder() {
        let within = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(within.path()).unwrap());
        let outputs = Stream::ALL.map(|stream| home.pipe(1, stream));
        let pipe = |stream: Stream| Spool::make(&outputs[stream as usize], stream).unwrap();
        let (stream, mut minder) = UnixStream::pair().unwrap();
        let (events, mut heard) = mpsc::channel(8);
        let (orders, given) = mpsc::unbounded_channel();
        let seated = Seated {
            stream,
            inbox: Inbox::default(),
            spools: Stream::ALL.map(pipe),
            home,
            events,
            ordered: None,
            first: Arc::default(),
        };
        tokio::spawn(seated.serve(given));
        let order = |number, bytes: &[u8]| {
            let ordered = Ordered { run: RunId::new(TaskId::new(1), number), too_much_memory: String::new() };
            orders.send(Given::Run(ordered, bytes.to_vec())).map_err(drop).unwrap();
        };
        let pipes = within.path().join("pipes");
        fs::remove_dir_all(&pipes).unwrap();
        order(1, b"first");
        let told = heard.recv().await;
        let Some(Event::Exited(run, Exit::NotStarted(why), _)) = &told else { panic!("{told:?}") };
        assert!(run.number == 1 && why.contains("no pipe for its output"), "{why}");
        fs::create_dir(&pipes).unwrap();
        order(2, b"other");
        let mut got = [0; 5];
        minder.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"other", "and nothing of the first");
        assert!(outputs.iter().all(|path| path.exists()));
    }
}
