//! Sorts indices by keys, fast: key and index in one machine word.
//!
//! A comparison of two words is a comparison without branches. Where the keys' spread leaves too few bits for the
//! index, their lowest bits are dropped, and the few neighbours that then look equal are sorted again in full.

/// Appends the indices of `keys` to `sorted`, by key and then by index.
pub(crate) fn sort_into(keys: &[u64], sorted: &mut Vec<u32>) {
    let Some((&lowest, &highest)) = keys.iter().min().zip(keys.iter().max()) else { return };
    let index_bits = usize::BITS - (keys.len() - 1).leading_zeros();
    let key_bits = u64::BITS - (highest - lowest).leading_zeros();
    let dropped = (index_bits + key_bits).saturating_sub(u64::BITS);
    let mut packed: Vec<u64> =
        (0..).zip(keys).map(|(index, key)| (((key - lowest) >> dropped) << index_bits) | index).collect();
    packed.sort_unstable();
    let mask = (1 << index_bits) - 1;
    let start = sorted.len();
    sorted.extend(packed.iter().map(|word| (word & mask) as u32));
    if dropped > 0 {
        sort_lookalikes(keys, &packed, mask, &mut sorted[start..]);
    }
}

fn sort_lookalikes(keys: &[u64], packed: &[u64], mask: u64, sorted: &mut [u32]) {
    let mut at = 0;
    for group in packed.chunk_by(|left, right| left & !mask == right & !mask) {
        let same = &mut sorted[at..at + group.len()];
        if group.len() > 1 {
            same.sort_unstable_by_key(|index| (keys[*index as usize], *index));
        }
        at += group.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_a_plain_sort_whatever_the_spread() {
        for shift in [0, 1, 20, 50, 60, 63] {
            let mut word = 1_u64;
            let mut keys: Vec<u64> = Vec::new();
            for _ in 0..1000 {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                keys.push(word >> shift);
            }
            keys.extend_from_within(100..200);
            let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
            expected.sort_by_key(|index| keys[*index as usize]);
            let mut sorted = vec![7];
            sort_into(&keys, &mut sorted);
            assert_eq!(sorted[1..], expected, "shift {shift}");
        }
        let mut sorted = Vec::new();
        sort_into(&[u64::MAX], &mut sorted);
        sort_into(&[], &mut sorted);
        assert_eq!(sorted, [0]);
    }
}
