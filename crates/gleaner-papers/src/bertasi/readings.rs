use crate::Reading;

/// Where sections 3 and the appendix leave the experiments' input open.
pub const READINGS: [Reading; 9] = [
    Reading {
        topic: "the shares of job set 1",
        paper: "20 %, 38 % and 38 %, together 96 %",
        taken: "in proportion, filled up to the 500 jobs: 104, 198 and 198 of each type; 24 % as in job set 0 \
                (120, 190 and 190) can be asked for",
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
];
