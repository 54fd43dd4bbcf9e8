//! What the emulator asks of the kernel for itself.

use std::mem::size_of;

/// Real-time priority: above every ordinary program, below the kernel's own threads.
const PRIORITY: libc::c_int = 10;
/// The shortest time slice the scheduler grants, in nanoseconds: a short slice means an early turn.
const SHORT_SLICE_NS: u64 = 100_000;

/// Die when the program that started the emulator dies. If that is dead already, standard input is at its
/// end, which ends the emulator as well.
pub fn die_with_parent() {
    // SAFETY: a plain system call without pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Ask for prompt scheduling of the calling thread; tells what was granted.
pub fn schedule_promptly() -> &'static str {
    if real_time() {
        "fifo"
    } else if short_slice() {
        "short-slice"
    } else {
        "normal"
    }
}

fn real_time() -> bool {
    let parameter = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the pointer is to a local value; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) == 0 }
}

/// struct sched_attr of sched_setattr(2), as of its first version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Since Linux 6.12 an ordinary thread may choose its slice.
fn short_slice() -> bool {
    let wish = Attributes { size: size_of::<Attributes>() as u32, runtime: SHORT_SLICE_NS, ..Default::default() };
    let mut granted = Attributes::default();
    // SAFETY: both pointers are to local values of the size that is given.
    unsafe {
        libc::syscall(libc::SYS_sched_setattr, 0, &wish, 0) == 0
            && libc::syscall(libc::SYS_sched_getattr, 0, &mut granted, size_of::<Attributes>(), 0) == 0
            && granted.runtime == SHORT_SLICE_NS
    }
}
