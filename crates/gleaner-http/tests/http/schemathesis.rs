//! The API over a real listener, for a fuzzer that reads the document.

use crate::agent::Agent;
use crate::world::World;
use std::env;
use std::process::Command;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Where the fuzzer is; `scripts/schemathesis.sh` sets it.
const PROGRAM: &str = "SCHEMATHESIS";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs schemathesis; run scripts/schemathesis.sh"]
async fn schemathesis_finds_nothing() {
    let program = env::var_os(PROGRAM).expect("SCHEMATHESIS names the program");
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/schemathesis.toml");
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    world.submit(&world.root, 3).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = world.router.clone();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut command = Command::new(program);
    command.args(["--config-file", config, "run", "--url", &address]);
    command.args(["--header", &format!("Authorization: Bearer {}", world.root)]);
    command.args(env::var("SCHEMATHESIS_ARGS").unwrap_or_default().split_whitespace());
    command.arg(format!("{address}/api/v1/openapi.json"));
    // It leaves notes where it runs.
    let folder = TempDir::new().unwrap();
    command.current_dir(&folder);
    let status = tokio::task::spawn_blocking(move || command.status()).await.unwrap().unwrap();
    serving.abort();
    assert!(status.success(), "{status}");
}
