//! One line of CSV into its fields.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

/// Splits lines, reusing its buffers.
pub(crate) struct Splitter {
    reader: Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
}

/// The fields of one line.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    text: &'a str,
    ends: &'a [usize],
}

impl Splitter {
    pub(crate) fn new() -> Self {
        // A lone carriage return is not a line end, since the lines are split already.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self { reader, output: Vec::new(), ends: Vec::new() }
    }

    /// The fields of `line`, which ends with a newline; none if a quoted field does not end in it.
    pub(crate) fn split(&mut self, line: &str) -> Option<Fields<'_>> {
        // No field takes more bytes than it is written with, and every field takes a comma or the newline.
        let room = line.len() + 2;
        if self.output.len() < room {
            self.output.resize(room, 0);
            self.ends.resize(room, 0);
        }
        self.reader.reset();
        let (result, _, written, fields) =
            self.reader.read_record(line.as_bytes(), &mut self.output, &mut self.ends);
        if result != ReadRecordResult::Record {
            return None;
        }
        let text =
            str::from_utf8(&self.output[..written]).expect("only quotes and commas are taken out of UTF-8");
        Some(Fields { text, ends: &self.ends[..fields] })
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn len(self) -> usize {
        self.ends.len()
    }

    /// The `index`-th field without the blanks around it.
    #[inline]
    pub(crate) fn field(self, index: usize) -> &'a str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.text[start..self.ends[index]].trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&[&str]>) {
        let mut splitter = Splitter::new();
        let fields = splitter.split(line);
        let fields: Option<Vec<&str>> =
            fields.map(|fields| (0..fields.len()).map(|i| fields.field(i)).collect());
        assert_eq!(fields.as_deref(), expected, "{line:?}");
    }

    #[test]
    fn lines_split_into_fields() {
        check("a,b\n", Some(&["a", "b"]));
        check("a,\n", Some(&["a", ""]));
        check(",,\n", Some(&["", "", ""]));
        check(" a , b \n", Some(&["a", "b"]));
        check("\"a,b\",\"say \"\"c\"\"\"\n", Some(&["a,b", "say \"c\""]));
        check("é,\"ü,\"\n", Some(&["é", "ü,"]));
        check("\"a,b\n", None);
    }
}
