use gleaner_mapping::by_class::*; use gleaner_mapping::Heuristic;
#[path = "../tests/draw/mod.rs"] mod draw; use draw::Choices;
fn main() {
    let mut bad = 0;
    for seed in 0..8000 {
        let mut choices = Choices::seeded(seed);
        let grid = choices.grid();
        let ready = choices.ready(grid.machines());
        for (h, a) in [(Heuristic::Sufferage, plain::sufferage(&grid, &ready)), (Heuristic::SufferagePasses, plain::sufferage_passes(&grid, &ready))] { let b = grid.map_from(h, &ready).unwrap();
 
        if a != b { bad += 1;
          if bad < 15 { println!("{h} seed {seed} lengths {:?} classes {:?} ready0 {:?}", &grid.lengths()[..3], grid.classes(), &ready[..3]); }
        }}
    }
    for seed in 0..4 { for (t, m) in [(300, 250), (260, 90)] {
        let grid = gleaner_mapping::workload::speed_classes(t, m, seed); let ready = vec![0.0; grid.machines()];
        for (h, a) in [(Heuristic::Sufferage, plain::sufferage(&grid, &ready)), (Heuristic::SufferagePasses, plain::sufferage_passes(&grid, &ready))] { if a != grid.map_from(h, &ready).unwrap() { bad += 1; println!("{h} classes seed {seed} {t} {m}"); } }
    } }
    println!("{bad} bad");
}
