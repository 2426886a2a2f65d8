//! The seccomp filter: what a program of a grid has no need of, and what holes in kernels are most often made of.
//!
//! It is a list of what is refused, since a list of what is allowed breaks programs with each new C library.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::LaunchError;

/// Refused with `EPERM`.
const REFUSED: [c_long; 53] = [
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_vhangup,
    libc::SYS_fanotify_init,
    // Keys, which namespaces do not divide.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine's clock and names.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Memory placement of others.
    libc::SYS_migrate_pages,
];

/// `ioctl`s that type into a terminal.
const TYPING: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Sets the filter for this process and all that come from it.
pub(super) fn filter() -> Result<(), LaunchError> {
    let failed = |error: &dyn std::fmt::Display| LaunchError::Seccomp(error.to_string());
    for program in programs().map_err(|error| failed(&error))? {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn programs() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let mut refused: BTreeMap<c_long, Vec<SeccompRule>> = REFUSED.map(|call| (call, Vec::new())).into();
    let namespace = libc::CLONE_NEWUSER as u64;
    refused.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(namespace), namespace)?]);
    let typing = TYPING.map(|request| when(1, SeccompCmpOp::Eq, request));
    refused.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    // Its flags are behind a pointer, where no filter sees them: "no such call" sends C libraries back to `clone`.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok([compile(refused, libc::EPERM)?, compile(unknown, libc::ENOSYS)?])
}

fn when(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?])
}

fn compile(
    rules: BTreeMap<c_long, Vec<SeccompRule>>,
    errno: i32,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let answer = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?.try_into()
}
