//! An interface as a source and a sink of frames.
//!
//! rattan's own binding copies each frame twice, passes it through two more tasks, never sets the receive buffer and
//! stamps a frame when it is read. Here the kernel's stamp counts, so that the time a frame waits for a busy
//! processor is taken off the delay that it still has to wait.

use std::ffi::CString;
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rattan_core::cells::Packet;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use crate::frame::Frame;

/// Enough for half a second at 250 Mbit/s.
const RECEIVE_BUFFER_BYTES: libc::c_int = 16 << 20;
/// The longest frame that is accepted: offloads are off, so this is an MTU of 9000 with some room.
const LONGEST_FRAME: usize = 9216;
const HEADER: usize = 14;

pub struct Port {
    socket: AsyncFd<OwnedFd>,
}

fn checked(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 {
        return Err(Error::last_os_error());
    }
    Ok(result)
}

fn set_option(
    socket: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the pointer and the size describe `value`, which lives through the call.
    checked(unsafe { libc::setsockopt(socket, level, name, (&raw const value).cast(), size) })
        .map(drop)
}

/// Read an option into a value for which all bit patterns, all zero included, are valid.
fn get_option<T: Copy>(
    socket: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    mut value: T,
) -> Result<T> {
    let mut size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointer and the size describe `value`, which lives through the call.
    checked(unsafe { libc::getsockopt(socket, level, name, (&raw mut value).cast(), &mut size) })?;
    Ok(value)
}

impl Port {
    /// Open a packet socket on an interface. Must be called within a tokio runtime.
    pub fn open(interface: &str) -> Result<Self> {
        let name = CString::new(interface)?;
        // Bound to IPv4 alone the socket does not see what the emulator itself sends.
        let protocol = (libc::ETH_P_IP as u16).to_be();
        // SAFETY: plain system calls; the descriptor is owned from here on.
        let (socket, index) = unsafe {
            let index = libc::if_nametoindex(name.as_ptr());
            if index == 0 {
                return Err(Error::last_os_error());
            }
            let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            (
                OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?),
                index,
            )
        };
        let raw = socket.as_raw_fd();
        if set_option(
            raw,
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            RECEIVE_BUFFER_BYTES,
        )
        .is_err()
        {
            set_option(raw, libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER_BYTES)?;
        }
        set_option(raw, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        // SAFETY: an all-zero sockaddr_ll is valid; the size given is its own.
        unsafe {
            let mut address: libc::sockaddr_ll = zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = protocol;
            address.sll_ifindex = index as i32;
            let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            checked(libc::bind(raw, (&raw const address).cast(), size))?;
        }
        // SAFETY: an OwnedFd is the same open descriptor for as long as it lives.
        Ok(Self {
            socket: unsafe { AsyncFd::register(socket) }?,
        })
    }

    /// The size of the receive buffer that the kernel granted, in bytes as it accounts them.
    pub fn receive_buffer(&self) -> Result<i32> {
        get_option(
            self.socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVBUF,
            0,
        )
    }

    /// How many frames the socket has dropped since this was last asked.
    pub fn dropped(&self) -> Result<u32> {
        let nothing = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let stats = get_option(
            self.socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            nothing,
        )?;
        Ok(stats.tp_drops)
    }

    /// The next unicast frame.
    pub async fn receive(&self) -> Result<Frame> {
        loop {
            let mut ready = self.socket.readable().await?;
            match ready.try_io(|socket| receive_now(socket.as_raw_fd())) {
                Ok(Ok(Some(frame))) => return Ok(frame),
                Ok(Ok(None)) | Err(_) => {}
                Ok(Err(error)) => return Err(error),
            }
        }
    }

    /// Send a frame as it is.
    pub fn send(&self, frame: &Frame) -> Result<()> {
        let bytes = frame.as_slice();
        // SAFETY: the pointer and the length describe `bytes`.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                0,
            )
        };
        if sent < 0 {
            return Err(Error::last_os_error());
        }
        Ok(())
    }
}

/// Room for the one control message that is asked for, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn receive_now(socket: RawFd) -> Result<Option<Frame>> {
    let mut room = [0u8; LONGEST_FRAME];
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: an all-zero msghdr is valid; every pointer set lives through the call.
    let (length, stamp) = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let length = libc::recvmsg(socket, &mut message, 0);
        if length < 0 {
            return Err(Error::last_os_error());
        }
        (length as usize, kernel_stamp(&message))
    };
    let unicast = length > HEADER && room[0] & 1 == 0;
    Ok(unicast.then(|| Frame::new(room[..length].to_vec(), arrival(stamp))))
}

/// The time at which the kernel got the frame, since 1970.
///
/// # Safety
/// `message` must be as recvmsg left it, and its control buffer alive.
unsafe fn kernel_stamp(message: &libc::msghdr) -> Option<Duration> {
    let header = libc::CMSG_FIRSTHDR(message);
    if header.is_null() || (*header).cmsg_type != libc::SCM_TIMESTAMPNS {
        return None;
    }
    let time: libc::timespec = libc::CMSG_DATA(header)
        .cast::<libc::timespec>()
        .read_unaligned();
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The same moment on the clock that the cells use; now, where the stamp makes no sense.
fn arrival(stamp: Option<Duration>) -> Instant {
    let now = Instant::now();
    let unix = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .ok();
    let age = unix
        .zip(stamp)
        .and_then(|(unix, stamp)| unix.checked_sub(stamp));
    // Older than this is no waiting frame but a clock that was set.
    let age = age
        .filter(|age| *age < Duration::from_secs(1))
        .unwrap_or_default();
    now.checked_sub(age).unwrap_or(now)
}
