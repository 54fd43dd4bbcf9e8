//! A page server and a page client for HTTP/3 and HTTP/0.9 on the quinn and h3 libraries.

pub mod client;
mod logs;
pub mod server;
mod tls;
mod transport;

use std::future::Future;

use contract::program::{locked_version, Program};
use contract::settings::{Abilities, Cipher, OnMove};
use contract::{Context, Outcome};

/// What these programs can do.
const ABILITIES: Abilities = Abilities {
    library: "quinn",
    congestion_controls: &["cubic", "reno", "bbr"],
    groups: &["X25519", "P-256", "P-384", "X25519MLKEM768"],
    ciphers: &[
        ("default", Cipher::Default),
        ("aes128", Cipher::Aes128),
        ("aes256", Cipher::Aes256),
        ("chacha20", Cipher::Chacha20),
    ],
    on_move: &[OnMove::Reconnect, OnMove::Resume, OnMove::Migrate],
};

/// The program of `role`.
pub fn program(role: &'static str, main: fn() -> Outcome<()>) -> Program {
    let lock = include_str!("../Cargo.lock");
    Program {
        library: "quinn",
        role,
        versions: (locked_version(lock, "quinn"), env!("CARGO_PKG_VERSION")),
        hides_aes: true,
        options: &["scheduling"],
        main,
    }
}

/// Run a task to its end on this thread alone.
fn run(task: impl Future<Output = Outcome<()>>) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context(|| "runtime".into())?;
    runtime.block_on(task)
}
