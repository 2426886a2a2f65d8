//! The watch on a task that was stopped by signals, which its processes can take back: where there is no freezer.
//!
//! When all of them stand still, none is left that could wake another. So what moves later than the first looks was woken
//! against the owner's word: by another, or by a timer that it set. What had a turn between two looks has moved, also if it stands
//! still at both; what only waits for the turn in which it stops has not.

use std::time::Duration;

use super::kin::{self, Passing, Stance};
use super::next_look::NextLook;

const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Looks at which something may move: signals take their time, and a task may just be starting.
const MOVING_MAX: u32 = 8;

#[derive(Debug)]
pub(crate) struct Standing {
    pub(super) next_look: NextLook,
    pause: Duration,
    moving: u32,
    /// How it stood at the last look; none before the first.
    stance: Option<Stance>,
}

impl Standing {
    /// Of a task that was stopped just now.
    pub(crate) fn new() -> Self {
        Self { next_look: NextLook::after(PAUSE_MIN), pause: PAUSE_MIN, moving: 0, stance: None }
    }

    /// Looks, if it is time to, and stops what moves; whether that is in vain.
    pub(crate) fn is_defied(&mut self, programs: Passing<'_>) -> bool {
        if !self.next_look.is_due() {
            return false;
        }
        if kin::stop_again(programs, &mut self.stance) > 0 {
            self.moving += 1;
            self.pause = PAUSE_MIN;
        } else {
            self.pause = (self.pause * 2).min(PAUSE_MAX);
        }
        self.next_look = NextLook::after(self.pause);
        self.moving > MOVING_MAX
    }
}
