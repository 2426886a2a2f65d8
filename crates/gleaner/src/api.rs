//! The coordinator's API: one method for each thing that can be asked of it, and no terminal.

use crate::cli::{GridArguments, JobOrTask, TaskName};
use crate::failure::Failure;
use crate::{home, together};
use gleaner_net::{Address, Client, ClientError, Events, Fingerprint, Token};
use gleaner_wire::api::{
    BudgetSetting, BudgetView, Choice, ExplanationView, GridView, History, JobList, JobView, KeepSetting,
    KeepingView, LabelList, MachineList, MachineView, NewToken, Ordered, OwnerSpec, PolicyKeys, PolicyView,
    Preview, PriceSpec, QuotaList, QuotaSetting, Role, Submitted, TaskList, TaskPhase, TaskView, UserList,
};
use gleaner_wire::day::{FailureList, UseList, WaitList};
use gleaner_wire::job::JobSpec;
use gleaner_wire::limits::{BLOB_BYTES_MAX, JOBS_LISTED_MAX, TASKS_LISTED_MAX};
use gleaner_wire::session::{Stored, Stream};
use gleaner_wire::{BlobHash, JobId};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// How much output one answer holds; more than the coordinator ever sends.
const OUTPUT_PIECE_MAX: u64 = 128 << 20;

/// A coordinator, as one user reaches it.
pub(crate) struct Api {
    client: Client,
    fingerprint: Fingerprint,
    /// Where this user's commands keep things, if anywhere.
    folder: Option<PathBuf>,
}

/// What a task wrote from some point on.
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// Which run wrote it.
    pub(crate) run: Option<u32>,
    /// Where to go on reading.
    pub(crate) next: u64,
    /// Whether this run writes no more.
    pub(crate) over: bool,
    /// How much of it was too much to keep.
    pub(crate) dropped: u64,
}

type Answer<T> = Result<T, Failure>;

impl Api {
    /// The coordinator that the arguments, the environment or the folder name. Nothing is connected yet.
    pub(crate) fn open(arguments: &GridArguments) -> Answer<Self> {
        let folder = || home::folder(arguments.home.as_deref());
        let address = match &arguments.server {
            Some(server) => server.clone(),
            None => home::coordinator(&folder()?)?.from_here().to_owned(),
        };
        let address: Address =
            address.parse().map_err(|error| Failure::Usage(format!("{address}: {error}")))?;
        // As `gleaner token user` prints it, a token has the fingerprint behind a dot.
        let said = arguments.token.as_deref().map(|token| token.split_once('.').unwrap_or((token, "")));
        let behind = said.map(|(_, fingerprint)| fingerprint.to_owned()).filter(|behind| !behind.is_empty());
        // On the coordinator's own machine its folder has it, whatever name it is reached under.
        let fingerprint = match arguments.fingerprint.clone().or(behind) {
            Some(fingerprint) => fingerprint,
            None => home::coordinator(&folder()?).map_err(|_| no_fingerprint(&address))?.fingerprint,
        };
        let fingerprint =
            fingerprint.parse::<Fingerprint>().map_err(|error| Failure::Usage(error.to_string()))?;
        let token = match said {
            Some((token, _)) => token.to_owned(),
            None => home::token(&folder()?)?,
        };
        let token: Token = token.parse().map_err(|error| Failure::Usage(format!("the token: {error}")))?;
        let client = Client::new(address, fingerprint, &token);
        Ok(Self { client, fingerprint, folder: folder().ok() })
    }

