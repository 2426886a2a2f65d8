//! A job and 100,000 machines, whose requirements are to hold both ways. The time of one iteration divided by 100,000 is the time of a
//! match; `items` per second are matches per second.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_classad::{ClassAd, CompiledAd, Context, Names, matches};

const MACHINES: usize = 100_000;

const JOB: &str = "[ MyType = \"Job\"; Owner = \"alice\"; RequestCpus = 2; RequestMemory = 2048; RequestDisk = 500000; \
    Requirements = (TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && (TARGET.Disk >= RequestDisk) && \
    (TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= RequestCpus); Rank = TARGET.KFlops ]";

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

#[divan::bench(sample_count = 20)]
fn compiled(bencher: Bencher<'_, '_>) {
    let (mut names, context) = (Names::new(), Context::new());
    let machines: Vec<_> = machines().iter().map(|machine| CompiledAd::new(machine, &mut names)).collect();
    let job = ClassAd::parse(JOB).expect("the text of this bench is an ad");
    let job = CompiledAd::new(&job, &mut names);
    let agree = |machine: &CompiledAd| job.accepts(machine, &context) && machine.accepts(&job, &context);
    bencher
        .counter(ItemsCount::new(MACHINES))
        .bench(|| machines.iter().filter(|machine| agree(machine)).count());
}

#[divan::bench(sample_count = 5)]
fn evaluated(bencher: Bencher<'_, '_>) {
    let (machines, context) = (machines(), Context::new());
    let job = ClassAd::parse(JOB).expect("the text of this bench is an ad");
    let agree = |machine: &ClassAd| matches(machine, &job, &context) && matches(&job, machine, &context);
    bencher
        .counter(ItemsCount::new(MACHINES))
        .bench(|| machines.iter().filter(|machine| agree(machine)).count());
}

fn main() {
    divan::main();
}
