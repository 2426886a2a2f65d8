use gleaner_mapping::*;
use std::time::Duration;
struct Instant(u64);
impl Instant { fn now()->Self{ Self(std::fs::read_to_string("/proc/self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()) } fn elapsed(&self)->Duration{ Duration::from_nanos(Instant::now().0-self.0) } }
fn main() {
    for (t,w) in [(100_000,10_000),(1_000_000,1_000_000)] {
        let grid = workload::speed_classes(t, w, 1);
        for h in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Mct] {
            for _ in 0..3 {
            let t = Instant::now();
            let a = grid.map(h).unwrap();
            println!("{h} {:?} {}", t.elapsed(), a.makespan);
            }
        }
    }
    let naive = std::env::args().nth(1).is_some();
    for (what, m) in [("random", workload::random_matrix(8192, 256, 1)), ("consistent", workload::consistent_matrix(8192, 256, 1))] {
        for h in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses, Heuristic::Mct] {
            let t = Instant::now();
            let a = h.map(&m);
            let fast = t.elapsed();
            print!("{what} {h} {fast:?} ");
            if naive {
                let t = Instant::now();
                let b = reference::map(h, &m);
                let slow = t.elapsed();
                assert_eq!(a, b);
                print!("naive {slow:?} ratio {:.0}", slow.as_secs_f64() / fast.as_secs_f64());
            }
            println!();
        }
    }
}
