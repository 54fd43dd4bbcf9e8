//! A page server and a page client for HTTP/3, built on the quiche library.

pub mod client;
mod endpoint;
mod failure;
mod logs;
mod outbox;
mod pacer;
pub mod server;
mod settings;
mod socket;
mod wait;

use std::process::ExitCode;

pub use failure::{Failure, Outcome};

/// Run one of the programs and turn its end into an exit status.
///
/// `--version` prints the version of the program and of the library that does the work.
pub fn run(name: &str, program: fn() -> Outcome<()>) -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("quiche {} (howquick {name} {})", library_version(), env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    match program() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logs::note(format!("{name}: {failure}"));
            failure.exit_code()
        },
    }
}

/// The version of quiche in the lock file this program was built from.
fn library_version() -> &'static str {
    include_str!("../Cargo.lock")
        .split_once("name = \"quiche\"\nversion = \"")
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or("unknown")
}
