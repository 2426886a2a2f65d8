use crate::Reading;

/// Where the text can be taken in more than one way; docs/cavalieri.md has the rest of what it leaves open.
pub const READINGS: [Reading; 9] = [
    Reading {
        topic: "which rank is taken",
        paper: "“the one with higher rank value”; “the CE with the lower value of the rank”",
        taken: "the highest, which is nearest to 0",
        why: "the rank is minus a time: the lowest is the longest queue",
    },
    Reading {
        topic: "where the traversal time comes from",
        paper: "“the RB contacts directly each of the Computing Elements”; “it will remain unchanged in the GII”",
        taken: "the index; elements asked is a reading",
        why: "without it there is no burst problem to solve",
    },
    Reading {
        topic: "jobs whose files are on their way",
        paper: "“this behavior adds new delays to the RB-CE job migration”",
        taken: "no queue shows them; that they show is a reading",
        why: "its words",
    },
    Reading {
        topic: "ties",
        paper: "“will yield the same result and thus the RB will submit the burst of jobs to the same Computing Element”",
        taken: "the lowest element; any by lot is a reading",
        why: "its words; the rule in force ties whenever several elements are idle",
    },
    Reading {
        topic: "candidates",
        paper: "“find any CE with all the files needed”, or the job waits for the transfer",
        taken: "all elements; those with most files are a reading",
        why: "in figure 4 no element has both files",
    },
    Reading {
        topic: "traversal time",
        paper: "“the estimated time interval a job must wait in the input queue”",
        taken: "the wait alone; with the execution is a reading",
        why: "its words",
    },
    Reading {
        topic: "refresh, light jobs",
        paper: "nothing",
        taken: "60 s; 30 s, 300 s, once a job and once in ten jobs are readings",
        why: "bursts are said to occur at high load: when jobs come faster than the index",
    },
    Reading {
        topic: "saturation",
        paper: "50 s light, 720 s heavy",
        taken: "light: reading at 4 MB/s holds the processor, 48.6 s. Heavy: as printed, 400 s, and scaled to 700 s",
        why: "the printed sizes alone saturate at 31 and 400 s",
    },
    Reading {
        topic: "a rank of zero",
        paper: "K = 1/|R|",
        taken: "such elements share the chance evenly",
        why: "the limit",
    },
];
