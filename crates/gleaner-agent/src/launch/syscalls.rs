//! The seccomp filter: what a program of a grid has no need of, and what holes in kernels are most often made of.
//!
//! It is a list of what is refused, since a list of what is allowed breaks programs with each new C library. Of sockets it
//! is the other way round: kernels have dozens of families, and programs use four. Calls of another architecture end the
//! program; those of x32, a second form of the calls of x86-64, are refused.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use super::LaunchError;
use super::instructions::Walls;

/// Refused with `EPERM`.
const REFUSED: [c_long; 55] = [
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
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
    // All processes of a machine share one number of these.
    libc::SYS_io_setup,
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

/// The families of sockets that there are for a task, and the protocols of the first three. Netlink is how C libraries
/// find out about addresses, and that part of it is all there is.
const FAMILIES: [i32; 4] = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX, libc::AF_NETLINK];
const PROTOCOLS: [i32; 5] =
    [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP, libc::IPPROTO_ICMP, libc::IPPROTO_ICMPV6];

/// The largest segment of shared memory as System V has it, where nothing counts what a task keeps there without having it mapped.
/// There are 4,096 segments at most, so all together are 256 MiB.
const SEGMENT_BYTES_MAX: u64 = 64 << 10;

/// Since Linux 6.15; libc has no name for it yet.
const SYS_OPEN_TREE_ATTR: c_long = 467;

/// Since Linux 6.19; libc has no name for it yet.
const F_SETDELEG: i32 = 1_040;

/// Set in the number of each x32 call.
const X32: u32 = 0x4000_0000;

/// Sets the filter for this process and all that come from it.
pub(super) fn filter(walls: &Walls) -> Result<(), LaunchError> {
    let failed = |error: &dyn std::fmt::Display| LaunchError::Seccomp(error.to_string());
    for program in programs(walls).map_err(|error| failed(&error))? {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn programs(walls: &Walls) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused: BTreeMap<c_long, Vec<SeccompRule>> = REFUSED.map(|call| (call, Vec::new())).into();
    let namespace = libc::CLONE_NEWUSER as u64;
    let makes_namespace = when(0, SeccompCmpOp::MaskedEq(namespace), namespace)?;
    refused.insert(libc::SYS_clone, vec![SeccompRule::new(vec![makes_namespace])?]);
    // The agent looks at what a task's processes have open.
    let hides = vec![
        when(0, SeccompCmpOp::Eq, libc::PR_SET_DUMPABLE.cast_unsigned().into())?,
        when(1, SeccompCmpOp::Eq, 0)?,
    ];
    refused.insert(libc::SYS_prctl, vec![SeccompRule::new(hides)?]);
    // What is mounted for all tasks of a machine may belong to their user: who leases a file, or has one or a folder delegated, has
    // others wait.
    let leases = [libc::F_SETLEASE, F_SETDELEG]
        .map(|command| SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, command.cast_unsigned().into())?]));
    refused.insert(libc::SYS_fcntl, leases.into_iter().collect::<Result<_, _>>()?);
    let typing = TYPING.map(|request| SeccompRule::new(vec![when(1, SeccompCmpOp::Eq, request)?]));
    refused.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    let netlink = when(0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64)?;
    let other_than_routes = vec![netlink, when(2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64)?];
    let sockets = [none_of(0, &FAMILIES)?, none_of(2, &PROTOCOLS)?, other_than_routes].map(SeccompRule::new);
    let sockets = sockets.into_iter().collect::<Result<Vec<_>, _>>()?;
    let sockets = BTreeMap::from([(libc::SYS_socket, sockets.clone()), (libc::SYS_socketpair, sockets)]);
    // Its flags are behind a pointer, where no filter sees them: "no such call" sends C libraries back to `clone`.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut programs = vec![
        compile(refused, libc::EPERM)?,
        compile(sockets, libc::EAFNOSUPPORT)?,
        compile(unknown, libc::ENOSYS)?,
    ];
    if !walls.is_memory_counted {
        let is_large =
            SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Gt, SEGMENT_BYTES_MAX)?;
        let large = BTreeMap::from([(libc::SYS_shmget, vec![SeccompRule::new(vec![is_large])?])]);
        programs.push(compile(large, libc::EINVAL)?);
    }
    if cfg!(target_arch = "x86_64") {
        programs.push(without_x32());
    }
    Ok(programs)
}

/// The argument is none of these.
fn none_of(argument: u8, values: &[i32]) -> Result<Vec<SeccompCondition>, BackendError> {
    values.iter().map(|value| when(argument, SeccompCmpOp::Ne, u64::from(value.unsigned_abs()))).collect()
}

fn when(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
}

fn compile(rules: BTreeMap<c_long, Vec<SeccompRule>>, errno: i32) -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let answer = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?.try_into()
}

/// Refuses what a filter by numbers does not know. The number is the first of what the kernel shows to a filter.
fn without_x32() -> BpfProgram {
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}
