//! Who asks under which name, and from which page.

use crate::world::{NAME, World, request};
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{HOST, ORIGIN};

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
