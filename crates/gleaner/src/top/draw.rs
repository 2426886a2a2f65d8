//! How the screen looks. 80 columns and 24 lines are enough; every name is shown as plain text in one line.

use super::screen::{Act, Focus, Look, Screen, Shown};
use crate::columns::{plural, shown};
use crate::failures::ending;
use crate::moments::span;
use crate::status::tally;
use gleaner_wire::api::{JobView, MachineState, MachineView, Tally, TaskPhase, TaskView};
use gleaner_wire::session::Stream;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};

const BAR: usize = 16;
/// Characters that a reason for waiting has on its line.
const WIDTH: usize = 78;
/// Characters of a line of output that are looked at, colours among them.
const LINE_MAX: usize = 4_000;

pub(super) fn draw(frame: &mut Frame<'_>, screen: &Screen) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(frame.area());
    let grid = &screen.seen.grid;
    let title = format!(" {} · {}", tally(&grid.tasks), shown(&grid.policy, 30));
    frame.render_widget(Paragraph::new(title).style(Style::new().add_modifier(Modifier::REVERSED)), head);
    match (&screen.look, &screen.seen.shown) {
        (Look::Job(_), Shown::Job { job, failures, .. }) => {
            let reasons: Vec<Line<'_>> = failures
                .iter()
                .take(4)
                .map(|group| {
                    Line::from(format!(
                        "{} failed: {} (as {}/{})",
                        group.tasks,
                        shown(&group.reason, 200),
                        job.job,
                        group.example
                    ))
                })
                .collect();
            let why = job.waits_for.iter().map(|why| Line::from(format!("waits for {}", shown(why, 300))));
            let mut lines =
                vec![bar_line(&job.tasks), Line::from(shown(&job.command.join(" "), 200)).style(dim())];
            lines.extend(why.chain(reasons));
            let height = lines.len() as u16 + 2;
            let [top, rest] = Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(body);
            let name = format!(" job {} {} · {} ", job.job, shown(&job.name, 40), shown(&job.user, 20));
            frame.render_widget(Paragraph::new(lines).block(titled(name)).wrap(Wrap { trim: false }), top);
            task_table(frame, rest, screen);
        }
        (&Look::Task(job, _, stream), Shown::Task { task, explanation, output }) => {
            let mut lines = vec![Line::from(shown(&explanation.summary, 300))];
            if task.phase == TaskPhase::Waiting {
                lines.extend(explanation.ruled_out.iter().take(3).map(|ruled| {
                    Line::from(format!("  {} {}", ruled.count, shown(&ruled.rule, 200))).style(dim())
                }));
                lines.extend(explanation.remedies.iter().take(2).map(|remedy| {
                    Line::from(format!("  would help: {}", shown(remedy, 200)))
                        .style(Style::new().fg(Color::Cyan))
                }));
            }
            let height = (lines.len() as u16 + 3).min(9);
            let [top, rest] = Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(body);
            let name = format!(" task {job}/{} · {} · runs: {} ", task.task, task.phase.name(), task.runs);
            frame.render_widget(Paragraph::new(lines).block(titled(name)).wrap(Wrap { trim: false }), top);
            let which = if stream == Stream::Stdout { " output " } else { " errors " };
            let text = lines_of(&output.bytes, usize::from(rest.height.saturating_sub(2)), screen.back);
            frame.render_widget(Paragraph::new(Text::from(text)).block(titled(which.to_owned())), rest);
        }
        (Look::Grid, _) => overview(frame, body, screen),
        // What is looked at now is on its way.
        _ => frame.render_widget(Paragraph::new("…"), body),
    }
    frame.render_widget(
        Paragraph::new(footer(screen)).style(Style::new().add_modifier(Modifier::REVERSED)),
        foot,
    );
}

