//! The folder of one run: made before its program starts, and looked through when it has ended.
//!
//! - A program finds its inputs in it, as copies of its own.
//! - **Names come from outside**: a path that leaves the folder is refused.
//! - What it leaves is packed once it and all its processes are gone; all the same it is looked through as if one of them
//!   still changed it ([`crate::beneath`]).

mod as_new;
mod room;

pub(crate) use as_new::{has_no_attributes, is_as_new};

use crate::allowance::{Allowance, PIECE_BYTES, Withheld, is_full, withheld};
use crate::archive::{self, ArchiveError, Taking};
use crate::beneath;
use crate::cache::{Cache, CacheError, hash_of};
use crate::duties::{Collected, TransferError, Wanted, can_go_on};
use crate::lack::is_lack;
use gleaner_net::{Client, ClientError};
use gleaner_units::RunId;
use gleaner_wire::BlobHash;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use gleaner_wire::outputs::{ALL_FILES, name, pattern};
use gleaner_wire::session::{Run, Stored};
use gleaner_wire::task_folder::{ANSWERS, ANSWERS_FOLDER, CHECKPOINT, STDIN, TEMPORARY};
use globset::{GlobSet, GlobSetBuilder};
use room::with_room;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, unlinkat};
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path};
use std::thread;

/// So many output files that are not there are named.
const NOT_LEFT_NAMED: usize = 3;

/// Bytes that are packed before they are hashed or sent.
const PACKED_AT_ONCE: usize = 256 << 10;

/// Where a folder comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It is yet to be made.
    None,
    /// An earlier run had it, and left it as new.
    EarlierRun,
}

/// Whether making the folder takes more than a moment.
pub(crate) fn needs_transfers(run: &Run) -> bool {
    !run.inputs.is_empty() || run.stdin.is_some() || run.resume_from.is_some() || run.answers.is_some()
}

/// Makes the folder of a run that needs nothing brought to it, unless there is one as new for it.
pub(crate) fn prepare_empty(run: &Run, folder: &Path, origin: Origin) -> Result<(), TransferError> {
    Outputs::of(&run.outputs)?;
    if origin == Origin::None {
        make_new(folder)?;
    }
    if can_go_on(&run.checkpoint) {
        make(&folder.join(CHECKPOINT))?;
    }
    Ok(())
}

/// Makes the folder of a run with its inputs and its checkpoint.
pub(crate) fn prepare(
    run: &Run,
    folder: &Path,
    cache: &Cache,
    client: Option<&Client>,
    allowance: &Allowance,
) -> Result<(), TransferError> {
    Outputs::of(&run.outputs)?;
    allowance.check().map_err(|why| failed(folder, &why))?;
    with_room(cache, || {
        make_new(folder)?;
        if can_go_on(&run.checkpoint) {
            make(&folder.join(CHECKPOINT))?;
        }
        Ok(())
    })?;
    let client = client.ok_or_else(|| TransferError::Later("there is no session".into()))?;
    let fetch = |blob: &BlobHash, into: &mut dyn Write, limit| {
        client.download(&address_of(blob), &mut allowance.to_disk(into), limit).map(drop)
    };
    let opened = open(folder)?;
    let mut brought = 0;
    let fetched = |blob: &BlobHash| {
        with_room(cache, || cache.open_file(blob, |into, limit| fetch(blob, into, limit)).map_err(from_cache))
    };
    let mut bring = |blob: &BlobHash, path: &Path, is_executable| {
        let from = fetched(blob)?;
        brought += from.metadata().map_err(|why| failed(path, &why))?.len();
        keeps_to_its_disk(run, brought)?;
        with_room(cache, || {
            copy_inside(&opened, path, is_executable, &from, allowance).map_err(|why| failed(path, &why))
        })
    };
    for input in &run.inputs {
        bring(&input.blob, inside(&input.path)?, input.executable)?;
    }
    if let Some(stdin) = &run.stdin {
        bring(stdin, Path::new(STDIN), false)?;
    }
    let mut unpack = |stored: &Stored, into: &str| -> Result<(), TransferError> {
        let mut archive = fetched(&stored.blob)?;
        let most = if run.needs.disk > 0 { run.needs.disk.saturating_sub(brought) } else { BLOB_BYTES_MAX };
        brought += with_room(cache, || {
            // What an earlier try unpacked goes.
            make(&folder.join(into))?;
            archive.rewind().map_err(|why| failed(Path::new(into), &why))?;
            let within = open_inside(&opened, into)?;
            let unpacked = archive::unpack_at_most(most, allowance.to_disk(&archive), within, Taking::All);
            unpacked.map_err(|why| match why {
                ArchiveError::TooLarge if most < BLOB_BYTES_MAX => {
                    TransferError::TooLarge(format!("{into}: more than it may take on the disk"))
                }
                why => from_archive(&why),
            })
        })?;
        Ok(())
    };
    if let Some(checkpoint) = &run.resume_from {
        unpack(checkpoint, CHECKPOINT)?;
    }
    if let Some(answers) = &run.answers {
        with_room(cache, || make(&folder.join(ANSWERS_FOLDER)))?;
        for (answer, into) in answers.iter().zip(ANSWERS) {
            if let Some(answer) = answer {
                unpack(answer, into)?;
            } else {
                with_room(cache, || make(&folder.join(into)))?;
            }
        }
    }
    Ok(())
}

