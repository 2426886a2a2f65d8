//! What the owner's rules say of each run, whatever its user wished.

use gleaner_units::Span;
use gleaner_wire::session::Run;

/// What an agent that leaves takes besides its tasks' grace: to kill, and to hear that their ends are settled.
pub(crate) const LEAVING: Span = Span::from_nanos(11_000_000_000);

/// The most that any run gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// From being asked to end until it is killed, whoever asks.
    pub grace_max: Span,
    /// Suspended, before it has to leave.
    pub suspended_max: Option<Span>,
    /// Running, without the time it was suspended.
    pub time_max: Option<Span>,
}

impl Bounds {
    /// How long an agent takes at most that is told to leave.
    pub fn leaving_max(self) -> Span {
        Span::from_nanos(self.grace_max.nanos().saturating_add(LEAVING.nanos()))
    }

    /// How long a run may take to end.
    pub(crate) fn grace(self, run: &Run) -> Span {
        wished(run.checkpoint.grace_s).min(self.grace_max)
    }

    /// How long it may run.
    pub(crate) fn time(self, run: &Run) -> Option<Span> {
        [users_time(run), self.time_max].into_iter().flatten().min()
    }

    /// How long it may run by the owner's word, where that is less than by its user's.
    pub(crate) fn owners_time(self, run: &Run) -> Option<Span> {
        self.time_max.filter(|most| users_time(run).is_none_or(|wished| *most < wished))
    }

    /// Where a run gets less than its user wished, in words for them.
    pub(crate) fn cuts(self, run: &Run) -> Vec<String> {
        let cut = |what: &str, wish: Span, most: Option<Span>| {
            let most = most.filter(|most| *most < wish)?;
            let (wish, most) = (wish.seconds(), most.seconds());
            Some(format!("the machine's owner allows {most} s {what}, not the {wish} s that were asked for"))
        };
        let grace = cut("of grace", wished(run.checkpoint.grace_s), Some(self.grace_max));
        let time = cut("of running", wished(run.needs.time_limit_s), self.time_max);
        [grace, time].into_iter().flatten().collect()
    }
}

fn users_time(run: &Run) -> Option<Span> {
    Some(wished(run.needs.time_limit_s)).filter(|limit| *limit > Span::ZERO)
}

/// What makes no sense is none.
fn wished(seconds: f64) -> Span {
    Span::from_seconds(seconds.max(0.0)).unwrap_or(Span::ZERO)
}
