//! The largest run of table 2, and how long it takes; with a number, the claims from as many seeds.

use gleaner_papers::dasilva::{CELLS, Experiments, largest};
use gleaner_papers::{Kept, Progress};

fn main() {
    let seeds = std::env::args().nth(1).map(|text| text.parse().expect("a number of seeds"));
    let begin = std::time::Instant::now();
    if let Some(seeds) = seeds {
        let progress = Progress { done: &|| (), stop: &|| false };
        let findings =
            Experiments::new(seeds, false).run(&Kept::nowhere(), progress).expect("nobody stops it");
        for claim in findings.document().claims {
            println!(
                "{:34} {:9} {:>12} [{}] paper {} {}",
                claim.id,
                claim.verdict().word(),
                claim.said(),
                claim.interval(),
                claim.paper,
                claim.besides.unwrap_or_default()
            );
        }
    } else {
        for (rule, seconds, tasks) in largest(&CELLS[26]) {
            println!("{rule}: {tasks} tasks in {seconds:.2} s");
        }
    }
    println!("{:.1} s", begin.elapsed().as_secs_f64());
}
