//! Walks a whole journal and names what is damaged.

use super::{Damage, ReadError, Reader, Seq};

const PAGE_ROWS: usize = 4096;

/// So many damaged rows are named; the others are only counted.
pub const NAMED_DAMAGES: usize = 100;

/// What a walk over the journal found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// How many rows are as they were written.
    pub intact: u64,
    /// How many are not.
    pub damaged: u64,
    /// The first [`NAMED_DAMAGES`] of those.
    pub named: Vec<(Seq, Damage)>,
}

/// Reads every row up to the last there is when it begins, and goes on behind a damaged one.
pub fn verify(reader: &dyn Reader) -> Result<Verified, ReadError> {
    let last = reader.last()?;
    let mut found = Verified::default();
    let mut next = Seq::FIRST;
    while next <= last {
        next = match reader.read(next, PAGE_ROWS) {
            Ok(rows) => {
                found.intact += rows.len() as u64;
                rows.last().map_or(last, |row| row.seq).next()
            }
            Err(ReadError::Damaged { seq, damage }) => {
                found.intact += rows_before(reader, next, seq)?;
                found.note(seq, damage);
                seq.next()
            }
            Err(error) => return Err(error),
        };
    }
    if let Some(beginning) = reader.beginning()?
        && !reader.is_sealed()?
    {
        found.note(beginning.at, Damage::Base);
    }
    Ok(found)
}

/// How many rows there are before a damaged one.
fn rows_before(reader: &dyn Reader, from: Seq, damaged: Seq) -> Result<u64, ReadError> {
    let begins = reader.beginning()?.map_or(Seq::NONE, |beginning| beginning.at);
    if from > begins {
        return Ok(damaged.number() - from.number());
    }
    let mut next = from;
    let mut count = 0;
    while next < damaged {
        let Ok(row) = reader.read(next, 1) else { break };
        let Some(row) = row.first().filter(|row| row.seq < damaged) else { break };
        count += 1;
        next = row.seq.next();
    }
    Ok(count)
}

impl Verified {
    fn note(&mut self, seq: Seq, damage: Damage) {
        self.damaged += 1;
        if self.named.len() < NAMED_DAMAGES {
            self.named.push((seq, damage));
        }
    }
}
