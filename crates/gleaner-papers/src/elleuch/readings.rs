use crate::Reading;

/// Where the paper leaves the experiments open, or does not add up.
pub const READINGS: [Reading; 17] = [
    Reading {
        topic: "the machines",
        paper: "traces of XtremLab, which are not public",
        taken: "drawn: slow speeds evenly below 12·10³, fast ones falling as a power up to 99·10³, all ten times as \
                fast as printed; intervals of 6,000 s on average and of fast machines twice as long as of slow ones; \
                day and night",
        why: "the paper's numbers fix the law of the speeds, and its mean each month's share of fast machines; nine of \
              ten intervals and more then hold 12·10⁶ operations, and it says that dearer machines stay longer",
    },
    Reading {
        topic: "how many machines",
        paper: "94 in September and 101 in June, and together 12·10⁶ operations a second and half of that",
        taken: "both, with speeds ten times as high: 128·10³ and 64·10³ on average; beside it the speeds as printed, \
                with 1,348 and 674 machines on average",
        why: "94 machines at the mean speed do 0.84·10⁶ a second, and all at the highest speed 9.3·10⁶. Ten times \
              8.9·10³ lies between the means of both months, and a task then takes about a period",
    },
    Reading {
        topic: "how speeds change",
        paper: "measured every ten seconds; nothing of how they vary",
        taken: "a spell lasts an hour on average; four fifths of the variance lie between machines",
        why: "processors differ more than one owner's hours do",
    },
    Reading {
        topic: "which traces",
        paper: "the traces of each month",
        taken: "one trace a month for all patterns, which goes on after the last arrival; what is not done after three \
                times the arrivals' length and three days is not done at all, and its makespan the trace's end",
        why: "patterns then differ by their tasks only",
    },
    Reading {
        topic: "runs that stall",
        paper: "nothing; its conditions divide the budget among all tasks that wait",
        taken: "where in six hours less than a twentieth of what arrives in it is done, while more than that waits, the \
                run is given up, and its makespan the trace's end",
        why: "as more wait, each is left less, until only the cheapest machines are allowed: such a run does not \
              recover, and takes hours to show it",
    },
    Reading {
        topic: "what a batch plans",
        paper: "every task of the meta-task is scheduled, and taken back with the next one if it has not begun",
        taken: "every task has its part in all sums; told to machines is what may begin before the next batch, because \
                its machine is expected to be ready by then",
        why: "the rest would be taken back before it could begin. A machine that is ready earlier than expected waits \
              for the next batch",
    },
    Reading {
        topic: "a prediction",
        paper: "the average of the next fifteen minutes",
        taken: "the same, or of what is left of the interval; between 12,000 and 20,000 to the nearer of both",
        why: "there are no values after a machine's end",
    },
    Reading {
        topic: "when a busy machine is ready",
        paper: "by the effective progress of its task",
        taken: "what is left of its length, at the speed that is predicted now; what it has done adds up from the \
                speeds that were predicted while it ran",
        why: "nobody reports progress to the scheduler, but it knows every prediction",
    },
    Reading {
        topic: "arrivals",
        paper: "between 0 and 200 at each scheduling event",
        taken: "0, 1, … 200, all as likely, just before the batch, from the first period's end to the last's",
        why: "what arrives at an event is scheduled at it; the last tasks arrive two weeks after the start",
    },
    Reading {
        topic: "the budgets",
        paper: "the values 3·10¹¹ and 7·10¹¹ in the text; axes of figures that are not in it",
        taken: "3, 3.5, 4, 5 and 7·10¹¹",
        why: "3.5 is a little more than 3",
    },
    Reading {
        topic: "condition (5)",
        paper: "the numerator (B/R)(r−D) + l·p, which does not follow from its derivation",
        taken: "as printed; as derived, B̄ − E, which is 2B̄ − (B/R)(r−D), beside it: every claim about BTT and LBTT is \
                judged in both",
        why: "which of them the paper ran is not known. As printed, what may be spent shrinks as tasks pile up, and \
              more pile up",
    },
    Reading {
        topic: "line 9 and the cheapest machines",
        paper: "if the price is not the lowest then one of the conditions; and that machines ready after D + R need not be \
                considered",
        taken: "the cheapest machines are allowed however long they are busy, and dearer ones only within the period; \
                beside it, no machine beyond the period",
        why: "line 9 asks for the price first; of dearer machines condition (5) excludes those beyond the period anyway",
    },
    Reading {
        topic: "BT on machines that are busy for long",
        paper: "condition (4), and nothing of when a machine is ready; that those ready after D + R are not considered \
                is said of BTT",
        taken: "as printed; with those machines left out, beside it: the claims that BT is between B and BTT are \
                judged twice",
        why: "as printed, what BT saves goes to plans on machines that do not begin them before the next batch",
    },
    Reading {
        topic: "BT and the cheapest machines",
        paper: "a task goes to a worker only if condition (4) holds; the exception of the lowest price is in the line 9 that \
                belongs to condition (5)",
        taken: "the exception is line 9's, and so BT's too; beside it, condition (4) for the cheapest machines as for all \
                others: the claims that BT is between B and BTT are judged in this reading too",
        why: "line 9 has both conditions in it, and BT is that line without condition (5)",
    },
    Reading {
        topic: "when a task is charged",
        paper: "the budget falls as a task is scheduled, figure 2; an aborted one costs nothing",
        taken: "as it is planned, and given back if it has not begun by the next batch; as it starts and as it ends, \
                beside it",
        why: "that is what figure 2 does",
    },
    Reading {
        topic: "the utilization",
        paper: "the average resource utilization rate",
        taken: "of the time in which machines are there until the makespan, the part in which they run something; of a run \
                that is given up, until then, and no claim rests on that",
        why: "the usual meaning; what is done of what could be done stands beside it",
    },
    Reading {
        topic: "bars",
        paper: "the smallest and the largest of 50 trials",
        taken: "the same in the plots; claims have 95 % confidence intervals of the mean over the patterns",
        why: "a range grows with the number of trials",
    },
];
