//! How everyone else talks to the desk's thread, and what the thread says to agents' connections.

use crate::clock::Clock;
use crate::day::Day;
use crate::desk::{Answer, Checked, Desk, Input, Order, Rejection, Requester, RunOrder, SessionId};
use crate::ledger::People;
use gleaner_units::{RunId, Time};
use gleaner_wire::api::LiveEvent;
use gleaner_wire::session::{End, Hello, ToAgent};
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError, RwLock};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot};

/// How everyone else talks to the thread.
#[derive(Clone)]
pub struct Handle {
    pub(super) queue: Sender<Message>,
    pub(super) room: Arc<Semaphore>,
    /// Closed when the thread ends.
    pub(super) ended: Arc<Semaphore>,
    pub(super) people: Arc<RwLock<Arc<People>>>,
    pub(super) live: broadcast::Sender<Arc<LiveEvent>>,
    pub(super) clock: Clock,
    pub(super) began: Time,
    pub(super) day: Arc<RwLock<Day>>,
}

impl Handle {
    /// Has something done; the answer comes once it is committed.
    pub async fn order(&self, by: Requester, order: Order) -> Result<Result<Answer, Rejection>, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.put(Message::Order(by, Box::new(order), reply)).await?;
        answer.await.map_err(|_| Stopped)
    }

    /// Looks at what is known and in memory; the answer comes once all that was seen is committed. What left memory is read beside the
    /// thread (`gleaner-http/src/http/looking.rs`). A look is left out if nobody waits for it any more.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        let look: Look = Box::new(move |desk, now| {
            // Nobody waits for it any more.
            if reply.is_closed() {
                return Box::new(|| ());
            }
            let seen = look(desk, now);
            Box::new(move || drop(reply.send(seen)))
        });
        self.put(Message::Look(look)).await?;
        answer.await.map_err(|_| Stopped)
    }

    /// From now on messages to it go its way.
    pub async fn connected(&self, newcomer: Newcomer) -> Result<SessionId, Stopped> {
        let (reply, session) = oneshot::channel();
        self.put(Message::Connected(Box::new(newcomer), reply)).await?;
        session.await.map_err(|_| Stopped)
    }

    /// Something an agent said, or that it is gone.
    pub async fn input(&self, input: Input) -> Result<(), Stopped> {
        self.put(Message::Inputs(vec![input], None)).await
    }

    /// What came together, and is committed together: a few at most, since all of it counts as one in the queue. It leaves `place` when
    /// it is taken in.
    pub async fn inputs(&self, inputs: Vec<Input>, place: OwnedSemaphorePermit) -> Result<(), Stopped> {
        self.put(Message::Inputs(inputs, Some(place))).await
    }

    /// Users and join tokens, as committed.
    pub fn people(&self) -> Arc<People> {
        Arc::clone(&self.people.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What happens from now on.
    pub fn live(&self) -> broadcast::Receiver<Arc<LiveEvent>> {
        self.live.subscribe()
    }

    /// Looks at the last day. Blocks: not for the threads that serve connections.
    pub fn day<T>(&self, look: impl FnOnce(&Day) -> T) -> T {
        look(&self.day.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// When the grid began.
    pub fn began(&self) -> Time {
        self.began
    }

    /// The present moment on the coordinator's clock.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The present moment by this machine's wall clock, behind which the coordinator's may be far ahead.
    pub fn wall_now(&self) -> Time {
        self.clock.wall()
    }

    /// Waits until the thread has ended.
    pub async fn closed(&self) {
        // It has no permit to give: what ends the wait is that it is closed.
        drop(self.ended.acquire().await);
    }

    /// Whether the thread has ended. It has where anything is answered by [`Stopped`].
    pub fn has_stopped(&self) -> bool {
        self.ended.is_closed()
    }

    /// Ends the thread after what is in the queue.
    pub fn stop(&self) {
        // If it has ended already, all the better.
        drop(self.queue.send(Message::Stop));
    }

    async fn put(&self, message: Message) -> Result<(), Stopped> {
        // The thread gives the permit back when it takes the message.
        self.room.acquire().await.map_err(|_| Stopped)?.forget();
        self.queue.send(message).map_err(|_| Stopped)
    }
}

/// An agent that proved who it is.
pub struct Newcomer {
    /// What it said.
    pub hello: Checked<Hello>,
    /// What it may use for files.
    pub token: String,
    /// Whether the journal still has the row that it remembers, as it heard of it.
    pub fits: bool,
    /// Where messages to it go.
    pub to_agent: mpsc::Sender<Outgoing>,
}

/// What goes to an agent.
pub enum Outgoing {
    /// As it is.
    Message(ToAgent),
    /// To be filled in.
    Run(Box<RunOrder>),
    /// Nothing, until it is known what a run answered that ended so.
    Compare(RunId, Box<End>),
}

/// The coordinator has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the coordinator has stopped")]
pub struct Stopped;

/// What is in the queue.
pub(super) enum Message {
    Order(Requester, Box<Order>, oneshot::Sender<Result<Answer, Rejection>>),
    Connected(Box<Newcomer>, oneshot::Sender<SessionId>),
    Inputs(Vec<Input>, Option<OwnedSemaphorePermit>),
    Look(Look),
    Stop,
}

pub(super) type Release = Box<dyn FnOnce() + Send>;
pub(super) type Look = Box<dyn FnOnce(&Desk, Time) -> Release + Send>;
