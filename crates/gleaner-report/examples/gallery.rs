//! Writes a page with every kind of plot and block: `cargo run -p gleaner-report --example gallery > gallery.html`.
//! With a folder as argument, each plot is written there too, as a file of its own.

use std::path::Path;

use gleaner_report::{
    Axis, Bar, Block, Cell, Figure, Gantt, Plot, PlotGrid, Report, Series, Style, Svg, Table, Verdict,
    histogram, numbers,
};

fn main() -> std::io::Result<()> {
    let plots = [
        ("parameters", "Makespan against the most moves allowed.", parameters()),
        ("tasks-over-time", "Tasks of two types on three machines, under two relocators.", panels()),
        ("permutations", "Makespan for each order of arrival, with 95 % intervals.", permutations(false)),
        ("permutations-log", "The same with unavailable machines; logarithmic.", permutations(true)),
        ("machines", "Tasks on each machine over time.", machines()),
        ("times", "How long tasks took.", times()),
        ("by-site", "Tasks by site, before and after.", by_site()),
        ("cloud", "Wait against length.", cloud()),
        ("odd", "Values that cannot be drawn break the line and are counted.", odd()),
        ("empty", "No data yet.", Plot::new("Nothing yet", Axis::linear("x"), Axis::linear("y")).svg()),
    ];
    if let Some(folder) = std::env::args_os().nth(1) {
        for (name, _, svg) in &plots {
            std::fs::write(Path::new(&folder).join(format!("{name}.svg")), svg)?;
        }
    }
    let mut page = Report::new("A gallery of plots")
        .lead("Every kind of plot and block, with made-up numbers.")
        .with(Block::heading("Claims"))
        .with(Block::text("Texts are plain: <b>this</b> is not bold.\n\nAn empty line begins a paragraph."))
        .with(claims())
        .with(Block::note("The numbers on this page are made up."))
        .with(Block::heading("Plots"));
    for (name, caption, svg) in plots {
        page = page.with(Block::subheading(name)).with(Figure::new(caption, svg));
    }
    let page = page
        .with(Block::heading("Schedules"))
        .with(Block::Gantts(vec![
            schedule("twelve machines", 12, 300),
            schedule("the same, other lengths", 12, 200),
        ]))
        .with(schedule("a thousand machines", 1_000, 10_000))
        .with(processors());
    println!("{}", page.html());
    Ok(())
}

fn claims() -> Table {
    let row = |claim: &str, measured: f64, s: f64, verdict: Verdict| {
        let (measured, took) = (numbers::significant(measured, 3), numbers::seconds(s));
        [Cell::text(claim), Cell::number(measured), Cell::number(took), verdict.into()]
    };
    Table::new("Claims and how far they hold.", ["Claim", "Measured", "Took", "Verdict"])
        .row(row("Relocation lowers the makespan", 0.731_2, 1_234.5, Verdict::Holds))
        .row(row("N and θ matter little", 1.014_4, 0.034_5, Verdict::Partly))
        .row(row("<script>alert(1)</script>", 12_345.6, 100_000.0, Verdict::Not))
}

/// Tasks one after the other on each machine.
fn schedule(label: &str, machines: u64, tasks: u64) -> Gantt {
    let mut free = vec![0.0; machines as usize];
    let bars = (0..tasks).map(|task| {
        let row = (noise(3, task) * machines as f64) as usize;
        let from_s = free[row] + 5.0 * noise(4, task);
        let to_s = from_s + 100.0 * noise(tasks, task);
        free[row] = to_s;
        Bar { row, rows: None, from_s, to_s, group: task as usize % 5, name: format!("<b>task</b> {task}") }
    });
    let bars: Vec<Bar> = bars.collect();
    let rows = (1..=machines).map(|machine| format!("<i>lab</i>-{machine}"));
    Gantt::new(format!("Tasks on {label}."), label, rows, bars)
}

/// Jobs of several processors each.
fn processors() -> Gantt {
    let bars = (0..40_u64).map(|job| {
        let (row, from_s) = ((job % 4) as usize * 16, (job / 4) as f64 * 100.0);
        let (rows, to_s) = (Some(1 + (15.0 * noise(7, job)) as usize), from_s + 95.0 * noise(8, job));
        Bar { row, rows, from_s, to_s, group: job as usize % 7, name: format!("job {job}") }
    });
    let rows = (0..64).map(|processor| format!("processor {processor}"));
    Gantt::new("Jobs on 64 processors.", "jobs on processors", rows, bars).counting("job", "processor")
}

/// Numbers between 0 and 1 that look random and are always the same.
fn noise(seed: u64, i: u64) -> f64 {
    let mixed = (seed * 7_919 + i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1_u64 << 53) as f64
}

fn parameters() -> Svg {
    let curve = |seed: u64, level: f64| (1..=10_u64).map(move |n| (n as f64, level + 40.0 * noise(seed, n)));
    let mut panels = Vec::new();
    for (scheme, level) in [("GREEDY", 5_040.0), ("SOCIAL", 5_060.0), ("MIN-NUM", 5_110.0)] {
        let y = Axis::linear("makespan (s)").range(5_000.0, 5_200.0);
        let mut plot = Plot::new(scheme, Axis::linear("most moves N"), y);
        if scheme == "MIN-NUM" {
            plot = plot.with(Series::new("no θ", Style::Marked, curve(9, level)));
        } else {
            for (seed, theta) in [(1, "θ = 10 %"), (2, "θ = 5 %"), (3, "θ = 1 %")] {
                plot = plot.with(Series::new(theta, Style::Marked, curve(seed, level)));
            }
        }
        panels.push(plot);
    }
    PlotGrid::new("Makespan by N and θ", 3, panels).svg()
}

