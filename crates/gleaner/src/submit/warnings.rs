//! What is most likely a mistake, said before a job is submitted.

use crate::api::Api;
use crate::cli::{Jobs, Which};
use crate::columns::plural;
use gleaner_classad::Expr;
use gleaner_core::size;
use gleaner_policy::PolicySpec;
use gleaner_wire::api::{MachineState, MachineView};
use gleaner_wire::job::{Confinement, JobSpec, Needs};
use gleaner_wire::session::Profile;
use gleaner_wire::text::is_blank;
use gleaner_workload::submit::{JobDescription, jdf};
use std::collections::BTreeSet;
use std::path::Path;

/// So near to a parameter's name, a name in braces is that name mistyped.
const NEAR: usize = 2;

/// Tells of all to standard error.
pub(super) fn tell(job: &JobDescription) {
    for warning in all(job, Path::is_file) {
        anstream::eprintln!("warning: {warning}");
    }
}

/// Tells of what the job asks for and no machine has: it would wait, and nobody would say why. All jobs of a description ask for
/// the same. `at` is where the requirements stand, where they are `OurGrid`'s.
pub(super) fn tell_of_machines(grid: &Api, job: &JobDescription, at: Option<&str>) {
    let needs = &job.spec.needs;
    let asks_for_room = needs.cores > 1 || needs.memory > 0 || needs.disk > 0;
    if job.spec.requirements.is_none() && !asks_for_room {
        return;
    }
    // Whoever may not see machines learns nothing of them here either.
    let Ok(list) = grid.machines() else { return };
    let mut machines = list.machines;
    machines.retain(|machine| machine.state != MachineState::Revoked);
    let requirements = job.spec.requirements.iter();
    let missing = requirements.flat_map(|requirements| missing(requirements, &machines, at));
    for warning in missing.chain(too_large(needs, &machines)) {
        anstream::eprintln!("warning: {warning}");
    }
}

/// Tells of a quorum that too few machines could answer, by what the grid would explain of the job: it knows whose requirements hold where.
pub(super) fn tell_of_quorum(grid: &Api, spec: &JobSpec) {
    if spec.quorum < 2 {
        return;
    }
    // What is refused is refused when it is submitted, too.
    let Ok(preview) = grid.preview(spec) else { return };
    if let Some(lacking) = preview.explanation.find_too_few() {
        anstream::eprintln!("warning: the job waits until there are more machines: {lacking}");
    }
}

/// Tells of a rank that makes no difference, since the policy in force does not read it.
pub(super) fn tell_of_rank(grid: &Api) {
    // Whoever may not see the policy learns nothing of it here either.
    let Ok(view) = grid.policy() else { return };
    let Ok(policy) = PolicySpec::read(view.policy.0) else { return };
    if let Some(warning) = unread_rank(&policy) {
        anstream::eprintln!("warning: {warning}");
    }
}

fn unread_rank(policy: &PolicySpec) -> Option<String> {
    (!policy.recipe().reads_ranks()).then(|| {
        format!(
            "the grid goes by {}, which does not read a job's rank: its tasks go where others would that may go there",
            policy.name()
        )
    })
}

/// What of the needs is more than any machine has; nothing where one has all of it.
fn too_large(needs: &Needs, machines: &[MachineView]) -> Option<String> {
    let profiles = || machines.iter().map(|machine| &machine.profile);
    let has = |profile: &Profile| {
        // A machine that does not say how large its disk is may have room for anything.
        let disk = profile.disk.unwrap_or(u64::MAX);
        [profile.slots >= needs.cores, profile.memory >= needs.memory, disk >= needs.disk]
    };
    if machines.is_empty() || profiles().any(|profile| has(profile) == [true; 3]) {
        return None;
    }
    let most = |of: fn(&Profile) -> u64| profiles().map(of).max().unwrap_or_default();
    let asked = [
        // More tasks than it has cores may run side by side there.
        format!(
            "slots for {} (the most is {})",
            plural(u64::from(needs.cores), "core"),
            most(|it| u64::from(it.slots))
        ),
        format!("{} of memory (the most is {})", size(needs.memory), size(most(|it| it.memory))),
        format!(
            "{} of disk (the most is {})",
            size(needs.disk),
            size(most(|it| it.disk.unwrap_or_default()))
        ),
    ];
    let more: Vec<&str> = asked
        .iter()
        .enumerate()
        .filter(|(place, _)| profiles().all(|profile| !has(profile)[*place]))
        .map(|(_, asked)| asked.as_str())
        .collect();
    let what = if more.is_empty() {
        "all the cores, memory and disk that a task needs".to_owned()
    } else {
        more.join(", nor ")
    };
    Some(format!("no machine has {what}: the job waits until one has"))
}

