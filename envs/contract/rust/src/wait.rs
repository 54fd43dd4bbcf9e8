//! Waiting for the socket, the clock or a signal, to the microsecond.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::prctl::set_timerslack;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;

use crate::failure::{Context, Outcome};
use crate::socket::Socket;

/// Ask the kernel to wake this process when a timer ends, not up to 50 microseconds later.
pub fn exact_timers() -> Outcome<()> {
    set_timerslack(1).context(|| "timer slack".into())
}

/// Have SIGTERM and SIGINT end a wait instead of the process.
pub fn stop_signals() -> Outcome<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    signals.add(Signal::SIGINT);
    signals.thread_block().context(|| "signals".into())?;
    SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).context(|| "signals".into())
}

/// Wait until the socket has data (or, with `to_write`, room), `until` is reached or `other` has data.
///
/// Returns whether `other` has data.
pub fn wait(
    socket: &Socket,
    other: Option<BorrowedFd<'_>>,
    to_write: bool,
    until: Option<Instant>,
) -> Outcome<bool> {
    let writable = if to_write {
        PollFlags::POLLOUT
    } else {
        PollFlags::empty()
    };
    let mut watched = vec![PollFd::new(socket.as_fd(), PollFlags::POLLIN | writable)];
    watched.extend(other.map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
    let timeout =
        until.map(|at| TimeSpec::from_duration(at.saturating_duration_since(Instant::now())));
    match ppoll(&mut watched, timeout, None) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error).context(|| "waiting".into()),
    }
    Ok(watched.get(1).is_some_and(|fd| fd.any().unwrap_or(false)))
}
