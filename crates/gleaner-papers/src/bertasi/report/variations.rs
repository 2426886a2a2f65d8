//! What the paper does not show: other combinations, another guard, and relocation at a period.

use super::cells::{count, percent, seconds};
use crate::Trials;
use crate::bertasi::claims::ties::excess;
use crate::bertasi::permutations::{ORDERS, Variations, guarded, matrix, periodic, periods};
use crate::bertasi::scheme::{Parameters, Scheme, name};
use crate::bertasi::setups::MachineOrder;
use gleaner_policy::{Recipe, Score};
use gleaner_report::{Block, Cell, Report, Table};

const TEXT: &str = "On the permutations 1, 7, 13 and 19 of job set 2, one of each block that ends with the same type; \
    no owners unless said.";
const GUARD: &str = "As written, the paper's MIN-NUM relocator may move a task between machines that differ by one: \
    that only swaps the two, and the next event may swap them back. The least difference of two tasks, the default \
    here, rules that out. With one there are far more moves, and each is to a machine where a task has just ended, \
    which favours the fast. MIN-NUM's \
    losses are judged with it too.";
const TIES: &str = "As printed SOCIAL's score is 0 on every machine that runs tasks of the newcomer's type alone, and ties go to \
    the first machine: the paper lists the slowest first. What remains where they go to the fastest, or to machines in \
    any order, is not due to ties.";
const PERIODS: &str = "The paper relocates at events and sets that against “periodic rescheduling”, in words only. \
    At a period any task may move to any machine; since periods are rarer than events, GREEDY is also tried with \
    up to 70 moves each time, one for each machine.";

pub(super) fn section(report: Report, variations: &Variations) -> Report {
    report
        .with(Block::heading("Beyond the paper"))
        .with(Block::text(TEXT))
        .with(Block::subheading("Any allocator with any relocator"))
        .with(combinations(&variations.away))
        .with(Block::subheading("MIN-NUM's guard"))
        .with(Block::text(GUARD))
        .with(guards(variations))
        .with(Block::subheading("Ties of SOCIAL as printed"))
        .with(Block::text(TIES))
        .with(ties(variations))
        .with(Block::subheading("Events against periods"))
        .with(Block::text(PERIODS))
        .with(periods_table(&variations.away))
}

const COLUMNS: [&str; 3] = ["Makespan (s)", "Above the bound", "Moves"];

fn outcome(trials: &Trials<Recipe>, recipe: Recipe) -> [Cell; 3] {
    [
        seconds(trials.over_all(|case, seed| trials.makespan_s(recipe, case, seed))),
        percent(trials.over_all(|case, seed| trials.gap(recipe, case, seed))),
        count(trials.over_all(|case, seed| trials.run(recipe, case, seed).moves as f64)),
    ]
}

fn combinations(trials: &Trials<Recipe>) -> Table {
    let header = ["Allocator", "Relocator"].into_iter().chain(COLUMNS);
    matrix().fold(Table::new("N = 3, θ = 10 %", header), |table, scheme| {
        let parts = [name(scheme.allocator), scheme.relocator.map_or("none", name)];
        table.row(
            parts.map(Cell::text).into_iter().chain(outcome(trials, scheme.recipe(Parameters::default()))),
        )
    })
}

fn guards(variations: &Variations) -> Table {
    let header = ["Owners", "Least difference (tasks)"].into_iter().chain(COLUMNS);
    let mut table = Table::new("MIN-NUM with its relocator", header);
    for (owners, trials) in [("none", &variations.away), ("figure 4's", &variations.with_owners)] {
        for difference in [1, 2] {
            let head = [Cell::text(owners), Cell::number(difference.to_string())];
            table = table.row(head.into_iter().chain(outcome(trials, guarded(difference))));
        }
    }
    table
}

fn ties(variations: &Variations) -> Table {
    let header = ["Ties go to", "Allocator", "Longer than GREEDY", "With the relocator, longer than GREEDY"];
    ORDERS.into_iter().fold(
        Table::new("SOCIAL as printed, by which of equal machines is taken", header),
        |table, order| {
            let longer = |scheme: fn(Score) -> Scheme| {
                let schemes = [scheme(Score::SocialAsPrinted), scheme(Score::Greedy)];
                percent(variations.ties.over_seeds(|seed| excess(variations, order, schemes, seed)))
            };
            table.row([
                Cell::text(match order {
                    MachineOrder::SlowestFirst => "the slowest, as the paper lists them",
                    MachineOrder::FastestFirst => "the fastest",
                    MachineOrder::Shuffled => "any, another order for each seed",
                }),
                Cell::text(name(Score::SocialAsPrinted)),
                longer(Scheme::alone),
                longer(Scheme::relocating),
            ])
        },
    )
}

fn periods_table(trials: &Trials<Recipe>) -> Table {
    let header = ["Scheme", "Relocation", "At most moves"].into_iter().chain(COLUMNS);
    let mut table = Table::new("Relocation at events and at a period", header);
    for score in [Score::Greedy, Score::Social, Score::MinNum] {
        let head = [Cell::text(name(score)), Cell::text("at events"), Cell::number("3")];
        let recipe = Scheme::relocating(score).recipe(Parameters::default());
        table = table.row(head.into_iter().chain(outcome(trials, recipe)));
        for (_, period_s, moves_max) in periods().filter(|(of, ..)| *of == score) {
            let every = Cell::text(format!("every {period_s} s"));
            let head = [Cell::text(name(score)), every, Cell::number(moves_max.to_string())];
            table = table.row(head.into_iter().chain(outcome(trials, periodic(score, period_s, moves_max))));
        }
    }
    table
}
