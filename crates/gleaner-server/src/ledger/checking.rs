//! Whether what the ledger derives is what follows from the rest of it.

use super::descriptions::Descriptions;
use super::job::count;
use super::{Job, Ledger, named_by};
use gleaner_core::{Run, Stage};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};

impl Ledger {
    /// Asserts that every index is what it would be if derived afresh. Costs O(machines + tasks): for tests and for
    /// `gleaner journal verify`.
    pub fn check(&self) -> Result<(), String> {
        self.scheduler.check()?;
        if self.named != named_by(&self.books) {
            return Err("the files that jobs name are not those that are listed".to_owned());
        }
        self.check_classes()?;
        if let Some(run) = self.books.lineages.of_retired(self.grid()) {
            return Err(format!("when {run} was ordered is known, and its task is not"));
        }
        let mut descriptions = Descriptions::default();
        for (id, job) in self.books.jobs.newest_first() {
            descriptions.add(id, job.spec.memory_bytes());
            if job.tally.open() > 0 {
                descriptions.open(id, &job.user);
            }
            self.check_job(id, job)?;
        }
        if self.books.descriptions != descriptions {
            return Err(format!("descriptions take {descriptions:?}, not {:?}", self.books.descriptions));
        }
        Ok(())
    }

    /// Of a job, that its tasks' runs, ends and phases are what is counted and listed of them.
    fn check_job(&self, id: JobId, job: &Job) -> Result<(), String> {
        let mut tally = Tally { waiting: job.count, ..Tally::default() };
        for task in job.tasks() {
            count(&mut tally, 1, TaskPhase::Waiting, self.record(task).phase);
            let is_unknown = |run: &&Run| run.stage() != Stage::Held && self.lineage_of(run.id()).is_none();
            if let Some(run) = self.grid().runs_of(task).find(is_unknown) {
                return Err(format!("nobody knows when {} was ordered", run.id()));
            }
        }
        let retired = job.tasks().filter(|task| self.is_retired(*task)).count();
        if retired != job.retired as usize || retired == job.count as usize {
            return Err(format!(
                "of job {id} {} tasks are said to be retired, and {retired} are",
                job.retired
            ));
        }
        let over = job.tasks().filter(|task| self.record(*task).ended.is_some());
        if let Some(task) = { over }.find(|task| !self.is_listed_as_over(*task)) {
            return Err(format!("{task} is over, and not listed as such"));
        }
        if tally != job.tally {
            return Err(format!("job {id} counts {:?} where its tasks make {tally:?}", job.tally));
        }
        Ok(())
    }
}
