//! Changes of the client's address, as the runner tells them.

use std::future::pending;
use std::net::Ipv4Addr;

use contract::gate::Gate;
use contract::{Context, Outcome};
use tokio::task::JoinHandle;

/// Asks for another address and hears of it, while the load goes on.
pub struct Address {
    gate: Option<Gate>,
    reader: Option<JoinHandle<Outcome<(Gate, Ipv4Addr)>>>,
}

impl Address {
    pub fn new(gate: Gate) -> Self {
        Self {
            gate: Some(gate),
            reader: None,
        }
    }

    /// Ask for another address. Its answer is read on a thread of its own.
    pub fn ask(&mut self) -> Outcome<()> {
        if let Some(mut gate) = self.gate.take() {
            gate.ask_to_move()?;
            self.reader = Some(tokio::task::spawn_blocking(move || loop {
                if let Some(address) = gate.moved()? {
                    return Ok((gate, address));
                }
            }));
        }
        Ok(())
    }

    /// Whether an answer is due.
    pub fn is_asked(&self) -> bool {
        self.reader.is_some()
    }

    /// The new address, once it is there; never if none was asked for.
    pub async fn changed(&mut self) -> Outcome<Ipv4Addr> {
        let Some(reader) = &mut self.reader else {
            return pending().await;
        };
        let (gate, address) = reader.await.context(|| "stdin".into())??;
        self.reader = None;
        self.gate = Some(gate);
        Ok(address)
    }
}
