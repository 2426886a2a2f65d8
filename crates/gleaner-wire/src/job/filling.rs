//! Texts with a task's parameters filled in, and how long they come to be. **The length is known without the text**:
//! whoever takes a job in asks for it first, and never builds what is too long.

use super::{INDEX, Input, JobSpec, TaskList};
use crate::limits::{NAME_BYTES_MAX, ORDER_BYTES_MAX};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What each item of an order to run costs besides its text: its length, a file's hash, the names of fields.
const ITEM_BYTES: u64 = 160;

/// A stretch of a text.
enum Piece<'a> {
    Text(&'a str),
    /// `{NAME}`, where there may be a parameter of that name or not.
    Braces(&'a str),
}

/// The text in pieces. What stands in braces is no longer than a name may be, so that this costs O(text). `${NAME}` is left
/// to the shell, which finds the same value in the environment.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut after_dollar = false;
    std::iter::from_fn(move || {
        let (piece, used) = if *rest.as_bytes().first()? != b'{' {
            let end = rest.find('{').unwrap_or(rest.len());
            (Piece::Text(&rest[..end]), end)
        } else if let Some(close) = close(rest).filter(|_| !after_dollar) {
            (Piece::Braces(&rest[1..close]), close + 1)
        } else {
            (Piece::Text(&rest[..1]), 1)
        };
        after_dollar = rest.as_bytes()[used - 1] == b'$';
        rest = &rest[used..];
        Some(piece)
    })
}

/// Where the brace that `text` begins with is closed, if a name can stand between.
fn close(text: &str) -> Option<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name = text.as_bytes()[1..].iter().take(NAME_BYTES_MAX + 1).take_while(|byte| is_word(byte)).count();
    (text.as_bytes().get(name + 1) == Some(&b'}')).then_some(name + 1)
}

/// `text` with each `{NAME}` of a parameter, but no `${NAME}`, replaced by its value. What a value contains is not looked at again.
pub fn fill_in(text: &str, parameters: &[(&str, String)]) -> String {
    let filled = fill_in_at_most(text, usize::MAX, |name| {
        let known = parameters.iter().find(|(other, _)| *other == name);
        known.map(|(_, value)| Cow::Borrowed(value.as_str()))
    });
    filled.unwrap_or_default()
}

/// Likewise, unless a value makes it longer than so many bytes: then no more values are asked for.
pub(super) fn fill_in_at_most<'v>(
    text: &str,
    bytes: usize,
    mut parameter: impl FnMut(&str) -> Option<Cow<'v, str>>,
) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Braces(name) => match parameter(name) {
                Some(value) if value.len() > bytes.saturating_sub(filled.len()) => return None,
                Some(value) => filled.push_str(&value),
                None => filled.extend(["{", name, "}"]),
            },
        }
    }
    Some(filled)
}

/// The beginning of the same text: no more than so many bytes.
fn fill_in_the_beginning<'v>(
    text: &str,
    bytes: usize,
    parameter: impl Fn(&str) -> Option<Cow<'v, str>>,
) -> String {
    let mut filled = String::new();
    for piece in pieces(text) {
        let part = match piece {
            Piece::Text(text) => Cow::Borrowed(text),
            Piece::Braces(name) => parameter(name).unwrap_or_else(|| Cow::Owned(format!("{{{name}}}"))),
        };
        let room = bytes - filled.len();
        if part.len() > room {
            filled.push_str(&part[..part.floor_char_boundary(room)]);
            break;
        }
        filled.push_str(&part);
    }
    filled
}

/// How often each parameter is written out in some texts, and how long the rest is.
struct Measure<'a> {
    /// As the job has them, without values.
    plain: u64,
    uses: BTreeMap<&'a str, u64>,
}

impl<'a> Measure<'a> {
    /// Of no text yet, for tasks with these parameters.
    fn new(tasks: &'a TaskList) -> Self {
        Self { plain: 0, uses: tasks.names().into_iter().map(|name| (name, 0)).collect() }
    }

    /// Of an order to run one of a job's tasks.
    fn of(spec: &'a JobSpec) -> Self {
        let mut measure = Self::new(&spec.tasks);
        // Each parameter is a variable as well.
        for (name, uses) in &mut measure.uses {
            measure.plain += name.len() as u64 + ITEM_BYTES;
            *uses += 1;
        }
        let texts = spec.command.iter().chain(spec.env.values()).chain(&spec.cwd).chain(&spec.outputs);
        let own = spec.own_inputs.iter().map(|own| &own.of);
        texts
            .chain(spec.inputs.iter().map(|input| &input.path))
            .chain(own)
            .for_each(|text| measure.add(text));
        measure.plain += spec.env.keys().map(|name| name.len() as u64).sum::<u64>();
        measure
    }

