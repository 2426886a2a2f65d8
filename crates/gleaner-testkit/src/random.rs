//! Grids drawn from a seed: small, and odd on purpose.

use gleaner_core::{Ad, Budget, Charged, GridConfig, MachineClass, Migration, Needs, Room, Scope, TaskClass};
use gleaner_sim::{
    Answers, Draft, Ids, LoadChange, MachineTraces, Prediction, Pricing, Setup, SpeedScale, Tasks, Trace,
};
use gleaner_units::{Credits, MachineClassId, MachineId, Ops, Span, TaskClassId, Time, UserId};
use rand_core::Rng;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tasks need multiples of half of the step in which the index bounds memory.
const MEMORY: u64 = 1 << 19;

/// A stream of random choices that a seed reproduces.
pub struct Choices(Pcg64);

impl Choices {
    /// The stream of that seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 0x6765_6e65_7261_746f))
    }

    /// From 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From 0 up to, not including, `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A grid with shared classes, several cores, tags, owners that take all, tasks that must wait, and ties in time.
pub fn setup(seed: u64) -> Setup {
    let choices = &mut Choices::seeded(seed);
    let machine_classes: Vec<_> = (0..=choices.below(4)).map(|index| machine_class(choices, index)).collect();
    let machines: Vec<_> =
        (0..=choices.below(7)).map(|_| MachineClassId::new(choices.below(machine_classes.len()))).collect();
    let task_classes: Vec<_> = (0..=choices.below(5)).map(|_| task_class(choices)).collect();
    let seconds = if choices.one_in(3) { 5.0 * choices.unit() } else { 0.0 };
    let mut setup = Setup {
        config: GridConfig {
            weights: vec![2e-5, 0.1, 0.1],
            migration: Migration { seconds, ..Migration::default() },
        },
        machine_classes,
        machines,
        task_classes,
        tasks: Tasks::default(),
        loads: Vec::new(),
        availability: None,
        budget: None,
        answers: Answers::default(),
    };
    fill_tasks(&mut setup, choices);
    fill_loads(&mut setup, choices);
    setup
}

/// The same with room on machines, exclusive or otherwise, and with tasks that need some of it and have priorities.
pub fn setup_with_room(seed: u64) -> Setup {
    let mut setup = setup(seed);
    let choices = &mut Choices::seeded(seed ^ 0x726f_6f6d);
    let exclusive = choices.one_in(2);
    for (index, class) in setup.machine_classes.iter_mut().enumerate() {
        // The first class holds every task.
        let slots = if index == 0 { 4 } else { 1 + choices.below(4) as u32 };
        let memory = if index == 0 { 64 } else { 1 << choices.below(7) };
        class.room = Room {
            slots: if exclusive { Some(class.cores) } else { Some(slots).filter(|_| !choices.one_in(4)) },
            memory: Some(memory * MEMORY).filter(|_| choices.one_in(2)),
            disk: None,
        };
    }
    for class in &mut setup.task_classes {
        let several = !exclusive && choices.one_in(2);
        class.needs = Needs {
            cores: if several { 1 + choices.below(4) as u32 } else { 1 },
            memory: if choices.one_in(2) { choices.below(65) as u64 * MEMORY } else { 0 },
            disk: 0,
        };
        class.priority = [-1, 0, 1][choices.below(3)];
    }
    let choices = &mut Choices::seeded(seed ^ 0x6469_736b);
    for (index, class) in setup.machine_classes.iter_mut().enumerate() {
        let disk = if index == 0 { 64 } else { 1 << choices.below(7) };
        class.room.disk = Some(disk).filter(|_| choices.one_in(3));
    }
    for class in &mut setup.task_classes {
        class.needs.disk = if choices.one_in(3) { choices.below(65) as u64 } else { 0 };
    }
    setup
}