/// Stores at the coordinator what a run left. An error is the checkpoint's where that is wanted: what cannot be stored of the output
/// files then takes nothing from it.
pub(crate) fn collect(
    run: &Run,
    folder: &Path,
    wanted: Wanted,
    client: &Client,
    allowance: &Allowance,
) -> Result<Collected, TransferError> {
    let mut collected = Collected::default();
    let opened = open(folder)?;
    if wanted.checkpoint {
        // The task may have put anything in its place, as a link to somewhere else.
        let checkpoint = open_inside(&opened, CHECKPOINT)?;
        let listing = archive::list(&checkpoint, &[]).map_err(|why| from_archive(&why))?;
        keeps_to_its_disk(run, archive::size(&listing))?;
        collected.checkpoint = store(run.id, (&checkpoint, &listing), client, allowance)?;
    }
    if wanted.files {
        match collect_files(run, &opened, &mut collected, client, allowance) {
            Err(error) if wanted.checkpoint && !matches!(error, TransferError::Later(_)) => {
                collected.files_lost = Some(error);
            }
            stored => stored?,
        }
    }
    Ok(collected)
}

fn collect_files(
    run: &Run,
    folder: &OwnedFd,
    collected: &mut Collected,
    client: &Client,
    allowance: &Allowance,
) -> Result<(), TransferError> {
    let outputs = Outputs::of(&run.outputs)?;
    let mut listing =
        archive::list(folder, &[CHECKPOINT, TEMPORARY, STDIN]).map_err(|why| from_archive(&why))?;
    let unchanged = unchanged(run, (folder, &listing), allowance);
    let none = vec![false; run.outputs.len()];
    let (mut is_there, mut has_others) = (none.clone(), none);
    listing.retain(|path, about| {
        let matched: Vec<usize> = path.ancestors().flat_map(|part| outputs.matching(part)).collect();
        let is_left = !unchanged.contains(path.as_path());
        let is_named = matched.iter().any(|&at| is_left || run.outputs[at] != ALL_FILES);
        let is_wanted = archive::is_file(about) && is_named;
        for at in matched {
            is_there[at] |= is_wanted;
            has_others[at] |= archive::is_other(about);
        }
        is_wanted
    });
    let missing = run.outputs.iter().zip(is_there).zip(has_others);
    let missing = missing.filter(|((output, is_there), _)| !is_there && output.as_str() != ALL_FILES);
    let named = missing
        .map(|((output, _), has_others)| if has_others { of_another_kind(output) } else { output.clone() });
    collected.not_left = not_left(&named.collect::<Vec<_>>());
    keeps_to_its_disk(run, archive::size(&listing))?;
    collected.files = store(run.id, (folder, &listing), client, allowance)?;
    Ok(())
}