    fn add(&mut self, text: &str) {
        self.plain += ITEM_BYTES;
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => self.plain += text.len() as u64,
                Piece::Braces(name) => match self.uses.get_mut(name) {
                    Some(uses) => *uses += 1,
                    None => self.plain += name.len() as u64 + 2,
                },
            }
        }
    }

    /// With values of such lengths.
    fn with(&self, lengths: impl Iterator<Item = (&'a str, usize)>) -> u64 {
        lengths.fold(self.plain, |sum, (name, length)| {
            let uses = self.uses.get(name).copied().unwrap_or(0);
            sum.saturating_add(uses.saturating_mul(length as u64))
        })
    }

    /// With the values of the task that makes the most of it, or with none filled in.
    fn most(&self, tasks: &'a TaskList) -> u64 {
        let index = (INDEX, u32::MAX.to_string().len());
        let longest = |values: &[String]| values.iter().map(String::len).max().unwrap_or(0);
        let most = match tasks {
            TaskList::One | TaskList::Array { .. } | TaskList::Numbers(_) => {
                self.with(std::iter::once(index))
            }
            TaskList::Sweep { axes } => {
                let axes = axes.iter().map(|(name, values)| (name.as_str(), longest(values)));
                self.with(axes.chain(std::iter::once(index)))
            }
            TaskList::Rows { names, values } => {
                let row = |row: usize| {
                    let lengths = names.iter().zip(row * names.len()..);
                    let lengths = lengths.map(|(name, at)| (name.as_str(), values.get(at).len()));
                    self.with(lengths.chain(std::iter::once(index)))
                };
                (0..values.len() / names.len().max(1)).map(row).max().unwrap_or(0)
            }
        };
        let braces = self.uses.iter().map(|(name, uses)| uses.saturating_mul(name.len() as u64 + 2)).sum();
        most.max(self.plain.saturating_add(braces))
    }
}

/// What of an order to run a task differs from task to task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filled {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables, parameters among them.
    pub env: BTreeMap<String, String>,
    /// Where it runs, unless in its own folder.
    pub cwd: Option<String>,
    /// Files in its folder.
    pub inputs: Vec<Input>,
    /// Which files to keep.
    pub outputs: Vec<String>,
}

impl JobSpec {
    /// The texts of the task at a position. An error says why there are none: jobs are refused for that when they are handed
    /// in, but a journal may be from a time of other limits.
    pub fn filled_in(&self, position: u32) -> Result<Filled, String> {
        let bytes = self.order_bytes(position);
        if bytes > ORDER_BYTES_MAX {
            return Err(format!(
                "with its parameters filled in, the task has {bytes} bytes; at most {ORDER_BYTES_MAX} can be sent"
            ));
        }
        let parameters = self.tasks.parameters(position);
        let fill = |text: &String| fill_in(text, &parameters);
        let mut inputs: Vec<&Input> = self.inputs.iter().collect();
        for own in &self.own_inputs {
            let files = own.of_task(&parameters);
            inputs.extend(files.ok_or_else(|| format!("its job has no file {:?}", fill(&own.of)))?);
        }
        let mut env: BTreeMap<String, String> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        env.extend(self.env.iter().map(|(name, value)| (name.clone(), fill(value))));
        let inputs = inputs.into_iter().map(|input| Input { path: fill(&input.path), ..input.clone() });
        Ok(Filled {
            command: self.command.iter().map(fill).collect(),
            env,
            cwd: self.cwd.as_ref().map(fill),
            inputs: inputs.collect(),
            outputs: self.outputs.iter().map(fill).collect(),
        })
    }

    /// The program and its arguments of the task at a position: about so many bytes of them at most, one for the end of each among
    /// them. A parameter may be long, and no more of it is looked at than is told.
    pub fn beginning_of_command(&self, position: u32, bytes: usize) -> Vec<String> {
        let mut left = bytes;
        let mut words = Vec::new();
        for word in &self.command {
            if left == 0 {
                break;
            }
            let word = fill_in_the_beginning(word, left, |name| self.tasks.parameter(name, position));
            left = left.saturating_sub(word.len() + 1);
            words.push(word);
        }
        words
    }

    /// How many bytes an order to run the task at a position has, or somewhat more. Costs O(texts of the job).
    pub fn order_bytes(&self, position: u32) -> u64 {
        let parameters = self.tasks.parameters(position);
        let bytes = Measure::of(self).with(parameters.iter().map(|(name, value)| (*name, value.len())));
        // What is too long already is not filled in to find whose files are meant.
        if bytes > ORDER_BYTES_MAX {
            return bytes;
        }
        let own = self.own_inputs.iter().filter_map(|own| own.of_task(&parameters));
        bytes + own.map(|files| self.listed_bytes(files)).sum::<u64>()
    }

    /// The most bytes that an order to run one of its tasks has, or somewhat more; and no less than the texts have
    /// before anything is filled in. Costs O(size of the description), however many tasks it stands for.
    pub fn order_bytes_max(&self) -> u64 {
        let own = self.own_inputs.iter().flat_map(|own| own.files.values());
        let most = own.map(|files| self.listed_bytes(files)).max();
        Measure::of(self).most(&self.tasks) + most.unwrap_or(0)
    }

