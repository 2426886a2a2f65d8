//! Numbers that look drawn, each from a seed and a number alone.

/// `SplitMix64`'s last step on both. Of one seed, other numbers give other results.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut word = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// What a party of a run draws from: the run's own seed for the first, and for each other party a seed that no party of a neighbouring seed has.
pub(crate) fn seed_of_party(seed: u64, party: usize) -> u64 {
    if party == 0 { seed } else { mixed(seed, party as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_parties_of_neighbouring_seeds_draw_the_same() {
        let seeds: BTreeSet<u64> =
            (0..100).flat_map(|seed| (0..100).map(move |party| seed_of_party(seed, party))).collect();
        assert_eq!(seeds.len(), 100 * 100);
        assert_eq!(seed_of_party(7, 0), 7);
    }
}
