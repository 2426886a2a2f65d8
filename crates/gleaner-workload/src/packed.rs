//! Files that may be packed with gzip, read whole and within bounds. What a file is says its beginning, not its name.

use crate::InputError;
use crate::error::Place;
use crate::limits::LOG_BYTES_MAX;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The byte order mark that some spreadsheets write.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();
/// Any gzip file begins so.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What the file at `path` holds, unpacked; of a pipe, what comes through it until its end.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    let place = Place::whole(&path.display().to_string());
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => place.error("", "no such file", "a file that can be read"),
        _ => place.error("", format!("that reading fails: {error}"), "a file that can be read"),
    };
    let found = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if !found.is_file() && !found.is_fifo() {
        return Err(place.error("", "no regular file", "a file or a pipe that can be read"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LOG_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    unpack(bytes, &place)
}

/// `bytes` as they were before they were packed, if they are.
pub(crate) fn unpack(bytes: Vec<u8>, place: &Place) -> Result<Vec<u8>, InputError> {
    unpack_within(LOG_BYTES_MAX, bytes, place)
}

fn unpack_within(max: u64, bytes: Vec<u8>, place: &Place) -> Result<Vec<u8>, InputError> {
    let bytes = if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let mut decoder = BufReader::new(MultiGzDecoder::new(bytes.as_slice())).take(max + 1);
        decoder.read_to_end(&mut unpacked).map_err(|error| {
            place.error("", format!("that unpacking it fails: {error}"), "a whole gzip file, or plain text")
        })?;
        unpacked
    } else {
        bytes
    };
    if bytes.len() as u64 > max {
        let found = format!("more than {max} bytes, unpacked");
        return Err(place.error("", found, format!("at most {max} bytes")));
    }
    Ok(bytes)
}

/// What is behind a byte order mark, where there is one.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BOM).unwrap_or(bytes)
}

/// `bytes` as text, without a byte order mark.
pub(crate) fn text(bytes: Vec<u8>, place: &Place) -> Result<String, InputError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count() as u64;
        place.at_line(line).error("", "bytes that are not UTF-8", "UTF-8 text")
    })?;
    let mark = std::str::from_utf8(BOM).expect("the mark is UTF-8");
    Ok(text.strip_prefix(mark).map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn what_is_packed_is_unpacked_in_all_its_parts() {
        let place = Place::whole("a.gz");
        let two = [packed(b"one "), packed(b"two")].concat();
        assert_eq!(unpack(two, &place), Ok(b"one two".to_vec()));
        assert_eq!(unpack(b"plain".to_vec(), &place), Ok(b"plain".to_vec()));
        let mut cut = packed(b"a text that is cut off");
        cut.truncate(cut.len() - 9);
        assert!(unpack(cut, &place).expect_err("cut off").found.starts_with("that unpacking it fails"));
    }

    #[test]
    fn a_file_that_grows_without_end_is_refused_at_the_limit() {
        let endless = packed(&vec![0; 2 << 20]);
        assert!(endless.len() < 10_000, "it is small before");
        assert_eq!(
            unpack_within(2 << 20, endless.clone(), &Place::whole("a")).map(|bytes| bytes.len()),
            Ok(2 << 20)
        );
        let error = unpack_within((2 << 20) - 1, endless, &Place::whole("bomb.gz")).expect_err("too large");
        assert_eq!(error.found, "more than 2097151 bytes, unpacked");
    }
}