    /// The most that these files make of an order.
    fn listed_bytes(&self, files: &[Input]) -> u64 {
        files.iter().map(|input| self.tasks.filled_bytes_max(&input.path)).sum()
    }
}

impl TaskList {
    /// The most bytes that a text has with the parameters of one of the tasks filled in, or before.
    pub fn filled_bytes_max(&self, text: &str) -> u64 {
        let mut measure = Measure::new(self);
        measure.add(text);
        measure.most(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Words;

    #[test]
    fn only_parameters_are_filled_in_and_only_once() {
        let parameters = [("a", "{b}".to_owned()), ("b", "2".to_owned())];
        for (text, expected) in [
            ("{a}{b}", "{b}2"),
            ("awk '{print $1}' {b}", "awk '{print $1}' 2"),
            ("{{b}}", "{2}"),
            ("{b", "{b"),
            ("{}", "{}"),
            ("ü{b}ü{ü}", "ü2ü{ü}"),
            ("${b} $${b} ${b}{b} {b}$ $ {b}", "${b} $${b} ${b}2 2$ $ 2"),
        ] {
            assert_eq!(fill_in(text, &parameters), expected);
        }
    }

    #[test]
    fn of_a_command_that_is_filled_in_no_more_is_made_than_is_told() {
        let values = ["a", "1", "b", &"ü".repeat(1 << 16)].into_iter().collect::<Words>();
        let tasks = TaskList::Rows { names: vec!["name".into(), "how".into()], values };
        let spec = JobSpec {
            tasks,
            ..JobSpec::new(["run", "{name}-{GLEANER_INDEX}", "${how} {what}", "x={how}", "y"])
        };
        assert_eq!(spec.beginning_of_command(0, 100), ["run", "a-0", "${how} {what}", "x=1", "y"]);
        assert_eq!(spec.beginning_of_command(0, 10), ["run", "a-0", "${"], "its end counts for each");
        let long = spec.beginning_of_command(1, 101);
        assert_eq!(long[..3], ["run", "b-1", "${how} {what}"]);
        assert_eq!(long[3], format!("x={}", "ü".repeat(38)), "no letter is cut");
    }

    fn filled_bytes(spec: &JobSpec, position: u32) -> u64 {
        let parameters = spec.tasks.parameters(position);
        let texts = spec.command.iter().chain(spec.env.values()).chain(&spec.outputs);
        let values = parameters.iter().map(|(name, value)| name.len() + value.len());
        (texts.map(|text| fill_in(text, &parameters).len()).chain(values).sum::<usize>()) as u64
    }

    #[test]
    fn what_is_measured_is_what_is_filled_in() {
        let value = |length: usize| "v".repeat(length);
        let lists = [
            TaskList::One,
            TaskList::Array { first: 7, last: 1_000, step: 3 },
            TaskList::Rows {
                names: vec!["a".into(), "b".into()],
                values: [value(1_000), value(3), value(4), value(5_000)]
                    .iter()
                    .map(String::as_str)
                    .collect::<Words>(),
            },
            TaskList::Sweep {
                axes: vec![("a".into(), vec![value(1), value(900)]), ("b".into(), vec![value(50), value(7)])],
            },
        ];
        for tasks in lists {
            let mut spec =
                JobSpec { tasks, ..JobSpec::new(["run", "{a}-{a}", "{b} {c} ${a} {", "{GLEANER_INDEX}"]) };
            spec.env.insert("HOW".into(), "{a}{b}{{}}".into());
            spec.outputs = vec!["out/{GLEANER_INDEX}/{b}".into()];
            let items = 4 + 1 + 1 + spec.tasks.names().len() as u64;
            for position in 0..spec.tasks.count() {
                let (filled, measured) = (filled_bytes(&spec, position), spec.order_bytes(position));
                assert_eq!(measured, filled + 3 + items * ITEM_BYTES, "{position}: {:?}", spec.tasks);
                assert!(measured <= spec.order_bytes_max());
            }
        }
    }

    #[test]
    fn what_would_fill_the_memory_is_measured_at_once() {
        // 40,000 times 128 KiB in each of 400 arguments.
        let argument = "{a}".repeat(40_000);
        let mut spec =
            JobSpec::new(std::iter::once("echo").chain(std::iter::repeat_n(argument.as_str(), 400)));
        spec.tasks = TaskList::Sweep { axes: vec![("a".into(), vec!["x".repeat(128 << 10)])] };
        assert!(spec.order_bytes_max() - spec.order_bytes(0) < 20, "but for the number of the task");
        assert!(spec.order_bytes_max() > 1_900 << 30);
        // The description itself is too long, though nothing is left of it.
        spec.tasks = TaskList::Sweep { axes: vec![("a".into(), vec![String::new()])] };
        assert!(spec.order_bytes_max() > ORDER_BYTES_MAX);
    }
}
