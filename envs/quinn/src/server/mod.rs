//! Server of one folder, one thread, one socket.

mod answer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::content::Content;
use contract::environment::text;
use contract::logs::{note, QlogFile};
use contract::settings::{Role, Settings};
use contract::socket::{describe, plain};
use contract::{Context, Outcome};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, Incoming, ServerConfig, TokioRuntime, VarInt};
use tokio::signal::unix::{signal, SignalKind};

use crate::logs::start_qlog;
use crate::transport::{endpoint, transport};
use crate::{run, tls, ABILITIES};

/// How old an event may be before it is on disk. A client's last packet can get lost, so a log
/// must be complete without it.
const QLOG_DELAY: Duration = Duration::from_millis(50);

/// How long the news that the server ends may take to leave.
const FAREWELL: Duration = Duration::from_millis(20);

/// What all connections share.
struct Shared {
    settings: Settings,
    content: Content,
    crypto: Arc<QuicServerConfig>,
    qlogs: Mutex<Vec<QlogFile>>,
}

/// Serve `WWW` until SIGTERM.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(&ABILITIES, Role::Server)?;
    let content = Content::load(&PathBuf::from(text("WWW")?))?;
    let config = Arc::new(tls::server(&settings)?);
    let crypto =
        QuicServerConfig::with_initial(config, tls::initial_suite()?).context(|| "TLS".into())?;
    run(serve(Shared {
        settings,
        content,
        crypto: Arc::new(crypto),
        qlogs: Mutex::default(),
    }))
}

async fn serve(shared: Shared) -> Outcome<()> {
    let socket = plain(shared.settings.address, &shared.settings)?;
    let description = describe(&socket, shared.settings.address, shared.content.count())?;
    let server = shared.server_config(None)?;
    let runtime = Arc::new(TokioRuntime);
    let endpoint =
        Endpoint::new(endpoint(), Some(server), socket, runtime).context(|| "UDP socket".into())?;
    note(description);
    let mut stop = signal(SignalKind::terminate()).context(|| "signals".into())?;
    let shared = Arc::new(shared);
    if shared.settings.qlog_dir.is_some() {
        tokio::spawn(flush_qlogs(shared.clone()));
    }
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            _ = stop.recv() => None,
        };
        let Some(incoming) = incoming else { break };
        tokio::spawn(guarded(incoming, shared.clone()));
    }
    endpoint.close(VarInt::from_u32(0x100), b"server stops");
    // A client that cannot be told will notice by its timeout.
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
    shared.flush();
    Ok(())
}

impl Shared {
    fn server_config(&self, qlog: Option<quinn::QlogStream>) -> Outcome<ServerConfig> {
        let mut config = ServerConfig::with_crypto(self.crypto.clone());
        config.transport_config(transport(&self.settings, qlog)?);
        Ok(config)
    }

    fn flush(&self) {
        let mut qlogs = self.qlogs.lock().unwrap_or_else(PoisonError::into_inner);
        qlogs.retain(|qlog| {
            if qlog.is_dirty() {
                if let Err(error) = qlog.flush() {
                    note(format!("server: QLOGDIR: {error}"));
                }
            }
            !qlog.is_orphan()
        });
    }
}

/// Bring qlogs to disk in time.
async fn flush_qlogs(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(QLOG_DELAY).await;
        shared.flush();
    }
}

async fn guarded(incoming: Incoming, shared: Arc<Shared>) {
    let from = incoming.remote_address();
    if let Err(failure) = connection(incoming, &shared).await {
        note(format!("server: {from}: {failure}"));
    }
}

/// Serve one connection to its end.
async fn connection(incoming: Incoming, shared: &Arc<Shared>) -> Outcome<()> {
    let (file, stream) = start_qlog(&shared.settings, "server", &incoming.orig_dst_cid())?;
    if let Some(file) = file {
        let mut qlogs = shared.qlogs.lock().unwrap_or_else(PoisonError::into_inner);
        qlogs.push(file);
    }
    let config = Arc::new(shared.server_config(stream)?);
    let mut connecting = incoming
        .accept_with(config)
        .context(|| "accepting a connection".into())?;
    // A ClientHello may come in several packets. Whoever opens a stream before the limits in it are known is
    // never told of them.
    let hello = connecting.handshake_data().await;
    hello.context(|| "handshake".into())?;
    // Early data is answered before the handshake is complete.
    let connection = match connecting.into_0rtt() {
        Ok((connection, _)) => connection,
        Err(connecting) => connecting.await.context(|| "handshake".into())?,
    };
    answer::all(connection.clone(), shared).await;
    let reason = connection.closed().await;
    note(format!(
        "connection over: {reason}; {:?}",
        connection.stats().path
    ));
    shared.flush();
    Ok(())
}