/// The attributes of every machine, as the coordinator puts them beside what its agent says.
const ALWAYS: [&str; 5] = ["Machine", "Tags", "Cpus", "Memory", "Disk"];
/// The attributes of a job.
const OF_JOB: [&str; 7] =
    ["Owner", "Label", "RequestCpus", "RequestMemory", "RequestDisk", "Requirements", "Rank"];

fn missing(requirements: &str, machines: &[MachineView], at: Option<&str>) -> Vec<String> {
    let Ok(expression) = Expr::parse(requirements) else { return Vec::new() };
    if machines.is_empty() {
        return Vec::new();
    }
    let mut known: BTreeSet<&str> = ALWAYS.into_iter().collect();
    known.extend(machines.iter().flat_map(|machine| machine.profile.attributes.keys()).map(String::as_str));
    let mut words = known.clone();
    for word in jdf::words().filter(|_| at.is_some()) {
        words.insert(word);
    }
    let place = at.map_or_else(String::new, |at| format!("{at}: "));
    let of_machines = expression.references_to(Some("TARGET")).into_iter().filter_map(|name| {
        let name = name.to_string();
        let meant = nearest(&words, &name).map_or_else(String::new, |word| format!("; did you mean {word}?"));
        (!is_among(&known, &name)).then(|| {
            format!("no machine has an attribute {name}: where it has to be there, the job waits until one has{meant}")
        })
    });
    let of_job = expression.references_to(None).into_iter().filter_map(|name| {
        let name = name.to_string();
        let meant = nearest(&words, &name).map_or_else(
            || format!("; a machine's is TARGET.{name}, and no machine has one"),
            |word| format!("; did you mean TARGET.{word}, the machine's?"),
        );
        (!is_among(OF_JOB.iter(), &name)).then(|| {
            format!("{name} by itself is the job's own attribute, and a job has none of this name{meant}")
        })
    });
    of_machines.chain(of_job).map(|warning| format!("{place}requirements: {warning}")).collect()
}

fn is_among<'a, 'b: 'a>(names: impl IntoIterator<Item = &'a &'b str>, name: &str) -> bool {
    names.into_iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Of all words the nearest one to a name, if it is that near that the name may be the word mistyped.
fn nearest<'a>(words: &BTreeSet<&'a str>, name: &str) -> Option<&'a str> {
    let distance =
        |word: &str| strsim::damerau_levenshtein(&word.to_ascii_lowercase(), &name.to_ascii_lowercase());
    words.iter().copied().min_by_key(|word| distance(word)).filter(|word| distance(word) <= NEAR)
}

fn all(job: &JobDescription, is_file: impl Fn(&Path) -> bool) -> Vec<String> {
    let of_program = program(job, is_file).into_iter().chain(name(job)).chain(told_of_the_run(job));
    of_program.chain(typos(job)).chain(for_no_shell(job)).collect()
}

/// What Gleaner says of a run in its environment, whatever users give under the same name.
const OF_RUN: [&str; 5] =
    ["GLEANER_TASK", "GLEANER_JOB", "GLEANER_ATTEMPT", "GLEANER_CORES", "GLEANER_GRACE"];

/// Variables whose values the program will not see.
fn told_of_the_run(job: &JobDescription) -> Option<String> {
    let lost: Vec<&str> = OF_RUN.into_iter().filter(|name| job.spec.env.contains_key(*name)).collect();
    (!lost.is_empty()).then(|| {
        format!(
            "the program does not see the value given for {}: Gleaner says there what is so of the run",
            lost.join(", ")
        )
    })
}

