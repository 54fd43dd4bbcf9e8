//! What the emulator asks of the kernel for itself.

/// Real-time priority: above every ordinary program, below the kernel's own threads.
const PRIORITY: libc::c_int = 10;

/// Die when the program that started the emulator dies. If that is dead already, standard input is at its
/// end, which ends the emulator as well.
pub fn die_with_parent() {
    // SAFETY: a plain system call without pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Ask for real-time scheduling of the calling thread; tells what was granted.
pub fn schedule_promptly() -> &'static str {
    let parameter = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the pointer is to a local value; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) } == 0 {
        "fifo"
    } else {
        "normal"
    }
}
