//! That a job asks for more cores than its user may take, said before it is submitted.

use crate::api::Api;
use gleaner_wire::job::JobSpec;

/// Tells to standard error of a job that waits until its user's quota is larger. All jobs of a description ask for the same.
pub(super) fn tell(grid: &Api, spec: &JobSpec) {
    let cores = spec.needs.cores;
    if cores <= 1 {
        return;
    }
    // Whoever cannot be told what the quota is, hears why the job waits when it does.
    let (Ok(overview), Ok(quotas)) = (grid.overview(), grid.quotas()) else { return };
    let own = quotas.users.iter().find(|view| view.user == overview.user);
    let most = own.map_or(quotas.everyone, |view| view.quota).cores;
    if let Some(warning) = too_many(cores, most) {
        anstream::eprintln!("warning: {warning}");
    }
}

fn too_many(cores: u32, most: u32) -> Option<String> {
    (cores > most).then(|| {
        format!(
            "a task needs {cores} cores, and all your tasks together may take {most} at a time (`gleaner quota show`): the job \
             waits until the quota is larger"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_quota_never_lets_start_is_told() {
        assert_eq!((too_many(2, 2), too_many(2, 3)), (None, None));
        let said = too_many(3, 1).expect("it never starts");
        let expected = "a task needs 3 cores, and all your tasks together may take 1 at a time";
        assert!(said.starts_with(expected), "{said}");
    }
}
