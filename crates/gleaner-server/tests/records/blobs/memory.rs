//! The form without a disk: it conforms, and is full when it is told to be.

use super::at;
use super::conformance::{Medium, keeps_every_promise};
use gleaner_server::blobs::{Blobs, MemoryBlobs, PutError};

#[derive(Default)]
struct Memory;

impl Medium for Memory {
    fn open(&self) -> Box<dyn Blobs> {
        Box::new(MemoryBlobs::with_space(1 << 30))
    }
}

#[test]
fn conforms() {
    keeps_every_promise::<Memory>();
}

#[test]
fn full_is_full() {
    let blobs = MemoryBlobs::with_space(10);
    blobs.put(&mut b"1234567".as_slice(), at(1)).unwrap();
    let refused = blobs.put(&mut b"89ab".as_slice(), at(1));
    assert!(matches!(refused, Err(PutError::DiskFull)), "{refused:?}");
    assert_eq!(blobs.total_bytes(), 7);
}
