//! What the relocators do when an owner comes back.

use super::{ALL_READINGS, NO_SOCIAL, id, percent_of_all, reading};
use crate::bertasi::figure_2::{Measures, PAPER_END_S, PAPER_PEAK, Samples};
use crate::bertasi::scheme::name;
use crate::statistics::{Estimate, mean};
use crate::{Claim, Condition, Criterion};
use gleaner_policy::Score;

const FITTED: &str = "lengths × 0.30; SOCIAL by execution times";

/// All claims of figure 2, with lengths as printed and with those that fit its axes.
pub fn claims(printed: &Samples, fitted: &Samples) -> Vec<Claim> {
    let by_lengths = |claim: Claim| Claim { id: claim.id + "-lengths-0.3", reading: FITTED, ..claim };
    let fitted = with_lengths(fitted, &[Score::Social]).into_iter().map(by_lengths);
    with_lengths(printed, &ALL_READINGS).into_iter().chain(fitted).collect()
}

fn with_lengths(samples: &Samples, readings: &[Score]) -> Vec<Claim> {
    let mut claims = vec![
        leaves(samples, Score::Greedy),
        others_grow(samples, Score::Greedy),
        data_on_s3(samples, Score::Greedy),
        axis_x(samples),
        axis_y(samples),
    ];
    for &social in readings {
        claims.push(leaves(samples, social));
        claims.push(others_grow(samples, social));
        claims.push(alike(samples, social));
        claims.push(data_on_s3(samples, social));
        claims.push(twins(samples, social));
    }
    claims
}

fn values(samples: &Samples, score: Score, of: impl Fn(&Measures) -> f64) -> Vec<f64> {
    let at = Score::ALL.iter().position(|other| *other == score).expect("one of all");
    samples.seeds.iter().map(|sample| of(&sample.measures[at])).collect()
}

fn estimate(samples: &Samples, score: Score, of: impl Fn(&Measures) -> f64) -> Estimate {
    Estimate::of(&values(samples, score, of))
}

fn named(what: &str, score: Score) -> String {
    match score {
        Score::Greedy => format!("figure-2/greedy-{what}"),
        Score::Social | Score::SocialWhole | Score::SocialAsPrinted => {
            id(&format!("figure-2/social-{what}"), score)
        }
        Score::MinNum => format!("figure-2/minnum-{what}"),
        Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => unreachable!("another paper's score"),
    }
}

fn reading_of(score: Score) -> &'static str {
    if score == Score::Greedy { NO_SOCIAL } else { reading(score) }
}

/// Of the two schemes that the figure shows, the larger.
fn larger(samples: &Samples, of: impl Fn(&Measures) -> f64) -> Estimate {
    let [social, min_num] = [Score::Social, Score::MinNum].map(|score| values(samples, score, &of));
    Estimate::of(&social.into_iter().zip(min_num).map(|(one, other)| one.max(other)).collect::<Vec<f64>>())
}

fn axis_x(samples: &Samples) -> Claim {
    Claim {
        id: "figure-2/axis-x".to_owned(),
        claim: "the x-axis reports the elapsed time (range [0, 6500] s)",
        paper: "6,500 s",
        quantity: "when the last task ends, under SOCIAL or under MIN-NUM, whichever is later".to_owned(),
        besides: None,
        measured: larger(samples, |measures| measures.run.makespan_s),
        unit: "s",
        criterion: Criterion::Near { value: PAPER_END_S as f64, holds: 650.0, partly: 1_950.0 },
        condition: None,
        reading: "lengths as printed; SOCIAL by execution times",
    }
}

fn axis_y(samples: &Samples) -> Claim {
    Claim {
        id: "figure-2/axis-y".to_owned(),
        claim: "the y-axis the number of jobs on the machine (range [0, 310])",
        paper: "310 tasks",
        quantity:
            "the most tasks on a machine until 6500 s, under SOCIAL or under MIN-NUM, whichever are more"
                .to_owned(),
        besides: None,
        measured: larger(samples, |measures| measures.peak),
        unit: "tasks",
        criterion: Criterion::Near { value: PAPER_PEAK, holds: 31.0, partly: 93.0 },
        condition: None,
        reading: "lengths as printed; SOCIAL by execution times",
    }
}

fn leaves(samples: &Samples, score: Score) -> Claim {
    Claim {
        id: named("leaves-s3", score),
        claim: "after the time instant 1500 s, the SOCIAL relocator begins to migrate jobs from m to other \
                machines (with the GREEDY relocator exhibiting a similar behavior)",
        paper: "most of S3's tasks go (figure)",
        quantity: format!("{}: tasks on S3 at 1500 s that are taken to other machines", name(score)),
        besides: None,
        measured: percent_of_all(estimate(samples, score, |measures| measures.left_s3)),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 50.0, partly: 10.0 },
        condition: None,
        reading: reading_of(score),
    }
}

fn others_grow(samples: &Samples, score: Score) -> Claim {
    let grows = |machine: usize| mean(values(samples, score, |measures| measures.growth[machine])) > 0.0;
    Claim {
        id: named("others-grow", score),
        claim: "the increasing number of jobs on the other machines is not due to new jobs",
        paper: "the number increases",
        quantity: format!("{}: how many tasks more than at 1500 s are on S0, S1 and S2 at most", name(score)),
        besides: None,
        measured: estimate(samples, score, |measures| measures.growth_together),
        unit: "tasks",
        criterion: Criterion::Positive,
        condition: Some(Condition { what: "each of the three grows", met: (0..3).all(grows) }),
        reading: reading_of(score),
    }
}

fn alike(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-2/greedy-alike", social),
        claim: "a similar job distribution holds for the GREEDY relocator as well",
        paper: "similar",
        quantity:
            "how far the numbers of tasks by machine and type are apart until 6500 s, relative to their mean"
                .to_owned(),
        besides: None,
        measured: estimate(samples, social, |measures| measures.from_greedy).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 20.0, partly: 50.0 },
        condition: None,
        reading: reading(social),
    }
}

fn data_on_s3(samples: &Samples, score: Score) -> Claim {
    Claim {
        id: named("c4-on-s3", score),
        claim: "jobs of type C4 are assigned to S3, which has the fastest disk, until the change in its owner load",
        paper: "on S3 (figure)",
        quantity: format!(
            "{}: share of the unfinished C4 tasks that is on S3, on average until 1500 s",
            name(score)
        ),
        besides: None,
        measured: percent_of_all(estimate(samples, score, |measures| measures.data_on_s3)),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 50.0, partly: 25.0 },
        condition: None,
        reading: reading_of(score),
    }
}

fn twins(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-2/s1-s2-identical", social),
        claim: "the plot for machine S2 is omitted because it is identical to that of S1",
        paper: "identical",
        quantity: "how far the numbers of tasks on S1 and S2 are apart until 6500 s, relative to their mean"
            .to_owned(),
        besides: None,
        measured: estimate(samples, social, |measures| measures.twins_apart).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 5.0, partly: 20.0 },
        condition: None,
        reading: reading(social),
    }
}
