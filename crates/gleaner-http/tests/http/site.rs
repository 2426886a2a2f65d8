//! Who asks under which name, and from which page.

use crate::world::{NAME, World, request};
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{HOST, ORIGIN};
use gleaner_http::http::router;
use gleaner_server::app::{AgentTokens, App, Readers};
use std::sync::{Arc, Mutex};
use tower::ServiceExt as _;

#[tokio::test(flavor = "multi_thread")]
async fn the_coordinators_own_names_and_page_only() {
    let world = World::new().await;
    let own = format!("{NAME}:1");
    for (host, origin, status) in [
        (own.as_str(), None, 200),
        (NAME, None, 200),
        ("GRID.test:1", None, 200),
        ("127.0.0.1:9", None, 200),
        ("[::1]:9", None, 200),
        ("[0:0::1]:9", None, 200),
        (&own, Some(format!("https://{own}")), 200),
        ("evil.example", None, 421),
        ("grid.test.evil.example", None, 421),
        ("127.0.0.2:1", None, 421),
        ("127.0.0.1:9.evil.example", None, 421),
        ("grid.test:9.evil.example", None, 421),
        ("grid.test:evil.example", None, 421),
        ("[::1].evil.example", None, 421),
        ("[::1]:9:9", None, 421),
        ("grid.test:65536", None, 421),
        ("", None, 421),
        ("a b", None, 421),
        ("evil.example@grid.test", None, 421),
        (&own, Some("https://evil.example".to_owned()), 403),
        (&own, Some(format!("http://{own}")), 403),
        (&own, Some("https://grid.test:2".to_owned()), 403),
        (&own, Some("null".to_owned()), 403),
        (&own, Some(String::new()), 403),
    ] {
        let mut request = request("GET", "/healthz", &world.alice, Body::empty());
        request.headers_mut().insert(HOST, HeaderValue::from_str(host).expect("a value"));
        if let Some(origin) = &origin {
            request.headers_mut().insert(ORIGIN, HeaderValue::from_str(origin).expect("a value"));
        }
        let reply = world.send(request).await;
        assert_eq!(reply.status, status, "{host:?} from {origin:?}: {reply}");
    }
    let mut bare = request("GET", "/healthz", &world.alice, Body::empty());
    bare.headers_mut().remove(HOST);
    assert_eq!(world.send(bare).await.status, 421);
    let absolute = request("GET", "https://evil.example/healthz", &world.alice, Body::empty());
    assert_eq!(world.send(absolute).await.status, 421);
}

/// A certificate may be replaced while a coordinator runs.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_a_new_certificate_are_answered_to_from_then_on() {
    let world = World::new().await;
    let names = Arc::new(Mutex::new(vec![NAME.to_owned()]));
    let shown = Arc::clone(&names);
    let router = router(Arc::new(App {
        desk: world.app.desk.clone(),
        blobs: Arc::clone(&world.app.blobs),
        readers: Readers::new(|| unreachable!("nothing is read")),
        home: world.app.home.clone(),
        agents: AgentTokens::default(),
        authority: world.app.authority,
        address: world.app.address.clone(),
        names: Arc::new(move || shown.lock().expect("nobody panics").clone()),
        study: None,
    }));
    for (name, expected) in [("new.test", [421, 200]), (NAME, [200, 421])] {
        let mut statuses = Vec::new();
        for shown in [NAME, "new.test"] {
            *names.lock().expect("nobody panics") = vec![shown.to_owned()];
            let mut request = request("GET", "/healthz", &world.alice, Body::empty());
            request.headers_mut().insert(HOST, HeaderValue::from_static(name));
            statuses.push(router.clone().oneshot(request).await.expect("an answer").status().as_u16());
        }
        assert_eq!(statuses, expected, "{name}");
    }
}
