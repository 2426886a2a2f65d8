//! A run at an agent: how it comes there, begins, counts, and is over.

use super::{AGAIN, Agent, Kept, Link, output};
use crate::flaw::{BROKEN, Flaw};
use crate::history::Seen;
use crate::mutant::Mutant;
use crate::scene::{Scene, Timer};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::Had;
use gleaner_wire::session::{End, FromAgent, Obstacle, Outcome, Run, StopCause, Stored, Tail, Usage};

/// How long a program lasts where it ends badly.
const FAILS_AFTER: Span = Span::from_nanos(100_000_000);

pub(super) struct Held {
    pub(super) run: Run,
    pub(super) began: bool,
    /// What it has counted, as of `since` if it is counting.
    progress: Span,
    since: Option<Time>,
    is_stopping: bool,
    /// Tells the timer of its end from older ones.
    generation: u32,
    /// What was wrong with the machine as it began.
    flaw: Flaw,
    /// What its program writes, and how much of it before its end.
    pub(super) text: Vec<u8>,
    pub(super) written: usize,
}

impl Agent {
    /// An older run gives way to a newer; what is known is not run twice. What was under way when the lease ended is
    /// another's by now.
    pub(super) fn take_on(&mut self, run: Run, scene: &mut Scene) {
        let id = run.id;
        if self.lease_ends <= scene.now && scene.mutant != Some(Mutant::LeaseIgnored) {
            scene.close = true;
            return;
        }
        let known = Had { run: id, lineage: run.lineage };
        if self.had().contains(&known) {
            return;
        }
        let older: Vec<_> =
            self.had().into_iter().map(|had| had.run).filter(|had| had.task == id.task).collect();
        if older.iter().any(|older| older.number >= id.number) {
            self.send(FromAgent::Ended { run: id, end: end(unknown(), None, Tail::default(), scene) }, scene);
            return;
        }
        for older in older {
            self.abandon(older, "a newer run takes its place", scene);
        }
        let held = Held {
            run,
            began: false,
            progress: Span::ZERO,
            since: None,
            is_stopping: false,
            generation: 0,
            flaw: Flaw::None,
            text: Vec::new(),
            written: 0,
        };
        let waits = held.run.after.is_some_and(|before| self.runs.contains_key(&before));
        self.runs.insert(id, held);
        if !waits || scene.mutant == Some(Mutant::BeginsAhead) {
            self.take_room(id, scene);
        }
    }