/// Exclusive machines with prices, some of them alike, some free, and a budget that may be far too small or large
/// enough. Half of the grids have lengths, speeds and prices in which ties abound.
pub fn setup_with_budget(seed: u64) -> Setup {
    let mut setup = setup(seed);
    let choices = &mut Choices::seeded(seed ^ 0x6275_6467);
    let round = choices.one_in(2);
    for (index, class) in setup.machine_classes.iter_mut().enumerate() {
        class.room = Room { slots: Some(class.cores), ..Room::default() };
        class.price = match choices.below(4) {
            0 if index > 0 => 0.0,
            1 => class.speeds[0] / 2.0,
            _ if round => [0.5, 1.0, 2.0][choices.below(3)],
            _ => 0.1 + 3.0 * choices.unit(),
        };
        if round {
            class.speeds[0] = [1.0, 2.0, 4.0][choices.below(3)];
        }
        if index > 0 && choices.one_in(6) {
            class.speeds[0] = 0.0;
            class.price = 0.0;
        }
    }
    if round {
        for class in &mut setup.task_classes {
            class.composition = vec![1.0, 0.0, 0.0];
        }
        for (length, declared) in setup.tasks.lengths.iter_mut().zip(&mut setup.tasks.declared) {
            *length = Ops::new(1e4 * (1 + choices.below(4)) as f64).expect("a length");
            *declared = Some(*length);
        }
    }
    misjudge(&mut setup.tasks, &mut Choices::seeded(seed ^ 0x6465_636c));
    let period = 2.0 + (20.0 * choices.unit()).round();
    // Some task costs more than the cheapest of budgets.
    let recharge = 1e5 * (1.0 + 30.0 * choices.unit() * choices.unit());
    setup.budget = Some(Budget {
        recharge: Credits::new(recharge as u64),
        period: Span::from_seconds(period).expect("a period"),
        charged: [Charged::Planned, Charged::Planned, Charged::Reserved, Charged::Started, Charged::Ended]
            [choices.below(5)],
        scope: Scope::Shared,
    });
    setup
}

/// The same with tasks of several cores on machines that have as many.
pub fn setup_with_cores(seed: u64) -> Setup {
    let mut setup = setup_with_budget(seed);
    let choices = &mut Choices::seeded(seed ^ 0x636f_7265);
    for class in &mut setup.machine_classes {
        class.cores = 1 + choices.below(4) as u32;
    }
    // The first class holds every task.
    setup.machine_classes[0].cores = 4;
    for class in &mut setup.machine_classes {
        class.room.slots = Some(class.cores);
    }
    for class in &mut setup.task_classes {
        class.needs.cores = 1 + choices.below(4) as u32;
    }
    setup
}

/// The same with a budget for each of a few users. What one task class was is one for each of them.
pub fn setup_with_budgets(seed: u64) -> Setup {
    let mut setup = setup_with_budget(seed);
    let choices = &mut Choices::seeded(seed ^ 0x7573_6572);
    let (users, kinds) = (1 + choices.below(3), setup.task_classes.len());
    let of = |user| move |class: &TaskClass| TaskClass { payer: UserId::new(user), ..class.clone() };
    setup.task_classes = (0..users).flat_map(|user| setup.task_classes.iter().map(of(user))).collect();
    for class in &mut setup.tasks.classes {
        *class = TaskClassId::new(class.index() + kinds * choices.below(users));
    }
    setup.budget = setup.budget.map(|budget| Budget { scope: Scope::PerUser, ..budget });
    setup
}

/// The same, or with tasks of several cores, where some tasks are more urgent than others.
pub fn setup_with_priorities(seed: u64) -> Setup {
    let mut setup = if seed.is_multiple_of(2) { setup_with_budgets(seed) } else { setup_with_cores(seed) };
    let choices = &mut Choices::seeded(seed ^ 0x7072_696f);
    for class in &mut setup.task_classes {
        class.priority = [-1, 0, 0, 7][choices.below(4)];
    }
    setup
}

