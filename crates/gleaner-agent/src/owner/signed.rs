//! Whether a run is what its user signed, for owners who run nothing else (`signed_by`).
//!
//! **Nothing that the coordinator says is taken for granted**: the key is one that the owner wrote down, and all that a run
//! is made of is derived once more from the signed text.

use gleaner_net::Signer;
use gleaner_wire::job::{Signed, SignedText};
use gleaner_wire::limits::SIGNED_BYTES_MAX;
use gleaner_wire::session::Run;

/// What a signature says besides the job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Permit {
    /// Drawn for the signature.
    pub(crate) nonce: String,
    /// The task's number in its job.
    pub(crate) number: u32,
    /// Seconds since 1970.
    pub(crate) expires_s: u64,
    /// How often its user has it tried again.
    pub(crate) retries: u32,
}

/// What a run's user signed, if one of `signers` did for the grid `grid`, and the run is that; else why it does not start here.
pub(crate) fn check(run: &Run, signers: &[Signer], grid: &str, now_s: u64) -> Result<Permit, String> {
    let refused = |why: &str| format!("the machine's owner runs what some users signed only: {why}");
    let signed = run.signed.as_deref().ok_or_else(|| refused("nobody signed this job"))?;
    let text = verified(run, signed, signers).map_err(refused)?;
    if text.grid != grid {
        return Err(refused("it was signed for another grid"));
    }
    if text.user != run.user {
        return Err(refused("another user signed it"));
    }
    if text.expires_s <= now_s {
        return Err(refused(
            "its signature has expired; submit it again, with --sign-for where it may take longer",
        ));
    }
    if !is_word(&text.nonce) {
        return Err(refused("what was drawn for it is no word of 1 to 64 letters and digits"));
    }
    let number = number(run).ok_or_else(|| refused("the name of the task is none"))?;
    let position = text.job.tasks.position(number);
    let position = position.ok_or_else(|| refused("the job that was signed has no such task"))?;
    if let Some(what) = difference(run, &text, position) {
        return Err(refused(&format!("{what} not what was signed")));
    }
    let SignedText { nonce, expires_s, job, .. } = text;
    Ok(Permit { nonce, number, expires_s, retries: job.retries })
}

/// What can stand in a line among others.
fn is_word(nonce: &str) -> bool {
    (1..=64).contains(&nonce.len()) && nonce.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The text, if the user whose run it is signed it, with a key that the owner wrote down.
fn verified(run: &Run, signed: &Signed, signers: &[Signer]) -> Result<SignedText, &'static str> {
    if signed.text.len() > SIGNED_BYTES_MAX {
        return Err("what was signed is too long");
    }
    let theirs = |signer: &&Signer| signer.user == run.user && signer.key.to_string() == signed.key;
    let signer =
        signers.iter().find(theirs).ok_or("the key is none that the owner wrote down for its user")?;
    signer.key.verify_job(&signed.text, &signed.signature).map_err(|_| "the signature is not its user's")?;
    SignedText::read(&signed.text).map_err(|_| "what was signed cannot be read by this version")
}

/// The number of the task, of a name as the coordinator makes it: it is in the program's environment.
fn number(run: &Run) -> Option<u32> {
    let (job, number) = run.name.split_once('/')?;
    let number = number.parse::<u32>().ok()?;
    (format!("{}/{number}", job.parse::<u32>().ok()?) == run.name).then_some(number)
}