/// A name that nobody sees, or by which no command finds the job.
fn name(job: &JobDescription) -> Option<String> {
    let name = &job.spec.name;
    if !name.is_empty() && is_blank(name) {
        return Some("the job's name is of blanks alone: lists show it as if it had none".to_owned());
    }
    let is_found = || name.parse() == Ok(Which { jobs: Jobs::Name(name.clone()), tasks: None });
    (!name.is_empty() && !is_found()).then(|| {
        format!(
            "commands take {name} for a job's number, a task or `last`, and do not find the job by this name"
        )
    })
}

/// A program that is a file here is not there, unless it is sent.
fn program(job: &JobDescription, is_file: impl Fn(&Path) -> bool) -> Option<String> {
    let program = job.spec.command.first()?;
    let is_relative = !Path::new(program).is_absolute() && (program.contains('/') || !program.contains('{'));
    if job.spec.confinement == Confinement::None || !is_relative || !is_file(Path::new(program)) {
        return None;
    }
    let name = program.trim_start_matches("./");
    let sent = job.inputs.iter().any(|input| {
        let target = input.target.as_deref().unwrap_or(input.source.as_str()).trim_start_matches("./");
        // A folder or a pattern may stand for it.
        target == name
            || target.ends_with('/')
            || target.contains('*')
            || name.starts_with(&format!("{target}/"))
    });
    (!sent).then(|| {
        let run = if program.contains('/') { String::new() } else { format!(", and run it as ./{program}") };
        format!("{program} is a file here, and is not sent along: add --input {name}{run}")
    })
}

/// A name in braces that no task has, where it is a whole word or near to one that they have.
fn typos(job: &JobDescription) -> Vec<String> {
    let known = job.spec.tasks.names();
    let inputs = job.inputs.iter().map(|input| &input.source);
    let texts = job.spec.command.iter().chain(job.spec.env.values()).chain(&job.spec.outputs).chain(inputs);
    let mut unknown: Vec<&str> = Vec::new();
    for text in texts {
        for name in names(text).filter(|name| !known.contains(name)) {
            let near = known.iter().any(|known| strsim::damerau_levenshtein(known, name) <= NEAR);
            let is_word = text.len() == name.len() + 2;
            if (near || is_word || name.starts_with("GLEANER_")) && !unknown.contains(&name) {
                unknown.push(name);
            }
        }
    }
    let told = |name: &&str| {
        let mut known = known.clone();
        known.sort_by_key(|known| strsim::damerau_levenshtein(known, name));
        format!(
            "{{{name}}} stays as it is: no task has a parameter of that name; they have {}",
            known.join(", ")
        )
    };
    unknown.iter().map(told).collect()
}

/// `${NAME}` in the name of a file, the value of a variable or a command without a script: a shell would fill it in, and none
/// reads it there.
fn for_no_shell(job: &JobDescription) -> Vec<String> {
    let inputs = job.inputs.iter().flat_map(|input| std::iter::once(&input.source).chain(&input.target));
    let known = job.spec.tasks.names();
    let told = |text: &String| {
        let name = known.iter().find(|name| text.contains(&format!("${{{name}}}")))?;
        Some(format!("${{{name}}} stays as it is in {text}, since no shell reads it there: write {{{name}}}"))
    };
    let is_script = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let has_script = job.spec.command.iter().any(is_script);
    let words = job.spec.command.iter().filter(|_| !has_script);
    let files = job.spec.outputs.iter().chain(inputs).chain(&job.stdout).chain(&job.stderr);
    words.chain(job.spec.env.values()).chain(&job.spec.cwd).chain(files).filter_map(told).collect()
}

