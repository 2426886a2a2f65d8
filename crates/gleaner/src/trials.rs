//! Several things tried beside each other: each runs with the same seeds on all cores, and what is done is kept.

mod numbers;
mod ranking;

pub(crate) use numbers::Numbers;
pub(crate) use ranking::{Interval, Ranked, Ranking};

use crate::failure::Failure;
use crate::{interrupt, progress};
use gleaner_papers::Kept;
use rayon::prelude::*;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::Path;

/// What can be run again and again, each time with a seed of its own.
pub(crate) trait Runnable: Sync {
    /// Tells it from every other, under this version of the program.
    fn fingerprint(&self) -> String;

    /// The first seed.
    fn seed(&self) -> u64;

    /// One run.
    fn measure(&self, seed: u64) -> Result<Numbers, Failure>;
}

/// What tells a text, and what it says of a run, from others under this version of the program.
pub(crate) fn fingerprint(text: fmt::Arguments<'_>) -> String {
    let mut print = Print(blake3::Hasher::new());
    print.write_fmt(text).and_then(|()| print.write_str(env!("CARGO_PKG_VERSION"))).expect("it takes all");
    print.0.finalize().to_hex().chars().take(16).collect()
}

/// Text that is not kept.
struct Print(blake3::Hasher);

impl fmt::Write for Print {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

/// So many seeds from one on.
pub(crate) fn seeds_from(first: u64, count: u64) -> Result<Range<u64>, Failure> {
    let end = first.checked_add(count).ok_or_else(|| {
        Failure::Usage(format!(
            "--seeds {count}: found too few seeds from {first} on; expected a lower first seed"
        ))
    })?;
    Ok(first..end)
}

/// One run of each, where other seeds make no difference to any.
pub(crate) fn once_if_alike(mut runs: Vec<Vec<Numbers>>) -> Vec<Vec<Numbers>> {
    let is_alike = |runs: &Vec<Numbers>| runs.windows(2).all(|pair| pair[0].is_like(&pair[1]));
    if runs.iter().all(is_alike) {
        for of_one in &mut runs {
            of_one.truncate(1);
        }
    }
    runs
}

/// The runs of each of several, in order of seeds. With a folder, runs that were done before are not done again. `edition`
/// changes whenever results mean something else than before.
pub(crate) fn run<T: Sync, R: Runnable>(
    (edition, out): (&'static str, Option<&Path>),
    (tried, seeds): (&[T], u64),
    load: impl Fn(&T) -> Result<R, Failure> + Sync,
    name: impl Fn(&T) -> String + Sync,
) -> Result<Vec<Vec<Numbers>>, Failure> {
    let kept = match out {
        Some(dir) => Kept::in_folder(dir, edition)?,
        None => Kept::nowhere(),
    };
    let total = tried.len() as u64 * seeds;
    let bar = progress::bar(total, "runs");
    let all = |one: &T| -> Result<Vec<Numbers>, Failure> {
        if interrupt::asked() {
            return Err(Failure::Interrupted(String::new()));
        }
        let (loaded, name) = (load(one)?, name(one));
        let print = loaded.fingerprint();
        let first = loaded.seed();
        let all_seeds = seeds_from(first, seeds)?;
        let once = |seed: u64| -> Result<Numbers, Failure> {
            let name = format!("{name} seed-{seed} of {print}");
            let measured = if let Some(measured) = kept.find(&name) {
                measured
            } else {
                let measured = loaded.measure(seed)?;
                kept.keep(name, measured.clone())?;
                measured
            };
            bar.inc(1);
            Ok(measured)
        };
        all_seeds.into_par_iter().map(once).collect()
    };
    let runs: Result<Vec<Vec<Numbers>>, Failure> = tried.par_iter().map(all).collect();
    let done = bar.position();
    bar.finish_and_clear();
    runs.map_err(|failure| match (failure, out) {
        (Failure::Interrupted(_), Some(dir)) => Failure::Interrupted(format!(
            "{done} of {total} runs were done and kept; go on with --out {}",
            dir.display()
        )),
        (Failure::Interrupted(_), None) => Failure::Interrupted(format!(
            "{done} of {total} runs were done; nothing was kept, as there is no --out"
        )),
        (other, _) => other,
    })
}
