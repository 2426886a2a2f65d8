use super::{policy, run};
use crate::shared;
use gleaner_testkit::naive_named::{Job, starts};
use gleaner_testkit::naive_queue::{Order, Rule};
use gleaner_workload::{Reading, batsim};
use std::collections::BTreeMap;
use std::io::Read;

const CORES: u32 = 32;
/// Batsim writes six decimals.
const WRITTEN_S: f64 = 1e-5;

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("text in gzip");
    text
}

/// When each job started in Batsim's own run.
fn batsims(rule: &str) -> Option<BTreeMap<u64, f64>> {
    let table = std::fs::read(shared(&format!("batsim/medium_late_{rule}_jobs.csv.gz"))?).expect("a file");
    let text = unpacked(&table);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name: &str| header.iter().position(|column| *column == name).expect("a column");
    let (id, start) = (column("job_id"), column("starting_time"));
    let number = |text: &str| text.parse::<f64>().expect("a number");
    Some(lines.map(|line| (number(line[id]) as u64, number(line[start]))).collect())
}

/// Batsim's schedulers keep moments on processors with numbers. With that convention every start is Batsim's; where ours is
/// another, it is for that convention alone.
#[test]
fn every_start_is_batsims_by_its_own_convention() {
    let Some(workload) = shared("batsim/medium_late.json.gz") else { return };
    let log =
        batsim::parse("medium_late.json.gz", std::fs::read(workload).expect("a file")).expect("a workload");
    for (rule, name, agree_least) in
        [(Rule::Easy(Order::Arrival), "easy", 720), (Rule::Conservative, "conservative", 700)]
    {
        let Some(theirs) = batsims(name) else { return };
        let (kept, served) = run(&log, CORES, &policy(&format!("queue/{name}"), &[]), Reading::default());
        let number = |place: usize| log.jobs()[place].number.expect("jobs have numbers");
        let jobs: Vec<Job> = kept
            .iter()
            .map(|job| Job {
                submit: job.submit.seconds(),
                cores: job.processors as usize,
                run: job.run.seconds(),
                walltime: job.estimate.seconds(),
            })
            .collect();
        let named = starts(&jobs, CORES as usize, rule);
        let mut agree = 0;
        for (index, job) in kept.iter().enumerate() {
            let start = theirs[&number(job.place)];
            let by_convention = (named[index] - start).abs();
            assert!(by_convention < WRITTEN_S, "{name}: job {} is {by_convention} s off", number(job.place));
            agree += usize::from((served[index].start.seconds() - start).abs() < WRITTEN_S);
        }
        eprintln!("{name}: {agree} of {} starts are Batsim's", kept.len());
        assert!(agree >= agree_least, "{name}: {agree} starts are Batsim's");
    }
}
