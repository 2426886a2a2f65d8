//! Users who order things about, and ask again where it cannot have been done twice.

use super::agent::AGAIN;
use super::chance::Chance;
use super::history::Seen;
use gleaner_server::desk::{
    Administration, Admitted, Answer, JobFiles, Order, OrderId, Rejection, Requester,
};
use gleaner_wire::JobId;
use gleaner_wire::api::{Choice, PolicyKeys, Role};
use gleaner_wire::job::{Checkpointing, JobSpec, Needs, TaskList};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(crate) const ADMIN: &str = "admin";
const USERS: [&str; 3] = ["ann", "bob", "cid"];
const JOBS_MAX: usize = 7;
const MOVING: [&str; 3] = ["bertasi/greedy", "bertasi/social", "bertasi/min-num"];
const IN_BATCHES: [&str; 9] = [
    "elleuch/min-min",
    "elleuch/b-max-min",
    "elleuch/bt-sufferage",
    "elleuch/b-sufferage-passes",
    "elleuch/btt-min-min",
    "elleuch/lbtt-min-min",
    "nimrod/cost",
    "nimrod/time",
    "nimrod/conservative-time",
];

const AT_ONCE: [&str; 3] = ["immediate/mct", "immediate/met", "immediate/kpb:40"];

/// A request whose answer has not come yet.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) by: Requester,
    pub(crate) order: Order,
}

#[derive(Default)]
pub(crate) struct Users {
    /// By the number of the request.
    pub(crate) open: BTreeMap<OrderId, Asked>,
    /// What each was told of their jobs.
    jobs: Vec<(String, JobId, u32)>,
    /// The machines that were revoked: to do it again changes nothing, and is not written down.
    revoked: BTreeSet<String>,
    asked: u64,
    submitted: usize,
    /// Whether some jobs here want the same answer from two machines. Then no other machine than this one may give a wrong answer,
    /// or be gone for good.
    pub(crate) compares: bool,
    pub(crate) flawed: u32,
    /// Whether tasks are planned in batches in this history, under budgets, and so all have lengths.
    plans: Option<bool>,
    /// How often anyone wanted anything.
    wishes: u64,
}

impl Users {
    pub(crate) fn ask(&mut self, by: &str, order: Order) -> (OrderId, Asked) {
        self.asked += 1;
        let id = OrderId(self.asked);
        let by = Requester {
            user: by.to_owned(),
            role: if by == ADMIN { Role::Admin } else { Role::User },
            token: None,
        };
        let asked = Asked { by, order };
        self.open.insert(id, asked.clone());
        (id, asked)
    }

    /// The journal was put back: what is not in it any more was never told.
    pub(crate) fn forget(&mut self, jobs: &BTreeMap<JobId, (String, u32)>) {
        self.open.clear();
        self.jobs.retain(|(user, job, tasks)| jobs.get(job) == Some(&(user.clone(), *tasks)));
    }

    /// Asks for the same again, under another number.
    pub(crate) fn ask_again(&mut self, id: OrderId) -> Option<(OrderId, Asked)> {
        let Asked { by, order } = self.open.remove(&id)?;
        let is_safe = matches!(&order, Order::Submit { key: Some(_), .. } | Order::Cancel(..));
        is_safe.then(|| self.ask(&by.user, order))
    }

    /// What is seen of an answer.
    pub(crate) fn told(&mut self, id: OrderId, answer: Result<Answer, Rejection>) -> Option<Seen> {
        let Asked { by, order } = self.open.remove(&id)?;
        let user = by.user;
        match (order, answer) {
            (Order::Submit { key, .. }, Ok(Answer::Submitted { told, .. })) => {
                let (job, tasks) = (told.job, told.tasks);
                if !self.jobs.iter().any(|(_, known, _)| *known == job) {
                    self.jobs.push((user.clone(), job, tasks));
                }
                Some(Seen::Submitted { user, key, job, tasks })
            }
            (order, Ok(Answer::Ordered(told))) => {
                let (what, job) = named(&order)?;
                (told.tasks > 0).then_some(Seen::Ordered { what, job })
            }
            (Order::Administer(order), Ok(_)) => {
                let what = match order {
                    Administration::SetPolicy(_) | Administration::SetBudget(_) => "policy",
                    Administration::SetPrice { .. } => "price",
                    Administration::SetOwner { .. } => "owner",
                    Administration::SetOpen { .. } => "open",
                    Administration::Revoke(machine) if self.revoked.insert(machine.clone()) => "revoke",
                    _ => return None,
                };
                Some(Seen::Administered { what })
            }
            _ => None,
        }
    }

