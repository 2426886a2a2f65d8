//! Users who order things about, and ask again where it cannot have been done twice.

use super::agent::AGAIN;
use super::chance::Chance;
use super::history::Seen;
use gleaner_server::desk::{Answer, Order, OrderId, Rejection, Requester};
use gleaner_server::policy::default_relocation;
use gleaner_wire::JobId;
use gleaner_wire::api::{Choice, PolicySpec};
use gleaner_wire::job::{Checkpointing, JobSpec, Needs, TaskList};
use std::collections::BTreeMap;

pub(crate) const ADMIN: &str = "admin";
const USERS: [&str; 2] = ["ann", "bob"];
const JOBS_MAX: usize = 7;

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
    asked: u64,
    submitted: usize,
}

impl Users {
    pub(crate) fn ask(&mut self, by: &str, order: Order) -> (OrderId, Asked) {
        self.asked += 1;
        let id = OrderId(self.asked);
        let by = Requester { user: by.to_owned(), admin: by == ADMIN };
        let asked = Asked { by, order };
        self.open.insert(id, asked.clone());
        (id, asked)
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
            (Order::Submit { key, .. }, Ok(Answer::Submitted(told))) => {
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
            (Order::SetPolicy(_), Ok(_)) => Some(Seen::Administered { what: "policy" }),
            (Order::SetOpen { .. }, Ok(_)) => Some(Seen::Administered { what: "open" }),
            (Order::Revoke(_), Ok(_)) => Some(Seen::Administered { what: "revoke" }),
            _ => None,
        }
    }

    /// What one of them wants next.
    pub(crate) fn wish(&mut self, chance: &mut Chance, agents: u32) -> (String, Order) {
        if self.submitted < JOBS_MAX && (self.jobs.is_empty() || chance.one_in(3)) {
            self.submitted += 1;
            let key = (!chance.one_in(4)).then(|| format!("key-{}", self.submitted));
            let order = Order::Submit { spec: Box::new(job(chance)), key, missing: Vec::new() };
            return ((*chance.pick(&USERS)).to_owned(), order);
        }
        if self.jobs.is_empty() || chance.one_in(5) {
            return (ADMIN.to_owned(), administration(chance, agents));
        }
        let (user, job, tasks) = chance.pick(&self.jobs).clone();
        let choice = choice(chance, tasks);
        let order = match chance.below(9) {
            0 => Order::Cancel(job, choice),
            1..=3 => Order::Hold(job, choice),
            4..=6 => Order::Release(job, choice),
            _ => Order::Rerun(job, choice),
        };
        (user, order)
    }
}

fn named(order: &Order) -> Option<(&'static str, JobId)> {
    match order {
        Order::Cancel(job, _) => Some(("cancel", *job)),
        Order::Hold(job, _) => Some(("hold", *job)),
        Order::Release(job, _) => Some(("release", *job)),
        Order::Rerun(job, _) => Some(("rerun", *job)),
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

fn administration(chance: &mut Chance, agents: u32) -> Order {
    let machine = |number: u64| format!("m{number}");
    match chance.below(8) {
        0..=2 => Order::SetPolicy(policy(chance)),
        3..=4 => Order::SetOpen { machine: machine(chance.below(agents.into())), open: chance.one_in(2) },
        5..=6 => Order::SetPaused { machine: machine(chance.below(agents.into())), paused: chance.one_in(2) },
        // The first machine is never revoked, so that all tasks can end.
        _ if agents > 1 => Order::Revoke(machine(chance.between(1, u64::from(agents) - 1))),
        _ => Order::SetPolicy(policy(chance)),
    }
}

fn policy(chance: &mut Chance) -> PolicySpec {
    let preset = *chance.pick(&["bertasi/greedy", "bertasi/social", "bertasi/min-num"]);
    let mut relocate = default_relocation();
    relocate.period_s = *chance.pick(&[0.0, 0.0, 7.0]);
    relocate.gain_min = 0.01;
    PolicySpec { relocate: (!chance.one_in(4)).then_some(relocate), ..PolicySpec::new(preset) }
}

fn job(chance: &mut Chance) -> JobSpec {
    let tasks = match chance.below(3) {
        0 => TaskList::One,
        _ => TaskList::Array { first: 0, last: chance.between(1, 5) as u32, step: 1 },
    };
    let code = if chance.one_in(8) { 3 } else { 0 };
    let millis = chance.between(500, 60_000);
    let label = chance.one_in(2).then(|| (*chance.pick(&["sort", "draw"])).to_owned());
    let checkpoint = Checkpointing {
        folder: !chance.one_in(3),
        exit_code: chance.one_in(4).then_some(AGAIN),
        ..Checkpointing::default()
    };
    JobSpec {
        name: String::new(),
        command: vec!["count".to_owned(), millis.to_string(), code.to_string()],
        tasks,
        env: BTreeMap::new(),
        cwd: None,
        stdin: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        composition: (label.is_none() && chance.one_in(2)).then_some([0.5, 0.25, 0.25]),
        label,
        needs: Needs { cores: chance.between(1, 2) as u32, ..Needs::default() },
        requirements: chance.one_in(5).then(|| "TARGET.Cpus >= 2".to_owned()),
        rank: None,
        priority: chance.below(2) as i32,
        retries: chance.below(2) as u32,
        checkpoint,
        hold: chance.one_in(8),
        confinement: gleaner_wire::job::Confinement::default(),
    }
}
