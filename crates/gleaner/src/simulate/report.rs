//! The report of a run, for people.

use super::answers;
use super::figures::Figures;
use super::ran::Ran;
use super::service;
use super::summary::Summary;
use gleaner_report::{Bar, Block, Cell, Figure, Gantt, Report, Table, numbers};
use gleaner_sim::Stay;
use gleaner_units::MachineId;
use gleaner_workload::Experiment;

/// What a report shows besides the summary.
pub(super) struct More {
    /// The sentence that it begins with, where there is more to say than how many tasks and machines there are.
    pub(super) lead: Option<String>,
    /// What the table of numbers begins with.
    pub(super) rows: Vec<(&'static str, String)>,
    pub(super) schedule: Gantt,
    pub(super) figures: Figures,
    pub(super) tables: Vec<Table>,
}

/// A longer table is for `machines.csv`.
const MACHINES_LISTED: usize = 100;

pub(super) fn of_run(
    experiment: &Experiment,
    run: &impl Ran,
    summary: &Summary,
    More { lead, rows, schedule, figures, tables }: More,
) -> String {
    let mut report = Report::new(format!("A simulated run under {}", experiment.policy))
        .lead(lead.unwrap_or_else(|| self::lead(experiment, summary)))
        .with(Block::heading("Summary"))
        .with(summary_table(experiment, summary, rows));
    report = tables.into_iter().fold(report, Report::with);
    report = report.with(Block::heading("Schedule")).with(schedule).with(Block::heading("Over time"));
    for (_, caption, svg) in figures {
        report = report.with(Figure::new(caption, svg));
    }
    report.with(Block::heading("Machines")).with(machines(experiment, run)).html()
}

/// Each run on its machine, as far as the simulation has come.
pub(super) fn schedule(experiment: &Experiment, run: &impl Ran) -> Gantt {
    let classes = &experiment.setup.tasks.classes;
    let (history, end) = (run.history(), run.now());
    let bars = history.stays().iter().map(|&Stay { run, on, from, until }| {
        let task = run.task.index();
        let again = if run.number > 1 { format!(", run {}", run.number) } else { String::new() };
        Bar {
            row: on.index(),
            rows: None,
            from_s: from.seconds(),
            to_s: until.min(end).max(from).seconds(),
            group: classes[task].index(),
            name: format!("{}{again}", experiment.task_names.id(task)),
        }
    });
    let policy = &experiment.policy;
    let caption = "what ran on which machine; a task that was moved has a bar on each of its machines. Tasks of one kind have one \
                   colour. Zoom with the buttons, or with + and -; point at a bar for what is known of it.";
    let left_out = match history.stays_left_out() {
        0 => String::new(),
        left_out => format!(" {left_out} later ones are not drawn."),
    };
    let rows = experiment.machine_names.iter().cloned();
    Gantt::new(format!("{policy}: {caption}{left_out}"), policy.clone(), rows, bars)
}

fn lead(experiment: &Experiment, summary: &Summary) -> String {
    let machines = numbers::counted(experiment.setup.machine_count() as u64, "machine");
    let tasks = numbers::counted(summary.tasks as u64, "task");
    match summary.makespan_s {
        Some(seconds) => {
            format!("{tasks} on {machines}; the last one ended after {}.", numbers::seconds(seconds))
        }
        None => format!("{tasks} on {machines}; none ended."),
    }
}

fn summary_table(experiment: &Experiment, summary: &Summary, first: Vec<(&'static str, String)>) -> Table {
    let bound = summary.lower_bound_s.map_or("no schedule ends".to_owned(), numbers::seconds);
    let gap = summary.gap.map_or("–".to_owned(), |gap| format!("{} %", numbers::decimals(100.0 * gap, 1)));
    let rows = [
        ("policy", experiment.policy.clone()),
        ("relocation", experiment.recipe.relocate.map_or("none".to_owned(), |rule| rule.to_string())),
        ("seed", summary.seed.to_string()),
        ("tasks", numbers::grouped(summary.tasks as u64)),
        ("of which unfinished", numbers::grouped(summary.unfinished as u64)),
        ("makespan", summary.makespan_s.map_or("–".to_owned(), numbers::seconds)),
        ("no schedule ends before", bound),
        ("distance from that", gap),
        ("relocations", numbers::grouped(summary.moves)),
        ("runs lost with a machine", numbers::grouped(summary.aborts)),
    ];
    let budget = summary.budget.iter().flat_map(|budget| {
        [
            ("recharge of each period", numbers::grouped(budget.recharge.count())),
            ("spent in one period at most", numbers::grouped(budget.spent_max().count())),
            ("spent in all, less what was given back", numbers::grouped(budget.paid.count())),
            ("given back in a later period", numbers::grouped(budget.given_back_later.count())),
        ]
    });
    let between = summary.between.iter().flat_map(|between| {
        [
            ("letters for each task", numbers::decimals(between.letters_per_task, 2)),
            (
                "runs of tasks that a neighbour handed over",
                format!("{} %", numbers::decimals(100.0 * between.handed_over_share, 1)),
            ),
            (
                "age of what was known of its machine",
                between.age_mean_s.map_or("–".to_owned(), numbers::seconds),
            ),
        ]
    });
    let answers = summary.answers.iter().flat_map(answers::lines);
    service::table(
        first
            .into_iter()
            .chain(rows)
            .chain(summary.service.lines())
            .chain(budget)
            .chain(between)
            .chain(answers),
    )
}

fn machines(experiment: &Experiment, run: &impl Ran) -> Table {
    let all = experiment.machine_names.len();
    let caption = if all > MACHINES_LISTED {
        format!("The first {MACHINES_LISTED} of {all} machines; machines.csv has them all")
    } else {
        "What each machine did".to_owned()
    };
    let table = Table::new(caption, ["machine", "tasks that ended there", "busy"]);
    let listed = experiment.machine_names.iter().enumerate().take(MACHINES_LISTED);
    listed.fold(table, |table, (index, name)| {
        let busy = run.busy_seconds(MachineId::new(index));
        let ended = u64::from(run.history().finished_on()[index]);
        table.row([
            Cell::text(name),
            Cell::number(numbers::grouped(ended)),
            Cell::number(numbers::seconds(busy)),
        ])
    })
}
