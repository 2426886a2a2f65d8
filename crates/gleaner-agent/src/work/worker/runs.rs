//! How a run comes to its program, and what is removed after it.

use super::{Worker, unix_s};
use crate::clock::now;
use crate::duties::{Event, Exit, TransferError, Wanted};
use crate::folder;
use crate::owner::{Permit, check_signed};
use crate::work::keeping::Told;
use crate::work::minders::MinderError;
use crate::work::permits::Note;
use crate::work::transfers::{Answer, Next};
use gleaner_units::RunId;
use gleaner_wire::session::{Run, Usage};
use std::io;
use std::sync::Arc;

/// How a program ends that was to end before it began.
const KILLED: Exit = Exit::Signal(9);

impl Worker {
    /// What a thread says of a run that is gone is for nobody; what waited for its answer can be done now.
    pub(super) fn without_late_answers(&mut self, event: Event) -> Option<Event> {
        let (Event::Prepared(run, _) | Event::Collected(run, _)) = event else { return Some(event) };
        let Answer::Late { is_to_be_cleared, next } = self.threads.answered(run) else { return Some(event) };
        if is_to_be_cleared {
            self.clear(run);
        }
        match next.filter(|_| self.duties.is_transferring(run)) {
            Some(Next::Prepare(run)) => self.prepare(run),
            Some(Next::Collect(run, wanted)) => self.collect(run, wanted),
            None => {}
        }
        None
    }

    pub(super) fn prepare(&mut self, run: Arc<Run>) {
        let id = run.id;
        if self.threads.put_off(id, || Next::Prepare(run.clone())) || self.keeping.put_off(&run) {
            return;
        }
        // Nothing is fetched, or unpacked, that nobody signed.
        if let Err(why) = self.signed(&run) {
            self.results.push_back(Event::Prepared(id, Err(TransferError::Failed(why))));
        } else if folder::needs_transfers(&run) {
            let path = self.folders.of(id);
            self.threads.prepare(run, path, self.watch.rules().disk_free_min());
        } else {
            let (path, origin) = self.folders.lend(&run);
            let result = folder::prepare_empty(&run, &path, origin);
            self.results.push_back(Event::Prepared(id, result));
        }
    }

    pub(super) fn collect(&mut self, run: Arc<Run>, wanted: Wanted) {
        if self.threads.put_off(run.id, || Next::Collect(run.clone(), wanted)) {
            return;
        }
        let (path, keep_free) = (self.folders.of(run.id), self.watch.rules().disk_free_min());
        self.threads.collect(run, path, wanted, keep_free);
    }

    pub(super) fn launch(&mut self, run: Arc<Run>) {
        tracing::info!(task = run.name, run = run.id.number, user = run.user, "starts");
        match self.permit(&run) {
            Ok(None) => self.start(&run),
            Ok(Some(note)) => {
                let noted = self.noted.clone();
                // Nobody hears it any more at the end.
                self.clerk.write(note, move |written| drop(noted.send((run, written))));
            }
            Err(why) => self.has_exited(run.id, Exit::Refused(why)),
        }
    }

    /// What its user signed begins when that is written down, unless it is to end by now. The disk may have taken its time: while the
    /// owner wants the machine, it waits again.
    pub(super) fn noted(&mut self, run: &Run, written: io::Result<()>) {
        match written {
            Err(why) => {
                self.permits.withdraw(run.id);
                let what = format!("that it begins cannot be written down: {why}");
                self.has_exited(run.id, Exit::Lacking(what));
            }
            Ok(()) if self.duties.is_ending(run.id) => self.has_exited(run.id, KILLED),
            Ok(()) if self.duties.may_begin(now()) => self.start(run),
            Ok(()) => {
                self.permits.withdraw(run.id);
                self.duties.put_back(now(), run.id);
            }
        }
    }

    fn start(&mut self, run: &Run) {
        let by = (self.duties.profile(), self.watch.rules());
        let started = self.minders.start(run, &self.folders.of(run.id), by);
        if let Err(exit) = started.map_err(MinderError::exit) {
            self.has_exited(run.id, exit);
        }
    }

    fn has_exited(&mut self, run: RunId, exit: Exit) {
        self.results.push_back(Event::Exited(run, exit, Usage::default()));
    }

    pub(super) fn signed_ended(&mut self, run: RunId, ended_well: bool) {
        let Some(note) = self.permits.ended(run, ended_well) else { return };
        self.clerk.write(note, |written| {
            if let Err(why) = written {
                tracing::warn!(%why, "that a signed task is done is not written down");
            }
        });
    }

    /// A signed run that ended well under an agent before this one is done when what it left is stored. Its signature may have expired by
    /// now, or by a clock that is ahead.
    pub(super) fn take_up_signed(&mut self, run: &Run) {
        let Some(signers) =
            self.watch.rules().signed_by.as_ref().filter(|_| self.duties.has_ended_well(run.id))
        else {
            return;
        };
        let Ok(permit) = check_signed(run, signers, &self.identity.authority.to_string(), 0) else { return };
        self.permits.take_up(run.id, permit);
        if !self.duties.awaits_storing(run.id) {
            self.signed_ended(run.id, true);
        }
    }

    /// What its user signed, where the owner asks for that.
    fn signed(&self, run: &Run) -> Result<Option<Permit>, String> {
        let Some(signers) = &self.watch.rules().signed_by else { return Ok(None) };
        check_signed(run, signers, &self.identity.authority.to_string(), unix_s()).map(Some)
    }

    /// Whether it may start by what its user signed, and did not on the same signature before; what is to be written down first.
    fn permit(&mut self, run: &Run) -> Result<Option<Note>, String> {
        let permit = self.signed(run)?;
        permit.map(|permit| self.permits.begin(run.id, permit, unix_s())).transpose()
    }

    /// What another run of a number left is removed: one that waited for that can have its folder now.
    pub(super) fn recorded(&mut self, told: Told) {
        match told {
            Told::NotKept(runs) => self.take(Event::NotKept(runs)),
            Told::Cleared(run) => {
                if let Some(next) = self.keeping.cleared(run).filter(|_| self.duties.is_transferring(run)) {
                    self.prepare(next);
                }
            }
        }
    }

    pub(super) fn clear(&mut self, run: RunId) {
        // One that was given up before what it left was stored is not done.
        self.signed_ended(run, false);
        if self.threads.put_off_clearing(run) || self.keeping.call_off(run) {
            return;
        }
        if self.keeping.has(run) {
            self.spooled.remove(&run);
            self.keeping.clear(run, self.folders.give_up(run));
            return;
        }
        if self.spooled.remove(&run) {
            self.home.remove_spools(run);
        }
        if let Some(path) = self.folders.take_back(run)
            && !folder::remove_if_empty(&path)
        {
            self.threads.clear(self.folders.out_of_the_way(path));
        }
    }
}
