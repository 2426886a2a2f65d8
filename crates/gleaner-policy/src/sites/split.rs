//! A job's cores divided over sites, in an order.

use gleaner_core::{Needs, Room};

/// How many of a job's cores a site could take, with what falls to each of memory and disk.
#[inline]
pub fn cores_that_fit(free: &Room, needs: Needs) -> u32 {
    let by = |free: Option<u64>, needed: u64| match free {
        Some(free) if needed > 0 => {
            let cores = u128::from(free) * u128::from(needs.cores) / u128::from(needed);
            u32::try_from(cores).unwrap_or(u32::MAX)
        }
        Some(_) | None => u32::MAX,
    };
    let slots = free.slots.unwrap_or(u32::MAX);
    slots.min(by(free.memory, needs.memory)).min(by(free.disk, needs.disk)).min(needs.cores)
}

/// Each site takes as much as it can of what is left; none if they do not suffice together.
pub fn fill<T>(
    order: impl IntoIterator<Item = T>,
    cores: u32,
    mut fits: impl FnMut(&T) -> u32,
) -> Option<Vec<(T, u32)>> {
    let (mut parts, mut left) = (Vec::new(), cores);
    for site in order {
        let taken = fits(&site).min(left);
        if taken > 0 {
            parts.push((site, taken));
            left -= taken;
        }
        if left == 0 {
            return Some(parts);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_filled_in_order_and_the_last_in_part() {
        let free = [5, 3, 4, 8, 2];
        let parts = |cores| fill([2, 4, 1, 0, 3], cores, |site: &usize| free[*site]);
        assert_eq!(parts(11), Some(vec![(2, 4), (4, 2), (1, 3), (0, 2)]));
        assert_eq!(parts(23), None);
    }

    #[test]
    fn memory_and_disk_go_with_the_cores() {
        let needs = Needs { cores: 12, memory: 36, disk: 0 };
        let sites = [(8, 10), (4, 30), (16, 25)];
        let fits = |(slots, memory): (u32, u64)| {
            cores_that_fit(&Room { slots: Some(slots), memory: Some(memory), disk: None }, needs)
        };
        assert_eq!(sites.map(fits), [3, 4, 8]);
        assert_eq!(
            fill(sites, 12, |site| fits(*site)).map(|parts| parts.iter().map(|part| part.1).collect()),
            Some(vec![3, 4, 5])
        );
        for cores in 1..=12 {
            let part = needs.of_part(cores);
            let least = Room { slots: Some(12), memory: Some(part.memory), disk: None };
            assert!(cores_that_fit(&least, needs) >= cores, "what falls to {cores} cores is enough for them");
            let less = Room { memory: Some(part.memory - 1), ..least };
            assert!(cores_that_fit(&less, needs) < cores, "and less is not");
        }
    }
}
