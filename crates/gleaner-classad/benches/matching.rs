//! One job's requirements against 100,000 machine ads. The time of one iteration divided by 100,000 is the time of a
//! match; `items` per second are matches per second.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_classad::{ClassAd, Context, Names, Party, matches, symmetric_match};

const MACHINES: usize = 100_000;

const JOB: &str = "[ MyType = \"Job\"; Owner = \"alice\"; RequestCpus = 2; RequestMemory = 2048; RequestDisk = 500000; \
    Requirements = (TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && (TARGET.Disk >= RequestDisk) && \
    (TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= RequestCpus); Rank = TARGET.KFlops ]";
const NUMERIC_JOB: &str = "[ RequestCpus = 2; RequestMemory = 2048; RequestDisk = 500000; \
    Requirements = TARGET.Disk >= RequestDisk && TARGET.Memory >= RequestMemory && TARGET.Cpus >= RequestCpus ]";

fn machine(number: usize) -> ClassAd {
    let text = format!(
        "[ MyType = \"Machine\"; Name = \"slot{number}@host\"; Arch = \"X86_64\"; OpSys = \"LINUX\"; Cpus = {}; \
         Memory = {}; Disk = {}; KFlops = {}; LoadAvg = {:.2}; KeyboardIdle = {}; State = \"Unclaimed\"; \
         Requirements = TARGET.RequestMemory <= MY.Memory && MY.LoadAvg < 0.9 ]",
        1 + number % 16,
        512 * (1 + number % 32),
        100_000 * (1 + number % 20),
        1_000_000 + number,
        (number % 100) as f64 / 100.0,
        number % 3_600,
    );
    ClassAd::parse(text).expect("the text of this bench is an ad")
}

fn machines() -> Vec<ClassAd> {
    (0..MACHINES).map(machine).collect()
}

/// The job and the machines, ready.
fn parties(job: &str) -> (Party, Vec<Party>) {
    let mut names = Names::new();
    let machines = machines().iter().map(|machine| Party::new(machine, &mut names)).collect();
    let job = ClassAd::parse(job).expect("the text of this bench is an ad");
    (Party::new(&job, &mut names), machines)
}

fn compiled(bencher: Bencher<'_, '_>, job: &str) {
    let (job, machines) = parties(job);
    let context = Context::new();
    bencher
        .counter(ItemsCount::new(MACHINES))
        .bench(|| machines.iter().filter(|machine| job.accepts(machine, &context)).count());
}

#[divan::bench(sample_count = 20)]
fn compiled_numeric(bencher: Bencher<'_, '_>) {
    compiled(bencher, NUMERIC_JOB);
}

#[divan::bench(sample_count = 20)]
fn compiled_with_strings(bencher: Bencher<'_, '_>) {
    compiled(bencher, JOB);
}

#[divan::bench(sample_count = 20)]
fn compiled_symmetric(bencher: Bencher<'_, '_>) {
    let (job, machines) = parties(JOB);
    let context = Context::new();
    bencher.counter(ItemsCount::new(MACHINES)).bench(|| {
        machines
            .iter()
            .filter(|machine| job.accepts(machine, &context) && machine.accepts(&job, &context))
            .count()
    });
}

#[divan::bench(sample_count = 5)]
fn evaluated(bencher: Bencher<'_, '_>) {
    let machines = machines();
    let job = ClassAd::parse(JOB).expect("the text of this bench is an ad");
    let context = Context::new();
    bencher
        .counter(ItemsCount::new(MACHINES))
        .bench(|| machines.iter().filter(|machine| matches(machine, &job, &context)).count());
}

#[divan::bench(sample_count = 5)]
fn evaluated_symmetric(bencher: Bencher<'_, '_>) {
    let machines = machines();
    let job = ClassAd::parse(JOB).expect("the text of this bench is an ad");
    let context = Context::new();
    bencher
        .counter(ItemsCount::new(MACHINES))
        .bench(|| machines.iter().filter(|machine| symmetric_match(machine, &job, &context)).count());
}

fn main() {
    divan::main();
}
