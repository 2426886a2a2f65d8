//! Bodies on their way: read whole within a limit, or passed on piece by piece.

use super::ClientError;
use crate::address::Address;
use std::io::{self, Read, Write};
use ureq::Body;

const PIECE_BYTES: usize = 64 * 1024;

/// The whole body.
pub(crate) fn read_all(body: Body, limit_bytes: u64, address: &Address) -> Result<Vec<u8>, ClientError> {
    let expected = within(&body, limit_bytes)?;
    // A length is only a claim: no more than a piece is set aside for it.
    let mut content = Vec::with_capacity(PIECE_BYTES.min(expected.unwrap_or(0) as usize));
    let mut reader = body.into_reader().take(limit_bytes.saturating_add(1));
    reader.read_to_end(&mut content).map_err(|why| ClientError::broken_io(address, why))?;
    if content.len() as u64 > limit_bytes {
        return Err(ClientError::TooLarge { limit_bytes });
    }
    Ok(content)
}

/// Writes the body to `into` as it arrives. Its length in bytes.
pub(crate) fn forward(
    body: Body,
    into: &mut dyn Write,
    limit_bytes: u64,
    address: &Address,
) -> Result<u64, ClientError> {
    within(&body, limit_bytes)?;
    let mut reader = body.into_reader();
    let mut piece = vec![0; PIECE_BYTES];
    let mut length_bytes = 0;
    loop {
        let size = reader.read(&mut piece).map_err(|why| ClientError::broken_io(address, why))?;
        if size == 0 {
            return into.flush().map(|()| length_bytes).map_err(ClientError::Local);
        }
        length_bytes += size as u64;
        if length_bytes > limit_bytes {
            return Err(ClientError::TooLarge { limit_bytes });
        }
        into.write_all(&piece[..size]).map_err(ClientError::Local)?;
    }
}

fn within(body: &Body, limit_bytes: u64) -> Result<Option<u64>, ClientError> {
    match body.content_length() {
        Some(length) if length > limit_bytes => Err(ClientError::TooLarge { limit_bytes }),
        length => Ok(length),
    }
}

/// A body to send, of exactly the length that was announced: a source that ends early is an error, and what goes
/// beyond is not read.
pub(crate) struct Outgoing<'a> {
    from: &'a mut dyn Read,
    left_bytes: u64,
    failure: Option<io::Error>,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(from: &'a mut dyn Read, length_bytes: u64) -> Self {
        Self { from, left_bytes: length_bytes, failure: None }
    }

    /// What went wrong with the source, as apart from the connection.
    pub(crate) fn into_failure(self) -> Option<io::Error> {
        self.failure
    }

    fn read_source(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let wanted = into.len().min(usize::try_from(self.left_bytes).unwrap_or(usize::MAX));
        match self.from.read(&mut into[..wanted])? {
            0 if wanted > 0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter")),
            size => {
                self.left_bytes -= size as u64;
                Ok(size)
            }
        }
    }
}

impl Read for Outgoing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read_source(into) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => {
                    let told = why.kind().into();
                    self.failure = Some(why);
                    return Err(told);
                }
                Ok(size) => return Ok(size),
            }
        }
    }
}
