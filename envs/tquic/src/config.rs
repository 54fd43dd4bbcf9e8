//! From settings to the library's configuration.

use std::path::Path;

use contract::environment::switch;
use contract::settings::Settings;
use contract::{Context, Failure, Outcome};
use tquic::{Config, CongestionControlAlgorithm, TlsConfig};

/// Streams an HTTP/3 peer opens for control, QPACK and GREASE, with room to spare.
const UNIDIRECTIONAL_STREAMS: u64 = 16;

/// Length of our connection identifiers in bytes.
const CONNECTION_ID_BYTES: usize = 16;

/// Packets handed to the socket in one call: what the kernel takes in one segmented send.
const SEND_BATCH: usize = 44;

/// Configuration of a server with the certificate of `CERTS`.
pub fn server(settings: &Settings) -> Outcome<Config> {
    let chain = readable(&settings.certs, "cert.pem")?;
    let key = readable(&settings.certs, "priv.key")?;
    let protocols = vec![settings.protocol.alpn().to_vec()];
    let tls = TlsConfig::new_server_config(&chain, &key, protocols, settings.early_data())
        .context(|| "CERTS".into())?;
    with_transport(settings, tls)
}

/// Configuration of a client that trusts `CERTS/ca.pem`. Early data is offered if `early_data`.
pub fn client(settings: &Settings, early_data: bool) -> Outcome<Config> {
    let authority = readable(&settings.certs, "ca.pem")?;
    let protocols = vec![settings.protocol.alpn().to_vec()];
    let mut tls = TlsConfig::new_client_config(protocols, early_data).context(|| "TLS".into())?;
    tls.set_ca_certs(&authority).context(|| "CERTS".into())?;
    tls.set_verify(settings.verify);
    with_transport(settings, tls)
}

fn with_transport(settings: &Settings, tls: TlsConfig) -> Outcome<Config> {
    let mut config = Config::new().context(|| "QUIC configuration".into())?;
    let algorithm: CongestionControlAlgorithm = settings
        .congestion_control
        .parse()
        .map_err(|_| Failure::new("CONGESTION_CONTROL"))?;
    config.set_tls_config(tls);
    config.set_congestion_control_algorithm(algorithm);
    config.set_max_idle_timeout(settings.idle_timeout.as_millis() as u64);
    config.set_max_handshake_timeout(settings.idle_timeout.as_millis() as u64);
    config.enable_dplpmtud(false);
    config.set_send_udp_payload_size(settings.max_udp_payload);
    config.set_initial_max_data(settings.initial_max_data);
    config.set_initial_max_stream_data_bidi_local(settings.initial_max_stream_data);
    config.set_initial_max_stream_data_bidi_remote(settings.initial_max_stream_data);
    config.set_initial_max_stream_data_uni(settings.initial_max_stream_data);
    config.set_initial_max_streams_bidi(settings.max_streams);
    config.set_initial_max_streams_uni(UNIDIRECTIONAL_STREAMS);
    config.set_initial_congestion_window(settings.initial_window_packets as u64);
    config.set_initial_rtt(settings.initial_rtt.as_millis() as u64);
    config.enable_pacing(switch("PACING")?);
    config.set_cid_len(CONNECTION_ID_BYTES);
    config.set_send_batch_size(SEND_BATCH);
    Ok(config)
}

/// The path of a file of `CERTS`; the library itself does not say why it cannot open one.
fn readable(folder: &Path, name: &str) -> Outcome<String> {
    let path = folder.join(name);
    std::fs::File::open(&path).context(|| format!("CERTS: {}", path.display()))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Failure::new("CERTS: path is not UTF-8"))
}
