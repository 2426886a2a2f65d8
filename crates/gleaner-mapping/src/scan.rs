//! Scans over all machines, eight side by side, in a form that compilers turn into vector instructions.
//!
//! Which instructions there are is asked at run time, by [`dispatch!`]: what runs inside it is compiled once for each
//! kind of processor, and has to be inlined for that. The values are the same to the bit on all of them: nothing is added
//! up in another order, and no product is fused with a sum.

#![expect(clippy::inline_always, reason = "a function of its own is compiled for any processor")]

use crate::level::level;
use fearless_simd::dispatch;

/// How many values a step of a scan looks at.
pub(crate) const LANES: usize = 8;

/// The least of `values`; infinite if there are none.
pub(crate) fn least(values: &[f64]) -> f64 {
    dispatch!(level(), _ => least_of(values))
}

#[inline(always)]
fn least_of(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = lesser(lanes[lane], chunk[lane]);
        }
    }
    rest.iter().copied().chain(lanes).fold(f64::INFINITY, lesser)
}

/// The greatest of the values that are at most `limit`; −∞ if there are none.
pub(crate) fn greatest_within(values: &[f64], limit: f64) -> f64 {
    dispatch!(level(), _ => greatest_of_those_within(values, limit))
}

#[inline(always)]
fn greatest_of_those_within(values: &[f64], limit: f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            let value = if chunk[lane] <= limit { chunk[lane] } else { f64::NEG_INFINITY };
            lanes[lane] = greater(lanes[lane], value);
        }
    }
    let rest = rest.iter().copied().filter(|value| *value <= limit);
    rest.chain(lanes).fold(f64::NEG_INFINITY, f64::max)
}

/// The first place of `value`.
pub(crate) fn place_of(values: &[f64], value: f64) -> Option<usize> {
    dispatch!(level(), _ => first_place_of(values, value))
}

#[inline(always)]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "all lanes are compared at once; a branch a lane would prevent that"
)]
fn first_place_of(values: &[f64], value: f64) -> Option<usize> {
    let (chunks, _) = values.as_chunks::<LANES>();
    let is_in = |chunk: &&[f64; LANES]| chunk.iter().fold(false, |any, other| any | (*other == value));
    let without = chunks.iter().take_while(|chunk| !is_in(chunk)).count() * LANES;
    Some(without + values[without..].iter().position(|other| *other == value)?)
}

/// Writes the sums of what stands in the same place, and gives the least; infinite if there are none.
pub(crate) fn write_sums(left: &[f64], right: &[f64], sums: &mut [f64]) -> f64 {
    dispatch!(level(), _ => {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum = left + right;
        }
        least_of(sums)
    })
}

/// The least of the sums of what stands in the same place.
pub(crate) fn least_sum(left: &[f64], right: &[f64]) -> f64 {
    dispatch!(level(), _ => least_of_sums(left, right))
}

#[inline(always)]
pub(crate) fn least_of_sums(left: &[f64], right: &[f64]) -> f64 {
    let ((lefts, left_rest), (rights, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let mut lanes = [f64::INFINITY; LANES];
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..LANES {
            lanes[lane] = lesser(lanes[lane], left[lane] + right[lane]);
        }
    }
    let rest = left_rest.iter().zip(right_rest).map(|(left, right)| left + right);
    rest.chain(lanes).fold(f64::INFINITY, lesser)
}

/// The least two of the sums of what stands in the same place; infinite where there are fewer.
#[inline(always)]
pub(crate) fn two_least_sums(left: &[f64], right: &[f64]) -> (f64, f64) {
    let ((lefts, left_rest), (rights, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    let (mut first, mut second) = ([f64::INFINITY; LANES], [f64::INFINITY; LANES]);
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..LANES {
            let sum = left[lane] + right[lane];
            second[lane] = lesser(second[lane], greater(first[lane], sum));
            first[lane] = lesser(first[lane], sum);
        }
    }
    let rest = left_rest.iter().zip(right_rest).map(|(left, right)| left + right);
    let sums = rest.chain(first).chain(second);
    sums.fold((f64::INFINITY, f64::INFINITY), |(first, second), sum| {
        (lesser(first, sum), lesser(second, greater(first, sum)))
    })
}

/// Adds the places at which the sum of what stands there is at most `limit`.
#[inline(always)]
pub(crate) fn places_within(left: &[f64], right: &[f64], limit: f64, places: &mut Vec<u32>) {
    let ((lefts, left_rest), (rights, right_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (start, (left, right)) in (0..).step_by(LANES).zip(lefts.iter().zip(rights)) {
        let sums: [f64; LANES] = std::array::from_fn(|lane| left[lane] + right[lane]);
        // Mostly none: one branch for all.
        if any_within(&sums, limit) {
            for (place, sum) in (start..).zip(&sums) {
                if *sum <= limit {
                    places.push(place);
                }
            }
        }
    }
    let rest = left_rest.iter().zip(right_rest).map(|(left, right)| left + right);
    let places_of_rest = ((lefts.len() * LANES) as u32..).zip(rest);
    places.extend(places_of_rest.filter(|(_, sum)| *sum <= limit).map(|(place, _)| place));
}

/// Whether one of `values` is at most `limit`.
#[inline(always)]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "all lanes are compared at once; a branch a lane would prevent that"
)]
pub(crate) fn any_within(values: &[f64; LANES], limit: f64) -> bool {
    values.iter().fold(false, |any, value| any | (*value <= limit))
}

/// Not [`f64::min`], which would ask about NaN at each step.
#[inline(always)]
pub(crate) fn lesser(left: f64, right: f64) -> f64 {
    if left < right { left } else { right }
}

/// Not [`f64::max`], for the same reason.
#[inline(always)]
pub(crate) fn greater(left: f64, right: f64) -> f64 {
    if left > right { left } else { right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_found_in_chunks_and_in_what_is_left_over() {
        for length in 0..40_usize {
            let left: Vec<f64> = (0..length).map(|at| ((at * 37 + 11) % 41) as f64).collect();
            let right: Vec<f64> = (0..length).map(|at| ((at * 23 + 5) % 29) as f64).collect();
            let least_left = left.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(least(&left), least_left);
            let within = left.iter().copied().filter(|value| *value <= 20.0);
            assert_eq!(greatest_within(&left, 20.0), within.fold(f64::NEG_INFINITY, f64::max));
            let mut sums = vec![0.0; length];
            let least_written = write_sums(&left, &right, &mut sums);
            let expected: Vec<f64> = left.iter().zip(&right).map(|(left, right)| left + right).collect();
            assert_eq!(sums, expected);
            for (place, sum) in sums.iter().enumerate() {
                assert!(place_of(&sums, *sum).is_some_and(|first| first <= place && sums[first] == *sum));
            }
            assert_eq!(place_of(&sums, -1.0), None);
            let places = (0..).zip(&sums).filter(|(_, sum)| **sum <= 20.0).map(|(place, _)| place);
            let expected: Vec<u32> = places.collect();
            let mut places = Vec::new();
            places_within(&left, &right, 20.0, &mut places);
            assert_eq!(places, expected);
            sums.sort_unstable_by(f64::total_cmp);
            sums.extend([f64::INFINITY; 2]);
            assert_eq!(
                (least_written, least_sum(&left, &right), two_least_sums(&left, &right)),
                (sums[0], sums[0], (sums[0], sums[1]))
            );
        }
    }
}