    /// By which the coordinator is known to be the right one.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    pub(crate) fn submit(&self, job: &JobSpec, key: Option<&str>) -> Answer<Submitted> {
        let path = "/api/v1/jobs";
        Ok(match key {
            Some(key) => self.client.post_once(path, job, key)?,
            None => self.client.post(path, job)?,
        })
    }

    /// Keeps in mind here which jobs one submission made.
    pub(crate) fn note_submitted(&self, jobs: &[JobId]) {
        if let Some(folder) = &self.folder {
            together::note(folder, self.fingerprint, jobs);
        }
    }

    /// The jobs that were submitted from here together with the newest, which is one of them, whether they are there still or not.
    pub(crate) fn submitted_with(&self, newest: JobId) -> Vec<JobId> {
        let found = self.folder.as_ref().and_then(|folder| together::find(folder, self.fingerprint, newest));
        found.unwrap_or_else(|| vec![newest])
    }

    pub(crate) fn preview(&self, job: &JobSpec) -> Answer<Preview> {
        Ok(self.client.post("/api/v1/jobs/preview", job)?)
    }

    /// The newest jobs, or the newest in a state; of more than one answer may hold, page after page.
    pub(crate) fn jobs(&self, limit: u32, state: Option<&str>, user: Option<&str>) -> Answer<JobList> {
        let mut list = self.jobs_before(None, limit.min(JOBS_LISTED_MAX), state, user)?;
        let mut came = list.jobs.len();
        while came == JOBS_LISTED_MAX as usize && list.jobs.len() < limit as usize {
            let left = limit - list.jobs.len() as u32;
            let before = list.jobs.last().map(|job| job.job);
            let page = self.jobs_before(before, left.min(JOBS_LISTED_MAX), state, user)?;
            came = page.jobs.len();
            list.jobs.extend(page.jobs);
        }
        Ok(list)
    }

    fn jobs_before(
        &self,
        before: Option<JobId>,
        limit: u32,
        state: Option<&str>,
        user: Option<&str>,
    ) -> Answer<JobList> {
        let before = before.map(|before| format!("&before={before}")).unwrap_or_default();
        let state = state.map(|state| format!("&state={state}")).unwrap_or_default();
        let user = user.map(|user| format!("&user={}", escaped(user))).unwrap_or_default();
        Ok(self.client.get(&format!("/api/v1/jobs?limit={limit}{before}{state}{user}"))?)
    }

    pub(crate) fn job(&self, job: JobId) -> Answer<JobView> {
        Ok(self.client.get(&format!("/api/v1/jobs/{job}"))?)
    }

    /// Likewise, as soon as all its tasks are over, or after so many seconds.
    pub(crate) fn job_when_over(&self, job: JobId, wait_s: u32) -> Answer<JobView> {
        Ok(self.client.get(&format!("/api/v1/jobs/{job}?wait_s={wait_s}"))?)
    }

    pub(crate) fn tasks(
        &self,
        job: JobId,
        from: u32,
        limit: u32,
        phase: Option<TaskPhase>,
    ) -> Answer<TaskList> {
        let phase = phase.map_or(String::new(), |phase| format!("&phase={}", phase.name()));
        Ok(self.client.get(&format!("/api/v1/jobs/{job}/tasks?from={from}&limit={limit}{phase}"))?)
    }

    /// Shows `each` of a job's tasks, `limit` at most, and says from where on there are more.
    pub(crate) fn each_task(
        &self,
        id: JobId,
        from: u32,
        limit: u32,
        phase: Option<TaskPhase>,
        mut is_last: impl FnMut(&TaskView) -> Answer<bool>,
    ) -> Answer<Option<u32>> {
        let (mut from, mut left) = (from, limit);
        loop {
            let page = self.tasks(id, from, left.min(TASKS_LISTED_MAX), phase)?;
            for task in &page.tasks {
                if is_last(task)? {
                    return Ok(None);
                }
            }
            left -= page.tasks.len() as u32;
            match page.next {
                Some(next) if left > 0 => from = next,
                next => return Ok(next),
            }
        }
    }

    pub(crate) fn task(&self, job: JobId, task: u32) -> Answer<TaskView> {
        Ok(self.client.get(&format!("/api/v1/jobs/{job}/tasks/{task}"))?)
    }

    /// The task that is meant; a job stands for its first.
    pub(crate) fn named(&self, JobOrTask { job, task }: JobOrTask) -> Answer<TaskName> {
        let first = || Ok::<_, Failure>(self.first(job, None)?.unwrap_or(0));
        Ok(TaskName { job, task: task.map_or_else(first, Ok)? })
    }

    /// The first task of a job, of those in a phase or of all.
    pub(crate) fn first(&self, job: JobId, phase: Option<TaskPhase>) -> Answer<Option<u32>> {
        Ok(self.tasks(job, 0, 1, phase)?.tasks.first().map(|task| task.task))
    }

    pub(crate) fn history(&self, job: JobId, task: u32) -> Answer<History> {
        Ok(self.client.get(&format!("/api/v1/jobs/{job}/tasks/{task}/history"))?)
    }

    pub(crate) fn explain(&self, job: JobId, task: u32, at_s: Option<f64>) -> Answer<ExplanationView> {
        let at = at_s.map_or(String::new(), |at_s| format!("?at_s={at_s}"));
        Ok(self.client.get(&format!("/api/v1/jobs/{job}/tasks/{task}/explain{at}"))?)
    }

    /// What a run of a task, the one that counts or the last if none is named, wrote from `offset` on; waits so long for something to be written.
    pub(crate) fn output(
        &self,
        (job, task): (JobId, u32),
        stream: Stream,
        run: Option<u32>,
        offset: u64,
        wait_s: u32,
    ) -> Answer<Piece> {
        let stream = stream.name();
        let run = run.map_or(String::new(), |run| format!("&run={run}"));
        let path = format!(
            "/api/v1/jobs/{job}/tasks/{task}/output?stream={stream}&offset={offset}&wait_s={wait_s}{run}"
        );
        let (headers, bytes) = self.client.piece(&path, OUTPUT_PIECE_MAX)?;
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        Ok(Piece {
            // 0 is that of a task that has not had one.
            run: number("gleaner-run").map(|run| run as u32).filter(|&run| run > 0),
            next: number("gleaner-next-offset").unwrap_or(offset + bytes.len() as u64),
            over: text("gleaner-over") == Some("true"),
            dropped: number("gleaner-dropped").unwrap_or(0),
            bytes,
        })
    }

    /// `order` is one of cancel, hold, release and rerun.
    pub(crate) fn order(&self, job: JobId, order: &str, choice: &Choice) -> Answer<Ordered> {
        Ok(self.client.post(&format!("/api/v1/jobs/{job}/{order}"), choice)?)
    }

    pub(crate) fn keeping(&self, limit: u32) -> Answer<KeepingView> {
        Ok(self.client.get(&format!("/api/v1/keeping?limit={limit}"))?)
    }

    pub(crate) fn keep(&self, job: JobId, keep: bool) -> Answer<JobView> {
        Ok(self.client.put(&format!("/api/v1/jobs/{job}/results"), &KeepSetting { keep })?)
    }

    pub(crate) fn overview(&self) -> Answer<GridView> {
        Ok(self.client.get("/api/v1/grid")?)
    }

    pub(crate) fn waits(&self) -> Answer<WaitList> {
        Ok(self.client.get("/api/v1/waits")?)
    }

    pub(crate) fn usages(&self) -> Answer<UseList> {
        Ok(self.client.get("/api/v1/day/use")?)
    }

    pub(crate) fn failures(&self, job: JobId) -> Answer<FailureList> {
        Ok(self.client.get(&format!("/api/v1/jobs/{job}/failures"))?)
    }

    pub(crate) fn machines(&self) -> Answer<MachineList> {
        Ok(self.client.get("/api/v1/machines")?)
    }

    /// `order` is one of pause, resume, drain, measure, revoke and forget.
    pub(crate) fn machine(&self, name: &str, order: &str) -> Answer<Value> {
        Ok(self.client.post(&format!("/api/v1/machines/{}/{order}", escaped(name)), &json!({}))?)
    }

    pub(crate) fn policy(&self) -> Answer<PolicyView> {
        Ok(self.client.get("/api/v1/policy")?)
    }

    pub(crate) fn set_policy(&self, policy: &PolicyKeys) -> Answer<PolicyView> {
        Ok(self.client.put("/api/v1/policy", policy)?)
    }

    pub(crate) fn budget(&self) -> Answer<BudgetView> {
        Ok(self.client.get("/api/v1/budget")?)
    }

    pub(crate) fn set_budget(&self, budget: Option<PolicyKeys>) -> Answer<BudgetView> {
        Ok(self.client.put("/api/v1/budget", &BudgetSetting { budget })?)
    }

    pub(crate) fn quotas(&self) -> Answer<QuotaList> {
        Ok(self.client.get("/api/v1/quotas")?)
    }

    pub(crate) fn set_quota(&self, setting: &QuotaSetting) -> Answer<QuotaList> {
        Ok(self.client.put("/api/v1/quotas", setting)?)
    }

    pub(crate) fn set_price(&self, name: &str, price: f64) -> Answer<MachineView> {
        Ok(self.client.put(&format!("/api/v1/machines/{}/price", escaped(name)), &PriceSpec { price })?)
    }

    pub(crate) fn set_owner(&self, name: &str, owner: Option<String>) -> Answer<MachineView> {
        Ok(self.client.put(&format!("/api/v1/machines/{}/owner", escaped(name)), &OwnerSpec { owner })?)
    }

    pub(crate) fn labels(&self) -> Answer<LabelList> {
        Ok(self.client.get("/api/v1/labels")?)
    }

    /// Good for so many machines and seconds.
    pub(crate) fn join_token(&self, uses: u32, expires_s: u32, owner: Option<&str>) -> Answer<NewToken> {
        let owner = owner.map(|owner| format!("&owner={}", escaped(owner))).unwrap_or_default();
        let path = format!("/api/v1/tokens/join?uses={uses}&expires_s={expires_s}{owner}");
        Ok(self.client.post(&path, &json!({}))?)
    }

    pub(crate) fn remove_join_token(&self, id: &str) -> Answer<UserList> {
        Ok(self.client.post(&format!("/api/v1/tokens/join/{}/remove", escaped(id)), &json!({}))?)
    }

    /// Good for so many seconds, or for ever.
    pub(crate) fn user_token(
        &self,
        name: &str,
        role: Option<Role>,
        expires_s: Option<u32>,
        again: bool,
    ) -> Answer<NewToken> {
        let again = if again { "&again=true" } else { "" };
        let role = role.map_or(String::new(), |role| format!("&role={}", role.name()));
        let expires = expires_s.map_or(String::new(), |seconds| format!("&expires_s={seconds}"));
        let path = format!("/api/v1/tokens/user?name={}{role}{expires}{again}", escaped(name));
        Ok(self.client.post(&path, &json!({}))?)
    }

    pub(crate) fn users(&self) -> Answer<UserList> {
        Ok(self.client.get("/api/v1/users")?)
    }

    pub(crate) fn remove_user(&self, name: &str) -> Answer<UserList> {
        Ok(self.client.post(&format!("/api/v1/users/{}/remove", escaped(name)), &json!({}))?)
    }

    pub(crate) fn has_blob(&self, blob: &BlobHash) -> Answer<bool> {
        Ok(self.client.exists(&format!("/api/v1/blobs/{blob}"))?)
    }

    pub(crate) fn upload(&self, blob: &BlobHash, file: &mut File, size: u64) -> Answer<Stored> {
        Ok(self.client.upload(&format!("/api/v1/blobs/{blob}"), file, size)?)
    }

    /// The archive of the files that a task left.
    pub(crate) fn files_of(&self, (job, task): (JobId, u32), into: &mut dyn Write) -> Answer<u64> {
        Ok(self.client.download(&format!("/api/v1/jobs/{job}/tasks/{task}/files"), into, BLOB_BYTES_MAX)?)
    }

    /// What happens from now on, to one job or to the grid.
    pub(crate) fn events(&self, job: Option<JobId>) -> Answer<Events> {
        let job = job.map_or(String::new(), |job| format!("?job={job}"));
        Ok(self.client.events(&format!("/api/v1/events{job}"))?)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Failure::Grid(error)
    }
}

