//! Which machines and tasks are alike: the classes that the scheduler works on.
//!
//! **A machine's class has no attribute that nobody reads**: machines that differ in their names alone are one class
//! until somebody's requirements mention a name. Then all machines get their classes anew.
//!
//! **A class of tasks is there for the jobs in memory that have it.** When the last of them has left, the class is kept for a while and
//! then forgotten. Its number goes to the next new class.

use super::label::LabelKey;
use crate::limits::{CLASS_BYTES, UNUSED_CLASS_BYTES_MAX};
use gleaner_classad::{ClassAd, Expr, ParseError, RANK, REQUIREMENTS};
use gleaner_core::{Ad, MachineClass, Needs, Room, Seen, TaskClass};
use gleaner_units::{MachineClassId, TaskClassId, UserId};
use gleaner_wire::job::{Confinement, JobSpec};
use gleaner_wire::session::Profile;
use gleaner_wire::text::as_part;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a machine with a working sandbox provides.
const SANDBOX: &str = "sandbox";
/// What one provides whose owner lets sandboxed tasks use the network.
const NETWORK: &str = "network";

/// The classes of machines met so far, and those of tasks that anybody has or had until lately, by what they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct KnownClasses {
    machines: BTreeMap<Vec<u8>, MachineClassId>,
    tasks: BTreeMap<TaskKey, TaskClassId>,
    /// By class; nothing where the id stands for none.
    known: Vec<Option<KnownClass>>,
    /// Ids that stand for no class.
    free: BTreeSet<TaskClassId>,
    /// Classes that nobody has any more, by the row at which that was so.
    unused: BTreeSet<(u64, TaskClassId)>,
    unused_bytes: u64,
    /// What the classes of each user take of whose jobs some are not over.
    bytes: BTreeMap<UserId, u64>,
    /// What of the machines' ads matters.
    pub(super) seen: Seen,
}

/// A class of tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KnownClass {
    key: TaskKey,
    /// Whose jobs have it.
    pub(super) payer: UserId,
    bytes: u64,
    /// The label that its composition is learnt of.
    pub(super) label: Option<LabelKey>,
    /// How many jobs in memory have it. A class that keeps tasks of another away from machines is had by that one, like by a job.
    users: u32,
    /// How many of those are not over. One more for a class that keeps tasks away from machines, until the jobs of these are over.
    open: u32,
    unused_since: u64,
    /// The classes for those of its tasks that are kept away from machines.
    pub(super) apart: Vec<TaskClassId>,
}

/// What a class of tasks is, as a hash: its ad may be long.
pub(super) type TaskKey = [u8; 32];

/// A class, and whether it is new.
pub(super) struct Met<Id> {
    pub(super) id: Id,
    pub(super) is_new: bool,
}

impl KnownClass {
    /// Whether any job has it that is not over.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }
}

impl KnownClasses {
    pub(super) fn machine(&mut self, class: &MachineClass) -> Met<MachineClassId> {
        let next = MachineClassId::new(self.machines.len());
        let id = *self.machines.entry(bytes(class)).or_insert(next);
        Met { id, is_new: id == next }
    }

    /// The class of that key, if there is one.
    pub(super) fn find_task(&self, key: &TaskKey) -> Option<TaskClassId> {
        self.tasks.get(key).copied()
    }

    /// One of a job's that nobody has yet gets an id, and whether that is one that stood for another before.
    pub(super) fn add_task(
        &mut self,
        (key, payer): (TaskKey, UserId),
        spec: &JobSpec,
        label: Option<LabelKey>,
        row: u64,
    ) -> (TaskClassId, bool) {
        let bytes = class_bytes(spec);
        let class =
            KnownClass { key, payer, bytes, label, users: 0, open: 0, unused_since: row, apart: Vec::new() };
        let freed = self.free.pop_first();
        let id = freed.unwrap_or(TaskClassId::new(self.known.len()));
        match freed {
            Some(id) => self.known[id.index()] = Some(class),
            None => self.known.push(Some(class)),
        }
        self.tasks.insert(key, id);
        self.unused.insert((row, id));
        self.unused_bytes += bytes;
        (id, freed.is_some())
    }

    pub(super) fn class(&self, id: TaskClassId) -> &KnownClass {
        self.known[id.index()].as_ref().expect("what somebody has is known")
    }

    pub(super) fn class_mut(&mut self, id: TaskClassId) -> &mut KnownClass {
        self.known[id.index()].as_mut().expect("what somebody has is known")
    }

    /// One more has it in memory.
    pub(super) fn enter(&mut self, id: TaskClassId) {
        let class = self.class_mut(id);
        class.users += 1;
        let KnownClass { users, unused_since, bytes, .. } = *class;
        if users == 1 {
            self.unused.remove(&(unused_since, id));
            self.unused_bytes -= bytes;
        }
    }

    /// One fewer has it in memory; whether nobody does any more.
    pub(super) fn leave(&mut self, id: TaskClassId, row: u64) -> bool {
        let class = self.class_mut(id);
        class.users -= 1;
        class.unused_since = row;
        let KnownClass { users, bytes, .. } = *class;
        if users == 0 {
            self.unused.insert((row, id));
            self.unused_bytes += bytes;
        }
        users == 0
    }

    /// One more that is not over has it.
    pub(super) fn open(&mut self, id: TaskClassId) {
        let class = self.class_mut(id);
        class.open += 1;
        let KnownClass { open, bytes, payer, .. } = *class;
        if open == 1 {
            *self.bytes.entry(payer).or_default() += bytes;
        }
    }