    /// What one of them wants next.
    pub(crate) fn wish(&mut self, chance: &mut Chance, agents: u32) -> (String, Order) {
        let plans = *self.plans.get_or_insert_with(|| !self.compares && chance.one_in(3));
        self.wishes += 1;
        if plans && self.wishes <= 4 {
            // A machine's price, a budget, and a policy that heeds it, before the first job.
            return (ADMIN.to_owned(), plan_with(chance, agents, self.wishes));
        }
        if self.submitted < JOBS_MAX && (self.jobs.is_empty() || chance.one_in(3)) {
            self.submitted += 1;
            let key = (!chance.one_in(4)).then(|| format!("key-{}", self.submitted));
            let order = Order::Submit {
                job: Admitted::check(self.job(chance, plans)).expect("a job"),
                key,
                files: JobFiles::default(),
            };
            return ((*chance.pick(&USERS)).to_owned(), order);
        }
        if self.jobs.is_empty() || chance.one_in(5) {
            return (ADMIN.to_owned(), self.administration(chance, agents, plans));
        }
        let (user, job, tasks) = chance.pick(&self.jobs).clone();
        let choice = choice(chance, tasks);
        let order = match chance.below(10) {
            0 => Order::Cancel(job, choice),
            1..=3 => Order::Hold(job, choice),
            4..=6 => Order::Release(job, choice),
            7 => Order::KeepResults(job, chance.one_in(2)),
            _ => Order::Rerun(job, choice, None),
        };
        (user, order)
    }

    fn job(&self, chance: &mut Chance, plans: bool) -> JobSpec {
        let mut job = job(chance, plans);
        if self.compares && chance.one_in(2) {
            (job.quorum, job.command[3]) = (2, "2".to_owned());
            // Any machine may have to answer, and an answer is one machine's from its beginning.
            (job.checkpoint, job.needs) = (Checkpointing::default(), Needs::default());
            job.requirements = None;
        }
        job
    }

    fn administration(&self, chance: &mut Chance, agents: u32, plans: bool) -> Order {
        // The first machine is never revoked, so that all tasks can end.
        let may_go = if self.compares { self.flawed.max(1)..self.flawed + 1 } else { 1..agents };
        match administration(chance, agents, plans, &may_go) {
            // Answers of two machines of one owner are one: no two that are left may be the same person's.
            Order::Administer(Administration::SetOwner { machine, owner }) if self.compares => {
                let owner = owner.map(|owner| format!("{owner}-{machine}"));
                Order::Administer(Administration::SetOwner { machine, owner })
            }
            other => other,
        }
    }
}

fn named(order: &Order) -> Option<(&'static str, JobId)> {
    match order {
        Order::Cancel(job, _) => Some(("cancel", *job)),
        Order::Hold(job, _) => Some(("hold", *job)),
        Order::Release(job, _) => Some(("release", *job)),
        Order::Rerun(job, ..) => Some(("rerun", *job)),
        _ => None,
    }
}

fn choice(chance: &mut Chance, tasks: u32) -> Choice {
    if chance.one_in(3) {
        return Choice { tasks: Vec::new(), failed: chance.one_in(6) };
    }
    let named = (0..tasks).filter(|_| chance.one_in(2)).collect::<Vec<_>>();
    Choice { tasks: if named.is_empty() { vec![0] } else { named }, failed: false }
}

fn administration(chance: &mut Chance, agents: u32, plans: bool, may_go: &Range<u32>) -> Order {
    let machine = |number: u64| format!("m{number}");
    if plans && !chance.one_in(4) {
        let what = chance.between(1, 4);
        return plan_with(chance, agents, what);
    }
    match chance.below(9) {
        8 => Order::Administer(Administration::SetOwner {
            machine: machine(chance.below(agents.into())),
            owner: chance.pick(&[None, Some("ada"), Some("eve")]).map(str::to_owned),
        }),
        0..=2 => Order::Administer(Administration::SetPolicy(policy(chance))),
        3..=4 => Order::Administer(Administration::SetOpen {
            machine: machine(chance.below(agents.into())),
            open: chance.one_in(2),
            why: None,
        }),
        5..=6 => Order::Administer(Administration::SetPaused {
            machine: machine(chance.below(agents.into())),
            paused: chance.one_in(2),
        }),
        _ if !may_go.is_empty() => Order::Administer(Administration::Revoke(machine(
            chance.between(may_go.start.into(), u64::from(may_go.end) - 1),
        ))),
        _ => Order::Administer(Administration::SetPolicy(policy(chance))),
    }
}

