//! `HTCondor`'s Python module `htcondor2` expands the same files: items and arguments must agree.
//!
//! Runs where `GLEANER_CLASSAD2_PYTHON` names a Python that has it; `scripts/test.sh` sees to that.

use super::{commands, read_in};
use std::path::Path;
use std::process::Command;

/// Prints, for each file, its items, and for each item its arguments with the queue's variables put in by hand.
const ORACLE: &str = r#"
import json, sys, htcondor2
for text in json.load(sys.stdin):
    submit = htcondor2.Submit(text)
    items = submit.itemdata()
    items = [None] if items is None else list(items)
    count = submit.getQArgs().split(" ")[0]
    count = int(count) if count.isdigit() else 1
    found = []
    for item in items:
        # `expand` knows nothing of items: they become settings.
        for name, value in (item or {}).items():
            submit[name] = value
        found += [submit.expand("arguments")] * count
    print(json.dumps(found))
"#;

/// All without `$(Process)`, which the module does not count up.
const FILES: [&str; 47] = [
    "arguments = $(x) -a\nqueue x in (a, b c)\n",
    "arguments = $(x) $(y)\nqueue x,y from (\n 1, 2 \n3 4\n5,6 7\n)\n",
    "arguments = $(f)\nqueue f matching *.txt\n",
    "arguments = $(f)\nqueue f matching files *\n",
    "arguments = $(f)\nqueue f matching dirs *\n",
    "arguments = $(f)\nqueue 2 f matching any *\n",
    "arguments = $(f)\nqueue f matching (*.txt a*)\n",
    "arguments = $(f)\nqueue f matching *\n",
    "arguments = $(f)\nqueue f from clean.csv\n",
    "arguments = $(f)\nqueue f from comments.csv\n",
    "arguments = $(g) $(f)\nqueue f,g from units.csv\n",
    "arguments = $(h) $(g) $(f)\nqueue f,g,h from units.csv\n",
    "arguments = $(x)\nqueue 1 x in a, b c\n",
    "x = /a/.bashrc\narguments = <$Fn(x)|$Fx(x)>\nqueue\n",
    "arguments = $(g) $(f)\nqueue f,g from clean.csv\n",
    "arguments = $(Item)\nqueue 3 in (a b)\n",
    "arguments = a\nqueue 3\n",
    "a = x,y\narguments = $(f)\nqueue f in ($(a))\n",
    "a = 1\na = $(a) 2\narguments = $(a)\nqueue\n",
    "a = 1 \\\n  2 \\\n # c \\\n 3\narguments = $(a)\nqueue\n",
    "x = /a/b/c.d\narguments = $F(x) $Fn(x) $Fnx(x) $Fp(x) $Fd(x) $Fx(x) $BASENAME(x)\nqueue\n",
    "n = 3\narguments = $INT(n) $INT(3.7) $INT(n,%03d) $(none:d) $(DOLLAR)\nqueue\n",
    "if defined a\nb = 2\nelif true\nb = 4\nelse\nb = 3\nendif\narguments = $(b)\nqueue\n",
    // A default is for what is empty too, as it is written.
    "x =\narguments = a$(x:def)b\nqueue\n",
    "y = 1\nx =\narguments = a$(x:$(y))b a$(x:)b\nqueue\n",
    "x = $(nope:)\narguments = a$(x:def)b\nqueue\n",
    "arguments = a$(y:def)b\nqueue x,y from (\n1\n2 z\n)\n",
    // What functions make of paths.
    "x = /a/b/c.d\narguments = $Fd(x) $Fdn(x) $Fdx(x) $Fpd(x) $Fdp(x) $Fpdnx(x) $Fpx(x)\nqueue\n",
    "x = /a/b/c.d\narguments = $BASENAME(x,.d) $BASENAME(x, .d) $BASENAME(x,d) $BASENAME(x,.e) $BASENAME(x,.D)\nqueue\n",
    "arguments = $BASENAME(/a/c.d,.d) $Fn(/a/b.c) $F(a/b,c.d) $DIRNAME(a/b,c)\nqueue\n",
    "x = /c.d\narguments = $Fd(x) $Fdn(x) $Fpd(x) $Fp(x)\nqueue\n",
    "x = a//c\narguments = $Fd(x) $Fdn(x) $Fp(x)\nqueue\n",
    "x = a/b/\narguments = $Fd(x) $Fdn(x) $Fp(x) <$Fn(x)>\nqueue\n",
    "x = \"/x/a-b.c\"\narguments = $F(x) $Fn(x) $Fnx(x) $Fpdnx(x) $BASENAME(x) $DIRNAME(x)\nqueue\n",
    // Whether something is defined.
    "foo =\nif defined foo\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "foo = 1\nif defined $(foo)\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "foo = arguments\narguments = b\nif defined $(foo)\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "foo = bar\nif defined $(foo)\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "if defined $(foo)\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "if defined Process\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    "if ! defined\ta/b\na = yes\nelse\na = no\nendif\narguments = $(a)\nqueue\n",
    // A macro with itself in its value.
    "a = 1\na = $(a:0) 2\narguments = $(a)\nqueue\n",
    "a = $(A:0) 2\narguments = $(a)\nqueue\n",
    "a = $(a:$(b)) 2\nb = 7\narguments = $(a)\nqueue\n",
    "a = d/x.y\na = $F(a) $Fn(a)\narguments = $(a)\nqueue\n",
    "a = $(a:) -v\na = $(a:) -w\narguments = $(a)\nqueue\n",
    "foo = 1\nfoo = 2\nbar = $(foo)\nfoo = 3\narguments = $(bar)\nqueue x in (\na b\n c,d\n)\n",
];

#[test]
fn items_and_arguments_agree_with_htcondor() {
    let Some(python) = std::env::var_os("GLEANER_CLASSAD2_PYTHON") else {
        eprintln!("skipped: set GLEANER_CLASSAD2_PYTHON to a Python with the module htcondor2");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("a1.txt", ""),
        ("b.txt", ""),
        ("clean.csv", "l1 x\nl3, y z\n"),
        ("comments.csv", "a\n#b\nc \\\n  d\n"),
        ("units.csv", "a\u{1f}b c\u{1f}d, e\n"),
        ("in/x", ""),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder is made");
        std::fs::write(path, text).expect("a file is written");
    }
    let input = folder.path().join("in/files.json");
    std::fs::write(&input, serde_json::to_string(&FILES[..]).expect("texts")).expect("a file is written");
    let output = Command::new(python)
        .args(["-c", ORACLE])
        .current_dir(folder.path())
        .env("CONDOR_CONFIG", "/dev/null")
        .stdin(std::fs::File::open(&input).expect("it was written"))
        .output()
        .expect("a Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(printed.lines().count(), FILES.len());
    for (text, line) in FILES.iter().zip(printed.lines()) {
        let expected: Vec<String> = serde_json::from_str(line).expect("a list of texts");
        // Blanks only part the words.
        let words = expected.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected: Vec<String> = words.collect();
        assert_eq!(arguments(folder.path(), text), expected, "{text}");
    }
}

fn arguments(folder: &Path, text: &str) -> Vec<String> {
    let text = format!("executable = e\n{text}");
    let submission = read_in(folder, "a test", &text, &["foo".to_owned()]).expect(&text);
    let commands = submission.jobs.iter().flat_map(commands);
    commands.map(|words| words[1..].join(" ")).collect()
}
