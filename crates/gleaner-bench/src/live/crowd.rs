//! Ten thousand connected agents: what their heartbeats take of the coordinator's processor.

use super::grid::Grid;
use super::process::{private_bytes, processor_seconds};
use super::simulated::Simulated;
use super::{Bench, Found, LiveError};
use crate::table::Aim;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const AGENTS: u32 = 10_000;
/// Who join at the same time, so that they share commits.
const JOINING: u32 = 32;
const CONNECTING: usize = 64;
/// All agents have had their first heartbeat by then.
const SETTLING: Duration = Duration::from_secs(12);
const MEASURED: Duration = Duration::from_secs(30);

pub(super) fn measure(bench: &Bench) -> Result<Found, LiveError> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .map_err(|why| LiveError::system("the limit on open files")(why.into()))?;
    let grid = Grid::start(bench)?;
    let agents = join(&grid)?;
    let before = private_bytes(grid.coordinator())?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let share = runtime.map_err(LiveError::system("a runtime"))?.block_on(heartbeats(&grid, agents))?;
    let grown = private_bytes(grid.coordinator())?.saturating_sub(before);
    let mut found = Found::default();
    found.add("heartbeats of 10,000 agents", 100.0 * share, "% of a core", Some(Aim::AtMost(10.0)));
    found.add("connections of 10,000 agents", grown as f64 / f64::from(1 << 20), "MiB", None);
    Ok(found)
}

fn join(grid: &Grid) -> Result<Vec<Simulated>, LiveError> {
    let join_some = |first: u32| {
        let names = (first..AGENTS).step_by(JOINING as usize).map(|number| format!("simulated-{number}"));
        names.map(|name| Simulated::join(grid, &name, 1)).collect::<Result<Vec<_>, _>>()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..JOINING).map(|first| scope.spawn(move || join_some(first))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("joining does not panic"));
        joined.collect::<Result<Vec<_>, _>>().map(|joined| joined.into_iter().flatten().collect())
    })
}

/// The share of a core that the coordinator uses while so many agents send heartbeats.
async fn heartbeats(grid: &Grid, agents: Vec<Simulated>) -> Result<f64, LiveError> {
    let turns = std::sync::Arc::new(Semaphore::new(CONNECTING));
    let mut working = JoinSet::new();
    for (number, agent) in agents.into_iter().enumerate() {
        let turns = turns.clone();
        working.spawn(async move {
            let turn = turns.acquire().await;
            let connected = agent.connect().await;
            drop(turn);
            connected?.work(number as f64 / f64::from(AGENTS)).await
        });
    }
    // Whoever waits for its turn is not connected yet.
    let all = turns.acquire_many(CONNECTING as u32).await;
    drop(all);
    pass(&mut working, SETTLING).await?;
    let (from, before) = (Instant::now(), processor_seconds(grid.coordinator())?);
    pass(&mut working, MEASURED).await?;
    let used = processor_seconds(grid.coordinator())? - before;
    Ok(used / from.elapsed().as_secs_f64())
}

/// Lets time pass, unless an agent loses its connection.
async fn pass(
    working: &mut JoinSet<Result<std::convert::Infallible, LiveError>>,
    time: Duration,
) -> Result<(), LiveError> {
    match tokio::time::timeout(time, working.join_next()).await {
        Ok(Some(Ok(Err(why)))) => Err(why),
        Ok(Some(Err(why))) => Err(LiveError::Simulated(why.to_string())),
        Ok(Some(Ok(Ok(never)))) => match never {},
        Ok(None) | Err(_) => Ok(()),
    }
}
