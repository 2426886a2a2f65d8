//! Tasks that are to stand still and do not.

use crate::processes::{Stage, until};
use crate::{Boxed, has, limiter, stage};
use gleaner_agent::confine::Control;
use gleaner_agent::keeper::{ProgramEnd, RunSpec, Signal};
use std::fs;
use std::path::Path;

/// Forty processes that wake each other, and each of which goes on as another all the time.
const WAKING: &str = "\
import os, signal, time
ours = os.getpgid(0)
for number in range(40):
    if os.fork() == 0:
        while True:
            os.killpg(ours, signal.SIGCONT)
            open('beat', 'a').write('x')
            try:
                if os.fork() > 0: os._exit(0)
            except OSError: pass
open('ready', 'w')
time.sleep(1000)
";

fn waking(stage: &Stage) -> RunSpec {
    RunSpec { argv: ["/usr/bin/python3", "-c", WAKING].map(str::to_owned).to_vec(), ..stage.boxed("") }
}

#[test]
fn processes_that_wake_each_other_stand_still_all_the_same() {
    let Some((mut stage, _)) = stage() else { return };
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("SKIPPED: no /usr/bin/python3 to be hostile with");
    }
    let beats = |stage: &Stage| fs::metadata(stage.path("task/beat")).map_or(0, |data| data.len());
    let limiter = limiter("waking");
    if has(&limiter, Control::Freezer) {
        stage.start(RunSpec { limiter: limiter.clone(), ..waking(&stage) });
        until("it runs", || stage.path("task/ready").exists() && beats(&stage) > 100);
        stage.signal(Signal::Freeze);
        until("it stands still", || {
            let before = beats(&stage);
            std::thread::sleep(std::time::Duration::from_millis(200));
            beats(&stage) == before
        });
        let before = beats(&stage);
        stage.signal(Signal::Thaw);
        until("it goes on", || beats(&stage) > before);
        stage.signal(Signal::Kill);
        assert_eq!(stage.end().0, ProgramEnd::Signal(9));
    }
    limiter.remove();
    // Without a freezer there are signals, which they take back: it is ended, unless all were met at once.
    for _ in ["ready", "beat"].map(|name| fs::remove_file(stage.path("task").join(name))) {}
    stage.start(waking(&stage));
    until("it runs", || stage.path("task/ready").exists() && beats(&stage) > 100);
    stage.signal(Signal::Freeze);
    until("it stands still, or is gone", || {
        let before = beats(&stage);
        std::thread::sleep(std::time::Duration::from_millis(500));
        beats(&stage) == before
    });
    stage.signal(Signal::Kill);
    let outcome = stage.end().0;
    eprintln!("without a freezer: {outcome:?}");
    assert!(matches!(outcome, ProgramEnd::Defied | ProgramEnd::Signal(9)), "{outcome:?}");
    // One that stands still does not have to end, whatever it was about to do.
    stage.start(stage.boxed("touch here; while :; do sleep 0.01; done"));
    until("it runs", || stage.path("task/here").exists());
    stage.signal(Signal::Freeze);
    std::thread::sleep(std::time::Duration::from_secs(1));
    stage.signal(Signal::Thaw);
    stage.signal(Signal::Terminate);
    assert_eq!(stage.end().0, ProgramEnd::Signal(15));
}

/// Many timers, since the signals of some are lost when a process is stopped again.
const TIMERS: &str = "
import ctypes, os, signal, threading, time
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
for number in range(50):
    event = (ctypes.c_int * 16)(0, 0, signal.SIGCONT, 0)
    timer, late = ctypes.c_void_p(), number * 20_000_000
    libc.timer_create(1, event, ctypes.byref(timer))
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(1, late, 1, late), None)
open('ready', 'w')
";

/// Programs that their timers wake whenever they are stopped: one whose first thread has ended, so that the process looks dead, and
/// one that works for a moment and stops itself before anybody looks.
const TIMED: [&str; 2] = [
    "
def work():
    while True: pass
threading.Thread(target=work).start()
libc.syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
",
    "
while True:
    until = time.monotonic() + 0.002
    while time.monotonic() < until: pass
    os.kill(os.getpid(), signal.SIGSTOP)
",
];

#[test]
fn who_has_timers_wake_it_is_ended_however_it_looks() {
    let Some((mut stage, _)) = stage() else { return };
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("SKIPPED: no /usr/bin/python3 to be hostile with");
    }
    for program in TIMED {
        let program = format!("{TIMERS}{program}");
        let argv = ["/usr/bin/python3", "-c", &program].map(str::to_owned).to_vec();
        stage.start(RunSpec { argv, ..stage.boxed("") });
        until("it runs", || stage.path("task/ready").exists());
        stage.signal(Signal::Freeze);
        assert_eq!(stage.end().0, ProgramEnd::Defied, "{program}: {}", stage.said("err"));
        fs::remove_file(stage.path("task/ready")).unwrap();
    }
}