/// What of a run is other than the signed job has it.
fn difference(run: &Run, text: &SignedText, position: u32) -> Option<&'static str> {
    let job = &text.job;
    let Ok(filled) = job.filled_in(position) else { return Some("the task is") };
    let same = [
        ("its command is", run.command == filled.command),
        ("its variables are", run.env == filled.env),
        ("its working folder is", run.cwd == filled.cwd),
        ("its input files are", run.inputs == filled.inputs),
        ("its output files are", run.outputs == filled.outputs),
        ("its standard input is", run.stdin == job.stdin),
        ("its label is", run.label == job.label),
        ("what it needs is", run.needs == job.needs),
        (
            "its checkpoint is",
            run.checkpoint == job.checkpoint && run.resume_from.is_none() && run.answers.is_none(),
        ),
        ("what it may reach is", run.confinement == job.confinement),
    ];
    same.into_iter().find_map(|(what, is_same)| (!is_same).then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::UserKey;
    use gleaner_units::{RunId, TaskId};
    use gleaner_wire::Lineage;
    use gleaner_wire::job::{Confinement, Filled, Input, JobSpec, TaskList};
    use gleaner_wire::session::Stored;

    const GRID: &str = "a grid";
    const NOW_S: u64 = 1_000;

    fn blob(digit: &str) -> gleaner_wire::BlobHash {
        digit.repeat(64).try_into().expect("a hash")
    }

    fn job() -> JobSpec {
        let mut job = JobSpec::new(["./run", "{GLEANER_INDEX}"]);
        job.tasks = TaskList::Array { first: 5, last: 9, step: 2 };
        job.inputs = vec![Input { path: "run".into(), blob: blob("1"), executable: true }];
        job.env.insert("HOW".into(), "well".into());
        (job.label, job.retries, job.needs.time_limit_s) = (Some("render".into()), 3, 0.1);
        job
    }

    /// As an honest coordinator orders the second task.
    fn run(key: &UserKey, text: &SignedText) -> Run {
        let signed = text.to_text();
        let (key, signature) = (key.public().to_string(), key.sign_job(&signed));
        let Filled { command, env, cwd, inputs, outputs } = text.job.filled_in(1).expect("short texts");
        let JobSpec { label, stdin, needs, checkpoint, confinement, .. } = text.job.clone();
        Run {
            id: RunId { task: TaskId::new(77), number: 1 },
            lineage: Lineage::of([1; 8]),
            after: None,
            name: "3/7".into(),
            user: "ada".into(),
            label,
            command,
            env,
            cwd,
            stdin,
            inputs,
            outputs,
            needs,
            checkpoint,
            fails_at_limit: false,
            resume_from: None,
            answers: None,
            confinement,
            signed: Some(Box::new(Signed { text: signed, key, signature })),
        }
    }

    /// What is done to a signed run, in words and indeed.
    type Change = (&'static str, fn(&mut Run));

    #[test]
    fn only_what_was_signed_runs_and_all_of_it_was_signed() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ada, bob] =
            ["ada", "bob"].map(|name| UserKey::open_or_create(&folder.path().join(name)).expect("a key"));
        let signer = |user: &str, key: &UserKey| Signer { user: user.into(), key: key.public() };
        let signers = [signer("ada", &ada), signer("bob", &bob)];
        let text = SignedText::new(GRID.into(), "ada".into(), "n".into(), NOW_S + 1, &job());
        let good = run(&ada, &text);
        let permit = Permit { nonce: "n".into(), number: 7, expires_s: NOW_S + 1, retries: 3 };
        assert_eq!(check(&good, &signers, GRID, NOW_S), Ok(permit));

        let changes: [Change; 19] = [
            ("nobody signed", |run| run.signed = None),
            ("command", |run| run.command[1] = "9".into()),
            ("command", |run| run.command.push("more".into())),
            ("variables", |run| drop(run.env.insert("LD_PRELOAD".into(), "x".into()))),
            ("working folder", |run| run.cwd = Some("/".into())),
            ("input files", |run| run.inputs[0].blob = blob("2")),
            ("input files", |run| run.inputs[0].path = "other".into()),
            ("output files", |run| run.outputs.push("*".into())),
            ("standard input", |run| run.stdin = Some(blob("3"))),
            ("label", |run| run.label = None),
            ("what it needs", |run| run.needs.memory = 1 << 40),
            ("checkpoint", |run| run.checkpoint.folder = true),
            ("checkpoint", |run| run.answers = Some(Box::new([None, None]))),
            ("checkpoint", |run| run.resume_from = Some(Stored { blob: blob("4"), size: 1 })),
            ("may reach", |run| run.confinement = Confinement::SandboxWithNetwork),
            // Another task's number, or none.
            ("command", |run| run.name = "3/9".into()),
            ("no such task", |run| run.name = "3/6".into()),
            ("name of the task", |run| run.name = "3;x/7".into()),
            ("none that the owner wrote down", |run| run.user = "bob".into()),
        ];
        for (why, change) in changes {
            let mut run = good.clone();
            change(&mut run);
            let said = check(&run, &signers, GRID, NOW_S).expect_err(why);
            assert!(said.contains(why), "{said:?} has no {why:?}");
        }
        // What was signed itself.
        let run_of = |why: &str, change: &dyn Fn(&mut Run)| {
            let mut run = good.clone();
            change(&mut run);
            let said = check(&run, &signers, GRID, NOW_S).expect_err(why);
            assert!(said.contains(why), "{said:?} has no {why:?}");
        };
        run_of("not its user's", &|run| {
            let signed = run.signed.as_mut().expect("signed");
            signed.text = signed.text.replace("well", "ill");
        });
        let by_bob = run(&bob, &text);
        run_of("none that the owner wrote down", &|run| run.signed.clone_from(&by_bob.signed));
        assert!(check(&good, &signers[1..], GRID, NOW_S).expect_err("a stranger").contains("wrote down"));
        assert!(check(&good, &signers, "another", NOW_S).expect_err("elsewhere").contains("another grid"));
        assert!(check(&good, &signers, GRID, NOW_S + 1).expect_err("too late").contains("has expired"));
        // Bob's own key does not speak for Ada.
        let for_ada = SignedText::new(GRID.into(), "ada".into(), "n".into(), NOW_S + 1, &job());
        let passed_off = Run { user: "bob".into(), ..run(&bob, &for_ada) };
        assert!(check(&passed_off, &signers, GRID, NOW_S).expect_err("passed off").contains("another user"));
    }
}
