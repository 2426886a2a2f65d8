//! Which machines and tasks are alike: the classes that the scheduler works on.
//!
//! **A machine's class has no attribute that nobody reads**: machines that differ in their names alone are one class
//! until somebody's requirements mention a name. Then all machines get their classes anew.

use gleaner_classad::{ClassAd, Expr, ParseError, RANK, REQUIREMENTS};
use gleaner_core::{Ad, MachineClass, Needs, Room, Seen, TaskClass};
use gleaner_units::{MachineClassId, TaskClassId, UserId};
use gleaner_wire::job::{Confinement, JobSpec};
use gleaner_wire::session::Profile;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a machine with a working sandbox provides.
const SANDBOX: &str = "sandbox";
/// What one provides whose owner lets sandboxed tasks use the network.
const NETWORK: &str = "network";

/// The classes met so far, by what they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kinds {
    machines: BTreeMap<Vec<u8>, MachineClassId>,
    /// With the label, since what is learnt of one label is not to change another's.
    tasks: BTreeMap<(Option<String>, Vec<u8>), TaskClassId>,
    /// The ads of all kinds of tasks, each once.
    task_ads: Vec<Ad>,
}

/// A class, and whether it is new.
pub(super) struct Met<Id> {
    pub(super) id: Id,
    pub(super) is_new: bool,
}

impl Kinds {
    pub(super) fn machine(&mut self, class: &MachineClass) -> Met<MachineClassId> {
        let next = MachineClassId::new(self.machines.len());
        let id = *self.machines.entry(bytes(class)).or_insert(next);
        Met { id, is_new: id == next }
    }

    /// The class less its composition decides, where the composition is learnt, with what the grid is told beside it: after how
    /// many seconds its runs are stopped, how many machines have to give the same answer, and whether a user's program
    /// says which are.
    pub(super) fn task(
        &mut self,
        label: Option<&str>,
        class: &TaskClass,
        beside: (f64, u32, bool),
    ) -> Met<TaskClassId> {
        let next = TaskClassId::new(self.tasks.len());
        let composition = if label.is_some() { Vec::new() } else { class.composition.clone() };
        let key = TaskClass { composition, ..class.clone() };
        let key = (label.map(str::to_owned), bytes(&(key, beside)));
        let id = *self.tasks.entry(key).or_insert(next);
        if id == next
            && let Some(ad) = &class.ad
            && !self.task_ads.contains(ad)
        {
            self.task_ads.push(ad.clone());
        }
        Met { id, is_new: id == next }
    }

    /// What matters of the machines' ads, given all there are. Costs O(size of the ads).
    pub(super) fn seen(&self, machines: &[ClassAd]) -> Seen {
        let tasks = self.task_ads.iter().map(Ad::class_ad);
        Seen::in_ads(&tasks.chain(machines).collect::<Vec<_>>())
    }
}

fn bytes(class: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(class).expect("plain data can always be written to memory")
}

/// The class of a machine of which only what is seen matters, at a share of the speeds that it says.
pub(super) fn machine_class(
    profile: &Profile,
    share: f64,
    price: f64,
    ad: &ClassAd,
    seen: &Seen,
) -> MachineClass {
    let mut provides: BTreeSet<String> = BTreeSet::new();
    if !profile.user.is_empty() {
        provides.insert(unconfined(&profile.user));
    }
    if profile.sandbox.is_ok() {
        provides.insert(SANDBOX.to_owned());
        provides.extend(profile.network.then(|| NETWORK.to_owned()));
    }
    MachineClass {
        speeds: profile.speeds.map(|speed| speed * share).to_vec(),
        cores: profile.cores,
        provides,
        ad: seen.part_of(ad).map(Ad::from),
        room: Room { slots: Some(profile.slots), memory: Some(profile.memory), disk: None },
        price,
    }
}

/// What an agent provides that runs programs of its own user as they are.
fn unconfined(user: &str) -> String {
    format!("runs outside the sandbox for {user}")
}

/// All that a machine says of itself.
pub(super) fn machine_ad(name: &str, profile: &Profile) -> ClassAd {
    let mut ad = ClassAd::new();
    for (attribute, text) in &profile.attributes {
        // What an agent sends was parsed when it arrived; what does not parse after all says nothing.
        if let Ok(expr) = Expr::parse(text) {
            ad.insert(attribute.as_str(), expr);
        }
    }
    let text = |text: &str| Expr::parse(quoted(text)).expect("a quoted text is an expression");
    let number = |value: u64| Expr::parse(value.to_string()).expect("a number is an expression");
    ad.insert("Machine", text(name));
    // Letters, digits and -_.@ only: each is its own text.
    let tags: Vec<String> = profile.tags.iter().map(|tag| format!("\"{tag}\"")).collect();
    ad.insert(
        "Tags",
        Expr::parse(format!("{{{}}}", tags.join(", "))).expect("a list of texts is an expression"),
    );
    ad.insert("Cpus", number(u64::from(profile.cores)));
    // As HTCondor counts it.
    ad.insert("Memory", number(profile.memory >> 20));
    ad
}

/// What the tasks of a job ask of machines, and where they are not to be tried again (see [`super::elsewhere`]).
pub(super) fn task_class(
    (user, payer): (&str, UserId),
    spec: &JobSpec,
    composition: [f64; 3],
    elsewhere: Option<&str>,
) -> Result<TaskClass, ParseError> {
    let needed = match spec.confinement {
        Confinement::Sandbox => vec![SANDBOX.to_owned()],
        Confinement::SandboxWithNetwork => vec![SANDBOX.to_owned(), NETWORK.to_owned()],
        Confinement::None => vec![unconfined(user)],
    };
    Ok(TaskClass {
        composition: composition.to_vec(),
        requires: needed.into_iter().collect(),
        ad: Some(Ad::from(task_ad(user, spec, elsewhere)?)),
        needs: Needs { cores: spec.needs.cores, memory: spec.needs.memory, disk: 0 },
        priority: spec.priority,
        restarts: !spec.checkpoint.folder,
        payer,
    })
}

fn task_ad(user: &str, spec: &JobSpec, elsewhere: Option<&str>) -> Result<ClassAd, ParseError> {
    let mut ad = ClassAd::new();
    ad.insert("Owner", Expr::parse(quoted(user))?);
    if let Some(label) = &spec.label {
        ad.insert("Label", Expr::parse(quoted(label))?);
    }
    if let Some(signed) = &spec.signed {
        // As owners write down whom they trust.
        ad.insert("SignedBy", Expr::parse(quoted(&format!("{user} {}", signed.key)))?);
    }
    ad.insert("RequestCpus", Expr::parse(spec.needs.cores.to_string())?);
    ad.insert("RequestMemory", Expr::parse(spec.needs.memory.div_ceil(1 << 20).to_string())?);
    let asked = match (&spec.requirements, elsewhere) {
        (Some(requirements), Some(elsewhere)) => Some(format!("({requirements}) && {elsewhere}")),
        (requirements, elsewhere) => elsewhere.map(str::to_owned).or_else(|| requirements.clone()),
    };
    if let Some(asked) = asked {
        ad.insert(REQUIREMENTS, Expr::parse(asked)?);
    }
    if let Some(rank) = &spec.rank {
        ad.insert(RANK, Expr::parse(rank)?);
    }
    Ok(ad)
}

/// As the language writes text; control characters, which names cannot have, are left out.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars().filter(|character| !character.is_control()) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}
