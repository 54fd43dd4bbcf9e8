//! What both roles are told and every library can do.

use std::env;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::time::Duration;

use crate::environment::{
    choice, count, folder, number, option_ability, option_choice, optional_path, parsed, switch,
    text,
};
use crate::failure::{Failure, Outcome};

/// Largest UDP payload on a link of 1500 bytes with IPv4.
const LARGEST_UDP_PAYLOAD: u64 = 1472;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    H3,
    /// HTTP/0.9, as the QUIC Interop Runner transfers files.
    Hq,
}

impl Protocol {
    /// Its name in the environment and in TIMING.
    pub fn name(self) -> &'static str {
        match self {
            Self::H3 => "h3",
            Self::Hq => "hq",
        }
    }

    /// Its name in the TLS handshake.
    pub fn alpn(self) -> &'static [u8] {
        match self {
            Self::H3 => b"h3",
            Self::Hq => b"hq-interop",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    Cold,
    Resumed,
    ZeroRtt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    Default,
    Aes128,
    Aes256,
    Chacha20,
}

impl Cipher {
    /// Its name in TLS 1.3 (RFC 8446, appendix B.4), if it is a certain one.
    pub fn tls_name(self) -> Option<&'static str> {
        match self {
            Self::Default => None,
            Self::Aes128 => Some("TLS_AES_128_GCM_SHA256"),
            Self::Aes256 => Some("TLS_AES_256_GCM_SHA384"),
            Self::Chacha20 => Some("TLS_CHACHA20_POLY1305_SHA256"),
        }
    }
}

/// What a client does when its address changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnMove {
    /// A new connection with a full handshake, which goes on at the byte reached.
    Reconnect,
    /// A new connection resumed from the old one, with early data.
    Resume,
    /// The connection itself moves to the new address.
    Migrate,
}

/// Which end a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Server,
    Client,
}

const ON_MOVE: [(&str, OnMove); 3] = [
    ("reconnect", OnMove::Reconnect),
    ("resume", OnMove::Resume),
    ("migrate", OnMove::Migrate),
];

/// The options that [`Settings`] has, and `aes_acceleration`.
pub const OPTIONS: &[&str] = &[
    "aes_acceleration",
    "cipher",
    "group",
    "gso",
    "idle_timeout_s",
    "initial_max_data",
    "initial_max_stream_data",
    "initial_rtt_ms",
    "initial_window_packets",
    "max_streams",
    "max_udp_payload",
    "on_move",
    "socket_buffer_bytes",
    "verify",
];

/// What a library can do, by the names of endpoint.yaml.
pub struct Abilities {
    pub library: &'static str,
    pub congestion_controls: &'static [&'static str],
    pub groups: &'static [&'static str],
    pub ciphers: &'static [(&'static str, Cipher)],
    /// What its client can do when its address changes.
    pub on_move: &'static [OnMove],
}

impl Abilities {
    /// What the client does when its address changes. A server is told too, and may need to prepare.
    fn on_move(&self, role: Role) -> Outcome<OnMove> {
        let possible =
            |named: &&(&str, OnMove)| role == Role::Server || self.on_move.contains(&named.1);
        let choices: Vec<_> = ON_MOVE.iter().filter(possible).copied().collect();
        option_ability(self.library, "ON_MOVE", &choices)
    }
}

/// What both roles are told.
#[derive(Clone, Debug)]
pub struct Settings {
    pub protocol: Protocol,
    pub host: String,
    pub address: SocketAddr,
    pub certs: PathBuf,
    pub congestion_control: String,
    pub connection: Connection,
    pub key_log: Option<PathBuf>,
    pub qlog_dir: Option<PathBuf>,
    pub group: String,
    pub cipher: Cipher,
    pub verify: bool,
    pub on_move: OnMove,
    pub idle_timeout: Duration,
    pub initial_rtt: Duration,
    pub initial_max_data: u64,
    pub initial_max_stream_data: u64,
    pub max_streams: u64,
    pub max_udp_payload: usize,
    pub initial_window_packets: usize,
    pub gso: bool,
    pub socket_buffer_bytes: usize,
}

