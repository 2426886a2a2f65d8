//! How often each user asks: of what a quota allows in two seconds, a part is left that grows again with time.

use gleaner_wire::api::Quota;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Seconds for which requests may be saved up.
const SAVED_S: f64 = 2.0;

/// What is left to each user; who is not named has all of it.
#[derive(Debug, Default)]
pub(super) struct Rates {
    left: Mutex<BTreeMap<String, (f64, Instant)>>,
}

impl Rates {
    /// Whether a user may ask once more now.
    pub(super) fn admit(&self, user: &str, quota: Quota, now: Instant) -> bool {
        let rate = f64::from(quota.requests_per_s);
        let most = rate * SAVED_S;
        let mut users = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.contains_key(user) {
            users.insert(user.to_owned(), (most, now));
        }
        let (left, since) = users.get_mut(user).expect("it was just put there");
        *left = (*left + now.saturating_duration_since(*since).as_secs_f64() * rate).min(most);
        *since = now;
        let may = *left >= 1.0;
        if may {
            *left -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::limits::QUOTA_REQUESTS_PER_S;
    use std::time::Duration;

    #[test]
    fn a_user_without_a_quota_of_their_own_asks_as_often_as_the_limit_says() {
        let (rates, start) = (Rates::default(), Instant::now());
        let asked = |after: Duration| rates.admit("ada", Quota::default(), start + after);
        assert!((0..2 * QUOTA_REQUESTS_PER_S).all(|_| asked(Duration::ZERO)));
        assert!(!asked(Duration::ZERO), "one more");
        assert!((0..QUOTA_REQUESTS_PER_S).all(|_| asked(Duration::from_secs(1))));
        assert!(!asked(Duration::from_secs(1)), "one more in a second");
    }

    #[test]
    fn a_user_asks_so_often_and_another_as_often() {
        let (rates, start) = (Rates::default(), Instant::now());
        let quota = Quota { requests_per_s: 3, ..Quota::default() };
        let asked =
            |user: &str, after_ms: u64| rates.admit(user, quota, start + Duration::from_millis(after_ms));
        assert!((0..6).all(|_| asked("ada", 0)));
        assert!(!asked("ada", 0), "a seventh");
        assert!(asked("bob", 0), "another");
        assert!(!asked("ada", 300));
        assert!(asked("ada", 340), "a third of a second later");
        assert!(
            (0..6).all(|_| asked("ada", 60_000)) && !asked("ada", 60_000),
            "no more than two seconds are saved up"
        );
    }
}
