//! Client that loads one page over one connection, or goes on over another when its address changes.

mod http;
mod link;

use contract::settings::{Role, Scheduling, Settings};
use contract::{polled, Outcome};

use crate::ABILITIES;
use link::Connector;

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(&ABILITIES, Role::Client)?;
    // The server's; a word that is none is refused here as well.
    Scheduling::from_environment()?;
    polled::main(&settings, || Connector::new(&settings))
}
