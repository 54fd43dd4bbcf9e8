//! From `main` to an exit status.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::aes::{without_aes, MASK};
use crate::environment::{check_options, switch};
use crate::failure::{Failure, Outcome};
use crate::logs::note;
use crate::settings::{wants_plain_aes, OPTIONS};

/// A program of one library.
pub struct Program {
    /// Name and role in messages and in the version.
    pub library: &'static str,
    pub role: &'static str,
    /// Version of the library and of the program.
    pub versions: (&'static str, &'static str),
    /// Whether the library looks at the processor through [`MASK`].
    pub hides_aes: bool,
    /// Options of endpoint.yaml beside [`OPTIONS`].
    pub options: &'static [&'static str],
    pub main: fn() -> Outcome<()>,
}

impl Program {
    /// Run it. `--version` prints the versions of the library and of this program.
    pub fn run(&self) -> ExitCode {
        if std::env::args().nth(1).as_deref() == Some("--version") {
            let (library, own) = self.versions;
            println!("{} {library} (howquick {} {own})", self.library, self.role);
            return ExitCode::SUCCESS;
        }
        let checked = check_options(&[OPTIONS, self.options]);
        match checked
            .and_then(|()| self.hide_aes())
            .and_then(|()| (self.main)())
        {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                note(format!("{}: {failure}", self.role));
                failure.exit_code()
            }
        }
    }

    /// Start again with the processor's AES instructions hidden, if that is asked for: the library
    /// looks before `main`.
    fn hide_aes(&self) -> Outcome<()> {
        if !cfg!(target_arch = "x86_64") && self.hides_aes && !switch("AES_ACCELERATION")? {
            return Err(Failure::NotSupported(
                "OPTION_AES_ACCELERATION=false on this processor".into(),
            ));
        }
        if !self.hides_aes || !wants_plain_aes()? {
            return Ok(());
        }
        let mask = std::env::var(MASK).unwrap_or_default();
        let wanted = without_aes(&mask)?;
        // It has been started again.
        if mask == wanted {
            return Ok(());
        }
        let error = Command::new("/proc/self/exe").env(MASK, wanted).exec();
        Err(Failure::new(format!(
            "starting again without AES instructions: {error}"
        )))
    }
}

/// The version of a package in a lock file.
pub fn locked_version(lock: &'static str, package: &str) -> &'static str {
    lock.split_once(&format!("name = \"{package}\"\nversion = \""))
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or("unknown")
}