fn panels() -> Svg {
    let titles = [
        "(a) SOCIAL, S0",
        "(b) SOCIAL, S1",
        "(c) SOCIAL, S3",
        "(d) MIN-NUM, S0",
        "(e) MIN-NUM, S1",
        "(f) MIN-NUM, S3",
    ];
    let hill = |seed: u64, top: f64, end: f64| {
        (0..20_000_u64).map(move |i| {
            let t = i as f64 / 20_000.0 * end;
            let level = if t < 1_000.0 { t / 1_000.0 } else { (end - t) / (end - 1_000.0) };
            (t, (top * level * (0.97 + 0.06 * noise(seed, i))).round())
        })
    };
    let panel = |(at, title): (u64, &&str)| {
        let x = Axis::linear("time (s)").range(0.0, 6_500.0);
        let y = Axis::linear("tasks on the machine").range(0.0, 310.0);
        Plot::new(*title, x, y)
            .with(Series::new(
                "C4 (data on the machine)",
                Style::Step,
                hill(at, 290.0 - 40.0 * at as f64, 6_000.0),
            ))
            .with(Series::new(
                "C0 (computation)",
                Style::Step,
                hill(at + 9, 60.0 + 30.0 * at as f64, 5_000.0),
            ))
    };
    PlotGrid::new("Where tasks run when S3's owner returns", 3, (0..).zip(&titles).map(panel).collect()).svg()
}

fn permutations(log: bool) -> Svg {
    let y = if log { Axis::log("makespan (s)") } else { Axis::linear("makespan (s)") };
    let x = Axis::categories("permutation ID", (1..=24).map(|id| id.to_string()));
    let mut plot = Plot::new("Makespan by order of arrival", x, y);
    let schemes = [
        ("GREEDY with relocation", 410.0),
        ("SOCIAL with relocation", 420.0),
        ("MIN-NUM with relocation", 640.0),
        ("GREEDY alone", 520.0),
        ("SOCIAL alone", 540.0),
        ("MIN-NUM alone", 910.0),
    ];
    for (seed, (name, level)) in (0..).zip(schemes) {
        let level = if log && seed > 2 { level * 14.0 } else { level };
        let points: Vec<(f64, f64)> =
            (0..24_u64).map(|id| (id as f64, level * (0.9 + 0.2 * noise(seed, id)))).collect();
        let bounds: Vec<(f64, f64)> =
            points.iter().map(|(_, y)| (y - level * 0.03, y + level * 0.03)).collect();
        plot = plot.with(Series::new(name, Style::Marked, points).bounds(bounds));
    }
    plot.svg()
}

fn machines() -> Svg {
    let mut plot = Plot::new("Tasks on machines over time", Axis::linear("time (s)"), Axis::linear("tasks"))
        .note("The 12 busiest of 70 machines are shown.");
    for machine in 0..12_u64 {
        let points = (0..60_u64).map(|i| {
            let t = i as f64 * 60.0 + machine as f64 * 3.0;
            (t, (6.0 * noise(machine, i) * (1.0 - t / 4_000.0) + 12.0 - machine as f64).max(0.0).round())
        });
        plot = plot.with(Series::new(format!("m{machine}.example"), Style::Step, points));
    }
    plot.svg()
}

fn times() -> Svg {
    let values: Vec<f64> =
        (0..4_000).map(|i| 90.0 * (noise(1, i) + noise(2, i) + noise(3, i)).powi(2)).collect();
    Plot::new("Task times", Axis::linear("time (s)"), Axis::linear("tasks"))
        .with(Series::new("tasks", Style::Bars, histogram(&values, 30)))
        .svg()
}

fn by_site() -> Svg {
    let sites = ["Catania", "Padova", "a site with a very long name indeed", "<script>"];
    let counts = |seed| (0..4).map(move |i| (i as f64, (2.6e6 * noise(seed, i)).round()));
    Plot::new("Tasks by site", Axis::categories("site", sites), Axis::linear("tasks"))
        .with(Series::new("before", Style::Bars, counts(4)))
        .with(Series::new("after", Style::Bars, counts(5)).bounds(counts(5).map(|(_, y)| (y * 0.9, y * 1.1))))
        .svg()
}

fn cloud() -> Svg {
    let points =
        |seed| (0..200).map(move |i| (10_f64.powf(6.0 * noise(seed, i)), 1e-4 + noise(seed + 1, i) * 9e-4));
    Plot::new("Wait against length", Axis::log("length (operations)"), Axis::linear("wait (s)"))
        .with(Series::new("short queue", Style::Points, points(20)))
        .with(Series::new("long queue", Style::Points, points(30)))
        .svg()
}

fn odd() -> Svg {
    let points = (0..40).map(|i| {
        let y = if i % 13 == 7 { f64::NAN } else { (f64::from(i) / 4.0).sin() * 1e-4 };
        (f64::from(i), y)
    });
    Plot::new("Broken line", Axis::linear("step"), Axis::linear("drift (s)"))
        .with(Series::new("drift", Style::Line, points))
        .with(Series::new("one point", Style::Line, [(20.0, 5e-5)]))
        .with(Series::new("limit", Style::Line, [(0.0, 8e-5), (39.0, 8e-5)]))
        .svg()
}