/// The inputs that are as they were brought, where all files are asked for: a task does not leave these. One that cannot be read is seen to
/// as the others are.
fn unchanged<'a>(
    run: &'a Run,
    (folder, listing): (&OwnedFd, &archive::Listing),
    allowance: &Allowance,
) -> BTreeSet<&'a Path> {
    let asks_for_all = run.outputs.iter().any(|output| output == ALL_FILES);
    let inputs = run.inputs.iter().filter(|_| asks_for_all);
    let is_as_brought = |path: &Path, blob: &BlobHash| {
        let about = listing.get(path).filter(|about| archive::is_file(about) && about.st_nlink == 1)?;
        if about.st_size.cast_unsigned() > BLOB_BYTES_MAX {
            return None;
        }
        let mut file = File::from(archive::open_listed(folder, path, about).ok()?);
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut file, &mut allowance.elsewhere(&mut hasher)).ok()?;
        (hash_of(&hasher) == *blob).then_some(())
    };
    let found = inputs.map(|input| (Path::new(&input.path), &input.blob));
    found.filter(|&(path, blob)| is_as_brought(path, blob).is_some()).map(|(path, _)| path).collect()
}

/// Removes a folder in which a program left nothing; false if there is more to do.
pub(crate) fn remove_if_empty(folder: &Path) -> bool {
    for inner in [TEMPORARY, CHECKPOINT] {
        let _ = fs::remove_dir(folder.join(inner));
    }
    match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    }
}

