//! A page server and a page client for HTTP/3 and HTTP/0.9 on the s2n-quic and h3 libraries.

mod binding;
pub mod client;
mod fetch;
pub mod server;
mod tls;
mod transport;

use std::future::Future;

use contract::environment::choice;
use contract::program::{locked_version, Program};
use contract::settings::{Abilities, Cipher, OnMove, Role, Settings};
use contract::{Context, Outcome};

const ABILITIES: Abilities = Abilities {
    library: "s2n-quic",
    congestion_controls: &["cubic", "bbr"],
    groups: &["X25519", "P-256", "P-384", "X25519MLKEM768"],
    ciphers: &[
        ("aes128", Cipher::Aes128),
        ("aes256", Cipher::Aes256),
        ("chacha20", Cipher::Chacha20),
        ("default", Cipher::Default),
    ],
    // The default of the option; endpoint.yaml promises no moves.
    on_move: &[OnMove::Reconnect],
};

/// What the environment asks for, of what there is: without tickets every connection is cold.
fn settings(role: Role) -> Outcome<Settings> {
    choice(ABILITIES.library, "CONNECTION", &[("cold", ())])?;
    Settings::from_environment(&ABILITIES, role)
}

/// The program of `role`.
pub fn program(role: &'static str, main: fn() -> Outcome<()>) -> Program {
    let library = locked_version(include_str!("../Cargo.lock"), "s2n-quic");
    Program {
        library: "s2n-quic",
        role,
        versions: (library, env!("CARGO_PKG_VERSION")),
        hides_aes: true,
        options: &[],
        main,
    }
}

/// Run a task to its end; the library's tasks share this thread.
fn run(task: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().context(|| "runtime".into())?;
    runtime.block_on(task)
}
