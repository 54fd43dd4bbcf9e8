//! Client that loads one page over one connection, or goes on over another when its address changes.

mod http;
mod link;

use contract::settings::Role;
use contract::{polled, Outcome};

use crate::settings::Settings;
use link::Connector;

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment(Role::Client)?;
    polled::main(&settings, || Connector::new(&settings))
}