/// Tasks of a few users that come over a longer time than they take, with labels that say something of their lengths; some
/// declare no length. Machines have one core, or several.
pub fn setup_with_labels(seed: u64, several: bool) -> Setup {
    let mut setup = if several { setup_with_cores(seed) } else { setup_with_budget(seed) };
    let choices = &mut Choices::seeded(seed ^ 0x6c61_6265);
    let (users, labels, kinds) = (1 + choices.below(3), 1 + choices.below(3), setup.task_classes.len());
    let mut classes = Vec::new();
    for (user, label) in (0..users).flat_map(|user| (0..=labels).map(move |label| (user, label))) {
        let own = setup.task_classes.iter().map(|class| {
            // The last label is none.
            let ad = (label < labels).then(|| ad(&format!("[ Label = \"{label}\" ]")));
            TaskClass { payer: UserId::new(user), ad, ..class.clone() }
        });
        classes.extend(own);
    }
    setup.task_classes = classes;
    let Tasks { arrivals, lengths, declared, classes } = &mut setup.tasks;
    for task in 0..arrivals.len() {
        let (user, label) = (choices.below(users), choices.below(labels + 1));
        classes[task] = TaskClassId::new(classes[task].index() + kinds * (user * (labels + 1) + label));
        arrivals[task] = Time::from_nanos(arrivals[task].nanos() * 8);
        if !choices.one_in(3) {
            lengths[task] = Ops::new(1e4 * (label + 1 + choices.below(2)) as f64).expect("a length");
        }
        declared[task] = match choices.below(4) {
            0 => None,
            1 => Some(lengths[task]),
            _ => Ops::new(2e5),
        };
    }
    setup
}

/// Machines with one core that come and go by a trace, some for long and some not, and change their speeds; tasks of a budget.
pub fn setup_with_leaving(seed: u64) -> Setup {
    let choices = &mut Choices::seeded(seed ^ 0x6c65_6176);
    let moment = |seconds: f64| Time::from_seconds(seconds).expect("a moment");
    let (mut ids, mut drafts) = (Ids::default(), Vec::new());
    for machine in 0..2 + choices.below(6) as u32 {
        ids.push(&machine.to_string());
        let stays_s = [5.0, 40.0, 300.0][choices.below(3)];
        let mut at = 20.0 * choices.unit();
        while at < 600.0 {
            let mut draft = Draft::new(machine, moment(at));
            for _ in 0..=choices.below(2) {
                at += 0.1 + stays_s * choices.unit();
                draft.go_on(moment(at), [1.0, 2.0, 4.0, 8.0][choices.below(4)]);
            }
            drafts.push(draft);
            at += 0.1 + 20.0 * choices.unit();
        }
    }
    let (trace, scale) = (Trace::of(ids, drafts), SpeedScale::two_digits(1.0, 8.0));
    let kind = MachineClass {
        room: Room { slots: Some(1), ..Room::default() },
        ..MachineClass::plain(Vec::new(), 1)
    };
    let mut tasks = Tasks::default();
    let mut now = 0.0;
    for _ in 0..5 + choices.below(60) {
        now += if choices.one_in(3) { 0.0 } else { 6.0 * choices.unit() };
        let length = if choices.one_in(2) { 100.0 * choices.unit() } else { 20.0 * choices.below(4) as f64 };
        tasks.push(moment(now), Ops::new(1.0 + length).expect("a length"), TaskClassId::new(0));
    }
    let period = Span::from_seconds(2.0 + choices.below(20) as f64).expect("a period");
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: MachineTraces::classes(&scale, &[kind], Pricing::BySpeed),
        machines: Vec::new(),
        task_classes: vec![TaskClass::plain(vec![1.0])],
        tasks,
        loads: Vec::new(),
        availability: Some(MachineTraces {
            kinds: vec![0; trace.machines().len()],
            trace: Arc::new(trace),
            scale,
            look_every: period,
            prediction: Prediction::ELLEUCH,
            pricing: Pricing::BySpeed,
            saboteurs: BTreeSet::new(),
            aborts_max: None,
        }),
        budget: Some(Budget {
            recharge: Credits::new(200 + choices.below(2_000) as u64),
            period,
            charged: [Charged::Planned, Charged::Reserved, Charged::Started, Charged::Ended]
                [choices.below(4)],
            scope: Scope::Shared,
        }),
        answers: Answers::default(),
    }
}

