//! Programs on the same machine that pretend to be the coordinator, strangers at its door, and pages in the owner's
//! browser.

mod coordinator;
mod impostor;
mod line;

use crate::grid::PATIENCE;
use crate::processes::until;
use coordinator::Coordinator;
use gleaner_wire::limits::GREETING_BYTES_MAX;
use impostor::Impostor;
use line::Line;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// What it answers to who is not let in.
const UNAUTHORIZED: &str = "HTTP/1.1 401";
/// As many as the coordinator may have open in one of the tests.
const OPEN_FILES: usize = 256;
const SWITCHING: &str = "HTTP/1.1 101";
/// The beginning of a binary message of 65,535 bytes, as a client masks it.
const LONG: &[u8] = &[0x82, 0xfe, 0xff, 0xff, 0, 0, 0, 0];
/// A ping of no bytes, as a client masks it.
const PING: &[u8] = &[0x89, 0x80, 0, 0, 0, 0];

/// The port of a coordinator that died is held by another user's program: over TLS with an authority of its own, and
/// without. Neither users nor agents tell it anything, and the agent is the right one's again when that is back.
#[test]
fn who_holds_the_port_learns_nothing_and_is_not_obeyed() {
    let mut coordinator = Coordinator::start();
    let agent = coordinator.start_agent();
    let has_met = |start: u32| {
        let met = fs::read_to_string(agent.join("met.json")).unwrap_or_default();
        serde_json::from_str::<serde_json::Value>(&met).is_ok_and(|met| met["epoch"] == start)
    };
    until("the agent has met the coordinator", PATIENCE, || has_met(1).then_some(()));
    coordinator.kill();

    let impostor = Impostor::listen(coordinator.port());
    until("the agent dialled, in the clear and not", PATIENCE, || impostor.was_tried(4).then_some(()));
    let status = coordinator.cli(&["status"]);
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    assert_eq!(status.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot be trusted"), "{said}");
    let heard = impostor.end();
    assert!(heard.is_empty(), "it was told {heard:?}");

    coordinator.serve();
    until("the agent takes the right one", PATIENCE, || has_met(2).then_some(()));
    // Who is not connected cannot be told.
    until("it is there", PATIENCE, || {
        coordinator.cli(&["machine", "pause", "lab"]).status.success().then_some(())
    });
}

/// With an address of its own and the folder's token: nothing is sent before the folder's authority was shown.
#[test]
fn an_address_from_elsewhere_does_not_get_the_token() {
    let coordinator = Coordinator::start();
    let impostor = Impostor::listen(0);
    let elsewhere = format!("https://127.0.0.1:{}", impostor.port());
    for _ in 0..2 {
        let status = coordinator.cli(&["status", "--server", &elsewhere]);
        assert_eq!(status.status.code(), Some(3), "{status:?}");
    }
    // It counts a try when it has served it, which is after the program heard enough.
    until("both came to it", PATIENCE, || impostor.was_tried(2).then_some(()));
    let heard = impostor.end();
    assert!(heard.is_empty(), "it was told {heard:?}");
    let plain = coordinator.cli(&["status", "--server", &elsewhere.replace("https", "http")]);
    assert_eq!(plain.status.code(), Some(2), "{plain:?}");
}

#[test]
fn a_port_that_is_held_is_said() {
    let coordinator = Coordinator::start();
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = held.local_addr().expect("a port").to_string();
    let home = coordinator.home().join("second");
    let output = coordinator.cli(&["serve", "--listen", &address, "--home", home.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
}

#[test]
fn files_that_others_can_read_are_not_taken() {
    let coordinator = Coordinator::start();
    for name in ["token", "coordinator.json"] {
        let path = coordinator.home().join(name);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("it is ours");
        let output = coordinator.cli(&["status"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(name) && said.contains("chmod 600"), "{said}");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
    }
    assert!(coordinator.cli(&["status"]).status.success());
}

/// A page of another site, and one whose owner lets its name lead here (DNS rebinding).
#[test]
fn a_page_in_a_browser_may_not_ask() {
    let coordinator = Coordinator::start();
    let (own, site) = (coordinator.authority(), format!("https://{}", coordinator.authority()));
    let routes = ["/", "/healthz", "/metrics", "/api/v1/jobs", "/api/v1/session", "/nowhere"];
    for path in routes {
        for (host, origin, status) in [
            ("evil.example", None, 421),
            (own.as_str(), Some("https://evil.example"), 403),
            (own.as_str(), Some("null"), 403),
            (own.as_str(), Some("http://127.0.0.1"), 403),
        ] {
            let answer = coordinator.line().request(path, host, origin, "");
            let refused = format!("HTTP/1.1 {status} ");
            assert!(answer.starts_with(&refused), "{path} as {host} from {origin:?}: {answer}");
        }
        let answer = coordinator.line().request(path, &own, Some(&site), "");
        assert!(!answer.starts_with("HTTP/1.1 4") || !answer.contains("Origin"), "{path}: {answer}");
    }
    let answer = coordinator.line().request("/", &own, Some(&site), "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let localhost = own.replace("127.0.0.1", "localhost");
    let answer = coordinator.line().request("/api/v1/jobs", &localhost, None, "");
    assert!(answer.starts_with(UNAUTHORIZED), "{answer}");
}

/// Who has not proven who it is may say little, once, and not in company.
#[test]
fn strangers_at_the_door_cost_little() {
    let coordinator = Coordinator::start();
    let too_long = format!("> {GREETING_BYTES_MAX}");
    for (said, why) in [(LONG, too_long.as_str()), (PING, "say who you are before anything else")] {
        let mut line = coordinator.session();
        line.say(said);
        line.until_closed();
        until(why, PATIENCE, || coordinator.logged(why).then_some(()));
    }
}

/// More come from one address than files may be open, look at the page or are about to say who they are, and stay.
#[test]
fn strangers_take_no_place_of_those_who_are_known() {
    let mut coordinator = Coordinator::with_open_files(OPEN_FILES);
    coordinator.start_agent();
    let pause = |coordinator: &Coordinator| coordinator.cli(&["machine", "pause", "lab"]);
    until("the agent is there", PATIENCE, || pause(&coordinator).status.success().then_some(()));
    let authority = coordinator.authority();
    let mut strangers: Vec<Line> = Vec::new();
    for _ in 0..OPEN_FILES {
        let mut line = coordinator.line();
        let answer = line.request("/healthz", &authority, None, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        strangers.extend([line, coordinator.session()]);
    }
    let status = coordinator.cli(&["status"]);
    assert!(status.status.success(), "{status:?}");
    let paused = pause(&coordinator);
    assert!(paused.status.success(), "the agent is there still: {paused:?}");
    strangers[..2].iter_mut().for_each(Line::until_closed);
}

#[test]
fn a_stream_of_events_ends_with_its_token() {
    let coordinator = Coordinator::start();
    let token = coordinator.user_token("ada");
    let mut line = coordinator.line();
    let head = line.request("/api/v1/events", &coordinator.authority(), None, &token);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    coordinator.user_token("ada");
    line.until_closed_or_ended();
    let head = coordinator.line().request("/api/v1/events", &coordinator.authority(), None, &token);
    assert!(head.starts_with(UNAUTHORIZED), "{head}");
}

/// Even where the folder has been opened to all.
#[test]
fn the_owners_socket_hears_its_owner_only() {
    let mut coordinator = Coordinator::start();
    let agent = coordinator.start_agent();
    let socket = agent.join("owner.sock");
    until("the agent listens", PATIENCE, || socket.exists().then_some(()));
    for path in [coordinator.folder(), &agent, &socket] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).expect("it is ours");
    }
    let ask = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
               s.sendall(b'{\"say\": \"pause\"}\\n')\nprint(s.recv(100))";
    let asked = |user: &str| {
        let ids = ["--reuid", user, "--regid", user, "--clear-groups"];
        let output = Command::new("setpriv").args(ids).args(["python3", "-c", ask]).arg(&socket).output();
        String::from_utf8_lossy(&output.expect("setpriv and python3").stdout).into_owned()
    };
    let stranger = asked("65534");
    assert!(!stranger.contains("version"), "{stranger}");
    let owner = asked("0");
    assert!(owner.contains("version"), "{owner}");
}
