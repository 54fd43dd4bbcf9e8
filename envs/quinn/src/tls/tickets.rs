//! Session tickets of a client, and word of their arrival.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use rustls::client::{
    ClientSessionMemoryCache, ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue,
};
use rustls::pki_types::ServerName;
use rustls::NamedGroup;
use tokio::sync::Notify;

/// Servers to remember; there is one.
const SERVERS: usize = 4;

/// Tickets in memory.
#[derive(Debug)]
pub struct Tickets {
    cache: ClientSessionMemoryCache,
    arrival: Notify,
    /// Whether a connection may use one. Those that make a full handshake keep theirs all the same.
    usable: AtomicBool,
}

impl Tickets {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            cache: ClientSessionMemoryCache::new(SERVERS),
            arrival: Notify::new(),
            usable: AtomicBool::new(false),
        })
    }

    /// Tell whether the next connection may use a ticket.
    pub fn let_use(&self, usable: bool) {
        self.usable.store(usable, Ordering::Relaxed);
    }

    /// Wait for a ticket to arrive that nobody has waited for.
    pub async fn arrived(&self) {
        self.arrival.notified().await;
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, server: ServerName<'static>, group: NamedGroup) {
        self.cache.set_kx_hint(server, group);
    }

    fn kx_hint(&self, server: &ServerName<'_>) -> Option<NamedGroup> {
        self.cache.kx_hint(server)
    }

    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.cache.insert_tls13_ticket(server, ticket);
        self.arrival.notify_one();
    }

    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let usable = self.usable.load(Ordering::Relaxed);
        usable.then(|| self.cache.take_tls13_ticket(server))?
    }
}
