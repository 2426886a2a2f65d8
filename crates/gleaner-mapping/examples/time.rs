use gleaner_mapping::Heuristic; use gleaner_mapping::workload::speed_classes; 
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n = args.get(1).map_or(5, |s| s.parse().unwrap());
    for (t, m) in (if args.len() > 2 { if args[2] == "y" { vec![(1_000_000, 1_000_000)] } else { vec![(100_000, 10_000)] } } else { vec![(100_000, 10_000), (1_000_000, 1_000_000)]}) {
        let grid = speed_classes(t, m, 1);
        for h in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses] { if args.len() > 3 && h.to_string() != args[3] { continue }
            let mut best = f64::INFINITY; let mut mk = 0.0;
            for _ in 0..n { let s = cpu(); let Some(m) = grid.map(h) else { continue }; best = best.min(cpu() - s); mk = m.makespan; }
            println!("{h} {t}x{m}: {:.1} ms makespan {mk}", best * 1e3);
        }
    }
}
fn cpu() -> f64 { std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9 }
