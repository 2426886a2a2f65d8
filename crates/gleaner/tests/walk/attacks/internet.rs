//! Tasks that have the network, and try for what is none of theirs: the machine's own services, and its neighbours'.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use std::fs;
use std::process::{Child, Command};
use std::time::Duration;

const RULES: &str = "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\n";
const PYTHON: &str = "/usr/bin/python3";

/// Says hello on each of the addresses that it is given, by TCP and by UDP.
const SERVER: &str = "\
import selectors, socket, sys
chosen = selectors.DefaultSelector()
for place in sys.argv[1:]:
    address, port = place.rsplit(':', 1)
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, int(port)))
        if kind == socket.SOCK_STREAM:
            s.listen(64)
        chosen.register(s, selectors.EVENT_READ, kind)
print('ready', flush=True)
while True:
    for key, _ in chosen.select():
        if key.data == socket.SOCK_STREAM:
            s, _ = key.fileobj.accept()
            s.sendall(b'hello')
            s.close()
        else:
            _, peer = key.fileobj.recvfrom(100)
            key.fileobj.sendto(b'hello', peer)
";

/// Says for each place which ways to it there are: plainly, from an interface named by hand, as an address of IPv6, and by UDP
/// over each interface in turn, which is asked for with the message.
const TASK: &str = "\
import socket, struct, sys
def stream(family, address, device=None):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(4)
    if device:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
    s.connect(address)
    return s.recv(5)
def message(address, interface):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3)
    options = [(socket.IPPROTO_IP, 8, struct.pack('i4s4s', interface, b'', b''))] if interface else []
    s.sendmsg([b'hello?'], options, 0, address)
    return s.recv(5)
def tried(way, call):
    try:
        return [way] if call() == b'hello' else []
    except OSError:
        return []
for place in sys.argv[1:]:
    host, port = place.rsplit(':', 1)
    address = (host, int(port))
    ways = tried('tcp', lambda: stream(socket.AF_INET, address))
    ways += tried('ipv6', lambda: stream(socket.AF_INET6, ('::ffff:' + host, int(port))))
    for index, name in socket.if_nameindex():
        if name != 'lo':
            ways += tried('device', lambda: stream(socket.AF_INET, address, name.encode()))
            ways += tried('udp-by', lambda: message(address, index))
    ways += tried('udp', lambda: message(address, 0))
    print(place, ' '.join(ways) or 'nothing', flush=True)
";

/// The outside, a neighbour, the machine's loopback, its address there, one of its addresses that no private network has, and
/// what leads to the loopback where nobody forbids it.
const PLACES: [&str; 6] = [
    "198.51.100.7:8080",
    "10.77.0.1:8081",
    "127.0.0.1:8082",
    "10.77.0.2:8083",
    "203.0.113.9:8083",
    "10.0.2.2:8082",
];

/// Ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(prefix: &[String; 2], words: &[&str]) {
    let status = Command::new(&prefix[0]).arg(&prefix[1]).args(words).status().expect("nsenter");
    assert!(status.success(), "{words:?}");
}

fn serve(grid: &Grid, prefix: &[String; 2], places: &[&str]) -> Server {
    let said = grid.folder.path().join(format!("server-{}", places[0]));
    let log = fs::File::create(&said).expect("a file");
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).args(prefix).args([PYTHON, "-c", SERVER]).args(places);
    let server = Server(command.stdout(log).spawn().expect("setpriv and python3"));
    until("it serves", PATIENCE, || {
        fs::read_to_string(&said).is_ok_and(|said| said == "ready\n").then_some(())
    });
    server
}

/// What a task reaches with a rule.
fn reached(grid: &mut Grid, network: &str) -> String {
    let rules = grid.machine("lab").home.join("rules.toml");
    fs::write(rules, format!("{RULES}network = \"{network}\"\n")).expect("the owner's rules");
    let only = format!("TARGET.Network == \"{network}\"");
    let command =
        ["submit", "--wait", "--network", "--requirements", only.as_str(), "--", PYTHON, "-c", TASK];
    let ended = grid.ok(&[&command[..], &PLACES].concat());
    assert!(ended.contains("1 done"), "{ended}");
    grid.ok(&["logs", "last"])
}

