//! How long each rule of a broker takes for a large run: elements, brokers and jobs, or 1,000, 100 and a million.

use gleaner_bench::brokers::{RULES, recipe, seconds, setup};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [elements, brokers, jobs] = numbers[..].try_into().unwrap_or([1_000, 100, 1_000_000]);
    let setup = setup(elements, brokers, jobs);
    for (name, choose, belief) in RULES {
        println!("{name}: {:.1} s", seconds(&setup, recipe(choose, belief)));
    }
}
