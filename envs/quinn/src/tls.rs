//! From settings to rustls: certificates, ciphers, groups and session tickets.

mod tickets;
mod verifier;

use std::path::Path;
use std::sync::Arc;

use contract::settings::{Cipher, Settings};
use contract::{Context, Failure, Outcome};
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::RootCertStore;

use crate::logs::key_log;
pub use tickets::Tickets;
pub use verifier::Verifier;

/// The size that QUIC asks for where early data is allowed (RFC 9001, section 4.6.1).
const EARLY_DATA: u32 = u32::MAX;

/// Configuration of a server with the certificate of `CERTS`.
pub fn server(settings: &Settings) -> Outcome<rustls::ServerConfig> {
    let chain = certificates(&settings.certs.join("cert.pem"))?;
    let path = settings.certs.join("priv.key");
    let key =
        PrivateKeyDer::from_pem_file(&path).context(|| format!("CERTS: {}", path.display()))?;
    let mut config = rustls::ServerConfig::builder_with_provider(provider(settings)?)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .context(|| "TLS".into())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context(|| "CERTS".into())?;
    config.alpn_protocols = vec![settings.protocol.alpn().to_vec()];
    if settings.early_data() {
        config.max_early_data_size = EARLY_DATA;
    }
    if let Some(log) = key_log(settings)? {
        config.key_log = log;
    }
    Ok(config)
}

/// Configuration of a client that trusts `CERTS/ca.pem` alone and keeps its tickets in `tickets`.
pub fn client(
    settings: &Settings,
    tickets: &Arc<Tickets>,
) -> Outcome<(rustls::ClientConfig, Arc<Verifier>)> {
    let path = settings.certs.join("ca.pem");
    let mut roots = RootCertStore::empty();
    for authority in certificates(&path)? {
        roots
            .add(authority)
            .context(|| format!("CERTS: {}", path.display()))?;
    }
    let provider = provider(settings)?;
    let verifier = Verifier::new(roots, provider.clone(), settings.verify)?;
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .context(|| "TLS".into())?
        .dangerous()
        .with_custom_certificate_verifier(verifier.clone())
        .with_no_client_auth();
    config.alpn_protocols = vec![settings.protocol.alpn().to_vec()];
    config.resumption = Resumption::store(tickets.clone());
    if let Some(log) = key_log(settings)? {
        config.key_log = log;
    }
    Ok((config, verifier))
}

/// What protects Initial packets, whatever the suites agreed on (RFC 9001, section 5.2).
pub fn initial_suite() -> Outcome<rustls::quic::Suite> {
    cipher_suite::TLS13_AES_128_GCM_SHA256
        .tls13()
        .and_then(|suite| suite.quic_suite())
        .ok_or_else(|| Failure::new("TLS: AES-128 is missing"))
}

fn provider(settings: &Settings) -> Outcome<Arc<CryptoProvider>> {
    let mut provider = default_provider();
    // AWS-LC gathers its entropy when it is first asked, for nearly 0.1 s: not during a handshake.
    provider
        .secure_random
        .fill(&mut [0; 1])
        .map_err(|_| Failure::new("random numbers"))?;
    let only = match settings.cipher {
        Cipher::Default => None,
        Cipher::Aes128 => Some(cipher_suite::TLS13_AES_128_GCM_SHA256),
        Cipher::Aes256 => Some(cipher_suite::TLS13_AES_256_GCM_SHA384),
        Cipher::Chacha20 => Some(cipher_suite::TLS13_CHACHA20_POLY1305_SHA256),
    };
    if let Some(only) = only {
        provider.cipher_suites = vec![only];
    }
    provider.kx_groups = vec![group(&settings.group)];
    Ok(Arc::new(provider))
}

fn group(name: &str) -> &'static dyn SupportedKxGroup {
    match name {
        "P-256" => kx_group::SECP256R1,
        "P-384" => kx_group::SECP384R1,
        "X25519MLKEM768" => kx_group::X25519MLKEM768,
        _ => kx_group::X25519,
    }
}

fn certificates(path: &Path) -> Outcome<Vec<CertificateDer<'static>>> {
    let what = || format!("CERTS: {}", path.display());
    std::fs::File::open(path).context(what)?;
    let read = CertificateDer::pem_file_iter(path).context(what)?;
    let chain = read.collect::<Result<Vec<_>, _>>().context(what)?;
    if chain.is_empty() {
        return Err(Failure::new(format!("{}: no certificate", what())));
    }
    Ok(chain)
}
