//! From settings to the library's configuration, the same for both roles where it can be.

use std::path::Path;

use boring::ssl::{CompliancePolicy, SslContextBuilder, SslMethod};
use contract::settings::{Cipher, OnMove};
use contract::{Context, Failure, Outcome};

use crate::settings::{Pacing, Settings};

/// Streams an HTTP/3 peer opens for control, QPACK and GREASE, with room to spare.
const UNIDIRECTIONAL_STREAMS: u64 = 16;

/// Length of our connection identifiers in bytes.
pub const CONNECTION_ID_BYTES: usize = 16;

/// Identifiers that the peer may hold at a time, so that one is left for each path of a move.
const CONNECTION_IDS: u64 = 4;

/// Configuration common to both roles, without certificates.
fn transport(settings: &Settings) -> Outcome<quiche::Config> {
    // An own TLS context: the library's default one would also trust the machine's authorities.
    let mut tls = SslContextBuilder::new(SslMethod::tls()).context(|| "TLS context".into())?;
    if settings.cipher == Cipher::Aes128 {
        // The library has no list of TLS 1.3 ciphers. This policy leaves AES, AES-128 first; the groups
        // it would set are set below.
        tls.set_compliance_policy(CompliancePolicy::FIPS_202205)
            .context(|| "cipher".into())?;
    }
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)
        .context(|| "QUIC configuration".into())?;
    config
        .set_curves_list(&settings.group)
        .context(|| "key exchange".into())?;
    config
        .set_application_protos(&[settings.protocol.alpn()])
        .context(|| "ALPN".into())?;
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
    let migrates = settings.on_move == OnMove::Migrate;
    config.set_disable_active_migration(!migrates);
    if migrates {
        config.set_active_connection_id_limit(CONNECTION_IDS);
    }
    config.set_initial_rtt(settings.initial_rtt);
    config.set_initial_congestion_window_packets(settings.initial_window_packets);
    config.enable_hystart(settings.hystart);
    config.enable_pacing(settings.pacing != Pacing::Off);
    if settings.key_log.is_some() {
        config.log_keys();
    }
    Ok(config)
}

/// Configuration of a server with the certificate of `CERTS`.
pub fn server(settings: &Settings) -> Outcome<quiche::Config> {
    let mut config = transport(settings)?;
    let chain = readable(&settings.certs, "cert.pem")?;
    config
        .load_cert_chain_from_pem_file(&chain)
        .context(|| format!("certificate {chain}"))?;
    let key = readable(&settings.certs, "priv.key")?;
    config
        .load_priv_key_from_pem_file(&key)
        .context(|| format!("private key {key}"))?;
    if settings.early_data() {
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
    config.verify_peer(settings.verify);
    if early_data {
        config.enable_early_data();
    }
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

/// Give the peer as many of our identifiers as it takes. Returns the new ones.
pub fn spread_ids(
    connection: &mut quiche::Connection,
) -> Outcome<Vec<quiche::ConnectionId<'static>>> {
    let mut given = Vec::new();
    while connection.is_established() && connection.scids_left() > 0 {
        let id = connection_id()?;
        let mut token = [0; 16];
        boring::rand::rand_bytes(&mut token).context(|| "random numbers".into())?;
        let token = u128::from_be_bytes(token);
        connection
            .new_scid(&id, token, false)
            .context(|| "connection identifier".into())?;
        given.push(id);
    }
    Ok(given)
}

/// A new random connection identifier.
pub fn connection_id() -> Outcome<quiche::ConnectionId<'static>> {
    let mut bytes = vec![0; CONNECTION_ID_BYTES];
    boring::rand::rand_bytes(&mut bytes).context(|| "random numbers".into())?;
    Ok(quiche::ConnectionId::from_vec(bytes))
}
