//! From settings to quinn's transport parameters, the same for both roles.

use std::sync::Arc;
use std::time::Duration;

use contract::settings::{Scheduling, Settings};
use contract::{Context, Outcome};
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{EndpointConfig, QlogStream, TransportConfig, VarInt};

/// Streams an HTTP/3 peer opens for control, QPACK and GREASE, with room to spare.
const UNIDIRECTIONAL_STREAMS: u32 = 16;

/// The transport of one connection, which writes its events to `qlog`.
pub fn transport(settings: &Settings, qlog: Option<QlogStream>) -> Outcome<Arc<TransportConfig>> {
    let mut config = TransportConfig::default();
    let idle = settings.idle_timeout;
    config
        .congestion_controller_factory(congestion_control(settings))
        .initial_mtu(settings.max_udp_payload as u16)
        .mtu_discovery_config(None)
        .initial_rtt(settings.initial_rtt)
        .max_idle_timeout(Some(idle.try_into().context(|| "idle timeout".into())?))
        .max_concurrent_bidi_streams(count(settings.max_streams)?)
        .max_concurrent_uni_streams(VarInt::from_u32(UNIDIRECTIONAL_STREAMS))
        .receive_window(count(settings.initial_max_data)?)
        .stream_receive_window(count(settings.initial_max_stream_data)?)
        .send_window(settings.initial_max_data)
        .send_fairness(Scheduling::from_environment()? == Scheduling::RoundRobin)
        .enable_segmentation_offload(settings.gso)
        .keep_alive_interval(None::<Duration>)
        .qlog_stream(qlog);
    Ok(Arc::new(config))
}

/// What holds for all connections of a socket.
pub fn endpoint() -> EndpointConfig {
    EndpointConfig::default()
}

fn congestion_control(settings: &Settings) -> Arc<dyn ControllerFactory + Send + Sync> {
    let window = (settings.initial_window_packets * settings.max_udp_payload) as u64;
    match settings.congestion_control.as_str() {
        "reno" => {
            let mut config = NewRenoConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "bbr" => {
            let mut config = BbrConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        _ => {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
    }
}

fn count(number: u64) -> Outcome<VarInt> {
    VarInt::from_u64(number).context(|| format!("{number}"))
}