    /// One of those is over.
    pub(super) fn close(&mut self, id: TaskClassId) {
        let class = self.class_mut(id);
        class.open -= 1;
        let KnownClass { open, bytes, payer, .. } = *class;
        if open == 0 {
            let of_user = self.bytes.get_mut(&payer).expect("it was counted");
            *of_user -= bytes;
            if *of_user == 0 {
                self.bytes.remove(&payer);
            }
        }
    }

    /// The class that nobody has for longest, where there are too many such.
    pub(super) fn surplus(&self) -> Option<TaskClassId> {
        let (_, id) = self.unused.first()?;
        (self.unused_bytes > UNUSED_CLASS_BYTES_MAX).then_some(*id)
    }

    /// Nothing is known any more of a class that nobody has; what was.
    pub(super) fn forget(&mut self, id: TaskClassId) -> KnownClass {
        let class = self.known[id.index()].take().expect("what is unused is known");
        self.tasks.remove(&class.key);
        self.unused.remove(&(class.unused_since, id));
        self.unused_bytes -= class.bytes;
        self.free.insert(id);
        class
    }

    /// What the classes of a user take of whose jobs some are not over.
    pub(super) fn bytes_of(&self, payer: UserId) -> u64 {
        self.bytes.get(&payer).copied().unwrap_or(0)
    }

    /// What does not fit together, given how many jobs have each class, and how many count as not over.
    pub(super) fn check(&self, mut users: BTreeMap<TaskClassId, (u32, u32)>) -> Result<(), String> {
        let mut bytes: BTreeMap<UserId, u64> = BTreeMap::new();
        let known = self.known.iter().enumerate();
        let known = known.filter_map(|(index, class)| Some((TaskClassId::new(index), class.as_ref()?)));
        for apart in known.clone().flat_map(|(_, class)| &class.apart) {
            users.entry(*apart).or_default().0 += 1;
        }
        for (id, class) in known {
            let expected = users.remove(&id).unwrap_or_default();
            if (class.users, class.open) != expected {
                return Err(format!(
                    "{id} is said to have {:?} jobs, and has {expected:?}",
                    (class.users, class.open)
                ));
            }
            if class.open > 0 {
                *bytes.entry(class.payer).or_default() += class.bytes;
            }
        }
        if bytes != self.bytes || !users.is_empty() {
            return Err(format!(
                "classes take {:?} bytes where {bytes:?} are counted; {users:?} are unknown",
                self.bytes
            ));
        }
        Ok(())
    }
}

/// What a class of a job's tasks takes of its user's quota.
pub(crate) fn class_bytes(spec: &JobSpec) -> u64 {
    let texts = [&spec.requirements, &spec.rank, &spec.label].into_iter().flatten();
    CLASS_BYTES + texts.map(|text| text.len() as u64).sum::<u64>()
}

/// The class less its composition decides, where the composition is learnt of a label, with what the grid is told beside it: after how
/// many seconds its runs are stopped, how many machines have to give the same answer, and whether a user's program
/// says which are.
pub(super) fn task_key(label: Option<&str>, class: &TaskClass, spec: &JobSpec) -> TaskKey {
    let composition = if label.is_some() { Vec::new() } else { class.composition.clone() };
    let class = TaskClass { composition, ..class.clone() };
    let beside = (spec.needs.time_limit_s, spec.quorum, !spec.compare.is_empty());
    blake3::hash(&bytes(&(label, class, beside))).into()
}

fn bytes(class: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(class).expect("plain data can always be written to memory")
}

/// The class of a machine of whose ad this part matters, at a share of the speeds that it says.
pub(super) fn machine_class(profile: &Profile, share: f64, price: f64, ad: Option<ClassAd>) -> MachineClass {
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
        ad: ad.map(Ad::from),
        room: Room { slots: Some(profile.slots), memory: Some(profile.memory), disk: profile.disk },
        price,
    }
}

/// What an agent provides that runs programs of its own user as they are.
fn unconfined(user: &str) -> String {
    format!("programs outside of the sandbox as {user}")
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
    if let Some(disk) = profile.disk {
        ad.insert("Disk", number(disk >> 10));
    }
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
        needs: Needs { cores: spec.needs.cores, memory: spec.needs.memory, disk: spec.needs.disk },
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
    ad.insert("RequestDisk", Expr::parse(spec.needs.disk.div_ceil(1 << 10).to_string())?);
    if let Some(asked) = asked(spec, elsewhere)? {
        ad.insert(REQUIREMENTS, asked);
    }
    if let Some(rank) = &spec.rank {
        ad.insert(RANK, Expr::parse(rank)?);
    }
    Ok(ad)
}

/// What the tasks of a job require of machines, if anything. Requirements that are nested as deep as any may be have no room for
/// what is asked beside them.
pub(super) fn asked(spec: &JobSpec, elsewhere: Option<&str>) -> Result<Option<Expr>, ParseError> {
    let asked = match (&spec.requirements, elsewhere) {
        (Some(requirements), Some(elsewhere)) => Some(format!("{} && {elsewhere}", as_part(requirements))),
        (requirements, elsewhere) => elsewhere.map(str::to_owned).or_else(|| requirements.clone()),
    };
    asked.map(Expr::parse).transpose()
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
