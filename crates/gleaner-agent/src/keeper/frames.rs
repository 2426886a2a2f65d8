//! Messages on a stream: four bytes of length, little-endian, then postcard.

use std::io::{self, Read};

use serde::{Serialize, de::DeserializeOwned};

/// The longest message that is sent or accepted.
pub const FRAME_BYTES_MAX: usize = 4 << 20;

const HEADER_BYTES: usize = 4;

/// Why a message could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side is gone.
    #[error("the other end of the pipe is closed")]
    Closed,
    /// The stream failed.
    #[error("the pipe failed: {0}")]
    Io(io::Error),
    /// The message is too long.
    #[error("a message of {0} bytes, more than the {FRAME_BYTES_MAX} that are allowed")]
    TooLong(usize),
    /// The message is not one of ours.
    #[error("a message that cannot be read: {0}")]
    Malformed(#[from] postcard::Error),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Unread messages were lost with it.
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

/// The bytes of a message.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut bytes = postcard::to_extend(message, vec![0; HEADER_BYTES])?;
    let length = bytes.len() - HEADER_BYTES;
    if length > FRAME_BYTES_MAX {
        return Err(FrameError::TooLong(length));
    }
    bytes[..HEADER_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

/// What has arrived and was not yet read as messages.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Adds what one `read` gives.
    pub fn fill(&mut self, stream: &mut impl Read) -> Result<(), FrameError> {
        let mut chunk = [0; 4096];
        let length = loop {
            match stream.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if length == 0 {
            return Err(FrameError::Closed);
        }
        self.extend(&chunk[..length]);
        Ok(())
    }

    /// Adds bytes that came by another way.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the first message, if all of it is here.
    pub fn pop<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let Some(header) = self.bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong(length));
        }
        let end = HEADER_BYTES + length;
        let Some(body) = self.bytes.get(HEADER_BYTES..end) else { return Ok(None) };
        let message = postcard::from_bytes(body)?;
        self.bytes.drain(..end);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_pieces_and_together() {
        let sent = ["", "a", "longer than the others"];
        let bytes: Vec<u8> = sent.iter().flat_map(|text| encode(text).unwrap()).collect();
        for piece in [1, 3, 7, bytes.len()] {
            let mut inbox = Inbox::default();
            let mut got: Vec<String> = Vec::new();
            for chunk in bytes.chunks(piece) {
                inbox.extend(chunk);
                while let Some(text) = inbox.pop().unwrap() {
                    got.push(text);
                }
            }
            assert_eq!(got, sent, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_length_out_of_bounds_is_refused_before_its_bytes_come() {
        let mut inbox = Inbox::default();
        inbox.extend(&u32::MAX.to_le_bytes());
        assert!(matches!(inbox.pop::<String>(), Err(FrameError::TooLong(_))));
    }
}
