//! What can go wrong, as the exit statuses of docs/formats.md, section 2.

use std::fmt::{self, Display};
use std::process::ExitCode;

/// Why a program ended early.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for something it cannot do: status 127.
    NotSupported(String),
    /// Anything else: status 1.
    Failed(String),
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotSupported(_) => ExitCode::from(127),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSupported(message) => write!(f, "not supported: {message}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

/// Says what was being done when a lower layer failed.
pub trait Context<T> {
    fn context(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failure::Failed(format!("{}: {error}", what())))
    }
}
