//! Figure 1: the curves, and any allocator with any relocator.

use super::cells::{percent, seconds};
use super::claims;
use crate::Trials;
use crate::bertasi::figure_1::{MOVES, Samples, curve, level_s, pairs};
use crate::bertasi::scheme::name;
use crate::bertasi::{FIGURE_1_GAINS, FigureId, Findings, plots};
use gleaner_policy::{Recipe, Score};
use gleaner_report::{Block, Cell, Figure, Report, Table};

const TEXT: &str = "Four machines, 1000 jobs within 100 s. The gains of GREEDY and of SOCIAL are relative to one task's own \
    term. SOCIAL of the whole, which is in the tables and has no panel, takes its gain relative to the execution times of all tasks \
    on two machines together. With hundreds of tasks on a machine one move changes little of that: at θ = 10 % and 5 % it \
    hardly moves anything, at 1 % it ends as early as GREEDY does.";

pub(super) fn section(report: Report, findings: &Findings) -> Report {
    let Some(samples) = &findings.figure_1 else { return report };
    let caption = "Makespan against N; error bars are 95 % intervals. The paper's own N are not in its text.";
    let report = report
        .with(Block::heading("Figure 1: how much N and θ matter"))
        .with(Block::text(TEXT))
        .with(Figure::new(caption, plots::figure_1(samples)))
        .with(curves(samples))
        .with(combinations(samples));
    claims::section(report, &findings.claims_of(FigureId::One))
}

fn makespan(samples: &Trials<Recipe>, recipe: Recipe) -> Cell {
    seconds(samples.over_seeds(|seed| samples.makespan_s(recipe, 0, seed)))
}

fn curves(samples: &Samples) -> Table {
    let columns = MOVES.map(|moves| format!("N = {moves}"));
    let header = ["Scheme".to_owned(), "θ".to_owned()].into_iter().chain(columns);
    let header = header.chain(["above the bound at N = 3".to_owned()]);
    let mut table = Table::new("Makespan in seconds, ± the 95 % interval", header);
    for score in Score::ALL {
        let gains = if score == Score::MinNum { &FIGURE_1_GAINS[..1] } else { &FIGURE_1_GAINS[..] };
        for gain in gains {
            let theta =
                if score == Score::MinNum { "–".to_owned() } else { format!("{:.0} %", 100.0 * gain) };
            let recipes: Vec<Recipe> = curve(score, score, *gain).collect();
            let mut cells = vec![Cell::text(name(score)), Cell::number(theta)];
            cells.extend(recipes.iter().map(|recipe| makespan(samples, *recipe)));
            let at_3 = MOVES.iter().position(|moves| *moves == 3).expect("the paper's own N");
            cells.push(percent(samples.over_seeds(|seed| samples.gap(recipes[at_3], 0, seed))));
            table = table.row(cells);
        }
    }
    table
}

fn combinations(samples: &Samples) -> Table {
    let caption =
        "Any allocator with any relocator: mean makespan over all N and θ, and its distance from the bound";
    let table = Table::new(caption, ["Allocator", "Relocator", "Makespan (s)", "Above the bound"]);
    pairs().fold(table, |table, (allocator, relocator)| {
        let level = |seed| level_s(samples, allocator, relocator, seed);
        let gap = |seed| level(seed) / samples.bound_s(0, seed) - 1.0;
        table.row([
            Cell::text(name(allocator)),
            Cell::text(name(relocator)),
            seconds(samples.over_seeds(level)),
            percent(samples.over_seeds(gap)),
        ])
    })
}
