//! Figure 2: the panels, why the axes do not fit, and what SOCIAL would need to move.

use super::cells::{count, percent, seconds};
use super::claims;
use crate::Run;
use crate::bertasi::figure_2::{GAINS, Measures, Sample, Samples};
use crate::bertasi::scheme::name;
use crate::bertasi::{FigureId, Findings, plots};
use crate::statistics::{Estimate, mean};
use gleaner_policy::Score;
use gleaner_report::{Block, Cell, Figure, Report, Table, numbers};

pub(super) fn section(report: Report, findings: &Findings) -> Report {
    let Some(samples) = &findings.figure_2 else { return report };
    let caption = "Tasks on S0, S1 and S3 with seed 1 in the window of the paper's axes; S2 is left out as there. \
                   The last row is GREEDY, which the paper does not show.";
    let report = report
        .with(Block::heading("Figure 2: an owner returns"))
        .with(Block::note(axes(samples)))
        .with(Figure::new(caption, plots::figure_2(samples)))
        .with(Figure::new("S3 over the whole run, seed 1.", plots::figure_2_whole(samples)))
        .with(schemes(samples))
        .with(by_gain(samples));
    claims::section(report, &findings.claims_of(FigureId::Two))
}

/// By the paper's tables; see the test.
const DATA_JOBS: &str = "a C4 operation takes 104 µs on S3 and 801 µs or more elsewhere, so that 500 such jobs of 252,500 \
    operations on average are 13,100 s of work for S3 alone";

/// The printed units and the figure's axes cannot both be right; the numbers are those of the runs.
fn axes(samples: &Samples) -> String {
    let bound = mean(samples.seeds.iter().map(|sample| sample.bound_s));
    let peak = mean(samples.seeds.iter().map(|sample| sample.measures[0].peak));
    format!(
        "The paper's x axis ends at 6500 s and its y axis at 310 tasks. By the printed units no schedule of job set 1 \
         ends before {} s (mean of the lower bound): {DATA_JOBS}, of which its owner \
         leaves the grid 1500 s; the rest is nearly eight times as long on the others. Under GREEDY a machine has up \
         to {} tasks within the window. With lengths × 0.30 both axes fit at once, and the claims are judged so too. The \
         plots have the printed lengths; the window is the paper's, and the whole run is shown besides.",
        numbers::decimals(bound, 0),
        numbers::decimals(peak, 0)
    )
}

fn over(samples: &Samples, of: impl Fn(&Sample) -> f64) -> Estimate {
    Estimate::of(&samples.seeds.iter().map(of).collect::<Vec<f64>>())
}

/// Makespan, its distance from the bound, and moves.
fn outcome(samples: &Samples, run: impl Fn(&Sample) -> Run) -> [Cell; 3] {
    [
        seconds(over(samples, |sample| run(sample).makespan_s)),
        percent(over(samples, |sample| run(sample).makespan_s / sample.bound_s - 1.0)),
        count(over(samples, |sample| run(sample).moves as f64)),
    ]
}

fn schemes(samples: &Samples) -> Table {
    let header = [
        "Scheme",
        "Makespan (s)",
        "Above the bound",
        "Moves",
        "Left S3",
        "S0 to S2 grow by",
        "C4 on S3",
        "Peak",
    ];
    let table = Table::new(
        "Each scheme with relocation, N = 3 and θ = 10 %. Left S3: of its tasks at 1500 s, those taken elsewhere; then \
                   by how many tasks the others grow at most, the share of C4's tasks on S3 until 1500 s, and the most tasks \
                   on a machine until 6500 s",
        header,
    );
    Score::ALL.iter().enumerate().fold(table, |table, (at, score)| {
        let of = |value: fn(&Measures) -> f64| over(samples, move |sample| value(&sample.measures[at]));
        let mut cells = vec![Cell::text(name(*score))];
        cells.extend(outcome(samples, |sample| sample.measures[at].run));
        cells.push(percent(of(|measures| measures.left_s3)));
        cells.push(count(of(|measures| measures.growth_together)));
        cells.push(percent(of(|measures| measures.data_on_s3)));
        cells.push(count(of(|measures| measures.peak)));
        table.row(cells)
    })
}

fn by_gain(samples: &Samples) -> Table {
    let caption = "Beyond the paper: the SOCIAL relocator at smaller θ. Its gain is relative to the moved task's own \
                   term";
    let table = Table::new(caption, ["θ", "Makespan (s)", "Above the bound", "Moves"]);
    GAINS.iter().enumerate().fold(table, |table, (at, gain)| {
        let mut cells = vec![Cell::text(format!("{} %", numbers::significant(100.0 * gain, 2)))];
        cells.extend(outcome(samples, |sample| sample.by_gain[at]));
        table.row(cells)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bertasi::figure_2::{DATA, S3};
    use crate::bertasi::grids::SYNTHETIC;
    use crate::bertasi::jobs::job_set_1;
    use crate::bertasi::{COMPOSITIONS, WEIGHTS};

    #[test]
    fn the_work_of_c4_is_that_of_the_tables() {
        let micros = |machine: usize| {
            let parts = COMPOSITIONS[DATA].iter().zip(&WEIGHTS).zip(&SYNTHETIC[machine]);
            parts.map(|((share, weight), speed)| 1e6 * share * weight / speed).sum::<f64>()
        };
        let least = (0..S3).map(micros).fold(f64::INFINITY, f64::min);
        let times = format!("takes {:.0} µs on S3 and {least:.0} µs or more elsewhere", micros(S3));
        assert!(DATA_JOBS.contains(&times), "{times}");
        let lengths: Vec<f64> = (1..=20)
            .flat_map(|seed| {
                let jobs = job_set_1(seed);
                let of_data = jobs.kinds.into_iter().zip(jobs.lengths).filter(|(kind, _)| *kind == DATA);
                of_data.map(|(_, length)| length.amount()).collect::<Vec<f64>>()
            })
            .collect();
        let operations = mean(lengths.iter().copied());
        assert!((operations / 252_500.0 - 1.0).abs() < 0.01, "{operations}");
        let work_s = (lengths.len() / 20) as f64 * 252_500.0 * micros(S3) / 1e6;
        assert!((work_s / 13_100.0 - 1.0).abs() < 0.01, "{work_s}");
        assert!(DATA_JOBS.contains("500 such jobs of 252,500 operations") && DATA_JOBS.contains("13,100 s"));
    }
}
