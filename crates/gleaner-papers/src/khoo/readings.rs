//! How the paper was taken where its text is open.

use crate::Reading;

/// In the order of the paper. Most of them are also run otherwise: the report has a row for each.
pub const READINGS: [Reading; 15] = [
    Reading {
        topic: "capacities, bandwidths, sizes of data",
        paper: "no numbers",
        taken: "khoo/scenario.toml, a reason for each; load, size of data, likeness of processors and days of arrivals swept",
        why: "they decide what the rules can do at all",
    },
    Reading {
        topic: "how far the root in (1) reaches",
        paper: "as printed, over C, M and F, with the term of P added to it on a second line",
        taken: "over all four; as printed, beside it",
        why: "a line break explains the print, and a distance on each axis is what the text describes",
    },
    Reading {
        topic: "floor(0, z)",
        paper: "\"truncates all values to be at a minimum of 0\"",
        taken: "max(0, z)",
        why: "the text says so",
    },
    Reading {
        topic: "B in (2) where the data lies",
        paper: "B is 0 from a site to itself; a job \"would prefer to execute locally\"",
        taken: "nothing is divided: y is 0; infinite, beside it",
        why: "the other would drive jobs away from their data",
    },
    Reading {
        topic: "which B (2) divides by",
        paper: "\"available bandwidth also changes over time depending if a resource is sharing any of its network resources\"",
        taken: "that of an idle link; what the transfers leave that the scheduler knows of, beside it",
        why: "the map is made before data moves, and nobody tells the scheduler of others' transfers",
    },
    Reading {
        topic: "the direction of B in P",
        paper: "\"the upload bandwidth from R_i to R_j\"; later min(download_ij, upload_ji)",
        taken: "what a site obtains; what it sends, beside it",
        why: "the later one is the formula that is annotated",
    },
    Reading {
        topic: "the F of (1) and of (2)",
        paper: "one letter",
        taken: "disk that a process fills, and the size of the data",
        why: "capability and requirement are of the file system there, and what is sent here",
    },
    Reading {
        topic: "jobs behind one that does not fit",
        paper: "\"the longest waiting job will always broadcast its resource requirements first\"; unscheduled jobs are cached",
        taken: "they may start; they wait, or start within a reservation, beside it",
        why: "requirements of jobs in the cache are there to be tried again",
    },
    Reading {
        topic: "BACKFILL",
        paper: "a citation of Hamscher et al., in the \"Job Sharing and Multi-site environment\"",
        taken: "EASY in one line for all sites, split over those with the most free; first come, first served, without a \
                reservation, a queue at each site, with the time of data, beside it",
        why: "the same environment for all, as the text says",
    },
    Reading {
        topic: "REP",
        paper: "copies at more than one location, the first to end terminates the others; no number",
        taken: "BACKFILL with two copies on sites apart; three, when idle, sharing sites, given up at a start, beside it",
        why: "by table I REP held 1.87 times what BACKFILL did",
    },
    Reading {
        topic: "AWT",
        paper: "until \"the job begins its transmission to the execution node\"",
        taken: "until all of its sites hold its room and its data may come; of copies the first",
        why: "the text says so",
    },
    Reading {
        topic: "a node in use, in AGU",
        paper: "\"nodes in use throughout the execution time of the entire queue\"; resources are locked from distribution on",
        taken: "processors that are held; computing only, and sites that hold anything, in the CSV file",
        why: "locked resources are used by nobody else",
    },
    Reading {
        topic: "the run time on sites of other speed, and of several sites",
        paper: "GFlops standardize; a run's time includes inter-process communication",
        taken: "as slow as the slowest part, and longer by 30 % of the part of the processes' pairs that are at different sites",
        why: "rigid parallel jobs wait for their slowest process; the cost of splitting is swept as a reading",
    },
    Reading {
        topic: "arrivals",
        paper: "a stream over a span of three days",
        taken: "Lublin's, stretched to three days; even, and one day, beside it",
        why: "QCT of MRS and of BACKFILL is shorter than three days in table I: both cannot be",
    },
    Reading {
        topic: "the wait for answers",
        paper: "a time to live without a number; capabilities are \"known instantly\"",
        taken: "no time; four meta-schedulers whose letters take 30 s, which are told or which broadcast, beside it",
        why: "the experiment assumes so",
    },
];