/// In a third of the grids users are wrong about how long their tasks are.
fn misjudge(tasks: &mut Tasks, choices: &mut Choices) {
    if !choices.one_in(3) {
        return;
    }
    for (length, declared) in tasks.lengths.iter().zip(&mut tasks.declared) {
        *declared = Ops::new(length.amount() * [0.5, 1.0, 1.0, 2.0][choices.below(4)]);
    }
}

fn machine_class(choices: &mut Choices, index: usize) -> MachineClass {
    let mut speeds =
        vec![1.0 + 3.0 * choices.unit(), 50.0 + 800.0 * choices.unit(), 250.0 + 750.0 * choices.unit()];
    // The first class can run everything, so that no task is impossible.
    if index > 0 && choices.one_in(4) {
        speeds[1 + choices.below(2)] = 0.0;
    }
    let tagged = index == 0 || choices.one_in(3);
    let cores = if choices.one_in(2) { 1 } else { 1 + choices.below(4) as u32 };
    let provides = tagged.then(|| "big".to_owned()).into_iter().collect();
    // The first class has most memory and takes everyone.
    let memory = if index == 0 { 64 } else { 1 << choices.below(7) };
    let wish = if index > 0 && choices.one_in(4) { "; Requirements = TARGET.Owner != \"eve\"" } else { "" };
    MachineClass {
        provides,
        ad: Some(ad(&format!("[ Memory = {memory}{wish} ]"))),
        ..MachineClass::plain(speeds, cores)
    }
}

fn ad(text: &str) -> Ad {
    Ad::parse(text).expect("an ad that parses")
}

fn task_class(choices: &mut Choices) -> TaskClass {
    let cpu = choices.unit();
    let disk = if choices.one_in(2) { 0.0 } else { (1.0 - cpu) * choices.unit() };
    let requires = choices.one_in(5).then(|| "big".to_owned()).into_iter().collect();
    TaskClass {
        restarts: choices.one_in(4),
        requires,
        ad: task_ad(choices),
        ..TaskClass::plain(vec![cpu, disk, 1.0 - cpu - disk])
    }
}

fn task_ad(choices: &mut Choices) -> Option<Ad> {
    let owner = if choices.one_in(3) { "eve" } else { "ada" };
    let asks = format!("Requirements = TARGET.Memory >= {}", 1 << choices.below(7));
    let likes = if choices.one_in(2) { "Rank = TARGET.Memory" } else { "Rank = -TARGET.Memory" };
    match choices.below(5) {
        0 => Some(ad(&format!("[ Owner = \"{owner}\"; {asks} ]"))),
        1 => Some(ad(&format!("[ Owner = \"{owner}\"; {likes} ]"))),
        2 => Some(ad(&format!("[ Owner = \"{owner}\"; {asks}; {likes} ]"))),
        _ => None,
    }
}

fn fill_tasks(setup: &mut Setup, choices: &mut Choices) {
    // Where no machine has the first class, only that many tasks can be run as some other class allows.
    setup.machines[0] = MachineClassId::new(0);
    let mut now = 0.0;
    for _ in 0..5 + choices.below(60) {
        if !choices.one_in(3) {
            now += 3.0 * choices.unit();
        }
        let length = Ops::new(1e3 + 1e5 * choices.unit()).expect("a length");
        let class = TaskClassId::new(choices.below(setup.task_classes.len()));
        setup.tasks.push(Time::from_seconds(now).expect("a moment"), length, class);
    }
}

fn fill_loads(setup: &mut Setup, choices: &mut Choices) {
    let mut now = 0.0;
    for _ in 0..choices.below(20) {
        now += 10.0 * choices.unit();
        let load = match choices.below(4) {
            0 => 0.0,
            1 => 1.0,
            _ => choices.unit(),
        };
        let machine = MachineId::new(choices.below(setup.machines.len()));
        setup.loads.push(LoadChange { time: Time::from_seconds(now).expect("a moment"), machine, load });
    }
    // Owners go home in the end, so that every task can.
    for machine in (0..setup.machines.len()).map(MachineId::new) {
        setup.loads.push(LoadChange {
            time: Time::from_seconds(now + 50.0).expect("a moment"),
            machine,
            load: 0.0,
        });
    }
}