    /// Nothing stands before it any more.
    fn take_room(&mut self, run: RunId, scene: &mut Scene) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        if held.run.after.take().is_some() && !self.open {
            return self.abandon(run, "nothing new is to begin", scene);
        }
        let (cores, memory) = (held.run.needs.cores, held.run.needs.memory);
        scene.see(Seen::Took { run, on: self.number, cores, memory });
        let pause = scene.chance.millis(10, 2_000);
        scene.set(pause, Timer::Ready(run));
    }

    pub(super) fn begin(&mut self, run: RunId, scene: &mut Scene) {
        let Some(held) = self.runs.get_mut(&run).filter(|held| !held.began) else { return };
        let from = held.run.resume_from.clone().filter(|_| scene.mutant != Some(Mutant::CheckpointIgnored));
        let from = from.map(|stored| stored.blob);
        let is_unlucky = !scene.compares && scene.goes_wrong(20);
        let is_missing = from.as_ref().is_some_and(|blob| !scene.blobs.contains_key(blob));
        if self.flaw == Flaw::StartsNothing || is_unlucky || is_missing {
            // Half of the unlucky lack the program.
            let is_there = !is_unlucky || run.number.is_multiple_of(2);
            let obstacle = if is_there { Obstacle::Machine } else { Obstacle::NotThere };
            let outcome = Outcome::NotStarted { why: format!("{obstacle:?}"), obstacle };
            scene.see(Seen::NotStarted { run, lineage: held.run.lineage, on: self.number });
            self.over(run, outcome, None, scene);
            return;
        }
        held.began = true;
        held.flaw = self.flaw;
        held.progress = from.as_ref().map_or(Span::ZERO, |blob| scene.blobs[blob]);
        held.text = held.flaw.text(run.task, self.number);
        let at_most = held.text.len() as u64;
        held.written = if scene.chance.one_in(3) { scene.chance.between(1, at_most) as usize } else { 0 };
        let frames = output(run, &held.text[..held.written]);
        let (lineage, copies) = (held.run.lineage, held.copies());
        scene.see(Seen::Began { run, lineage, on: self.number, from, copies });
        self.send(FromAgent::Started(run), scene);
        if let Some(frame) = frames {
            self.send(frame, scene);
        }
        self.freeze_or_thaw(scene);
    }

    pub(super) fn freeze_or_thaw(&mut self, scene: &mut Scene) {
        let stands = self.is_asleep || self.paused || self.load >= 1.0;
        for (&run, held) in self.runs.iter_mut().filter(|(_, held)| held.began) {
            match held.since {
                Some(_) if stands => held.stand_still(scene.now),
                None if !stands => {
                    held.since = Some(scene.now);
                    held.generation += 1;
                    let left = Span::from_nanos(held.goal().nanos().saturating_sub(held.progress.nanos()));
                    scene.set(left, Timer::Counted(run, held.generation));
                }
                Some(_) | None => {}
            }
        }
    }

    pub(super) fn counted(&mut self, run: RunId, generation: u32, scene: &mut Scene) {
        let Some(held) = self.runs.get_mut(&run).filter(|held| held.generation == generation) else {
            return;
        };
        held.stand_still(scene.now);
        if held.wants_to_go_on_later() {
            self.over_with_checkpoint(run, Outcome::Exited { code: AGAIN }, scene);
        } else {
            let code = held.exit_code();
            self.over(run, Outcome::Exited { code }, None, scene);
        }
    }

    /// What has begun is not given back.
    pub(super) fn asked_to_stop(&mut self, run: RunId, cause: StopCause, scene: &mut Scene) {
        let has_begun = self.runs.get(&run).is_some_and(|held| held.began);
        if cause != StopCause::TakeBack || scene.mutant == Some(Mutant::GivesBackWhatBegan) {
            self.stop(run, scene);
        } else if !has_begun {
            if self.runs.contains_key(&run) {
                self.over(run, Outcome::Stopped, None, scene);
            } else {
                self.stop(run, scene);
            }
        }
    }

    /// An agent that does not have it says so: someone may wait for it.
    fn stop(&mut self, run: RunId, scene: &mut Scene) {
        if let Some(held) = self.runs.get_mut(&run) {
            if !std::mem::replace(&mut held.is_stopping, true) {
                let grace = scene.chance.millis(0, 3_000);
                scene.set(grace, Timer::Stopped(run));
                if scene.mutant == Some(Mutant::EndedTooSoon) {
                    let early = end(Outcome::Stopped, None, Tail::default(), scene);
                    self.send(FromAgent::Ended { run, end: early }, scene);
                }
            }
        } else if !self.ends.contains_key(&run) {
            self.send(FromAgent::Ended { run, end: end(unknown(), None, Tail::default(), scene) }, scene);
        }
    }

    pub(super) fn stopped(&mut self, run: RunId, scene: &mut Scene) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        held.stand_still(scene.now);
        if held.began && held.run.checkpoint.folder {
            self.over_with_checkpoint(run, Outcome::Stopped, scene);
        } else {
            self.over(run, Outcome::Stopped, None, scene);
        }
    }

    /// A checkpoint that cannot be stored is not reported.
    fn over_with_checkpoint(&mut self, run: RunId, outcome: Outcome, scene: &mut Scene) {
        let stores = matches!(self.link, Link::Up { .. }) && !scene.goes_wrong(8);
        let progress = self.runs[&run].progress;
        let is_hasty = scene.mutant == Some(Mutant::CheckpointNotStored);
        if stores || is_hasty {
            let stored = name_of(run, progress);
            if stores {
                scene.blobs.insert(stored.blob, progress);
                scene.see(Seen::Stored { blob: stored.blob, task: run.task });
            }
            self.over(run, outcome, Some(stored), scene);
        } else {
            self.abandon(run, "its checkpoint could not be stored", scene);
        }
    }

    pub(super) fn abandon(&mut self, run: RunId, why: &str, scene: &mut Scene) {
        if self.runs.contains_key(&run) {
            self.over(run, Outcome::Abandoned { why: why.to_owned() }, None, scene);
        }
    }

    fn over(&mut self, run: RunId, outcome: Outcome, checkpoint: Option<Stored>, scene: &mut Scene) {
        let Some(held) = self.runs.remove(&run) else { return };
        scene.see(Seen::LetGo { run, on: self.number });
        let lineage = held.run.lineage;
        if held.began {
            let flaw = held.flaw;
            scene.see(Seen::Over { run, lineage, on: self.number, outcome: outcome.clone(), flaw });
        }
        let (text, rest) = held.text.split_at(held.written);
        // What is stopped wrote no more.
        let rest = if matches!(outcome, Outcome::Exited { .. }) { rest.to_vec() } else { Vec::new() };
        let tail = Tail { offset: text.len() as u64, bytes: rest, dropped: 0 };
        let end = end(outcome, checkpoint, tail, scene);
        self.ends.insert(run, Kept { lineage, end, text: text.to_vec() });
        // Long output is sent before the end is told; what follows does not wait for that.
        if scene.chance.one_in(4) {
            let pause = scene.chance.millis(10, 3_000);
            scene.set(pause, Timer::Told(run));
        } else {
            self.tell_end(run, scene);
        }
        if scene.goes_wrong(10) {
            self.tell_end(run, scene);
        }
        let behind =
            self.runs.iter().find(|(_, held)| held.run.after == Some(run)).map(|(behind, _)| *behind);
        if let Some(behind) = behind {
            self.take_room(behind, scene);
        }
    }

    /// Unless it was settled meanwhile.
    pub(super) fn tell_end(&self, run: RunId, scene: &mut Scene) {
        if let Some(kept) = self.ends.get(&run) {
            self.send(FromAgent::Ended { run, end: kept.end.clone() }, scene);
        }
    }
}

