//! From settings to the library's configuration, the same for both roles where it can be.

use std::path::Path;

use boring::ssl::{SslContextBuilder, SslMethod};
use quiche::h3;

use crate::failure::{Context, Failure, Outcome};
use crate::settings::{Pacing, Settings};

/// Streams an HTTP/3 peer opens for control, QPACK and GREASE, with room to spare.
const UNIDIRECTIONAL_STREAMS: u64 = 16;

/// One key exchange for every program of the study, so that handshakes have the same size.
const KEY_EXCHANGE: &str = "X25519";

/// Length of our connection identifiers in bytes.
pub const CONNECTION_ID_BYTES: usize = 16;

/// Configuration common to both roles, without certificates.
fn transport(settings: &Settings) -> Outcome<quiche::Config> {
    // An own TLS context: the library's default one would also trust the machine's authorities.
    let tls = SslContextBuilder::new(SslMethod::tls()).context(|| "TLS context".into())?;
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)
        .context(|| "QUIC configuration".into())?;
    config.set_curves_list(KEY_EXCHANGE).context(|| "key exchange".into())?;
    config.set_application_protos(h3::APPLICATION_PROTOCOL).context(|| "ALPN".into())?;
    config
        .set_cc_algorithm_name(&settings.congestion_control)
        .context(|| format!("CONGESTION_CONTROL={}", settings.congestion_control))?;
    config.set_max_idle_timeout(settings.idle_timeout.as_millis() as u64);
    config.set_max_send_udp_payload_size(settings.max_udp_payload);
    config.set_initial_max_data(settings.initial_max_data);
    config.set_initial_max_stream_data_bidi_local(settings.initial_max_stream_data);
    config.set_initial_max_stream_data_bidi_remote(settings.initial_max_stream_data);
    config.set_initial_max_stream_data_uni(settings.initial_max_stream_data);
    config.set_initial_max_streams_bidi(settings.max_streams);
    config.set_initial_max_streams_uni(UNIDIRECTIONAL_STREAMS);
    config.set_disable_active_migration(true);
    config.set_initial_congestion_window_packets(settings.initial_window_packets);
    config.enable_hystart(settings.hystart);
    config.enable_pacing(settings.pacing != Pacing::Off);
    if settings.key_log.is_some() {
        config.log_keys();
    }
    Ok(config)
}

/// Configuration of a server with the certificate of `CERTS`. Early data is taken if `early_data`.
pub fn server(settings: &Settings, early_data: bool) -> Outcome<quiche::Config> {
    let mut config = transport(settings)?;
    let chain = readable(&settings.certs, "cert.pem")?;
    config.load_cert_chain_from_pem_file(&chain).context(|| format!("certificate {chain}"))?;
    let key = readable(&settings.certs, "priv.key")?;
    config.load_priv_key_from_pem_file(&key).context(|| format!("private key {key}"))?;
    if early_data {
        config.enable_early_data();
    }
    Ok(config)
}

/// Configuration of a client that trusts `CERTS/ca.pem` alone. Early data is offered if `early_data`.
pub fn client(settings: &Settings, early_data: bool) -> Outcome<quiche::Config> {
    let mut config = transport(settings)?;
    let authority = readable(&settings.certs, "ca.pem")?;
    config
        .load_verify_locations_from_file(&authority)
        .context(|| format!("certificate authority {authority}"))?;
    config.verify_peer(true);
    if early_data {
        config.enable_early_data();
    }
    Ok(config)
}

/// The path of a file of `CERTS`; the library itself does not say why it cannot open one.
fn readable(folder: &Path, name: &str) -> Outcome<String> {
    let path = folder.join(name);
    std::fs::File::open(&path).context(|| format!("CERTS: {}", path.display()))?;
    path.into_os_string().into_string().map_err(|_| Failure::new("CERTS: path is not UTF-8"))
}

/// A new random connection identifier.
pub fn connection_id() -> Outcome<quiche::ConnectionId<'static>> {
    let mut bytes = vec![0; CONNECTION_ID_BYTES];
    boring::rand::rand_bytes(&mut bytes).context(|| "random numbers".into())?;
    Ok(quiche::ConnectionId::from_vec(bytes))
}
