//! A journal may have a policy that starts tasks in several parts, which agents do not run: the task is told so.

use gleaner_policy::PolicySpec;
use gleaner_server::desk::{Desk, Start, Terms};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::Lineage;
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Outcome, Profile};

#[test]
fn a_task_in_parts_fails_with_its_reason_and_the_coordinator_goes_on() {
    let mut ledger = Ledger::new();
    let mut now = Time::ZERO;
    let mut add = |ledger: &mut Ledger, fact| {
        now = now.after_seconds(1.0);
        ledger.apply(&Entry { at: now, fact });
    };
    let profile = Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], 2) };
    for number in 0..2 {
        let (agent, token) = (MachineId::new(number), format!("t{number}"));
        let by = Actor::Coordinator;
        add(
            &mut ledger,
            Fact::JoinTokenIssued { token: token.clone(), expires: Time::NEVER, uses: 1, owner: None, by },
        );
        let (name, key) = (format!("m{number}"), format!("k{number}"));
        add(&mut ledger, Fact::AgentEnrolled { agent, name, key, token, profile: profile.clone() });
        add(
            &mut ledger,
            Fact::AgentStarted { agent, incarnation: 1, profile: profile.clone(), brings: Vec::new() },
        );
    }
    let policy = PolicySpec::preset("khoo/mrs").expect("a preset");
    add(&mut ledger, Fact::PolicySet { policy, by: Actor::Coordinator });
    let spec = serde_json::json!({ "command": ["true"], "needs": { "cores": 3 } });
    let spec: JobSpec = serde_json::from_value(spec).expect("a job");
    let job = ledger.next_job();
    add(
        &mut ledger,
        Fact::JobSubmitted {
            job,
            user: "ada".to_owned(),
            spec: spec.into(),
            key: None,
            bytes: 0,
            described: 0,
        },
    );

    let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
    let mut desk = Desk::new(ledger, Terms::default(), now, start);
    let mut told = Vec::new();
    while desk.ledger().record(TaskId::FIRST).phase != TaskPhase::Failed {
        assert!(told.len() < 50, "{told:?}");
        let batch = desk.settle(now);
        told.extend(batch.recorded.into_iter().map(|recorded| recorded.entry.fact));
        desk.ledger().check().expect("the ledger holds");
        now = now.max(desk.next_tick()).after_seconds(0.001);
        let nothing = gleaner_server::store::MemoryDisk::default();
        desk.handle(now, gleaner_server::desk::Input::Tick, &nothing).expect("memory can be read");
    }
    let last = desk.ledger().record(TaskId::FIRST).last.as_ref().expect("it failed of something");
    let Outcome::NotStarted { why, .. } = &last.outcome else { panic!("{last:?}") };
    assert!(why.contains("agents run no parts of a task"), "{why}");
}
