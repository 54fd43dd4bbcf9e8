//! How connections of the client are made.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use contract::logs::QlogFile;
use contract::refusal::Ear;
use contract::settings::Settings;
use contract::socket::plain;
use contract::{Context, Outcome};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connecting, ConnectionId, Endpoint, TokioRuntime};
use quinn_proto::{ConnectionIdGenerator, RandomConnectionIdGenerator};

use crate::logs::start_qlog;
use crate::tls::{self, Tickets, Verifier};
use crate::transport::{endpoint, transport};

/// Length of the identifier that a client makes up for the server (RFC 9000, section 7.2: at least 8).
const ORIGINAL_ID_BYTES: usize = 16;

/// What a connection starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session {
    New,
    Resumed,
    EarlyData,
}

/// Where connections are made from.
pub struct Local {
    pub endpoint: Endpoint,
    /// Hears when nothing listens where the server should be.
    pub ear: Ear,
}

/// Makes connections to the server.
pub struct Dialler<'a> {
    pub settings: &'a Settings,
    pub tickets: Arc<Tickets>,
    pub verifier: Arc<Verifier>,
    tls: rustls::ClientConfig,
}

impl<'a> Dialler<'a> {
    pub fn new(settings: &'a Settings) -> Outcome<Self> {
        let tickets = Tickets::new();
        let (tls, verifier) = tls::client(settings, &tickets)?;
        Ok(Self {
            settings,
            tickets,
            verifier,
            tls,
        })
    }

    /// A UDP socket on `ip` that takes packets from the server alone, and what hears when nothing
    /// listens there.
    pub fn socket(&self, ip: Ipv4Addr) -> Outcome<(UdpSocket, Ear)> {
        let socket = plain(SocketAddr::from((ip, 0)), self.settings)?;
        let ear = Ear::new(&socket, self.settings.address)?;
        Ok((socket, ear))
    }

    /// An endpoint on such a socket.
    pub fn local(&self, ip: Ipv4Addr) -> Outcome<Local> {
        let (socket, ear) = self.socket(ip)?;
        let endpoint = Endpoint::new(endpoint(), None, socket, Arc::new(TokioRuntime));
        let endpoint = endpoint.context(|| "UDP socket".into())?;
        Ok(Local { endpoint, ear })
    }

    /// Start a connection; its qlog bears `title`.
    pub fn dial(
        &self,
        endpoint: &Endpoint,
        session: Session,
        title: &str,
    ) -> Outcome<(Connecting, Option<QlogFile>)> {
        let mut tls = self.tls.clone();
        self.tickets.let_use(session != Session::New);
        tls.enable_early_data = session == Session::EarlyData;
        let crypto = QuicClientConfig::with_initial(Arc::new(tls), tls::initial_suite()?)
            .context(|| "TLS".into())?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        let id = original_id();
        let (file, stream) = start_qlog(self.settings, title, &id)?;
        config
            .transport_config(transport(self.settings, stream)?)
            .initial_dst_cid_provider(Arc::new(move || id));
        let (peer, host) = (self.settings.address, &self.settings.host);
        let connecting = endpoint
            .connect_with(config, peer, host)
            .context(|| format!("HOST: {host}"))?;
        Ok((connecting, file))
    }
}

/// A random identifier, known here since it names the qlog.
fn original_id() -> ConnectionId {
    RandomConnectionIdGenerator::new(ORIGINAL_ID_BYTES).generate_cid()
}
