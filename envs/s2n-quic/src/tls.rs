//! From settings to rustls. The library handles no message after the handshake, so there are no tickets.

use std::path::PathBuf;
use std::sync::Arc;

use contract::settings::{Cipher, Settings};
use contract::{Context, Failure, Outcome};
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, KeyLogFile, RootCertStore, ServerConfig};

/// Configuration of a server with the certificate of `CERTS`.
pub fn server(settings: &Settings) -> Outcome<ServerConfig> {
    let key = settings.certs.join("priv.key");
    let key = PrivateKeyDer::from_pem_file(&key).context(|| format!("CERTS: {}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(provider(settings)?)
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| {
            let chain = certificates(settings, "cert.pem");
            let chain = chain.map_err(|failure| rustls::Error::General(failure.to_string()))?;
            builder.with_no_client_auth().with_single_cert(chain, key)
        })
        .context(|| "TLS".into())?;
    config.alpn_protocols = vec![settings.protocol.alpn().to_vec()];
    config.send_tls13_tickets = 0;
    // Appends to SSLKEYLOGFILE, if that is set.
    config.key_log = Arc::new(KeyLogFile::new());
    Ok(config)
}

/// Configuration of a client that trusts `CERTS/ca.pem` alone.
pub fn client(settings: &Settings) -> Outcome<ClientConfig> {
    if !settings.verify {
        let message = "OPTION_VERIFY=false; this client always verifies";
        return Err(Failure::NotSupported(message.into()));
    }
    let mut roots = RootCertStore::empty();
    for authority in certificates(settings, "ca.pem")? {
        roots.add(authority).context(|| "CERTS/ca.pem".into())?;
    }
    let mut config = ClientConfig::builder_with_provider(provider(settings)?)
        .with_protocol_versions(&[&TLS13])
        .context(|| "TLS".into())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![settings.protocol.alpn().to_vec()];
    config.resumption = Resumption::disabled();
    config.key_log = Arc::new(KeyLogFile::new());
    Ok(config)
}

fn provider(settings: &Settings) -> Outcome<Arc<CryptoProvider>> {
    let suite = match settings.cipher {
        Cipher::Default => None,
        Cipher::Aes128 => Some(cipher_suite::TLS13_AES_128_GCM_SHA256),
        Cipher::Aes256 => Some(cipher_suite::TLS13_AES_256_GCM_SHA384),
        Cipher::Chacha20 => Some(cipher_suite::TLS13_CHACHA20_POLY1305_SHA256),
    };
    let group = match settings.group.as_str() {
        "P-256" => kx_group::SECP256R1,
        "P-384" => kx_group::SECP384R1,
        "X25519MLKEM768" => kx_group::X25519MLKEM768,
        _ => kx_group::X25519,
    };
    let mut provider = default_provider();
    provider.kx_groups = vec![group];
    provider.cipher_suites = suite.map_or(provider.cipher_suites, |suite| vec![suite]);
    // AWS-LC gathers entropy at the first use, for nearly 0.1 s: not during a handshake.
    let drawn = provider.secure_random.fill(&mut [0; 1]);
    drawn.map_err(|_| Failure::new("random numbers"))?;
    Ok(Arc::new(provider))
}

/// The certificates in a file of `CERTS`; one at least.
fn certificates(settings: &Settings, name: &str) -> Outcome<Vec<CertificateDer<'static>>> {
    let path: PathBuf = settings.certs.join(name);
    let read =
        CertificateDer::pem_file_iter(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read.context(|| format!("CERTS: {}", path.display()))? {
        empty if empty.is_empty() => Err(Failure::new(format!(
            "CERTS: {}: no certificate",
            path.display()
        ))),
        chain => Ok(chain),
    }
}
