use gleaner_mapping::Heuristic; use gleaner_mapping::workload::speed_classes; use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n = args.get(1).map_or(5, |s| s.parse().unwrap());
    for (t, m) in [(100_000, 10_000), (1_000_000, 1_000_000)] {
        let grid = speed_classes(t, m, 1);
        for h in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses] {
            let mut best = f64::INFINITY; let mut mk = 0.0;
            for _ in 0..n { let s = Instant::now(); let Some(m) = grid.map(h) else { continue }; best = best.min(s.elapsed().as_secs_f64()); mk = m.makespan; }
            println!("{h} {t}x{m}: {:.1} ms makespan {mk}", best * 1e3);
        }
    }
}