/// Packs what is listed, and puts it where the coordinator keeps such things; none if nothing is listed. It is packed twice, for its
/// hash and on its way, and takes no room on the disk: files with holes would take more there than they did.
fn store(
    run: RunId,
    (from, listing): (&OwnedFd, &archive::Listing),
    client: &Client,
    allowance: &Allowance,
) -> Result<Option<Stored>, TransferError> {
    if listing.is_empty() {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    let hashing = io::BufWriter::with_capacity(PACKED_AT_ONCE, allowance.elsewhere(&mut hasher));
    archive::pack(from, listing, hashing).map_err(|why| from_archive(&why))?;
    let size = hasher.count();
    if size > BLOB_BYTES_MAX {
        return Err(TransferError::TooLarge(beyond_the_limit()));
    }
    let blob = hash_of(&hasher);
    let address = format!("{}?task={}&run={}", address_of(&blob), run.task.index(), run.number);
    let lacks = |why: io::Error| failed(Path::new("what stores it"), &why);
    let (mut packed, into) = io::pipe().map_err(lacks)?;
    let into = io::BufWriter::with_capacity(PACKED_AT_ONCE, allowance.elsewhere(into));
    let (packing, stored) = thread::scope(|scope| {
        let packing = thread::Builder::new().spawn_scoped(scope, || archive::pack(from, listing, into))?;
        let stored = client.upload::<IgnoredAny>(&address, &mut packed, size);
        // So that a packer whose bytes nobody takes any more ends.
        drop(packed);
        Ok((packing.join().expect("packing does not panic"), stored))
    })
    .map_err(lacks)?;
    match (stored, packing) {
        (Ok(_), _) => Ok(Some(Stored { blob, size })),
        // The end of what came through the pipe came too early.
        (Err(ClientError::Local(_)), Err(why)) => Err(from_archive(&why)),
        (Err(why), _) => Err(from_client(&why)),
    }
}

/// How an output file is named that is there, and not kept.
fn of_another_kind(output: &str) -> String {
    format!("{output} (a link, pipe or socket is there: only plain files are kept)")
}

/// What to say of output files that were named and are not there.
fn not_left(missing: &[String]) -> Option<String> {
    let (named, more) = missing.split_at(missing.len().min(NOT_LEFT_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(", nor {} more", more.len()) };
    (!named.is_empty()).then(|| format!("it left no output file {}{more}", named.join(", nor ")))
}

/// A run brings and leaves no more than it may take on the disk, holes counted.
fn keeps_to_its_disk(run: &Run, bytes: u64) -> Result<(), TransferError> {
    if run.needs.disk > 0 && bytes > run.needs.disk {
        let most = run.needs.disk;
        return Err(TransferError::TooLarge(format!(
            "{bytes} bytes, more than the {most} that it may take on the disk"
        )));
    }
    Ok(())
}

fn address_of(blob: &BlobHash) -> String {
    format!("/api/v1/blobs/{blob}")
}

fn make_new(folder: &Path) -> Result<(), TransferError> {
    make(folder)?;
    make(&folder.join(TEMPORARY))
}

fn make(folder: &Path) -> Result<(), TransferError> {
    let create = || fs::DirBuilder::new().mode(as_new::MODE).create(folder);
    match create() {
        // A second try, after a first that broke off.
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            beneath::remove(folder).and_then(|()| create())
        }
        made => made,
    }
    .map_err(|why| failed(folder, &why))
}

fn open(folder: &Path) -> Result<OwnedFd, TransferError> {
    beneath::open_root(folder).map_err(|why| failed(folder, &why.into()))
}

fn open_inside(folder: &OwnedFd, name: &str) -> Result<OwnedFd, TransferError> {
    beneath::open_folder(folder, Path::new(name)).map_err(|why| match why.into() {
        why if is_lack(&why) => failed(Path::new(name), &why),
        why => TransferError::Failed(format!("{name} is no folder that can be opened any more ({why})")),
    })
}

/// What could not be copied in full leaves its name free for another try.
fn copy_inside(
    folder: &OwnedFd,
    path: &Path,
    is_executable: bool,
    from: &File,
    allowance: &Allowance,
) -> io::Result<()> {
    let parent = beneath::make_folders(folder, path.parent().unwrap_or(Path::new("")))?;
    let name = Path::new(path.file_name().unwrap_or_default());
    let to = File::from(beneath::create(&parent, name, is_executable)?);
    let copied = copy(from, to, allowance);
    if copied.is_err() {
        let _ = unlinkat(&parent, name, AtFlags::empty());
    }
    copied
}

/// The kernel shares or copies the bytes by itself where it can.
fn copy(mut from: &File, mut to: File, allowance: &Allowance) -> io::Result<()> {
    from.rewind()?;
    loop {
        let _room = allowance.piece()?;
        if io::copy(&mut from.take(PIECE_BYTES), &mut to)? == 0 {
            return Ok(());
        }
    }
}

/// The path, if it is one below a folder.
fn inside(path: &str) -> Result<&Path, TransferError> {
    let is_plain = |part| matches!(part, Component::Normal(_));
    let path = Path::new(path);
    if path.components().next().is_none() || !path.components().all(is_plain) {
        return Err(TransferError::Failed(format!("{} leaves the task's folder", path.display())));
    }
    Ok(path)
}

fn beyond_the_limit() -> String {
    format!("more than the {} GiB that are kept", BLOB_BYTES_MAX >> 30)
}

/// The output files of a job: each text is a pattern, and also the name of a file that is called just so.
struct Outputs {
    globs: GlobSet,
    /// Which text each of them is of.
    texts: Vec<usize>,
}

impl Outputs {
    fn of(texts: &[String]) -> Result<Self, TransferError> {
        let refused = |why: globset::Error| TransferError::Failed(format!("outputs: {why}"));
        let (mut globs, mut of_texts) = (GlobSetBuilder::new(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let named = name(text).map_err(refused)?;
            // With parameters filled in it may be no pattern any more.
            let read = pattern(text).ok().filter(|read| *read != named);
            for glob in read.into_iter().chain([named]) {
                globs.add(glob);
                of_texts.push(at);
            }
        }
        Ok(Self { globs: globs.build().map_err(refused)?, texts: of_texts })
    }

    /// The positions of the texts that name this file or folder.
    fn matching(&self, path: &Path) -> impl Iterator<Item = usize> {
        self.globs.matches(path).into_iter().map(|at| self.texts[at])
    }
}

fn failed(path: &Path, why: &io::Error) -> TransferError {
    match withheld(why) {
        Some(stopped @ (Withheld::Stopped | Withheld::Unwanted)) => TransferError::Later(stopped.to_string()),
        Some(full @ Withheld::DiskFull { .. }) => TransferError::NoRoom(full.to_string()),
        None if is_full(why) => TransferError::NoRoom(format!("{}: {why}", path.display())),
        None if is_lack(why) => TransferError::Later(format!("{}: {why}", path.display())),
        None => TransferError::Failed(format!("{}: {why}", path.display())),
    }
}

fn from_archive(error: &ArchiveError) -> TransferError {
    match error {
        ArchiveError::TooLarge => TransferError::TooLarge(beyond_the_limit()),
        ArchiveError::TooMany | ArchiveError::TooDeep => TransferError::TooLarge(error.to_string()),
        ArchiveError::NotItsOwn(_) => TransferError::Refused(error.to_string()),
        // What may not be read now, nor made readable, is not to be read after another run either.
        ArchiveError::File { path, why } if why.kind() == io::ErrorKind::PermissionDenied => {
            TransferError::Refused(format!("{}: {why}", path.display()))
        }
        ArchiveError::File { path, why } => failed(path, why),
        ArchiveError::Archive(why) => failed(Path::new("the archive"), why),
        ArchiveError::Foreign(_) | ArchiveError::Link { .. } | ArchiveError::Exists(_) => {
            TransferError::Failed(error.to_string())
        }
    }
}

fn from_cache(error: CacheError<ClientError>) -> TransferError {
    match error {
        CacheError::Fetch(error) => from_client(&error),
        CacheError::File { path, why } => failed(&path, &why),
        CacheError::Mismatch { .. } => TransferError::Failed(error.to_string()),
    }
}

fn from_client(error: &ClientError) -> TransferError {
    match error {
        ClientError::Unreachable { .. } | ClientError::Tls { .. } | ClientError::Malformed { .. } => {
            TransferError::Later(error.to_string())
        }
        ClientError::Refused { status, .. } if is_for_now(*status) => TransferError::Later(error.to_string()),
        ClientError::TooLarge { .. } | ClientError::Refused { status: 413, .. } => {
            TransferError::TooLarge(error.to_string())
        }
        ClientError::Local(why) => failed(Path::new("a file of it"), why),
        _ => TransferError::Failed(error.to_string()),
    }
}

/// Whether a coordinator that answers so may answer otherwise later: the token ended with its connection and the next
/// brings a new one, bytes came too slowly, too much goes on, its disk is full, or something is wrong with it.
fn is_for_now(status: u16) -> bool {
    matches!(status, 401 | 408 | 429 | 500..=599)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_disk_that_is_full_as_files_come_is_the_machines_fault() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let found = from_client(&ClientError::Local(kind.into()));
            assert!(matches!(found, TransferError::NoRoom(_)), "{found:?}");
        }
    }

    #[test]
    fn a_file_that_may_not_be_read_is_not_asked_for_again() {
        let (path, why) = (PathBuf::from("out"), io::Error::from(io::ErrorKind::PermissionDenied));
        for error in [ArchiveError::NotItsOwn(path.clone()), ArchiveError::File { path, why }] {
            let found = from_archive(&error);
            assert!(matches!(found, TransferError::Refused(_)), "{found:?}");
        }
    }
}
