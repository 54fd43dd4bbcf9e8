//! Verification of the server's certificate, and whether it was needed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use contract::{Context, Outcome};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Verifies by one authority, or, if that is not asked for, takes every certificate.
#[derive(Debug)]
pub struct Verifier {
    inner: Arc<WebPkiServerVerifier>,
    verify: bool,
    called: AtomicBool,
}

impl Verifier {
    pub fn new(
        roots: RootCertStore,
        provider: Arc<CryptoProvider>,
        verify: bool,
    ) -> Outcome<Arc<Self>> {
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .context(|| "CERTS/ca.pem".into())?;
        Ok(Arc::new(Self {
            inner,
            verify,
            called: AtomicBool::new(false),
        }))
    }

    /// Whether a server has shown a certificate since the last call. The server of a resumed session
    /// shows none (RFC 8446, section 2.2).
    pub fn was_called(&self) -> bool {
        self.called.swap(false, Ordering::Relaxed)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.called.store(true, Ordering::Relaxed);
        if !self.verify {
            return Ok(ServerCertVerified::assertion());
        }
        self.inner.verify_server_cert(leaf, chain, host, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, leaf, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, leaf, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