impl Settings {
    /// Read and check the environment.
    ///
    /// # Errors
    /// `NotSupported` for what the library lacks; `Failed` for a variable that is missing or out of
    /// range.
    pub fn from_environment(can: &Abilities, role: Role) -> Outcome<Self> {
        let library = can.library;
        let protocol = choice(
            library,
            "PROTOCOL",
            &[("h3", Protocol::H3), ("hq", Protocol::Hq)],
        )?;
        let controls = same(can.congestion_controls);
        let congestion_control = choice(library, "CONGESTION_CONTROL", &controls)?.to_owned();
        let connection = choice(
            library,
            "CONNECTION",
            &[
                ("cold", Connection::Cold),
                ("resumed", Connection::Resumed),
                ("0rtt", Connection::ZeroRtt),
            ],
        )?;
        let ip: Ipv4Addr = parsed("ADDRESS", "an IPv4 address")?;
        let port = count("PORT", 1, u64::from(u16::MAX))? as u16;
        Ok(Self {
            protocol,
            host: text("HOST")?,
            address: SocketAddr::V4(SocketAddrV4::new(ip, port)),
            certs: folder("CERTS")?,
            congestion_control,
            connection,
            key_log: optional_path("SSLKEYLOGFILE"),
            qlog_dir: optional_path("QLOGDIR"),
            group: option_ability(library, "GROUP", &same(can.groups))?.to_owned(),
            cipher: option_ability(library, "CIPHER", can.ciphers)?,
            verify: switch("VERIFY")?,
            on_move: can.on_move(role)?,
            idle_timeout: Duration::from_secs(number("IDLE_TIMEOUT_S", 1, 3600)?),
            initial_rtt: Duration::from_millis(number("INITIAL_RTT_MS", 1, 60_000)?),
            initial_max_data: number("INITIAL_MAX_DATA", 1 << 14, 1 << 32)?,
            initial_max_stream_data: number("INITIAL_MAX_STREAM_DATA", 1 << 14, 1 << 32)?,
            max_streams: number("MAX_STREAMS", 1, 1 << 20)?,
            max_udp_payload: number("MAX_UDP_PAYLOAD", 1200, LARGEST_UDP_PAYLOAD)? as usize,
            initial_window_packets: number("INITIAL_WINDOW_PACKETS", 2, 1000)? as usize,
            gso: switch("GSO")?,
            socket_buffer_bytes: number("SOCKET_BUFFER_BYTES", 0, 1 << 30)? as usize,
        })
    }

    /// Whether a connection may carry early data.
    pub fn early_data(&self) -> bool {
        self.connection == Connection::ZeroRtt || self.on_move == OnMove::Resume
    }

    /// What a reader of a qlog must know.
    pub fn description(&self) -> String {
        format!(
            "congestion control {}, initial window {} packets, connection {:?}",
            self.congestion_control, self.initial_window_packets, self.connection,
        )
    }
}

/// Whether the environment asks for AES without the processor's instructions. They are hidden for
/// ChaCha20 too: that is how BoringSSL is made to prefer it.
pub fn wants_plain_aes() -> Outcome<bool> {
    let plain = !switch("AES_ACCELERATION")?;
    let chacha = env::var("OPTION_CIPHER").is_ok_and(|cipher| cipher == "chacha20");
    Ok(plain || chacha)
}

/// The order in which a server sends the bytes of several objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    RoundRobin,
    Fifo,
}

impl Scheduling {
    pub fn from_environment() -> Outcome<Self> {
        option_choice(
            "SCHEDULING",
            &[("round_robin", Self::RoundRobin), ("fifo", Self::Fifo)],
        )
    }
}

fn same(names: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    names.iter().map(|name| (*name, *name)).collect()
}

/// Fail for a protocol that cannot go on at a byte when the address changes.
pub fn check_moves(settings: &Settings, moves: u64) -> Outcome<()> {
    if moves > 0 && settings.protocol == Protocol::Hq {
        return Err(Failure::NotSupported(format!(
            "MOVES={moves} with PROTOCOL=hq: HTTP/0.9 tells no length"
        )));
    }
    Ok(())
}
