//! A page server and a page client for HTTP/3 and HTTP/0.9, built on the tquic library.

pub mod client;
mod config;
mod handler;
mod sender;
pub mod server;

use contract::program::{locked_version, Program};
use contract::settings::{Abilities, Cipher, OnMove};
use contract::Outcome;

/// What these programs can do. The library offers X25519 first and cannot be told otherwise; it does not
/// implement migration of a connection.
const ABILITIES: Abilities = Abilities {
    library: "tquic",
    congestion_controls: &["cubic", "bbr", "bbr3", "copa"],
    groups: &["X25519"],
    ciphers: &[("default", Cipher::Default), ("chacha20", Cipher::Chacha20)],
    on_move: &[OnMove::Reconnect, OnMove::Resume],
};

/// The program of `role`.
pub fn program(role: &'static str, main: fn() -> Outcome<()>) -> Program {
    let lock = include_str!("../Cargo.lock");
    Program {
        library: "tquic",
        role,
        versions: (locked_version(lock, "tquic"), env!("CARGO_PKG_VERSION")),
        hides_aes: true,
        options: &["pacing", "scheduling"],
        main,
    }
}
