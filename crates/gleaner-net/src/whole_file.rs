//! Files that appear whole or not at all, and that are read without waiting for anybody.

use rustix::fs::OFlags;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 16;

/// Writes a file whole, or leaves the one that is there: it is written beside its place, synced and renamed, and then its folder is
/// synced, so that a power cut changes nothing of that. `mode` is less what the process takes from all files. Two that write the same
/// file do not disturb each other; the last stays.
pub fn replace_file(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new();
    // It goes away by itself if this fails.
    let beside = beside.prefix(".gleaner-").suffix(".part").permissions(Permissions::from_mode(mode));
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, beside.tempfile_in(folder)?);
    write(&mut out)?;
    let file = out.into_inner()?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|refused| refused.error)?;
    File::open(folder)?.sync_all()
}

/// Opens a file to read it. What is no file, as a pipe, is an error at once, and not when somebody writes to it.
pub fn open_file(path: &Path) -> io::Result<File> {
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(without_waiting).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let what = if kind.is_fifo() {
        "a pipe"
    } else if kind.is_dir() {
        "a folder"
    } else {
        "a device"
    };
    Err(io::Error::other(format!("it is {what}, and no file: move it away, and start again")))
}

/// What a file holds; likewise.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Likewise, of a text.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?)
        .map_err(|why| io::Error::new(io::ErrorKind::InvalidData, format!("it is no text ({why})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;

    #[test]
    fn a_file_is_written_whole_with_its_mode_or_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for (mode, text) in [(0o600, "first"), (0o640, "second")] {
            replace_file(&path, mode, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
            assert_eq!(read_text(&path).unwrap(), text);
        }
        let failing = replace_file(&path, 0o600, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failing.is_err());
        assert_eq!(read_text(&path).unwrap(), "second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn two_who_write_at_once_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("by_hand");
        std::thread::scope(|scope| {
            for letter in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        replace_file(path, 0o600, |out| out.write_all(letter.repeat(5_000).as_bytes()))
                            .unwrap();
                    }
                });
            }
        });
        let text = read_text(&path).unwrap();
        assert!(text.len() == 5_000 && text.chars().all(|letter| text.starts_with(letter)));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for (path, what) in [(pipe.as_path(), "a pipe"), (folder.path(), "a folder")] {
            let why = read_file(path).unwrap_err().to_string();
            assert!(why.starts_with(&format!("it is {what}, and no file")), "{why}");
        }
        let none = read_file(&folder.path().join("none")).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
        fs::write(folder.path().join("bytes"), [0xff]).unwrap();
        assert_eq!(read_text(&folder.path().join("bytes")).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
