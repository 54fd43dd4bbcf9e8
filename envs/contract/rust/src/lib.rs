//! What every end point does, whatever its QUIC library: the environment of docs/formats.md,
//! section 2, the gate, the objects of a load and their times, the folder to serve, logs and sockets.

pub mod aes;
pub mod content;
pub mod end;
pub mod environment;
pub mod failure;
pub mod gate;
pub mod logs;
pub mod object;
pub mod page;
pub mod polled;
pub mod program;
#[cfg(feature = "tokio")]
pub mod refusal;
pub mod requests;
pub mod settings;
pub mod socket;
pub mod timing;
pub mod wait;

pub use failure::{Context, Failure, Outcome};