/// The names that stand in braces. Behind a `$` they are variables of the shell.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        letters && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit()
    };
    let rests = text.split('{').zip(text.split('{').skip(1));
    let rests = rests.filter(|(before, _)| !before.ends_with('$')).map(|(_, rest)| rest);
    rests.filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::job::TaskList;
    use gleaner_workload::submit::LocalFile;

    fn machine(cores: u32, memory: u64, disk: Option<u64>) -> MachineView {
        MachineView {
            refused: None,
            owner: None,
            machine: "lab".to_owned(),
            state: MachineState::Open,
            why: None,
            profile: Profile { memory, disk, ..Profile::new([1.0; 3], cores) },
            owner_load: 0.0,
            price: 0.0,
            tasks: 0,
            sample: None,
            heard_s: None,
            trust: None,
            orders: Vec::new(),
        }
    }

    #[test]
    fn an_attribute_that_no_machine_has_is_named_with_its_place() {
        let machine = |attributes: &[&str]| {
            let mut machine = machine(1, 1 << 30, None);
            let said = attributes.iter().map(|name| ((*name).to_owned(), "1".to_owned()));
            machine.profile.attributes = said.collect();
            machine
        };
        let machines = [machine(&["OpSys", "Arch"]), machine(&["Playpen_Size"])];
        let said = |requirements: &str, at| missing(requirements, &machines, at).join("|");
        let asks = "((TARGET.OpSys == \"linux\") && (TARGET.memm >= 100 || TARGET.playpen_size > 2))";
        assert_eq!(
            said(asks, Some("a.jdf:3")),
            "a.jdf:3: requirements: no machine has an attribute memm: where it has to be there, the job waits until one has; did \
             you mean mem?"
        );
        assert_eq!(
            said("TARGET.Archi == 1 && TARGET.'Weather Model' && RequestMemory < TARGET.Memory", None),
            "requirements: no machine has an attribute Archi: where it has to be there, the job waits until one has; did you mean \
             Arch?|requirements: no machine has an attribute Weather Model: where it has to be there, the job waits until one has"
        );
        assert_eq!(
            said("opsys == \"LINUX\" && Licences > 1 && Owner == \"ada\"", None),
            "requirements: opsys by itself is the job's own attribute, and a job has none of this name; did you mean TARGET.OpSys, \
             the machine's?|requirements: Licences by itself is the job's own attribute, and a job has none of this name; a \
             machine's is TARGET.Licences, and no machine has one"
        );
        assert_eq!(missing(asks, &[], None).len(), 0, "nobody can tell before machines have joined");
    }

    #[test]
    fn what_is_more_than_any_machine_has_is_told() {
        let machines = [machine(4, 8 << 30, Some(100 << 30)), machine(16, 2 << 30, None)];
        let said = |cores: u32, memory: u64, disk: u64| {
            too_large(&Needs { cores, memory: memory << 30, disk: disk << 30, time_limit_s: 0.0 }, &machines)
        };
        for (cores, memory, disk, expected) in [
            (4, 8, 100, ""),
            (16, 2, 1_000, ""),
            (17, 1, 0, "no machine has slots for 17 cores (the most is 16): the job waits until one has"),
            (1, 9, 0, "no machine has 9 GiB of memory (the most is 8 GiB): the job waits until one has"),
            (
                32,
                16,
                0,
                "no machine has slots for 32 cores (the most is 16), nor 16 GiB of memory (the most is 8 GiB): the job waits until one has",
            ),
            (
                8,
                4,
                0,
                "no machine has all the cores, memory and disk that a task needs: the job waits until one has",
            ),
        ] {
            assert_eq!(said(cores, memory, disk).unwrap_or_default(), expected, "{cores} {memory} {disk}");
        }
        assert_eq!(too_large(&Needs { cores: 99, ..Needs::default() }, &[]), None, "nobody can tell yet");
    }

    #[test]
    fn a_rank_that_the_policy_does_not_read_is_told_of() {
        let said = |name: &str| unread_rank(&PolicySpec::preset(name).expect("a preset"));
        for name in ["bertasi/greedy", "bertasi/social"] {
            assert_eq!(said(name), None);
        }
        for name in ["elleuch/min-min", "immediate/mct", "queue/easy"] {
            assert!(said(name).is_some_and(|text| text.contains(name)), "{name}");
        }
    }

    fn warnings(command: &[&str], input: &str) -> String {
        let mut job = JobDescription::new(JobSpec::new(command.iter().copied()));
        job.spec.tasks = TaskList::Sweep { axes: vec![("scene".to_owned(), vec!["a".to_owned()])] };
        job.inputs = vec![LocalFile::new(input)];
        all(&job, |path| ["./run", "run", "bin/run"].contains(&path.to_str().expect("text"))).join("|")
    }

    #[test]
    fn a_program_that_is_a_file_here_has_to_be_sent() {
        let not_sent = "./run is a file here, and is not sent along: add --input run";
        for (command, input, expected) in [
            ("./run", "data.csv", not_sent),
            ("./run", "run", ""),
            ("./run", "./run", ""),
            ("run", "x", "run is a file here, and is not sent along: add --input run, and run it as ./run"),
            ("bin/run", "bin", ""),
            ("bin/run", "bin/*", ""),
            ("sh", "x", ""),
            ("/bin/true", "x", ""),
        ] {
            assert_eq!(warnings(&[command], input), expected, "{command} {input}");
        }
    }

    #[test]
    fn a_name_that_means_something_else_is_told() {
        for (name, is_told) in [
            ("", false),
            (" ", true),
            ("render", false),
            ("render-2", false),
            ("3", true),
            ("1-4", true),
            ("last", true),
            ("a/b", true),
            ("7x", true),
        ] {
            let mut job = JobDescription::new(JobSpec::new(["true"]));
            name.clone_into(&mut job.spec.name);
            assert_eq!(all(&job, |_| false).len(), usize::from(is_told), "{name}");
        }
    }

    #[test]
    fn a_variable_that_the_program_will_not_see_is_told() {
        let said = |names: &[&str]| {
            let mut job = JobDescription::new(JobSpec::new(["true"]));
            job.spec.env = names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
            all(&job, |_| false).join("|")
        };
        assert_eq!(said(&["MODE", "gleaner_task", "GLEANER_CREW"]), "");
        assert_eq!(
            said(&["MODE", "GLEANER_TASK", "GLEANER_JOB"]),
            "the program does not see the value given for GLEANER_TASK, GLEANER_JOB: Gleaner says there what is so of the run"
        );
    }

    #[test]
    fn a_shells_variable_in_the_name_of_a_file_is_told() {
        let mut job = JobDescription::new(JobSpec::new(["sh", "-c", "echo ${GLEANER_INDEX}"]));
        job.spec.outputs = ["o_${GLEANER_INDEX}", "{GLEANER_INDEX}${HOME}"].map(str::to_owned).to_vec();
        assert_eq!(
            all(&job, |_| false),
            [
                "${GLEANER_INDEX} stays as it is in o_${GLEANER_INDEX}, since no shell reads it there: write {GLEANER_INDEX}"
            ]
        );
    }

    #[test]
    fn so_is_one_in_a_command_or_a_value_that_no_shell_reads() {
        for (command, value, place) in [
            (&["./prog", "${scene}"][..], "", Some("${scene}")),
            (&["sh", "-c", "echo ${scene}"][..], "", None),
            (&["bash", "-lc", "echo ${scene}"][..], "", None),
            (&["sh", "-c", "echo $OUT"][..], "x_${scene}", Some("x_${scene}")),
        ] {
            let mut job = JobDescription::new(JobSpec::new(command.iter().copied()));
            job.spec.tasks = TaskList::Sweep { axes: vec![("scene".to_owned(), vec!["a".to_owned()])] };
            job.spec.env = [("OUT".to_owned(), value.to_owned())].into();
            let told = |place: &str| {
                format!(
                    "${{scene}} stays as it is in {place}, since no shell reads it there: write {{scene}}"
                )
            };
            assert_eq!(all(&job, |_| false), Vec::from_iter(place.map(told)), "{command:?} {value}");
        }
    }

    #[test]
    fn a_mistyped_parameter_is_told() {
        let scnee =
            "{scnee} stays as it is: no task has a parameter of that name; they have scene, GLEANER_INDEX";
        for (word, expected) in [
            ("--scene={scene}", ""),
            ("--scene={scnee}", scnee),
            (
                "{GLEANER_INDX}",
                "{GLEANER_INDX} stays as it is: no task has a parameter of that name; they have GLEANER_INDEX, scene",
            ),
            ("awk '{print}' {}", ""),
            ("${HOME} ${GLEANER_TASK} ${scnee}", ""),
            (
                "{rate}",
                "{rate} stays as it is: no task has a parameter of that name; they have scene, GLEANER_INDEX",
            ),
        ] {
            assert_eq!(warnings(&["sh", word], "x"), expected, "{word}");
        }
    }
}