fn footer(screen: &Screen) -> String {
    match &screen.asked {
        Some(Act::Order { job, order, task }) => {
            let what = task.map_or(format!("all of job {job}"), |task| format!("task {job}/{task}"));
            return format!(" {order} {what}? y: yes, any other key: no");
        }
        Some(Act::Machine { machine, order }) => {
            return format!(" {order} {}? y: yes, any other key: no", shown(machine, 40));
        }
        Some(Act::Quit | Act::Look(_)) | None => {}
    }
    if let Some(trouble) = &screen.trouble {
        return format!(" {}", shown(trouble, 200));
    }
    if !screen.news.is_empty() {
        return format!(" {}", shown(&screen.news, 200));
    }
    match screen.look {
        Look::Grid if screen.is_at_machines() => {
            " ↑↓ choose · s sort · p pause d drain r resume · Tab jobs · q quit".to_owned()
        }
        Look::Grid => {
            " ↑↓ Enter look into · s sort · h hold r release c cancel · Tab machines · q quit".to_owned()
        }
        Look::Job(_) => {
            " ↑↓ Enter task · s sort · h hold r release c cancel f rerun failed · Esc back".to_owned()
        }
        Look::Task(..) => {
            " ↑↓ scroll · o output e errors · h hold r release c cancel f rerun · Esc back".to_owned()
        }
    }
}

fn overview(frame: &mut Frame<'_>, body: Rect, screen: &Screen) {
    let seen = &screen.seen;
    let waits = waits(screen);
    let high = (waits.len() as u16 + 2).min(8);
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(high), Constraint::Fill(3), Constraint::Fill(2)]).areas(body);
    frame.render_widget(
        Paragraph::new(waits).block(titled(" why it waits ".to_owned())).wrap(Wrap { trim: false }),
        top,
    );
    let jobs = screen.jobs();
    let rows = jobs.into_iter().map(job_row);
    let widths = [
        Constraint::Length(5),
        Constraint::Length(9),
        Constraint::Length(BAR as u16),
        Constraint::Length(13),
        Constraint::Length(10),
        Constraint::Fill(1),
    ];
    table(
        frame,
        middle,
        (&format!(" jobs, {} ", screen.jobs_by.words()), ["JOB", "STATE", "", "DONE/ALL", "USER", "NAME"]),
        (rows, widths),
        (screen.focus == Focus::Jobs).then_some(screen.job),
    );
    let machines = screen.machines();
    let rows = machines.into_iter().map(machine_row);
    let widths = [
        Constraint::Length(16),
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(6),
        Constraint::Fill(1),
    ];
    let states: Vec<String> =
        seen.grid.machines.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let title = format!(" machines: {}, {} ", states.join(", "), screen.machines_by.words());
    table(frame, bottom, (&title, ["NAME", "STATE", "TASKS", "OWNER", "WHY"]), (rows, widths), {
        (screen.focus == Focus::Machines).then_some(screen.machine)
    });
}

fn waits(screen: &Screen) -> Vec<Line<'static>> {
    let waits = &screen.seen.waits;
    if waits.groups.is_empty() {
        return vec![Line::from("nothing waits").style(Style::new().fg(Color::Green))];
    }
    let groups = waits.groups.iter().take(3).flat_map(|group| {
        let jobs: Vec<String> = group.jobs.iter().take(4).map(ToString::to_string).collect();
        let what = format!(
            "{} of job {}: {}",
            plural(group.tasks, "task"),
            jobs.join(", "),
            shown(&group.explanation.summary, 200)
        );
        let first = group.explanation.ruled_out.first();
        let ruled = first
            .map(|ruled| Line::from(shown(&format!("  {} {}", ruled.count, ruled.rule), WIDTH)).style(dim()));
        let help = group.explanation.remedies.first().map(|remedy| {
            Line::from(shown(&format!("  would help: {remedy}"), WIDTH)).style(Style::new().fg(Color::Cyan))
        });
        [Some(Line::from(what)), ruled, help].into_iter().flatten()
    });
    groups.collect()
}

