//! Waiting that outlasts a restart of the coordinator: whoever waits for a job for hours has nothing to do with an upgrade.

use crate::failure::Failure;
use gleaner_net::ClientError;
use std::thread;
use std::time::{Duration, Instant};

/// A machine that broke down in the night is mended in the morning.
const AWAY_MAX: Duration = Duration::from_hours(24);
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// It is up, and not ready yet or about to end.
const UNAVAILABLE: u16 = 503;

/// Asks until there is an answer, also where the coordinator is away for a while, and says so once. For what changes
/// nothing, or may be done twice; and after a first answer, so that a wrong address shows at once.
pub(crate) fn ask<T>(ask: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    ask_until(None, ask)
}

/// Likewise, and no longer than until then.
pub(crate) fn ask_until<T>(
    until: Option<Instant>,
    mut ask: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (mut since, mut pause) = (None, PAUSE_FIRST);
    loop {
        match ask() {
            Err(Failure::Grid(why)) if is_away(&why) => {
                let since = *since.get_or_insert_with(|| {
                    anstream::eprintln!("-- {why}; waiting until the coordinator is back --");
                    Instant::now()
                });
                let is_late = until.is_some_and(|until| Instant::now() >= until);
                if is_late || since.elapsed() > AWAY_MAX {
                    return Err(Failure::Grid(why));
                }
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            answer => {
                if since.is_some() && answer.is_ok() {
                    anstream::eprintln!("-- the coordinator is back --");
                }
                return answer;
            }
        }
    }
}

/// Whether it may come back.
pub(crate) fn is_away(why: &ClientError) -> bool {
    match why {
        ClientError::Unreachable { .. } => true,
        ClientError::Refused { status, .. } => *status == UNAVAILABLE,
        ClientError::Tls { .. }
        | ClientError::Malformed { .. }
        | ClientError::TooLarge { .. }
        | ClientError::Local(_)
        | ClientError::NotJson(_)
        | ClientError::Path(_)
        | ClientError::Key(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_is_away_is_asked_again_and_a_refusal_is_an_answer() {
        let away = || {
            let why = io::ErrorKind::ConnectionRefused.into();
            Failure::Grid(ClientError::Unreachable {
                address: "https://127.0.0.1:1".parse().expect("one"),
                why,
            })
        };
        let mut left = 2;
        let answer = ask(|| {
            left -= 1;
            if left < 0 { Ok(7) } else { Err(away()) }
        });
        assert_eq!(answer.expect("an answer"), 7);
        let mut asked = 0;
        let answer = ask_until(Some(Instant::now()), || {
            asked += 1;
            if asked > 9 { Ok(7) } else { Err(away()) }
        });
        assert!(answer.is_err() && asked == 1, "nobody waits for longer than they want to");
        let refused = || ClientError::Refused { status: 403, code: String::new(), message: "no".to_owned() };
        let mut asked = 0;
        let answer = ask(|| {
            asked += 1;
            Err::<(), _>(Failure::Grid(refused()))
        });
        assert!(answer.is_err() && asked == 1);
    }
}
