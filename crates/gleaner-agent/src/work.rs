//! The agent's main program: joins a grid and works for it until it is told to stop.
//!
//! [`Duties`](crate::duties::Duties) decides; what is here carries out: the connection (`dialler`), the places where
//! programs run (`minders`), what can block on threads of its own (`threads`), the look at the machine (`watch`). One thread does
//! all that does not block. The minders keep the lease's end too, so that it holds where this process is stopped.
//! **Nothing that can block is waited for in its loop**, so that a lease is kept and an owner
//! noticed whatever a disk or a coordinator does.

mod bounding;
mod dialler;
mod error;
mod folders;
mod joining;
mod keeping;
mod latest;
mod minders;
mod options;
mod pace;
mod permits;
mod room;
mod spec;
mod spool;
mod threads;
mod transfers;
mod watch;
mod worker;

#[cfg(test)]
pub(crate) use folders::tests::run;

pub use error::WorkError;
pub use options::{Announced, Join, Stop, WorkOptions};

use crate::confine::Settings;
use crate::home::Home;
use crate::keeper::{Keeper, precedence};
use crate::owner;
use crate::probes::Sampler;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::watch as changing;

/// How long what is under way on threads may take once all runs are over.
const LAST_MAX: Duration = Duration::from_secs(2);
/// How long the removal of what tasks left may take where no other start may follow.
const LEAVING_MAX: Duration = Duration::from_mins(1);

/// Works until `stop` says so, or until there is no use in going on.
pub fn work(options: WorkOptions, stop: changing::Receiver<Stop>) -> Result<(), WorkError> {
    let system = |what| move |why| WorkError::System { what, why };
    let home = Arc::new(Home::open(&options.home)?);
    let leftovers = home.clone();
    std::thread::spawn(move || leftovers.clear_leftovers());
    owner::write_if_none(&home.rules(), owner::Preset::Machine)?;
    // Before anything is measured, so that a mistake is named at once.
    owner::read(&home.rules())?;
    if options.join.is_none() && home.identity()?.is_none() {
        // Said before anything is measured.
        return Err(WorkError::NotJoined);
    }
    let keeper =
        Keeper::start(&options.program, home.held().map_err(system("the lock of runs cannot be shared"))?)?;
    let settings = Arc::new(Settings::make(&home.settings()));
    let joining::Machine { domain, profile } = joining::measure(&home, &settings, &keeper, &options)?;
    let watch = watch::Watch::new(home.clone(), Sampler::new(domain, home.path()), &profile)?;
    let offered = watch.rules().profile(&profile, home.path());
    if let (Some(wanted), Some(known)) = (&options.name, home.identity()?)
        && *wanted != known.name
    {
        tracing::warn!(
            wanted,
            name = known.name,
            "this machine has joined already, and keeps the name that it got then: to be called otherwise, it joins again with a new \
             folder, and an administrator has the old name forgotten (`gleaner machine forget`)"
        );
    }
    let joined = joining::join(&home, options.join.as_ref(), &offered, &stop)?;
    (options.announce)(&Announced {
        machine: joined.identity.name.clone(),
        coordinator: joined.given.as_ref().unwrap_or(&joined.identity.address).to_string(),
        slots: offered.slots,
        home: home.path().to_owned(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(Duration::from_secs(2))
        // Which do for guests what takes long.
        .on_thread_start(precedence::give_way)
        .build()
        .map_err(system("no runtime could be made"))?;
    let left = home.clone();
    let outcome = runtime.block_on(async {
        let start = worker::Start { home, settings, watch, joined, keeper, profile, options };
        worker::Worker::new(start)?.run(stop).await
    });
    // Nobody waits for the removal of what tasks left, nor for a disk that hangs: the next start goes on with it.
    runtime.shutdown_timeout(LAST_MAX);
    if let Err(WorkError::Refused(_)) = &outcome {
        clear(left);
    }
    outcome
}

/// Nothing starts again an agent that was turned away for good: what its tasks left would stay on the owner's disk.
fn clear(home: Arc<Home>) {
    let folder = home.path().to_owned();
    let (is_done, done) = mpsc::channel();
    std::thread::spawn(move || {
        home.leave();
        // Its end may not be waited for any more.
        let _ = is_done.send(());
    });
    if done.recv_timeout(LEAVING_MAX).is_err() {
        tracing::warn!(folder = %folder.display(), "not all that tasks left is removed: remove the folder by hand");
    }
}
