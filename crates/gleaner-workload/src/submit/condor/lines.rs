//! A submit file line by line.

/// The lines that are left.
pub(super) struct Lines<'a> {
    rest: std::str::Lines<'a>,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { rest: text.lines(), number: 0 }
    }

    /// The next line as it is.
    pub(super) fn next(&mut self) -> Option<(u64, &'a str)> {
        self.number += 1;
        Some((self.number, self.rest.next()?))
    }

    /// The next statement: lines that end with a backslash go on in the next, where comments are skipped.
    pub(super) fn statement(&mut self) -> Option<(u64, String)> {
        let (number, first) = self.next()?;
        let mut text = first.to_owned();
        while !first.trim_start().starts_with('#') && text.ends_with('\\') {
            text.pop();
            let Some((_, line)) = self.next() else { break };
            let line = line.trim_start();
            if line.starts_with('#') {
                text.push_str(if line.ends_with('\\') { "\\" } else { "" });
            } else {
                text.push_str(line);
            }
        }
        Some((number, text))
    }
}
