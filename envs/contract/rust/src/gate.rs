//! The words that runner and client exchange over standard input and output.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use nix::unistd::read;

use crate::failure::{Context, Failure, Outcome};

/// Standard input, read without taking more than there is.
pub struct Gate {
    waiting: Vec<u8>,
}

impl Gate {
    /// Tell the runner that only the load is left to do, and wait for its word.
    pub fn pass() -> Outcome<Self> {
        let mut gate = Self {
            waiting: Vec::new(),
        };
        say("ready")?;
        let line = loop {
            if let Some(line) = gate.line()? {
                break line;
            }
        };
        if line == "go" {
            return Ok(gate);
        }
        Err(Failure::new(format!(
            "stdin: expected the line 'go', got '{line}'"
        )))
    }

    /// Tell the runner that it is time for another address.
    pub fn ask_to_move(&self) -> Outcome<()> {
        say("move")
    }

    /// Read once, which waits if nothing is there. Returns the new address if the line that tells
    /// it is complete.
    pub fn moved(&mut self) -> Outcome<Option<Ipv4Addr>> {
        let Some(line) = self.line()? else {
            return Ok(None);
        };
        line.strip_prefix("moved ")
            .and_then(|address| address.parse().ok())
            .map(Some)
            .ok_or_else(|| {
                Failure::new(format!(
                    "stdin: expected the line 'moved ADDRESS', got '{line}'"
                ))
            })
    }

    /// The next line if it is complete after one read; at the end of the input what there is.
    fn line(&mut self) -> Outcome<Option<String>> {
        let mut bytes = [0; 256];
        let count = read(stdin(), &mut bytes).context(|| "stdin".into())?;
        self.waiting.extend_from_slice(&bytes[..count]);
        let end = self.waiting.iter().position(|byte| *byte == b'\n');
        let length = match (end, count) {
            (Some(end), _) => end + 1,
            (None, 0) => self.waiting.len(),
            (None, _) => return Ok(None),
        };
        let line: Vec<u8> = self.waiting.drain(..length).collect();
        Ok(Some(String::from_utf8_lossy(&line).trim_end().to_owned()))
    }
}

/// Standard input, to be waited for.
pub fn stdin() -> BorrowedFd<'static> {
    // SAFETY: no part of these programs closes descriptor 0.
    unsafe { BorrowedFd::borrow_raw(0) }
}

fn say(word: &str) -> Outcome<()> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{word}")
        .and_then(|()| stdout.flush())
        .context(|| "stdout".into())
}
