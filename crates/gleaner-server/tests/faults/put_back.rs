//! A journal that was put back to an older state, and agents that know better.

use super::small::{JOB, Small, end, one, profile};
use gleaner_server::desk::{
    Administration, Checked, Desk, Effect, Input, NewUser, Order, SessionId, Start, Terms,
};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_server::restoring::{Access, Names, changed_access, loss};
use gleaner_server::store::MemoryDisk;
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::api::{Quota, QuotaSetting, Role};
use gleaner_wire::session::{FromAgent, Hello, Outcome, ToAgent};
use gleaner_wire::{Had, Lineage, Met};

const OLD: Lineage = Lineage::of([1; 8]);

/// An agent that has a run of the past of [`Small`], and heard of so many rows of it.
/// Nothing left memory.
fn put(desk: &mut Desk, now: Time, input: Input) {
    desk.handle(now, input, &MemoryDisk::default()).expect("memory can be read");
}

fn hello(row: u64) -> Hello {
    let met = Some(Met { epoch: 1, lineage: OLD, row, hash: None, restores: Vec::new() });
    let running = vec![Had { run: one(), lineage: OLD }];
    Hello { agent: 0, incarnation: 1, met, profile: profile(), running }
}

/// A coordinator that is started on the first rows of a journal.
fn start(facts: &[Fact]) -> (Desk, Time) {
    let mut ledger = Ledger::new();
    let mut now = Time::from_nanos(1);
    for fact in facts {
        ledger.replay(&Entry { at: now, fact: fact.clone() }).expect("it follows");
    }
    now = now.after_seconds(10.0);
    let start = Start { program: "test", lineage: Lineage::of([2; 8]), seed: 1 };
    let mut desk = Desk::new(ledger, Terms::default(), now, start);
    desk.settle(now);
    (desk, now)
}

/// What is told to an agent that says hello.
pub(crate) fn told(desk: &mut Desk, now: Time, hello: Hello) -> Vec<ToAgent> {
    let (token, hello) = (String::new(), Box::new(Checked::of(hello).expect("a machine")));
    put(desk, now, Input::Connected { session: SessionId(7), hello, token, fits: true });
    let effects = desk.settle(now).effects.into_iter();
    effects
        .filter_map(|effect| if let Effect::Send(_, message) = effect { Some(message) } else { None })
        .collect()
}

/// The rows before the job was handed in, and how many there were in all.
fn before_the_job() -> (Vec<Fact>, u64) {
    let facts = Small::running().all;
    let job = facts.iter().position(|fact| matches!(fact, Fact::JobSubmitted { .. })).expect("a job");
    (facts[..job].to_vec(), facts.len() as u64)
}

#[test]
fn machines_that_were_forgotten_are_not_lost() {
    let mut small = Small::running();
    let lost = |small: &Small| loss(small.desk.ledger(), &Ledger::new()).machines;
    assert_eq!(lost(&small), ["m"]);
    small.order(Order::Administer(Administration::Forget("m".into())));
    assert!(lost(&small).is_empty());
}

fn user(name: &str, token: &str, role: Role) -> Order {
    Order::Administer(Administration::AddUser(NewUser {
        user: name.into(),
        token: token.into(),
        role: Some(role),
        expires: None,
        again: true,
    }))
}

/// What was taken back after the copy is there again, and whoever restores is told.
#[test]
fn access_that_comes_back_is_named() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Names>();
    let mut small = Small::running();
    for order in [
        user("root", "r", Role::Admin),
        user("ada", "a", Role::Admin),
        user("bob", "b", Role::User),
        user("cyd", "c", Role::User),
    ] {
        small.order(order);
    }
    small.joined_by_another();
    for token in ["unused", "withdrawn"] {
        let (token, expires) = (token.to_owned(), Time::NEVER);
        small.order(Order::Administer(Administration::IssueJoinToken {
            token,
            expires,
            uses: 1,
            owner: None,
        }));
    }
    let then = small.desk.ledger().clone();
    assert_eq!(changed_access(&then, &then), Access::default());

    let quota = Some(Quota { tasks: 5, ..Quota::default() });
    for order in [
        Administration::RemoveUser("bob".into()),
        Administration::SetPrice { machine: "m".into(), price: 3.0 },
        Administration::Revoke("n".into()),
        Administration::Forget("n".into()),
        Administration::RemoveJoinToken("withdrawn".into()),
        Administration::SetQuota(QuotaSetting { user: Some("cyd".into()), quota }),
    ] {
        small.order(Order::Administer(order));
    }
    small.order(user("ada", "new", Role::User));
    small.order(user("eve", "e", Role::User));
    let expected = Access {
        users_back: names(&["bob"]),
        users_gone: names(&["eve"]),
        tokens_replaced: names(&["ada"]),
        roles: names(&["ada (user now, admin then)"]),
        quotas: names(&["cyd"]),
        join_tokens_back: 1,
        join_tokens_gone: 0,
        machines_back: names(&["n"]),
        machine_orders: names(&["m"]),
        policy: false,
    };
    assert_eq!(changed_access(small.desk.ledger(), &then), expected);
}

