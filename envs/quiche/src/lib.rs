//! A page server and a page client for HTTP/3 and HTTP/0.9, built on the quiche library.

pub mod client;
mod endpoint;
mod logs;
mod outbox;
mod pacer;
pub mod server;
mod settings;

use contract::program::{locked_version, Program};
use contract::Outcome;

/// The program of `role`.
pub fn program(role: &'static str, main: fn() -> Outcome<()>) -> Program {
    let lock = include_str!("../Cargo.lock");
    Program {
        library: "quiche",
        role,
        versions: (locked_version(lock, "quiche"), env!("CARGO_PKG_VERSION")),
        hides_aes: true,
        options: &["hystart", "pacing", "scheduling"],
        main,
    }
}
