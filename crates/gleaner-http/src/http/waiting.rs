//! Waiting for a job without asking again and again: the desk is looked at when what happened may have been the last
//! thing that was waited for.

use super::api::Api;
use super::own::own_listed;
use super::refusal::Refusal;
use crate::places::{Place, Who};
use gleaner_server::desk::Requester;
use gleaner_server::driver::Stopped;
use gleaner_server::view::{self, Known};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, LiveEvent};
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::broadcast::Receiver;
use tokio::time::{Instant, timeout_at};

enum Seen {
    /// So many tasks are open.
    Open(u32),
    Enough(Box<JobView>),
}

/// The job once none of its tasks is open, or as it stands when patience ends.
pub(super) async fn job(api: &Api, by: Requester, id: JobId, patience: Duration) -> Result<JobView, Refusal> {
    let _place = place(api, &by, patience)?;
    // Before the first look, so that nothing falls between the two.
    let mut live = api.app.desk.live();
    let deadline = Instant::now() + patience;
    let mut is_last = patience.is_zero();
    loop {
        match look(api, by.clone(), id, is_last).await? {
            Seen::Enough(view) => return Ok(*view),
            Seen::Open(open) => select! {
                waited = timeout_at(deadline, may_be_over(&mut live, id, open)) => {
                    is_last = waited.is_err();
                }
                () = api.app.desk.closed() => return Err(Stopped.into()),
            },
        }
    }
}

/// A place among those that wait, for who wants to.
pub(super) fn place(api: &Api, by: &Requester, patience: Duration) -> Result<Option<Place>, Refusal> {
    if patience.is_zero() {
        return Ok(None);
    }
    let place = api.waits.take(&Who::User(by.user.clone()));
    place.map(Some).ok_or_else(|| Refusal::no_place("requests that wait", &api.waits))
}

async fn look(api: &Api, by: Requester, id: JobId, is_last: bool) -> Result<Seen, Refusal> {
    // To say what it waits for, all machines are looked at.
    let seen = api.look_back_as(is_last, move |known: Known<'_>, now| {
        let job = own_listed(&known, &by, id)?;
        let open = job.tally.open();
        if open > 0 && !is_last {
            return Ok(Seen::Open(open));
        }
        Ok(Seen::Enough(Box::new(view::job(known.desk(), now, id, &job))))
    });
    seen.await.map(|(seen, _)| seen)
}

/// Returns once so many ends were told of, or once it cannot be known how many there were.
async fn may_be_over(live: &mut Receiver<Arc<LiveEvent>>, id: JobId, open: u32) {
    let mut left = open;
    while let Ok(event) = live.recv().await {
        match event.phase {
            _ if event.job != Some(id) => {}
            Some(phase) if phase.is_over() => left = left.saturating_sub(1),
            // Many tasks at once, told of as one.
            None => return,
            Some(_) => {}
        }
        if left == 0 {
            return;
        }
    }
}

/// Returns once something happened to a task, or to so many that it may be among them.
pub(super) async fn task_changed(live: &mut Receiver<Arc<LiveEvent>>, id: JobId, number: u32) {
    while let Ok(event) = live.recv().await {
        if event.job == Some(id) && event.task.is_none_or(|task| task == number) {
            return;
        }
    }
}
