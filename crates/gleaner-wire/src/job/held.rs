//! What a job's description takes in memory, about: as an allocator hands out room for each of its texts and lists.

use super::{Input, JobSpec, OwnInputs, TaskList};
use crate::BlobHash;
use crate::room::room;
use std::collections::BTreeMap;
use std::mem::size_of;

impl JobSpec {
    /// Bytes of memory that it takes where it is kept, about. Costs O(texts in it).
    pub fn memory_bytes(&self) -> u64 {
        let texts = [&self.cwd, &self.label, &self.requirements, &self.rank].into_iter().flatten();
        let signed = self.signed.iter().map(|signed| {
            room(size_of_val(&**signed))
                + room(signed.text.len())
                + room(signed.key.len())
                + room(signed.signature.len())
        });
        let lists = [&self.command, &self.outputs, &self.compare];
        let env = self.env.iter().map(|(name, value)| room(name.len()) + room(value.len()));
        let bytes = room(size_of::<Self>())
            + room(self.name.len())
            + texts.map(|text| room(text.len())).sum::<usize>()
            + signed.sum::<usize>()
            + lists.into_iter().map(|list| of_texts(list)).sum::<usize>()
            + of_map(&self.env)
            + env.sum::<usize>()
            + self.stdin.iter().map(|_| OF_HASH).sum::<usize>()
            + of_inputs(&self.inputs)
            + of_list(&self.own_inputs)
            + self.own_inputs.iter().map(of_own_inputs).sum::<usize>()
            + of_tasks(&self.tasks);
        bytes as u64
    }
}

fn of_tasks(tasks: &TaskList) -> usize {
    match tasks {
        TaskList::One | TaskList::Array { .. } => 0,
        TaskList::Numbers(numbers) => of_list(numbers),
        TaskList::Rows { names, values } => of_texts(names) + values.memory_bytes(),
        TaskList::Sweep { axes } => {
            let each = axes.iter().map(|(name, values)| room(name.len()) + of_texts(values));
            of_list(axes) + each.sum::<usize>()
        }
    }
}

fn of_own_inputs(own: &OwnInputs) -> usize {
    let each = own.files.iter().map(|(of, files)| room(of.len()) + of_inputs(files));
    room(own.of.len()) + of_map(&own.files) + each.sum::<usize>()
}

fn of_inputs(inputs: &[Input]) -> usize {
    let each = inputs.iter().map(|input| room(input.path.len()) + OF_HASH);
    of_list(inputs) + each.sum::<usize>()
}

/// The coordinator also keeps an index of who reads which file.
const OF_HASH: usize = 2 * size_of::<(BlobHash, u64)>();

fn of_texts(texts: &[String]) -> usize {
    of_list(texts) + texts.iter().map(|text| room(text.len())).sum::<usize>()
}

/// What was read bit by bit has room for more.
fn of_list<T>(list: &[T]) -> usize {
    if list.is_empty() { 0 } else { room(list.len().next_power_of_two() * size_of::<T>()) }
}

/// What comes in order leaves half of each node free.
fn of_map<V>(map: &BTreeMap<String, V>) -> usize {
    2 * map.len() * size_of::<(String, V)>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a share of what is written: what is short takes many times that, and a table about as much.
    #[test]
    fn each_part_of_a_description_counts() {
        let text = "x".repeat(1_000);
        let hash = "0".repeat(64);
        let input = serde_json::json!({ "path": text, "blob": hash });
        let plain = JobSpec::new(["true"]).memory_bytes();
        for (part, least, most) in [
            (serde_json::json!({ "name": text }), 1_000, 1_100),
            (serde_json::json!({ "command": [text] }), 950, 1_100),
            (serde_json::json!({ "env": { "a": text } }), 1_000, 1_200),
            (serde_json::json!({ "cwd": text }), 1_000, 1_100),
            (serde_json::json!({ "requirements": text }), 1_000, 1_100),
            (serde_json::json!({ "rank": text }), 1_000, 1_100),
            (serde_json::json!({ "label": text }), 1_000, 1_100),
            (serde_json::json!({ "outputs": [text] }), 1_000, 1_200),
            (serde_json::json!({ "compare": [text] }), 1_000, 1_200),
            (serde_json::json!({ "stdin": hash }), 60, 100),
            (serde_json::json!({ "inputs": [input] }), 1_080, 1_500),
            (serde_json::json!({ "own_inputs": [{ "of": text, "files": { "a": [input] } }] }), 2_100, 2_900),
            (serde_json::json!({ "signed": { "text": text, "key": "", "signature": "" } }), 1_000, 1_200),
            (serde_json::json!({ "tasks": { "numbers": (0..1_000).collect::<Vec<u32>>() } }), 4_000, 4_200),
            (
                serde_json::json!({ "tasks": { "rows": { "names": ["a"], "values": vec!["xy"; 1_000] } } }),
                6_000,
                6_200,
            ),
            (
                serde_json::json!({ "tasks": { "sweep": { "axes": [["a", vec!["xy"; 1_000]]] } } }),
                56_000,
                57_000,
            ),
        ] {
            let mut whole = serde_json::json!({ "command": ["true"] });
            let parts = part.as_object().expect("a part").clone();
            whole.as_object_mut().expect("a job").extend(parts);
            let spec: JobSpec = serde_json::from_value(whole).expect("a job");
            let more = spec.memory_bytes() - plain;
            assert!((least..=most).contains(&more), "{more} bytes of {part:.60}");
        }
    }
}
