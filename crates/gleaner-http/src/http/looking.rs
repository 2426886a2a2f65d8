//! Looks at what left memory, and other work that blocks, beside the desk's thread and those that serve connections.
//!
//! **A turn or a place is given back when the work is done**, not when who asked for it is gone: whoever asks and goes away again and
//! again has no more done at a time than others. Whoever keeps what was read in the store keeps the turn too, since it may be long.

use super::api::Api;
use super::refusal::Refusal;
use gleaner_server::desk::Desk;
use gleaner_server::store::{ReadError, Reader};
use gleaner_server::view::{Fetched, Known, Unread};
use gleaner_units::{MachineId, Time};
use gleaner_wire::api::Role;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

/// Why a look says nothing.
pub(super) enum NotSeen {
    /// It needs something first that left memory.
    Unread(Unread),
    /// For who asks.
    Refused(Refusal),
}

impl From<Unread> for NotSeen {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}

impl From<Refusal> for NotSeen {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Waits for a turn.
pub(super) async fn turn(turns: &Arc<Semaphore>, of: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(turns).acquire_owned().await.map_err(|_| Refusal::busy(of))
}

/// Has something done that blocks, with what it holds until it is done.
pub(super) async fn blocking<T: Send + 'static>(
    doing: &str,
    held: impl Send + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let work = move || {
        let _held = held;
        work()
    };
    spawn_blocking(work).await.map_err(|panic| Refusal::internal(format!("{doing}: {panic}")))
}

impl Api {
    /// Waits for a turn to have the desk look at all machines or users, or at many jobs or runs, so that it gets to everything else in between.
    async fn turn_of_long_looks(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        turn(&self.long_looks, "looks at all machines or users, or many jobs or runs").await
    }

    /// Looks at all machines or users, or at many jobs or runs, in turn with others.
    pub(super) async fn look_long<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = self.turn_of_long_looks().await?;
        let look = move |desk: &Desk, now| {
            let _turn = turn;
            look(desk, now)
        };
        self.look(look).await
    }

    /// Looks at what users have: at that of all of them, for whoever sees all, in turn with others.
    pub(super) async fn look_at_users<T: Send + 'static>(
        &self,
        role: Role,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        if role.sees_all() { self.look_long(look).await } else { self.look(look).await }
    }

    /// Looks at the runs of an agent's machine: where those are many, in turn with others.
    pub(super) async fn look_at_runs<T: Send + 'static>(
        &self,
        agent: MachineId,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let at_once = move |desk: &Desk, now| {
            if desk.ledger().has_few_runs(agent) { Ok(look(desk, now)) } else { Err(look) }
        };
        match self.look(at_once).await? {
            Ok(seen) => Ok(seen),
            Err(look) => self.look_long(look).await,
        }
    }

    /// Reads the store in turn with others, beside the desk's thread.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.read_in(None, read).await.map(|(read, _)| read)
    }

    /// Likewise in a turn that there was before, if there was one; and returns the turn, for who keeps what was read.
    pub(super) async fn read_in<T: Send + 'static>(
        &self,
        had: Option<OwnedSemaphorePermit>,
        read: impl FnOnce(&dyn Reader) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<(T, OwnedSemaphorePermit), Refusal> {
        let turn = self.turn_of_reads(had).await?;
        let app = Arc::clone(&self.app);
        let read = move || app.readers.read(read).map(|read| (read, turn));
        Ok(blocking("reading what is over", (), read).await??)
    }

    /// A turn to read the store, unless there was one before.
    pub(super) async fn turn_of_reads(
        &self,
        had: Option<OwnedSemaphorePermit>,
    ) -> Result<OwnedSemaphorePermit, Refusal> {
        match had {
            Some(turn) => Ok(turn),
            None => turn(&self.reads, "reads of what is over").await,
        }
    }

    /// Looks at what is known, also at what left memory. What of that the look comes to is read in the store, and the look is done again:
    /// the desk's thread waits for no disk.
    pub(super) async fn look_back<T: Send + 'static>(
        &self,
        look: impl Fn(Known<'_>, Time) -> Result<T, NotSeen> + Send + Sync + 'static,
    ) -> Result<T, Refusal> {
        self.look_back_as(false, look).await.map(|(seen, _)| seen)
    }

    /// Likewise, and returns the turn in which something was read, for who keeps that. A long look, at all machines or many jobs, has its
    /// turn for each time that it is done, and not for what is read between.
    pub(super) async fn look_back_as<T: Send + 'static>(
        &self,
        is_long: bool,
        look: impl Fn(Known<'_>, Time) -> Result<T, NotSeen> + Send + Sync + 'static,
    ) -> Result<(T, Option<OwnedSemaphorePermit>), Refusal> {
        let look = Arc::new(look);
        let mut held = (Fetched::default(), None);
        loop {
            let on_desk = Arc::clone(&look);
            let turn = if is_long { Some(self.turn_of_long_looks().await?) } else { None };
            let (seen, (fetched, of_reads)) = self
                .look(move |desk, now| {
                    let _turn = turn;
                    (on_desk(Known::new(desk, &held.0), now), held)
                })
                .await?;
            let unread = match seen {
                Ok(seen) => return Ok((seen, of_reads)),
                Err(NotSeen::Refused(refusal)) => return Err(refusal),
                Err(NotSeen::Unread(unread)) => unread,
            };
            let is_long_read = matches!(unread, Unread::Job(_)) || of_reads.is_some();
            let fetch = move |reader: &dyn Reader| {
                let mut fetched = fetched;
                fetched.fetch(reader, unread)?;
                Ok::<_, ReadError>(fetched)
            };
            let (fetched, turn) = self.read_in(of_reads, fetch).await?;
            // Whoever keeps no description keeps others from no turn.
            held = (fetched, is_long_read.then_some(turn));
        }
    }
}
