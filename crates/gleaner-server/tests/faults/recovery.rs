//! What the journal leads to: replayed from its start it is, to the byte, what the living coordinators had, snapshots
//! between or not; each decision, made again, is the one that was made; and no account ever spends more than it has.

use gleaner_server::journal::Entry;
use gleaner_server::ledger::Ledger;
use gleaner_server::store::{Seq, StoredRow};
use gleaner_server::verify::verify;
use gleaner_units::{Credits, Time};

pub(crate) fn check(rows: &[StoredRow], saved: &[(Seq, Vec<u8>)]) -> Result<(), String> {
    let entries = rows.iter().map(|stored| {
        let fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
        Ok((stored.seq, Entry { at: stored.row.at, fact }))
    });
    let entries: Vec<(Seq, Entry)> = entries.collect::<Result<_, String>>()?;
    let mut ledger = Ledger::new();
    let mut saved = saved.iter().peekable();
    for (seq, entry) in &entries {
        ledger.replay(entry).map_err(|error| format!("row {seq}: {error}"))?;
        spending(&ledger, entry.at).map_err(|broken| format!("row {seq}: {broken}"))?;
        while let Some((at, body)) = saved.next_if(|(at, _)| at <= seq) {
            if at == seq && *body != ledger.save() {
                return Err(format!("at row {seq} the journal leads elsewhere than the coordinator was"));
            }
        }
    }
    let report = verify(entries).map_err(|mismatch| mismatch.to_string())?;
    if report.facts == rows.len() as u64 { Ok(()) } else { Err(format!("{report:?}")) }
}

fn spending(ledger: &Ledger, at: Time) -> Result<(), String> {
    let Some(accounts) = ledger.grid().accounts() else { return Ok(()) };
    let recharge = accounts.budget().recharge;
    for (payer, account) in accounts.used() {
        let (spent, held, left) = (account.spent(at), account.held(), account.left(at));
        // A smaller budget leaves what is held and spent already as it is.
        let is_over = spent + held > recharge && left > Credits::ZERO;
        if is_over || (spent + held <= recharge && spent + held + left != recharge) {
            return Err(format!("{payer}: {spent} spent, {held} held and {left} left of {recharge}"));
        }
    }
    Ok(())
}
