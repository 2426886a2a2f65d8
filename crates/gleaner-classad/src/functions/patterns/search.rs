//! A search that counts what it does.
//!
//! PCRE2 counts the ways that it tries from each place of the text at which a match may begin, and stops at a limit that
//! stands in the pattern. What it has counted it does not tell. So a search begins with a low limit, and with a higher
//! one where that was too low; **before each try the evaluation pays for all that the try may do**: the same everywhere,
//! however fast the machine is.

use super::Options;
use crate::eval::{Evaluator, Halt};
use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};

/// Ways that are tried from each place at first.
const WAYS_FIRST: u64 = 16;
/// By how much more with each further limit.
const WAYS_TIMES: u64 = 16;
/// Where HTCondor gives up.
const WAYS_MAX: u64 = 10_000_000;
/// Ways that cost a step. One way may look at all of a text: each so many bytes count as one way more.
const WAYS_PER_STEP: u64 = 4;
const BYTES_PER_WAY: u64 = 512;
/// What compiling a pattern costs, in steps; a repetition with numbers may be compiled to 64 KiB.
const COMPILED_STEPS: u64 = 50;
const REPEATED_STEPS: u64 = 2_000;
/// PCRE2's names for a limit that was met.
const LIMITS_MET: [i32; 2] = [-47, -53];

/// What a search comes to.
pub(super) enum Found {
    /// The first match, by its groups.
    Match(CaptureLocations),
    /// There is none.
    Nothing,
    /// It would take more than it may.
    GivenUp,
}

pub(super) struct Search {
    pub(super) source: String,
    options: Options,
    first: Regex,
}

impl Search {
    /// `None` where the pattern is none.
    pub(super) fn compile(
        evaluator: &mut Evaluator,
        source: &str,
        options: Options,
    ) -> Result<Option<Self>, Halt> {
        let source = without_limits(source);
        evaluator.spend(compiling(&source))?;
        Ok(build(&source, options, WAYS_FIRST).map(|first| Self { source, options, first }))
    }

    /// The first match from a place on.
    pub(super) fn run(&self, evaluator: &mut Evaluator, text: &[u8], from: usize) -> Result<Found, Halt> {
        let mut ways = WAYS_FIRST;
        evaluator.spend(self.steps(text, from, ways))?;
        let mut attempt = attempt(&self.first, text, from);
        loop {
            match attempt {
                Ok(Some(groups)) => return Ok(Found::Match(groups)),
                Ok(None) => return Ok(Found::Nothing),
                Err(error) if LIMITS_MET.contains(&error.code()) && ways < WAYS_MAX => {}
                Err(_) => return Ok(Found::GivenUp),
            }
            ways = (ways * WAYS_TIMES).min(WAYS_MAX);
            let steps = compiling(&self.source).saturating_add(self.steps(text, from, ways));
            if steps > evaluator.steps_left() {
                evaluator.give_up();
                return Ok(Found::GivenUp);
            }
            evaluator.spend(steps)?;
            let Some(regex) = build(&self.source, self.options, ways) else { return Ok(Found::GivenUp) };
            attempt = self::attempt(&regex, text, from);
        }
    }

    /// What a search may do at most.
    fn steps(&self, text: &[u8], from: usize, ways: u64) -> u64 {
        let places = text.len().saturating_sub(from) as u64 + 1;
        let looks = 1 + (text.len() + self.source.len()) as u64 / BYTES_PER_WAY;
        1 + places.saturating_mul(ways).saturating_mul(looks) / WAYS_PER_STEP
    }
}

fn attempt(regex: &Regex, text: &[u8], from: usize) -> Result<Option<CaptureLocations>, pcre2::Error> {
    let mut groups = regex.capture_locations();
    let found = regex.captures_read_at(&mut groups, text, from)?.is_some();
    Ok(found.then_some(groups))
}

fn compiling(source: &str) -> u64 {
    let repetitions = if source.contains('{') { REPEATED_STEPS } else { 0 };
    COMPILED_STEPS + repetitions + source.len() as u64 / 16
}

fn build(source: &str, options: Options, ways: u64) -> Option<Regex> {
    RegexBuilder::new()
        .caseless(options.caseless)
        .multi_line(options.multi_line)
        .dotall(options.dot_all)
        .extended(options.extended)
        .build(&format!("(*LIMIT_MATCH={ways}){source}"))
        .ok()
}

/// The pattern without limits of its own: of several in one pattern the last would hold.
fn without_limits(source: &str) -> String {
    let is_option = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_' || c == '=';
    let (mut kept, mut rest) = (String::new(), source);
    while let Some((option, behind)) = rest.strip_prefix("(*").and_then(|rest| rest.split_once(')')) {
        if !option.chars().all(is_option) {
            break;
        }
        if !option.starts_with("LIMIT_") {
            kept.push_str(&rest[..option.len() + 3]);
        }
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_sets_no_limits() {
        for (source, expected) in [
            ("a(*LIMIT_MATCH=9)", "a(*LIMIT_MATCH=9)"),
            ("(*LIMIT_MATCH=9)a", "a"),
            ("(*UTF)(*LIMIT_RECURSION=9)(*CRLF)(*LIMIT_HEAP=1)a)", "(*UTF)(*CRLF)a)"),
            ("(*", "(*"),
            ("(*LIMIT_MATCH=9", "(*LIMIT_MATCH=9"),
        ] {
            assert_eq!(without_limits(source), expected);
        }
    }
}
