use crate::Reading;

/// Where sections 3 and the appendix leave the experiments' input open.
pub const READINGS: [Reading; 19] = [
    Reading {
        topic: "the shares of job set 1",
        paper: "20 %, 38 % and 38 %, together 96 %",
        taken: "in proportion, filled up to the 500 jobs: 104, 198 and 198 of each type, and not 24 % as in job \
                set 0 (120, 190 and 190)",
        why: "the numbers of jobs are given twice and certain; the share that is wrong is not known",
    },
    Reading {
        topic: "how many jobs have which length",
        paper: "\"24% with length …\"",
        taken: "exactly so many of each type, in random order, not a draw for each job",
        why: "a share of a stated number is a number; in job sets 0 and 2 it is a whole one for every step",
    },
    Reading {
        topic: "lengths below one operation",
        paper: "N(10k, 3k) and the like in job set 2, and at least one operation for a job",
        taken: "drawn again until there is at least one operation",
        why: "one draw in 2300 is too short; cutting it off at 1 would make jobs that the law does not have",
    },
    Reading {
        topic: "lengths that are not whole",
        paper: "a job consists of a number of operations; lengths are Gaussian",
        taken: "rounded to whole operations",
        why: "operations are counted; at 10,000 operations it does not show",
    },
    Reading {
        topic: "k",
        paper: "lengths of 10k to 500k",
        taken: "1000 operations",
        why: "the usual meaning for what is counted",
    },
    Reading {
        topic: "arrivals",
        paper: "U(0, 100) and U(0, 1000)",
        taken: "each job on its own, to the nanosecond; jobs are numbered in order of arrival",
        why: "a uniform random variable for each job is what the footnote defines",
    },
    Reading {
        topic: "the order of jobs that arrive together",
        paper: "500 jobs at one instant, of four lengths; nothing about their order",
        taken: "random, the same for each permutation of the types",
        why: "allocation is on-line, so an order by length would favour some scheme",
    },
    Reading {
        topic: "random numbers in the 24 permutations",
        paper: "averages of 5 runs",
        taken: "with one seed a type's jobs have the same lengths in every permutation",
        why: "permutations then differ by their order only",
    },
    Reading {
        topic: "the machine with speed vector S26",
        paper: "the four machines characterised by S0, S6, S26, S19; S26 to S55 are alike",
        taken: "machine 26, one machine",
        why: "the caption says four machines",
    },
    Reading {
        topic: "SOCIAL's allocator",
        paper: "f = τ(j) − Σ τ(k)/(n + 1)",
        taken: "by execution times: −((n + 1)·h + Σ h)/(1 − λ), with h the time per operation; as printed, beside it",
        why: "as printed the score is 0 on every machine that runs only tasks of the newcomer's type, and for a task \
              slower than the residents it rises towards 0 as a machine fills: crowded machines win",
    },
    Reading {
        topic: "SOCIAL's relocator",
        paper: "(α₀(Σ(m) − Σ′(m)) + α₁(Σ(m′) − Σ′(m′)))/(Σ(m) + Σ′(m))",
        taken: "by execution times: the decrease of Σ n·h/(1 − λ) over all tasks of both machines, relative to the moved \
                task's own term; relative to the whole sum, and as printed with |J| before the move, beside it",
        why: "as printed an empty machine gains nothing, and the denominator mixes before and after on one machine",
    },
    Reading {
        topic: "MIN-NUM's relocator",
        paper: "moves a job from the machine with most to the one with fewest",
        taken: "only where the source has at least two tasks more",
        why: "a difference of one is only swapped by a move; what that does is shown beside it",
    },
    Reading {
        topic: "which of a machine's jobs moves",
        paper: "the job with the highest score; of MIN-NUM nothing, and jobs of one type on one machine score alike",
        taken: "among equals the job that was submitted first",
        why: "lengths are not known to the scheduler; the last submitted, and those that have done most or least, were tried \
              beside it (--part readings)",
    },
    Reading {
        topic: "ties",
        paper: "nothing; SOCIAL as printed is 0 on many machines",
        taken: "the machine that the paper lists first, which is the slowest; the fastest, and any order, beside it",
        why: "how much of what SOCIAL as printed loses is ties can then be seen",
    },
    Reading {
        topic: "figure 1's x axis",
        paper: "\"varying N\"",
        taken: "N = 1, 2, 3, 5 and 10",
        why: "the values are not in the text",
    },
    Reading {
        topic: "figure 2's axes",
        paper: "up to 6500 s and 310 tasks",
        taken: "the printed lengths, speeds and weights; beside them lengths × 0.30",
        why: "by the printed ones no schedule ends before some 26,900 s; with lengths × 0.30 both axes fit at once",
    },
    Reading {
        topic: "permutations won",
        paper: "21 % and 79 % of the permutations, makespans averaged on 5 runs",
        taken: "of averages over all seeds asked for; the interval reaches from the permutations in which it is surely so, by \
                their own intervals, to those in which it may be; and run by run besides",
        why: "that is what figure 3 shows; five runs leave single permutations open",
    },
    Reading {
        topic: "of which instances 37 %",
        paper: "\"SOCIAL outperforms GREEDY on 79% of these instances, and the gap is more than 11% in 37% of the instances\"",
        taken: "of all permutations; and of those that SOCIAL wins, beside it",
        why: "rounded as the paper rounds, 37 % is 7 of the 19 permutations won; 9 of 24 would be 38 %",
    },
    Reading {
        topic: "a gap",
        paper: "\"11% gap\", \"10% performance loss\"",
        taken: "how much longer the slower takes, relative to the faster",
        why: "the usual meaning; relative to the slower, 11 % would be 9.9 %",
    },
];
