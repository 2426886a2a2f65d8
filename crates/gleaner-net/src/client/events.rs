//! Server-sent events, read line by line.
//!
//! Of the format's fields, `event` and `data` are kept; comments, which servers send as signs of life, and the rest
//! pass by. A line ends with a line feed, with or without a carriage return before it.

use super::ClientError;
use crate::address::Address;
use std::io::{BufRead, BufReader, Read};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its kind; `message` if the server gave none.
    pub event: String,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// The events of a stream, in order. It ends where the server ends it, or after the first error.
pub struct Events {
    lines: BufReader<Box<dyn Read + Send>>,
    limit_bytes: u64,
    address: Address,
    ended: bool,
}

impl Events {
    pub(crate) fn new(body: impl Read + Send + 'static, limit_bytes: u64, address: Address) -> Self {
        Self { lines: BufReader::new(Box::new(body)), limit_bytes, address, ended: false }
    }

    /// The next event; none at the end of the stream, where an event that was begun is lost by the format's rule.
    fn read_event(&mut self) -> Result<Option<ServerEvent>, ClientError> {
        let mut kind = String::new();
        let mut data: Option<String> = None;
        while let Some(line) = self.read_line()? {
            if line.is_empty() {
                let event = std::mem::take(&mut kind);
                let Some(data) = data.take() else { continue };
                let event = if event.is_empty() { "message".into() } else { event };
                return Ok(Some(ServerEvent { event, data }));
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut kind),
                "data" => self.append(&mut data, value)?,
                _ => {} // Comments, and the fields for browsers' reconnecting.
            }
        }
        Ok(None)
    }

    fn append(&self, data: &mut Option<String>, line: &str) -> Result<(), ClientError> {
        let whole = match data.take() {
            Some(before) => before + "\n" + line,
            None => line.into(),
        };
        if whole.len() as u64 > self.limit_bytes {
            return Err(ClientError::TooLarge { limit_bytes: self.limit_bytes });
        }
        *data = Some(whole);
        Ok(())
    }

    /// The next line without its end; none if the stream ends before the line does.
    fn read_line(&mut self) -> Result<Option<String>, ClientError> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.lines).take(self.limit_bytes.saturating_add(2));
        bounded.read_until(b'\n', &mut line).map_err(|why| ClientError::broken_io(&self.address, why))?;
        if line.pop_if(|end| *end == b'\n').is_none() {
            let cut = line.len() as u64 > self.limit_bytes;
            return if cut { Err(ClientError::TooLarge { limit_bytes: self.limit_bytes }) } else { Ok(None) };
        }
        line.pop_if(|end| *end == b'\r');
        String::from_utf8(line).map(Some).map_err(|_| ClientError::malformed("an event is not UTF-8"))
    }
}

impl Iterator for Events {
    type Item = Result<ServerEvent, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let event = self.read_event().transpose();
        self.ended = !matches!(event, Some(Ok(_)));
        event
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Events({})", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientError, Events};
    use std::io::Cursor;

    fn events(stream: &str, limit_bytes: u64) -> Events {
        let address = "https://127.0.0.1:1".parse().unwrap();
        Events::new(Cursor::new(stream.as_bytes().to_vec()), limit_bytes, address)
    }

    #[test]
    fn streams_and_their_events() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("", &[]),
            ("data: one\n\n", &[("message", "one")]),
            ("event: task\ndata: one\n\ndata:two\n\n", &[("task", "one"), ("message", "two")]),
            ("event:a\r\ndata: x\r\ndata:  y\r\n\r\n", &[("a", "x\n y")]),
            (": alive\n\n: alive\n\ndata: z\nid: 7\nretry: 3\nother\n\n", &[("message", "z")]),
            ("event: nothing\n\ndata\n\n", &[("message", "")]),
            ("data: whole\n\ndata: cut", &[("message", "whole")]),
            ("data: whole\n\ndata: cut\n", &[("message", "whole")]),
            ("data: a:b\n\n", &[("message", "a:b")]),
        ];
        for (stream, expected) in table {
            let events: Vec<_> = events(stream, 100).map(Result::unwrap).collect();
            let events: Vec<_> = events.iter().map(|e| (e.event.as_str(), e.data.as_str())).collect();
            assert_eq!(&events, expected, "{stream:?}");
        }
    }

    #[test]
    fn what_exceeds_the_limit_ends_the_stream() {
        let endless = "x".repeat(1000);
        let many = "data: 123456789\n".repeat(10);
        for stream in [&*endless, &*many] {
            let mut events = events(stream, 50);
            assert!(matches!(events.next(), Some(Err(ClientError::TooLarge { limit_bytes: 50 }))));
            assert!(events.next().is_none());
        }
    }

    #[test]
    fn a_line_of_just_the_limit_passes() {
        let stream = format!("data: {}\n\n", "x".repeat(44));
        assert_eq!(events(&stream, 50).next().unwrap().unwrap().data.len(), 44);
        assert!(events(&stream, 48).next().unwrap().is_err());
    }
}