fn table<'a, const N: usize>(
    frame: &mut Frame<'_>,
    area: Rect,
    (title, heads): (&str, [&'a str; N]),
    (rows, widths): (impl Iterator<Item = Row<'a>>, [Constraint; N]),
    chosen: Option<usize>,
) {
    let table = Table::new(rows, widths)
        .header(Row::new(heads).style(dim()))
        .block(titled(title.to_owned()))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
}

fn task_table(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let widths = [
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(16),
        Constraint::Length(9),
        Constraint::Fill(1),
    ];
    let row = |task: &TaskView| {
        let took = task.usage.as_ref().map_or(String::new(), |usage| span(usage.elapsed_s));
        Row::new([
            Cell::from(task.task.to_string()),
            phase_cell(task.phase),
            Cell::from(shown(task.machine.as_deref().unwrap_or("–"), 16)),
            Cell::from(took),
            Cell::from(task.outcome.as_ref().map_or(String::new(), |outcome| shown(&ending(outcome), 80))),
        ])
    };
    let heads = ["TASK", "PHASE", "MACHINE", "TOOK", "LAST RUN"];
    let title = format!(" tasks, {} ", screen.tasks_by.words());
    table(frame, area, (&title, heads), (screen.tasks().into_iter().map(row), widths), Some(screen.task));
}

fn job_row(job: &JobView) -> Row<'static> {
    let name = if job.name.is_empty() { job.command.join(" ") } else { job.name.clone() };
    let state = job.state.name();
    Row::new([
        Cell::from(job.job.to_string()),
        Cell::from(state),
        Cell::from(bar_line(&job.tasks)),
        Cell::from(format!("{}/{}", job.tasks.done, job.tasks.total())),
        Cell::from(shown(&job.user, 10)),
        Cell::from(shown(&name, 60)),
    ])
}

fn machine_row(machine: &MachineView) -> Row<'static> {
    let colour = match machine.state {
        MachineState::Open => Color::Green,
        MachineState::Closed | MachineState::Away => Color::Yellow,
        MachineState::Lost | MachineState::Revoked => Color::Red,
    };
    Row::new([
        Cell::from(shown(&machine.machine, 16)),
        Cell::from(machine.state.name()).style(Style::new().fg(colour)),
        Cell::from(format!("{}/{}", machine.tasks, machine.profile.slots)),
        Cell::from(format!("{:.0} %", 100.0 * machine.owner_load)),
        Cell::from(shown(machine.why.as_deref().unwrap_or_default(), 80)),
    ])
}

fn phase_cell(phase: TaskPhase) -> Cell<'static> {
    Cell::from(phase.name()).style(Style::new().fg(colour(phase)))
}

fn colour(phase: TaskPhase) -> Color {
    match phase {
        TaskPhase::Waiting => Color::Gray,
        TaskPhase::Running => Color::Blue,
        TaskPhase::Suspended => Color::Yellow,
        TaskPhase::Held => Color::Magenta,
        TaskPhase::Done => Color::Green,
        TaskPhase::Failed => Color::Red,
        TaskPhase::Cancelled => Color::DarkGray,
    }
}

/// A sign of its own for each phase: colour alone tells nobody apart.
fn sign(phase: TaskPhase) -> &'static str {
    match phase {
        TaskPhase::Waiting => "·",
        TaskPhase::Running => "▶",
        TaskPhase::Suspended => "‖",
        TaskPhase::Held => "h",
        TaskPhase::Done => "█",
        TaskPhase::Failed => "✗",
        TaskPhase::Cancelled => "-",
    }
}

/// A job's tasks as a bar; what there is any of has a place at least.
fn bar_line(tasks: &Tally) -> Line<'static> {
    let order = [
        TaskPhase::Done,
        TaskPhase::Running,
        TaskPhase::Suspended,
        TaskPhase::Waiting,
        TaskPhase::Held,
        TaskPhase::Failed,
        TaskPhase::Cancelled,
    ];
    let present: Vec<TaskPhase> = order.into_iter().filter(|&phase| tasks.of(phase) > 0).collect();
    let spare = BAR - present.len();
    let all = f64::from(tasks.total().max(1));
    let mut places: Vec<usize> =
        present.iter().map(|&phase| 1 + (f64::from(tasks.of(phase)) / all * spare as f64) as usize).collect();
    let left = BAR - places.iter().sum::<usize>().min(BAR);
    if let Some(most) = (0..present.len()).max_by_key(|&index| tasks.of(present[index])) {
        places[most] += left;
    }
    let spans = present
        .iter()
        .zip(places)
        .map(|(&phase, places)| Span::styled(sign(phase).repeat(places), Style::new().fg(colour(phase))));
    Line::from(spans.collect::<Vec<_>>())
}

/// The last lines of an output, so many lines back, each on one line of the screen.
fn lines_of(bytes: &[u8], height: usize, back: usize) -> Vec<Line<'static>> {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.len().saturating_sub(back.min(lines.len().saturating_sub(height)));
    let begin = end.saturating_sub(height);
    let plain = |line: &&str| {
        let cut: String = line.chars().take(LINE_MAX).collect();
        Line::from(shown(&anstream::adapter::strip_str(&cut).to_string(), 400))
    };
    lines[begin..end].iter().map(plain).collect()
}

fn titled(title: String) -> Block<'static> {
    Block::new().borders(Borders::TOP).border_style(dim()).title(title)
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}
