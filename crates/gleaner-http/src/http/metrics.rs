//! Numbers for Prometheus: how requests are answered, and how the grid stands.

use axum::http::StatusCode;
use gleaner_server::day::Waits;
use gleaner_wire::api::{GridView, MachineState, MachineView, Tally, TaskPhase};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// What readers of Prometheus's older format ask for.
pub(super) const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";
/// From a tenth of a millisecond to a minute, which is the longest wait.
const BUCKETS_S: [f64; 9] = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.1, 1.0, 10.0, 60.0];

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct InState {
    state: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfMachine {
    machine: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfUser {
    user: String,
    state: String,
}

/// What the numbers are taken from.
pub(super) struct Seen {
    pub(super) grid: GridView,
    pub(super) machines: Vec<MachineView>,
    pub(super) users: Vec<(String, Tally)>,
}

/// See the module.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    durations: Family<Route, Histogram>,
    tasks: Family<InState, Gauge>,
    machines: Family<InState, Gauge>,
    machine_up: Family<OfMachine, Gauge>,
    machine_tasks: Family<OfMachine, Gauge>,
    machine_slots: Family<OfMachine, Gauge>,
    owner_load: Family<OfMachine, Gauge<f64, AtomicU64>>,
    user_tasks: Family<OfUser, Gauge>,
    starts: Gauge,
}

impl Metrics {
    pub(super) fn new(waits: Waits) -> Self {
        let mut registry = Registry::with_prefix("gleaner");
        let requests = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        let durations = Family::new_with_constructor(latencies as fn() -> Histogram);
        let help = "Time until the head of an answer was ready";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, durations.clone());
        let tasks = Family::default();
        registry.register("tasks", "Tasks by state", tasks.clone());
        let machines = Family::default();
        registry.register("machines", "Machines by state", machines.clone());
        let starts = Gauge::default();
        registry.register("starts", "How often the coordinator started", starts.clone());
        let machine_up = Family::default();
        registry.register("machine_up", "1 where tasks may start, 0 where they may not", machine_up.clone());
        let machine_tasks = Family::default();
        registry.register("machine_tasks", "Tasks on a machine", machine_tasks.clone());
        let machine_slots = Family::default();
        registry.register("machine_slots", "Tasks that a machine takes at once", machine_slots.clone());
        let owner_load = Family::default();
        registry.register("machine_owner_load", "The owner's share of a machine", owner_load.clone());
        let user_tasks = Family::default();
        registry.register("user_tasks", "Tasks by user and state", user_tasks.clone());
        let help = "From submission to the first start, by user";
        registry.register_with_unit("user_wait", help, Unit::Seconds, waits.by_user);
        let help = "From submission to the first start, by label";
        registry.register_with_unit("label_wait", help, Unit::Seconds, waits.by_label);
        Self {
            registry,
            requests,
            durations,
            tasks,
            machines,
            machine_up,
            machine_tasks,
            machine_slots,
            owner_load,
            user_tasks,
            starts,
        }
    }

    pub(super) fn answered(&self, method: &'static str, route: String, status: StatusCode, took: Duration) {
        let request = Request { method, route: route.clone(), status: status.as_u16() };
        self.requests.get_or_create(&request).inc();
        self.durations.get_or_create(&Route { method, route }).observe(took.as_secs_f64());
    }

    pub(super) fn written(&self, Seen { grid, machines, users }: &Seen) -> String {
        for phase in TaskPhase::ALL {
            let state = InState { state: phase.name().to_owned() };
            self.tasks.get_or_create(&state).set(i64::from(grid.tasks.of(phase)));
        }
        // Also those that no machine is in: an alarm may wait for a 0.
        for state in MachineState::ALL {
            let count = grid.machines.get(state.name()).copied().unwrap_or(0);
            let state = InState { state: state.name().to_owned() };
            self.machines.get_or_create(&state).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.starts.set(i64::from(grid.epoch));
        self.write_machines(machines);
        self.write_users(users);
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes all that is written");
        text
    }
}

impl Metrics {
    fn write_machines(&self, machines: &[MachineView]) {
        // One that was forgotten has no numbers any more.
        for of_machine in [&self.machine_up, &self.machine_tasks, &self.machine_slots] {
            of_machine.clear();
        }
        self.owner_load.clear();
        for view in machines {
            let of = OfMachine { machine: view.machine.clone() };
            self.machine_up.get_or_create(&of).set(i64::from(view.state == MachineState::Open));
            self.machine_tasks.get_or_create(&of).set(i64::from(view.tasks));
            self.machine_slots.get_or_create(&of).set(i64::from(view.profile.slots));
            self.owner_load.get_or_create(&of).set(view.owner_load);
        }
    }

    fn write_users(&self, users: &[(String, Tally)]) {
        for (user, tally) in users {
            for phase in TaskPhase::ALL {
                let of = OfUser { user: user.clone(), state: phase.name().to_owned() };
                self.user_tasks.get_or_create(&of).set(i64::from(tally.of(phase)));
            }
        }
    }
}

/// The same in the older format, where a counter is declared under the name of its series.
pub(super) fn classic(text: &str) -> String {
    let declared = |line: &str| line.strip_prefix("# TYPE ")?.strip_suffix(" counter").map(str::to_owned);
    let counters: BTreeSet<String> = text.lines().filter_map(declared).collect();
    let mut written = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("UNIT" | "EOF"), ..) => continue,
            (Some("#"), Some(what), Some(name), Some(rest)) if counters.contains(name) => {
                written += &format!("# {what} {name}_total {rest}");
            }
            _ => written += line,
        }
        written.push('\n');
    }
    written
}

fn latencies() -> Histogram {
    Histogram::new(BUCKETS_S)
}
