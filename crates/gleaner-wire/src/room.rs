//! What texts and lists take in memory.

/// What an allocator hands out for so many bytes.
pub(crate) fn room(bytes: usize) -> usize {
    const LEAST: usize = 32;
    const STEP: usize = 16;
    const HEAD: usize = 8;
    if bytes == 0 { 0 } else { (bytes + HEAD).next_multiple_of(STEP).max(LEAST) }
}
