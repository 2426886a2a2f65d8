//! Numbers for Prometheus: how requests are answered, and how the grid stands.

use super::Api;
use super::caller::Caller;
use super::refusal::Refusal;
use crate::view;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use gleaner_wire::api::{GridView, TaskPhase};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::time::Duration;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
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

/// See the module.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    durations: Family<Route, Histogram>,
    tasks: Family<InState, Gauge>,
    machines: Family<InState, Gauge>,
    starts: Gauge,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("gleaner");
        let requests = Family::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        let durations = Family::new_with_constructor(latencies as fn() -> Histogram);
        let help = "Time until the head of an answer was ready";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, durations.clone());
        let tasks = Family::default();
        registry.register("tasks", "Tasks by phase", tasks.clone());
        let machines = Family::default();
        registry.register("machines", "Machines by state", machines.clone());
        let starts = Gauge::default();
        registry.register("starts", "How often the coordinator started", starts.clone());
        Self { registry, requests, durations, tasks, machines, starts }
    }

    pub(super) fn answered(&self, method: &'static str, route: String, status: StatusCode, took: Duration) {
        let request = Request { method, route: route.clone(), status: status.as_u16() };
        self.requests.get_or_create(&request).inc();
        self.durations.get_or_create(&Route { method, route }).observe(took.as_secs_f64());
    }

    fn written(&self, grid: &GridView) -> String {
        for phase in TaskPhase::ALL {
            let state = InState { state: phase.name().to_owned() };
            self.tasks.get_or_create(&state).set(i64::from(grid.tasks.of(phase)));
        }
        // A state that no machine is in any more is not among those of the view.
        self.machines.clear();
        for (state, &count) in &grid.machines {
            self.machines.get_or_create(&InState { state: state.clone() }).set(count as i64);
        }
        self.starts.set(i64::from(grid.epoch));
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes all that is written");
        text
    }
}

fn latencies() -> Histogram {
    Histogram::new(BUCKETS_S)
}

/// Numbers for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, description = "In the OpenMetrics format",
        content_type = "application/openmetrics-text", body = String))
)]
pub(super) async fn metrics(State(api): State<Arc<Api>>, _: Caller) -> Result<Response, Refusal> {
    let grid = api.look(|desk, _| view::grid(desk)).await?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], api.metrics.written(&grid)).into_response())
}
