//! Runs that are not over, as users see them.

use super::reasons::Reasons;
use crate::desk::Desk;
use crate::ledger::Job;
use gleaner_core::Stage;
use gleaner_units::TaskId;
use gleaner_wire::api::{OpenRunView, RunStage};
use gleaner_wire::session::Staging;

/// Those of a task, the oldest first.
pub(super) fn open_runs(desk: &Desk, id: TaskId) -> Vec<OpenRunView> {
    let ledger = desk.ledger();
    let open = ledger.grid().runs_of(id).filter(|run| run.stage() != Stage::Missing);
    let mut views: Vec<OpenRunView> = open
        .map(|run| {
            let staging = desk.staging(run.id(), run.on());
            let stage = match (run.stage(), staging) {
                (Stage::Sent | Stage::Next, Some(Staging::In)) => RunStage::StagingIn,
                (Stage::Running | Stage::Stopping, Some(Staging::Out)) => RunStage::StagingOut,
                (Stage::Held, _) => RunStage::Held,
                (Stage::Next, _) => RunStage::Next,
                // Agents are told, and not asked.
                (Stage::Asked | Stage::Sent, _) => RunStage::Sent,
                (Stage::Running, _) => RunStage::Running,
                (Stage::Stopping | Stage::Missing, _) => RunStage::Stopping,
            };
            let machine = ledger.agent(run.on()).name.clone();
            let is_kept = staging == Some(Staging::Out) && desk.is_without_space(run.on());
            let why = is_kept.then(|| {
                format!("no space is left on the coordinator's disk for what it left; {machine} keeps that, and sends it again")
            });
            OpenRunView { run: run.id().number, machine, stage, why }
        })
        .collect();
    views.sort_by_key(|view| view.run);
    views
}

/// In a sentence, why tasks of a job that have run are not over.
pub(super) fn waits_for_space(desk: &Desk, job: &Job, reasons: &mut Reasons) -> Option<String> {
    let runs = if job.tally.open() == 0 { 0 } else { reasons.without_space(desk, job.range()) };
    let whose = if runs == 1 { "1 of its runs" } else { &format!("{runs} of its runs") };
    (runs > 0).then(|| {
        format!(
            "space on the coordinator's disk: there is none for what {whose} left, and the machines keep that"
        )
    })
}