/// In the older state it is over for long and only known in the store.
#[test]
fn a_job_that_was_run_again_is_not_lost() {
    let mut small = Small::running();
    for number in [0, 1] {
        let run = RunId { task: TaskId::new(number), number: 1 };
        small.say(FromAgent::Ended { run, end: end(&Outcome::Exited { code: 0 }) });
    }
    let now = small.desk.ledger().clone();
    // What ended stays until the batch after the next.
    for day in [40.0, 41.0] {
        small.at(day * 86_400.0).tick();
    }
    let then = small.desk.ledger();
    assert!(now.find_job(JOB).is_some() && then.find_job(JOB).is_none(), "it left memory meanwhile");
    assert_eq!(loss(&now, then).jobs, []);
    assert_eq!(loss(&now, &Ledger::new()).jobs, [JOB]);
}

#[test]
fn an_old_result_is_not_the_new_tasks_that_has_its_number() {
    let (mut facts, last) = before_the_job();
    facts.push(Fact::JournalRestored { lineage: Lineage::of([3; 8]) });
    let (mut desk, now) = start(&facts);
    let welcome = told(&mut desk, now, hello(last)).swap_remove(0);
    let ToAgent::Welcome { forget, restored, .. } = welcome else { panic!("{welcome:?}") };
    assert_eq!((forget, restored), (vec![one()], Some(Lineage::of([3; 8]))));
}

/// A run that was ordered after the journal was put back has the number of one that was ordered before.
#[test]
fn a_run_that_was_ordered_anew_is_not_the_one_before() {
    let facts = Small::running().all;
    let decided = facts.iter().rposition(|fact| matches!(fact, Fact::Decided { .. })).expect("a decision");
    let (mut desk, now) = start(&facts[..decided]);
    assert!(
        desk.ledger().find_live(one(), gleaner_units::MachineId::new(0)).is_some(),
        "it is ordered again"
    );
    let welcome = told(&mut desk, now, hello(1)).swap_remove(0);
    let ToAgent::Welcome { forget, .. } = welcome else { panic!("{welcome:?}") };
    assert_eq!(forget, [one()]);
}

#[test]
fn who_knows_of_rows_that_are_not_there_is_turned_away_and_may_come_again() {
    let (facts, last) = before_the_job();
    let (mut desk, now) = start(&facts);
    let refusal = told(&mut desk, now, hello(last)).swap_remove(0);
    let ToAgent::Refused { why, for_good: false } = refusal else { panic!("{refusal:?}") };
    assert!(why.contains("put back to an older state") && why.contains("gleaner journal restore"), "{why}");
    let view = gleaner_server::view::machines(&desk);
    assert_eq!(view.machines[0].why.as_deref(), Some(why.as_str()), "administrators see it");
    let known = told(&mut desk, now, hello(1)).swap_remove(0);
    assert!(matches!(known, ToAgent::Welcome { .. }), "{known:?}");
    assert_eq!(gleaner_server::view::machines(&desk).machines[0].why, None);
}

/// The agent that is away may run what only the lost past knows.
#[test]
fn nothing_is_ordered_for_a_lease_after_the_journal_was_put_back() {
    let mut facts = Small::running().all;
    let submitted = facts.iter().position(|fact| matches!(fact, Fact::JobSubmitted { .. })).expect("a job");
    facts.truncate(submitted + 1);
    facts.push(Fact::JournalRestored { lineage: Lineage::of([3; 8]) });
    let (mut desk, now) = start(&facts);
    told(&mut desk, now, hello(1));
    let orders = |desk: &mut Desk, now| {
        put(desk, now, Input::Tick);
        let effects = desk.settle(now).effects;
        effects.iter().filter(|effect| matches!(effect, Effect::Run(..))).count()
    };
    assert_eq!(orders(&mut desk, now.after_seconds(60.0)), 0);
    put(
        &mut desk,
        now.after_seconds(60.0),
        Input::Frame {
            session: SessionId(7),
            frame: Box::new(FromAgent::Heartbeat {
                number: 1,
                sample: gleaner_wire::session::Sample::default(),
                staging: Vec::new(),
            }),
        },
    );
    assert_eq!(desk.next_tick(), now.after_seconds(65.0));
    assert_eq!(orders(&mut desk, now.after_seconds(65.0)), 2);
}

/// One that was settled already is nobody's any more, whoever has its number.
#[test]
fn an_end_of_an_unknown_run_is_answered() {
    let (facts, _) = before_the_job();
    let (mut desk, now) = start(&facts);
    told(&mut desk, now, hello(1));
    let end = end(&Outcome::Exited { code: 0 });
    let frame = Box::new(FromAgent::Ended { run: one(), end });
    put(&mut desk, now, Input::Frame { session: SessionId(7), frame });
    let effects = desk.settle(now).effects;
    let is_answer = |effect: &Effect| {
        matches!(effect, Effect::Send(_, ToAgent::Settled { run: RunId { .. }, accepted: false }))
    };
    assert!(effects.iter().any(is_answer), "{effects:?}");
}
