//! A coordinator without wires, and three people: root (an administrator), alice and bob.

use crate::memory_blobs::MemoryBlobs;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, Method, Request};
use gleaner_http::http::router;
use gleaner_net::{Fingerprint, Token, TokenKind};
use gleaner_server::app::{AgentTokens, App, Readers, stored_hash};
use gleaner_server::blobs::Blobs;
use gleaner_server::compacting::{compact, plan};
use gleaner_server::desk::{Administration, NewUser, Order, Recorded, Requester, Terms};
use gleaner_server::driver::{Driver, Handle};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::store::{Home, MemoryDisk, MemoryStore, NetworkFolder, Store as _};
use gleaner_server::study::Study;
use gleaner_units::Time;
use gleaner_wire::Lineage;
use gleaner_wire::api::Role;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// What the coordinator is called.
pub(crate) const NAME: &str = "grid.test";
/// Bytes of all files together.
const SPACE: u64 = 1 << 20;
/// More than any answer of a test has.
const ANSWER_MAX: usize = 64 << 20;

pub(crate) struct World {
    pub(crate) router: Router,
    pub(crate) app: Arc<App>,
    pub(crate) root: String,
    pub(crate) alice: String,
    pub(crate) bob: String,
    pub(crate) blobs: MemoryBlobs,
    driver: Option<Driver>,
    disk: MemoryDisk,
    _folder: TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json::<Value>()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(None).await
    }

    pub(crate) async fn with_study(study: Study) -> Self {
        Self::with(Some(study)).await
    }

    async fn with(study: Option<Study>) -> Self {
        let (disk, folder) = (MemoryDisk::default(), TempDir::new().unwrap());
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let blobs = MemoryBlobs::with_space(SPACE);
        let (driver, app) = start(&disk, home, Terms::default(), (Arc::new(blobs.clone()), study));
        let [root, alice, bob] = [("root", Role::Admin), ("alice", Role::User), ("bob", Role::User)]
            .map(|(name, role)| (name, role, Token::generate(TokenKind::User).unwrap()));
        for (name, role, token) in [&root, &alice, &bob] {
            add_user(&app.desk, name, *role, token).await;
        }
        let router = router(Arc::clone(&app));
        let [root, alice, bob] = [root, alice, bob].map(|(_, _, token)| token.reveal());
        Self { router, app, root, alice, bob, blobs, driver: Some(driver), disk, _folder: folder }
    }

    /// The coordinator ends, and another begins with what is on the disk, files too.
    pub(crate) fn restart(&mut self) {
        self.restart_with(Terms::default());
    }

    pub(crate) fn restart_with(&mut self, terms: Terms) {
        self.stop();
        let (home, blobs) = (self.app.home.clone(), Arc::clone(&self.app.blobs));
        let (driver, app) = start(&self.disk, home, terms, (blobs, self.app.study));
        self.router = router(Arc::clone(&app));
        (self.driver, self.app) = (Some(driver), app);
    }

    /// Somebody orders that the journal be put back, to what it is, and the coordinator begins again.
    pub(crate) fn restore(&mut self) {
        let at = self.app.desk.now();
        self.restart_behind(at, Fact::JournalRestored { lineage: Lineage::of([3; 8]) });
    }

    /// The coordinator ends, and another begins behind one more row.
    pub(crate) fn restart_behind(&mut self, at: Time, fact: Fact) {
        self.stop();
        let last = Recorded::without_steps(Entry { at, fact }).row();
        MemoryStore::open(&self.disk).commit(&[last]).unwrap();
        self.restart();
    }

    pub(crate) fn disk(&self) -> &MemoryDisk {
        &self.disk
    }

    /// The coordinator is stopped, and of its journal goes what can go. Returns how many rows that are.
    pub(crate) fn compact(&mut self) -> u64 {
        self.stop();
        let mut store = MemoryStore::open(&self.disk);
        let plan = plan(&self.disk, Time::NEVER).unwrap().expect("there are rows");
        compact(&mut store, &plan).unwrap();
        plan.rows_dropped
    }

    fn stop(&mut self) {
        self.app.desk.stop();
        if let Some(driver) = self.driver.take() {
            drop(driver.join().unwrap());
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, ANSWER_MAX).await.unwrap().to_vec();
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }

    pub(crate) async fn call(&self, method: &str, path: &str, token: &str, body: Body) -> Reply {
        self.send(request(method, path, token, body)).await
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Reply {
        self.call("GET", path, token, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: &impl Serialize) -> Reply {
        self.call("POST", path, token, Body::from(serde_json::to_vec(body).unwrap())).await
    }

    /// A job of so many tasks; returns its number.
    pub(crate) async fn submit(&self, token: &str, tasks: u32) -> u32 {
        let spec = json!({"command": ["true"], "confinement": "sandbox",
            "tasks": {"array": {"first": 1, "last": tasks, "step": 1}}});
        let reply = self.post("/api/v1/jobs", token, &spec).await;
        assert_eq!(reply.status, 201, "{reply}");
        reply.json::<Value>()["job"].as_u64().unwrap() as u32
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(
    disk: &MemoryDisk,
    home: Home,
    terms: Terms,
    (blobs, study): (Arc<dyn Blobs>, Option<Study>),
) -> (Driver, Arc<App>) {
    let store = Box::new(MemoryStore::open(disk));
    let (driver, desk) = Driver::start(store, &home, terms, "test").unwrap();
    let disk = disk.clone();
    let app = App {
        desk,
        blobs,
        readers: Readers::new(move || Ok(Box::new(disk.clone()))),
        home,
        agents: AgentTokens::default(),
        authority: Fingerprint::of_der(b"authority"),
        address: format!("https://{NAME}:1"),
        names: Arc::new(|| [NAME, "127.0.0.1", "::1"].map(str::to_owned).to_vec()),
        study,
    };
    (driver, Arc::new(app))
}

pub(crate) fn request(method: &str, path: &str, token: &str, body: Body) -> Request<Body> {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = Request::builder().method(method).uri(path);
    let request = request.header(HOST, format!("{NAME}:1")).header(CONTENT_TYPE, "application/json");
    request.header(AUTHORIZATION, format!("Bearer {token}")).body(body).unwrap()
}

async fn add_user(desk: &Handle, name: &str, role: Role, token: &Token) {
    let by = Requester { user: "setup".to_owned(), role: Role::Admin, token: None };
    let order = Order::Administer(Administration::AddUser(NewUser {
        user: name.to_owned(),
        token: stored_hash(token),
        role: Some(role),
        expires: None,
        again: false,
    }));
    desk.order(by, order).await.unwrap().unwrap();
}
