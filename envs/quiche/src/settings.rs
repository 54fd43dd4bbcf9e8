//! The environment of docs/formats.md, section 2, checked and typed.

use std::env;
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::failure::{Failure, Outcome};

/// Congestion controls of the library by the names of endpoint.yaml. The library takes `bbr` as
/// another name of `bbr2`; here it is refused, since an arm named bbr would claim version 1.
const CONGESTION_CONTROLS: [&str; 3] = ["cubic", "reno", "bbr2"];

/// Room for the UDP payload of a packet that starts a connection (RFC 9000, section 14).
pub const LARGEST_UDP_PAYLOAD: usize = 1472;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    Cold,
    Resumed,
    ZeroRtt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Packets leave when the library says so. Its BBR2 spreads them, its CUBIC and Reno never do.
    Library,
    /// As `Library`; CUBIC and Reno are spread over the round trip by RFC 9002, section 7.7.
    Rfc9002,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    RoundRobin,
    Fifo,
}

/// What both roles are told.
#[derive(Clone, Debug)]
pub struct Settings {
    pub host: String,
    pub address: SocketAddr,
    pub certs: PathBuf,
    pub congestion_control: String,
    pub connection: Connection,
    pub key_log: Option<PathBuf>,
    pub qlog_dir: Option<PathBuf>,
    pub idle_timeout: Duration,
    pub initial_max_data: u64,
    pub initial_max_stream_data: u64,
    pub max_streams: u64,
    pub max_udp_payload: usize,
    pub initial_window_packets: usize,
    pub hystart: bool,
    pub pacing: Pacing,
    pub gso: bool,
    pub scheduling: Scheduling,
    pub socket_buffer_bytes: usize,
}

impl Settings {
    /// Read and check the environment.
    ///
    /// # Errors
    /// `NotSupported` for a protocol, congestion control or kind of connection this program lacks;
    /// `Failed` for a variable that is missing or out of range.
    pub fn from_environment() -> Outcome<Self> {
        choice("PROTOCOL", &[("h3", ())])?;
        let names = CONGESTION_CONTROLS.map(|name| (name, name));
        let congestion_control = choice("CONGESTION_CONTROL", &names)?.to_owned();
        let connection = choice("CONNECTION", &[
            ("cold", Connection::Cold),
            ("resumed", Connection::Resumed),
            ("0rtt", Connection::ZeroRtt),
        ])?;
        let ip: Ipv4Addr = parsed("ADDRESS", "an IPv4 address")?;
        let port: u16 = parsed("PORT", "a port number")?;
        Ok(Self {
            host: text("HOST")?,
            address: SocketAddr::V4(SocketAddrV4::new(ip, port)),
            certs: PathBuf::from(text("CERTS")?),
            congestion_control,
            connection,
            key_log: optional_path("SSLKEYLOGFILE"),
            qlog_dir: optional_path("QLOGDIR"),
            idle_timeout: Duration::from_secs(number("IDLE_TIMEOUT_S", 1, 3600)?),
            initial_max_data: number("INITIAL_MAX_DATA", 1 << 14, 1 << 32)?,
            initial_max_stream_data: number("INITIAL_MAX_STREAM_DATA", 1 << 14, 1 << 32)?,
            max_streams: number("MAX_STREAMS", 1, 1 << 20)?,
            max_udp_payload: number("MAX_UDP_PAYLOAD", 1200, LARGEST_UDP_PAYLOAD as u64)? as usize,
            initial_window_packets: number("INITIAL_WINDOW_PACKETS", 2, 1000)? as usize,
            hystart: switch("HYSTART")?,
            pacing: option_choice("PACING", &[
                ("library", Pacing::Library),
                ("rfc9002", Pacing::Rfc9002),
                ("off", Pacing::Off),
            ])?,
            gso: switch("GSO")?,
            scheduling: option_choice("SCHEDULING", &[
                ("round_robin", Scheduling::RoundRobin),
                ("fifo", Scheduling::Fifo),
            ])?,
            socket_buffer_bytes: number("SOCKET_BUFFER_BYTES", 4096, 1 << 30)? as usize,
        })
    }
}

/// A variable that must be set.
pub fn text(name: &str) -> Outcome<String> {
    env::var(name)
        .ok()
        .filter(|value| !value.is_empty())
        .ok_or_else(|| Failure::new(format!("{name} is not set (docs/formats.md, section 2)")))
}

fn optional_path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn parsed<T: FromStr>(name: &str, what: &str) -> Outcome<T> {
    let value = text(name)?;
    value.parse().map_err(|_| Failure::new(format!("{name}: '{value}' is not {what}")))
}

fn option_text(name: &str) -> Outcome<(String, String)> {
    let variable = format!("OPTION_{name}");
    match env::var(&variable) {
        Ok(value) => Ok((variable, value)),
        Err(_) => Err(Failure::new(format!("{variable} is not set; endpoint.yaml has its default"))),
    }
}

fn number(name: &str, low: u64, high: u64) -> Outcome<u64> {
    let (variable, value) = option_text(name)?;
    value.parse().ok().filter(|v| (low..=high).contains(v)).ok_or_else(|| {
        Failure::new(format!("{variable}: '{value}' is not a whole number from {low} to {high}"))
    })
}

fn switch(name: &str) -> Outcome<bool> {
    let (variable, value) = option_text(name)?;
    value
        .to_ascii_lowercase()
        .parse()
        .map_err(|_| Failure::new(format!("{variable}: '{value}' is neither true nor false")))
}

fn option_choice<T: Copy>(name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    let (variable, value) = option_text(name)?;
    pick(&value, choices)
        .ok_or_else(|| Failure::new(format!("{variable}: '{value}' is none of {}", list(choices))))
}

/// A variable whose other values exist but are not supported here.
fn choice<T: Copy>(name: &str, choices: &[(&str, T)]) -> Outcome<T> {
    let value = text(name)?;
    pick(&value, choices).ok_or_else(|| {
        Failure::NotSupported(format!("{name}={value}; quiche has {}", list(choices)))
    })
}

fn pick<T: Copy>(value: &str, choices: &[(&str, T)]) -> Option<T> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, picked)| *picked)
}

fn list<T>(choices: &[(&str, T)]) -> String {
    choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