impl Held {
    fn stand_still(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.progress = Span::from_nanos(self.progress.nanos() + now.since(since).nanos());
            self.generation += 1;
        }
    }

    fn length(&self) -> Span {
        let millis: u64 = self.run.command[1].parse().expect("a number of milliseconds");
        Span::from_nanos(millis * 1_000_000)
    }

    /// One that exits to be run again does so half way.
    fn goal(&self) -> Span {
        if self.flaw == Flaw::Fails {
            return self.length().min(FAILS_AFTER);
        }
        if self.wants_to_go_on_later() { Span::from_nanos(self.length().nanos() / 2) } else { self.length() }
    }

    fn wants_to_go_on_later(&self) -> bool {
        self.flaw != Flaw::Fails
            && self.run.checkpoint.exit_code == Some(AGAIN)
            && self.run.resume_from.is_none()
    }

    fn exit_code(&self) -> i32 {
        if self.flaw == Flaw::Fails { BROKEN } else { self.run.command[2].parse().expect("an exit code") }
    }

    /// How many machines are to answer at a time.
    fn copies(&self) -> usize {
        self.run.command[3].parse().expect("how many")
    }
}

fn unknown() -> Outcome {
    Outcome::Abandoned { why: "this agent does not have it".to_owned() }
}

fn end(outcome: Outcome, checkpoint: Option<Stored>, stdout: Tail, scene: &mut Scene) -> End {
    let usage =
        Usage { elapsed_s: scene.chance.unit() * 90.0, cpu_s: scene.chance.unit(), ..Usage::default() };
    End { outcome, usage, checkpoint, files: None, notes: Vec::new(), stdout, stderr: Tail::default() }
}

fn name_of(run: RunId, progress: Span) -> Stored {
    let RunId { task, number } = run;
    let name = format!("{:016x}{number:016x}{:032x}", task.index(), progress.nanos());
    Stored { blob: name.parse().expect("64 digits"), size: 1 }
}
