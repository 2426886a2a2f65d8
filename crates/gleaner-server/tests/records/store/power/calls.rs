//! The calls that reach the disk, from what `strace` wrote.

use std::collections::BTreeMap;

/// Which are traced.
pub(super) const TRACED: &str =
    "trace=openat,close,write,pwrite64,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat2";

/// One of them. Paths are as the program had them.
#[derive(Debug)]
pub(super) enum Call {
    Open {
        path: String,
        file: u64,
        creates: bool,
        truncates: bool,
    },
    Write {
        file: u64,
        at: Option<u64>,
        bytes: Vec<u8>,
    },
    Truncate {
        file: u64,
        length: u64,
    },
    Sync {
        file: u64,
    },
    Remove {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    /// Something was acknowledged.
    Word(String),
}

/// All calls about files, in order. What is written to the file called `word` is a word. A file that is opened has the
/// number of its opening.
pub(super) fn calls(trace: &str, word: &str) -> Vec<Call> {
    let mut open: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
    let mut calls = Vec::new();
    for (number, line) in (0..).zip(trace.lines()) {
        let Some((name, arguments, result)) = parts(line) else { continue };
        let file = |open: &BTreeMap<u64, (u64, bool)>| open.get(&arguments[0].parse().ok()?).copied();
        match (name, result) {
            ("openat", descriptor) => {
                let path = text(&arguments[1]);
                let is_word = path.ends_with(word);
                open.insert(descriptor, (number, is_word));
                let flag = |flag| arguments[2].contains(flag);
                let (creates, truncates) = (flag("O_CREAT"), flag("O_TRUNC"));
                calls.extend((!is_word).then_some(Call::Open { path, file: number, creates, truncates }));
            }
            ("close", _) => drop(open.remove(&arguments[0].parse().unwrap())),
            ("write" | "pwrite64", count) => {
                let Some((file, is_word)) = file(&open) else { continue };
                let mut bytes = unescaped(&arguments[1]);
                bytes.truncate(count as usize);
                let at = arguments.get(3).map(|at| at.parse().unwrap());
                calls.push(if is_word {
                    Call::Word(String::from_utf8(bytes).unwrap())
                } else {
                    Call::Write { file, at, bytes }
                });
            }
            ("ftruncate", _) => {
                let length = arguments[1].parse().unwrap();
                calls.extend(file(&open).map(|(file, _)| Call::Truncate { file, length }));
            }
            ("fsync" | "fdatasync", _) => calls.extend(file(&open).map(|(file, _)| Call::Sync { file })),
            ("unlink", _) => calls.push(Call::Remove { path: text(&arguments[0]) }),
            ("unlinkat", _) => calls.push(Call::Remove { path: text(&arguments[1]) }),
            ("rename", _) => {
                calls.push(Call::Rename { from: text(&arguments[0]), to: text(&arguments[1]) });
            }
            (other, _) => panic!("{other} is traced and not understood: {line:.200}"),
        }
    }
    calls
}

/// `PID NAME(ARGUMENTS) = RESULT`; none for what failed, and for what is no call.
fn parts(line: &str) -> Option<(&str, Vec<String>, u64)> {
    let (_, call) = line.split_once(' ')?;
    let (name, rest) = call.trim_start().split_once('(')?;
    assert!(!rest.contains("<unfinished"), "a second thread reaches the disk: {line:.200}");
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let result = result.split_whitespace().next()?.parse().ok()?;
    // No text holds a comma: all of it is in hexadecimal.
    Some((name, arguments.split(", ").map(str::to_owned).collect(), result))
}

fn text(argument: &str) -> String {
    String::from_utf8(unescaped(argument)).unwrap()
}

/// `"\x2f\x74"`
fn unescaped(argument: &str) -> Vec<u8> {
    assert!(!argument.ends_with("..."), "a text was cut");
    let digits = argument.trim_matches('"').split("\\x").skip(1);
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}