/// With `network = "internet"` a task reaches what is outside, and nothing that is near, whatever way it tries. With
/// `network = "all"` the same task reaches all there is, so that it is not for want of a way.
#[test]
fn the_internet_is_neither_the_machine_nor_its_neighbours() {
    let mut grid = Grid::new("internet", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let (hub, lab) = (grid.prefix(), grid.machine("lab").wire.prefix());
    run(&hub, &["ip", "addr", "add", "198.51.100.7/32", "dev", "lo"]);
    run(&lab, &["ip", "route", "add", "default", "via", "10.77.0.1"]);
    run(&lab, &["ip", "addr", "add", "203.0.113.9/32", "dev", "lo"]);
    let _outside = serve(&grid, &hub, &["198.51.100.7:8080", "10.77.0.1:8081"]);
    let _inside = serve(&grid, &lab, &["127.0.0.1:8082", "0.0.0.0:8083"]);

    let all = reached(&mut grid, "all");
    for place in &PLACES[..5] {
        assert!(all.contains(&format!("{place} tcp ipv6")), "{all}");
    }
    let internet = reached(&mut grid, "internet");
    let lines: Vec<&str> = internet.lines().collect();
    assert!(lines[0].starts_with("198.51.100.7:8080 tcp ipv6 device"), "{internet}");
    assert!(lines[0].ends_with(" udp"), "{internet}");
    for (place, line) in PLACES.iter().zip(&lines).skip(1) {
        assert_eq!(*line, format!("{place} nothing"));
    }
    // What carried the packets is gone with the task.
    let carries =
        |pid: &u32| crate::processes::words(*pid).first().is_some_and(|word| word.contains("slirp4netns"));
    until("nothing carries packets", PATIENCE, || {
        (!grid.machine("lab").processes().iter().any(carries)).then_some(())
    });
    grid.wind_up();
}

/// Sends as fast as it can to whoever connects and says nothing, and reads as fast from whoever says `up`.
const POURS: &str = "\
import socket, sys, threading
def pour(s):
    s.settimeout(20)
    try:
        up = s.recv(2) == b'up'
        while s.recv(65536) if up else s.send(b'x' * 65536):
            pass
    except OSError:
        pass
listening = socket.create_server(('198.51.100.7', 8090))
print('ready', flush=True)
while True:
    threading.Thread(target=pour, args=(listening.accept()[0],), daemon=True).start()
";

/// Bytes a second that it receives and sends, in five seconds each and over four connections together.
const DRINKS: &str = "\
import socket, threading, time
def rate(word):
    moved, began, length = [0] * 4, time.monotonic(), 5
    def move(index):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        s.settimeout(20)
        s.connect(('198.51.100.7', 8090))
        s.sendall(word)
        s.settimeout(1)
        while time.monotonic() < began + length:
            try:
                moved[index] += len(s.recv(65536)) if word == b'dn' else s.send(b'x' * 4096)
            except OSError:
                pass
    threads = [threading.Thread(target=move, args=(index,)) for index in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return int(sum(moved) / (time.monotonic() - began))
print(rate(b'dn'), rate(b'up'))
";

/// With `bandwidth_max_mbit` a task moves no more than that in each direction, over however many connections; without it, the same task
/// moves more.
#[test]
fn a_task_moves_no_more_bytes_than_its_owner_allows() {
    const MBIT: f64 = 8.0;
    let mut grid = Grid::new("bandwidth", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let (hub, lab) = (grid.prefix(), grid.machine("lab").wire.prefix());
    run(&hub, &["ip", "addr", "add", "198.51.100.7/32", "dev", "lo"]);
    run(&lab, &["ip", "route", "add", "default", "via", "10.77.0.1"]);
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).args(&hub).args([PYTHON, "-c", POURS]);
    let said = grid.folder.path().join("pours");
    let _pours = Server(
        command.stdout(fs::File::create(&said).expect("a file")).spawn().expect("setpriv and python3"),
    );
    until("it serves", PATIENCE, || {
        fs::read_to_string(&said).is_ok_and(|said| said == "ready\n").then_some(())
    });
    let mut moved = |rule: &str, only: &str| -> [f64; 2] {
        let rules = grid.machine("lab").home.join("rules.toml");
        fs::write(rules, format!("{RULES}network = \"internet\"\n{rule}")).expect("the owner's rules");
        // The agent reads them once a second, and says nothing of this one.
        std::thread::sleep(Duration::from_secs(5));
        let name = format!("moves-{only}");
        let submit = ["submit", "--name", &name, "--wait", "--network", "--requirements"];
        let network = ["TARGET.Network == \"internet\"", "--", PYTHON, "-c", DRINKS];
        let ended = grid.ok(&[&submit[..], &network].concat());
        assert!(ended.contains("1 done"), "{ended}");
        let said = grid.ok(&["logs", "last"]);
        let rates: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        [rates[0], rates[1]]
    };
    let free = moved("", "free");
    let bound = moved(&format!("bandwidth_max_mbit = {MBIT}\n"), "bound");
    eprintln!("bytes a second received and sent: {free:?} without a bound, {bound:?} with {MBIT} Mbit/s");
    let most = MBIT * 1e6 / 8.0;
    for (free, bound) in free.into_iter().zip(bound) {
        // What is on its way in buffers counts as sent.
        assert!(bound <= 1.25 * most + 200_000.0, "{bound} bytes a second, of {most}");
        assert!(bound > 0.0 && free > 2.0 * most, "{free} bytes a second without a bound");
    }
    grid.wind_up();
}
