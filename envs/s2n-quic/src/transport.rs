//! From settings to the library's providers: limits, socket, congestion control.

use contract::settings::Settings;
use contract::{Context, Outcome};
use s2n_quic::provider::{congestion_controller, io, limits};

/// Bytes of IPv4 and UDP headers, which the library counts as part of the MTU.
const HEADER_BYTES: u16 = 28;

/// Flow control and timeouts, the same for both roles.
pub fn limits(settings: &Settings) -> Outcome<limits::Limits> {
    let (connection, stream) = (settings.initial_max_data, settings.initial_max_stream_data);
    let buffer = u32::try_from(connection).unwrap_or(u32::MAX);
    limits::Limits::new()
        .with_data_window(connection)
        .and_then(|limits| limits.with_bidirectional_local_data_window(stream))
        .and_then(|limits| limits.with_bidirectional_remote_data_window(stream))
        .and_then(|limits| limits.with_unidirectional_data_window(stream))
        .and_then(|limits| limits.with_max_open_remote_bidirectional_streams(settings.max_streams))
        .and_then(|limits| limits.with_max_open_local_bidirectional_streams(settings.max_streams))
        .and_then(|limits| limits.with_max_send_buffer_size(buffer))
        .and_then(|limits| limits.with_max_idle_timeout(settings.idle_timeout))
        .and_then(|limits| limits.with_max_handshake_duration(settings.idle_timeout))
        .and_then(|limits| limits.with_initial_round_trip_time(settings.initial_rtt))
        .context(|| "limits".into())
}

/// Input and output over `socket`. The packets' size is the asked one from the first on; nothing probes for more.
pub fn io(socket: std::net::UdpSocket, settings: &Settings) -> Outcome<io::tokio::Provider> {
    let mtu = settings.max_udp_payload as u16 + HEADER_BYTES;
    io::tokio::Builder::default()
        .with_rx_socket(socket)
        .and_then(|builder| builder.with_max_mtu(mtu))
        .and_then(|builder| builder.with_initial_mtu(mtu))
        .and_then(|builder| builder.with_base_mtu(mtu))
        .and_then(|builder| builder.with_gso(settings.gso))
        .and_then(io::tokio::Builder::build)
        .context(|| "UDP socket".into())
}

/// Congestion control, by the type that the library has for each.
pub enum Control {
    Cubic(congestion_controller::Cubic),
    Bbr(congestion_controller::Bbr),
}

impl Control {
    pub fn new(settings: &Settings) -> Self {
        let window = (settings.initial_window_packets * settings.max_udp_payload) as u32;
        match settings.congestion_control.as_str() {
            "bbr" => {
                let builder = congestion_controller::bbr::Builder::default();
                Self::Bbr(builder.with_initial_congestion_window(window).build())
            }
            _ => {
                let builder = congestion_controller::cubic::Builder::default();
                Self::Cubic(builder.with_initial_congestion_window(window).build())
            }
        }
    }
}