fn no_fingerprint(address: &Address) -> Failure {
    Failure::Usage(format!(
        "without its authority's fingerprint nobody can tell whether {address} is the right server: pass it as \
         --fingerprint or GLEANER_FINGERPRINT; it is the part behind the dot in a token as it is printed"
    ))
}

/// A name within a path or a query.
pub(crate) fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::TokenKind;

    /// As `gleaner token user` prints it, or each by itself.
    #[test]
    fn a_token_may_have_the_fingerprint_behind_it() {
        let (token, print) =
            (Token::generate(TokenKind::User).expect("randomness").reveal(), "ab".repeat(32));
        let server = Some("https://lab:7717".to_owned());
        let plain = GridArguments {
            home: None,
            server,
            fingerprint: Some(print.clone()),
            token: Some(token.clone()),
            json: false,
        };
        let both =
            GridArguments { fingerprint: None, token: Some(format!("{token}.{print}")), ..plain.clone() };
        for arguments in [plain, both] {
            let api = Api::open(&arguments).expect("all that is needed");
            assert_eq!(api.fingerprint(), print.parse().expect("a fingerprint"));
        }
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("lab-3.local"), "lab-3.local");
        assert_eq!(escaped("a/b?ü"), "a%2Fb%3F%C3%BC");
    }
}
