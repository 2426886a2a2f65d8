//! The suite that a form of the blobs passes.

use super::at;
use gleaner_server::blobs::{Blobs, PutError, Removed, Terms};
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::thread;

/// All of it, each promise with blobs of its own.
pub(crate) fn keeps_every_promise(check: impl Fn(fn(&dyn Blobs))) {
    let promises: [fn(&dyn Blobs); 9] = [
        keeps_contents_of_any_length,
        knows_nothing_of_what_was_not_put,
        keeps_one_copy_of_one_content,
        takes_no_more_than_the_terms_say,
        takes_only_what_was_claimed,
        keeps_nothing_of_a_body_that_breaks_off,
        removes_what_is_old_and_not_named,
        what_was_renewed_is_young,
        threads_put_and_remove_at_once,
    ];
    promises.into_iter().for_each(check);
}

fn content(blobs: &dyn Blobs, id: BlobHash) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    blobs.get(id).unwrap()?.body.read_to_end(&mut content).unwrap();
    Some(content)
}

fn put(blobs: &dyn Blobs, mut content: &[u8], terms: Terms) -> BlobHash {
    blobs.put(&mut content, terms).unwrap().id
}

fn keeps_contents_of_any_length(blobs: &dyn Blobs) {
    for length in [0, 1, 65_535, 65_536, 65_537, 1_000_000] {
        let written: Vec<u8> = (0..length).map(|index: u64| index as u8).collect();
        let put = blobs.put(&mut written.as_slice(), at(1)).unwrap();
        assert_eq!((put.id, put.bytes), (BlobHash::of(&written), length));
        assert_eq!(blobs.size(put.id).unwrap(), Some(length));
        assert_eq!(blobs.get(put.id).unwrap().unwrap().bytes, length);
        assert_eq!(content(blobs, put.id), Some(written));
    }
}

fn knows_nothing_of_what_was_not_put(blobs: &dyn Blobs) {
    let id = BlobHash::of(b"nowhere");
    assert!(blobs.get(id).unwrap().is_none());
    assert_eq!(blobs.size(id).unwrap(), None);
    assert_eq!(blobs.renew(id, Time::ZERO).unwrap(), None);
}

fn keeps_one_copy_of_one_content(blobs: &dyn Blobs) {
    for time in 1..=3 {
        put(blobs, b"the same", at(time));
    }
    let removed = blobs.remove_unreferenced(&|_| false, Time::NEVER).unwrap();
    assert_eq!(removed, Removed { blobs: 1, bytes: 8 });
}

fn takes_no_more_than_the_terms_say(blobs: &dyn Blobs) {
    for (length, at_most, fits) in
        [(0, 0, true), (1, 0, false), (70_000, 70_000, true), (70_000, 69_999, false)]
    {
        let put = blobs.put(&mut io::repeat(1).take(length), Terms { at_most, ..at(1) });
        assert_eq!(put.is_ok(), fits, "{length} bytes where {at_most} are taken: {put:?}");
        assert!(fits || matches!(put, Err(PutError::TooLarge { .. })), "{put:?}");
    }
    let endless = blobs.put(&mut io::repeat(1), Terms { at_most: 1 << 20, ..at(1) });
    assert!(matches!(endless, Err(PutError::TooLarge { .. })), "{endless:?}");
    let removed = blobs.remove_unreferenced(&|_| false, Time::NEVER).unwrap();
    assert_eq!(removed, Removed { blobs: 2, bytes: 70_000 });
}

fn takes_only_what_was_claimed(blobs: &dyn Blobs) {
    let (right, wrong) = (BlobHash::of(b"content"), BlobHash::of(b"other"));
    let refused = blobs.put(&mut b"content".as_slice(), Terms { claimed: Some(wrong), ..at(1) });
    assert!(
        matches!(refused, Err(PutError::OtherContent { claimed, found }) if (claimed, found) == (wrong, right)),
        "{refused:?}"
    );
    assert_eq!((blobs.size(right).unwrap(), blobs.size(wrong).unwrap()), (None, None));
    assert_eq!(put(blobs, b"content", Terms { claimed: Some(right), ..at(1) }), right);
}

struct BreaksOff;

impl Read for BreaksOff {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
}

fn keeps_nothing_of_a_body_that_breaks_off(blobs: &dyn Blobs) {
    let broken = blobs.put(&mut io::repeat(1).take(100_000).chain(BreaksOff), at(1));
    assert!(matches!(broken, Err(PutError::Body { .. })), "{broken:?}");
    assert_eq!(blobs.remove_unreferenced(&|_| false, Time::NEVER).unwrap(), Removed::default());
}

fn removes_what_is_old_and_not_named(blobs: &dyn Blobs) {
    let old = put(blobs, b"old", at(1_000));
    let named = put(blobs, b"named", at(1_000));
    let young = put(blobs, b"young", at(2_000));
    let keep = BTreeSet::from([named, BlobHash::of(b"nowhere")]);
    let removed = blobs.remove_unreferenced(&|id| keep.contains(&id), Time::from_nanos(2_000)).unwrap();
    assert_eq!(removed, Removed { blobs: 1, bytes: 3 });
    let there = [old, named, young].map(|id| blobs.size(id).unwrap().is_some());
    assert_eq!(there, [false, true, true]);
    let removed = blobs.remove_unreferenced(&|_| false, Time::NEVER).unwrap();
    assert_eq!(removed, Removed { blobs: 2, bytes: 10 });
}

fn what_was_renewed_is_young(blobs: &dyn Blobs) {
    let renewed = put(blobs, b"renewed", at(1_000));
    let again = put(blobs, b"put again", at(1_000));
    assert_eq!(blobs.renew(renewed, Time::from_nanos(3_000)).unwrap(), Some(7));
    put(blobs, b"put again", at(3_000));
    let removed = blobs.remove_unreferenced(&|_| false, Time::from_nanos(2_000)).unwrap();
    assert_eq!(removed, Removed::default());
    assert!(blobs.size(again).unwrap().is_some());
}

/// Each thread puts the same contents again and again, at a time that the remover does not reach.
fn threads_put_and_remove_at_once(blobs: &dyn Blobs) {
    let old = Time::from_nanos(5_000);
    for number in 0..20_u8 {
        put(blobs, &[number], at(1_000));
    }
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for number in 0..20_u8 {
                    put(blobs, &[number], at(9_000));
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20 {
                blobs.remove_unreferenced(&|_| false, old).unwrap();
            }
        });
    });
    for number in 0..20_u8 {
        assert_eq!(content(blobs, BlobHash::of(&[number])), Some(vec![number]));
    }
}