fn plan_with(chance: &mut Chance, agents: u32, what: u64) -> Order {
    match what {
        1 | 2 => Order::Administer(Administration::SetPrice {
            machine: format!("m{}", chance.below(agents.into())),
            price: *chance.pick(&[0.0, 0.25, PRICE_MAX]),
        }),
        3 => Order::Administer(Administration::SetBudget((!chance.one_in(8)).then(|| budget(chance)))),
        _ => Order::Administer(Administration::SetPolicy(planning(chance))),
    }
}

/// Each task can be paid from a recharge, wherever it runs: the longest is of a minute on two cores of the fastest.
fn budget(chance: &mut Chance) -> PolicyKeys {
    keys(json!({
        "recharge": (LENGTH_MAX * PRICE_MAX) as u64 + chance.below(200_000),
        "period_s": chance.pick(&[5.0, 30.0]),
        "charged": chance.pick(&["planned", "started", "ended"]),
        "per": chance.pick(&["grid", "user"]),
    }))
}

fn planning(chance: &mut Chance) -> PolicyKeys {
    if chance.one_in(8) {
        return keys(json!({ "preset": chance.pick(&AT_ONCE) }));
    }
    if chance.one_in(4) {
        let rule = chance.pick(&["b", "bt"]);
        return keys(json!({ "preset": chance.pick(&MOVING), "budget": { "rule": rule } }));
    }
    let preset = *chance.pick(&IN_BATCHES);
    // Where the preset heeds a budget, its period is the batches'.
    let is_free = preset == "elleuch/min-min";
    let period_s = if is_free { json!(chance.pick(&[4.0, 20.0])) } else { Value::Null };
    let ages = preset.starts_with("elleuch/") && chance.one_in(2);
    let aging = if ages { json!(2) } else { Value::Null };
    let replan = if chance.one_in(4) { json!("lost") } else { Value::Null };
    keys(json!({ "preset": preset, "period_s": period_s, "aging": aging, "replan": replan }))
}

fn policy(chance: &mut Chance) -> PolicyKeys {
    let preset = chance.pick(&MOVING);
    let period_s = if chance.one_in(3) { json!(7.0) } else { Value::Null };
    let relocate = json!({ "score": "greedy", "gain_min": 0.01, "period_s": period_s });
    let relocate = if chance.one_in(4) { json!("none") } else { relocate };
    let choose = ["best", "two-choices", "best-by-lot"][chance.below(3) as usize];
    // What was sent ahead under the policy before is asked back then.
    let ahead = if chance.one_in(4) { json!("never") } else { Value::Null };
    keys(json!({ "preset": preset, "relocate": relocate, "choose": choose, "ahead": ahead }))
}

fn keys(written: Value) -> PolicyKeys {
    serde_json::from_value(written).expect("a table")
}

/// In what agents' speeds are counted in.
const LENGTH_MAX: f64 = 120_000.0;
const PRICE_MAX: f64 = 1.0;

fn job(chance: &mut Chance, plans: bool) -> JobSpec {
    let tasks = match chance.below(3) {
        0 => TaskList::One,
        _ => TaskList::Array { first: 0, last: chance.between(1, 5) as u32, step: 1 },
    };
    let code = if chance.one_in(8) { 3 } else { 0 };
    // Tasks that are short go ahead to machines whose room is taken.
    let millis = if chance.one_in(3) { chance.between(50, 900) } else { chance.between(500, 60_000) };
    let label = chance.one_in(2).then(|| (*chance.pick(&["sort", "draw"])).to_owned());
    let checkpoint = Checkpointing {
        folder: !chance.one_in(3),
        exit_code: chance.one_in(4).then_some(AGAIN),
        ..Checkpointing::default()
    };
    JobSpec {
        command: vec!["count".to_owned(), millis.to_string(), code.to_string(), "1".to_owned()],
        tasks,
        composition: (label.is_none() && chance.one_in(2)).then_some([0.5, 0.25, 0.25]),
        label,
        // As long as it takes, or as someone thinks.
        length: (plans || chance.one_in(4)).then(|| millis as f64 * chance.pick(&[0.5e6, 1e6, 2e6])),
        needs: Needs {
            cores: chance.between(1, 2) as u32,
            memory: *chance.pick(&[0, 1_000_000_000, 5_000_000_000]),
            ..Needs::default()
        },
        requirements: chance.one_in(5).then(|| "TARGET.Cpus >= 2".to_owned()),
        priority: chance.below(2) as i32,
        retries: chance.below(2) as u32,
        checkpoint,
        hold: chance.one_in(8),
        ..JobSpec::new([])
    }
}
