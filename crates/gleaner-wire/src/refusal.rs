//! When an agent that is turned away for now may come again, where that is certain. People read it, and so does the agent: it is
//! the end of the words that [`ToAgent::Refused`](crate::session::ToAgent::Refused) brings.

const WORDS: &str = "it is let in again in ";

/// The end of what an agent is told.
pub fn let_in_again(seconds: f64) -> String {
    format!("{WORDS}{:.0} s", seconds.ceil().max(1.0))
}

/// The seconds after which an agent may come again that was told this, if it says so.
pub fn let_in_after(told: &str) -> Option<u32> {
    let (_, rest) = told.rsplit_once(WORDS)?;
    rest.strip_suffix(" s")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        for (seconds, expected) in [(0.0, 1), (19.2, 20), (3_600.0, 3_600)] {
            let told = format!("too much; {}", let_in_again(seconds));
            assert_eq!(let_in_after(&told), Some(expected), "{told}");
        }
        for other in ["", "it was revoked", "it is let in again in -5 s", "it is let in again in a while"] {
            assert_eq!(let_in_after(other), None, "{other}");
        }
    }
}
