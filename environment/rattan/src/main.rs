//! A link between two existing interfaces of the current network namespace, made of rattan's cells.

mod arguments;
mod bucket;
mod counters;
mod dice;
mod direction;
mod drops;
mod frame;
mod port;
mod process;
mod queue;

use std::io::{stdin, stdout, BufRead, Result, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{mpsc, Arc};

use arguments::Arguments;
use counters::Counters;
use dice::Dice;
use direction::Shared;
use port::Port;
use tokio::runtime::Builder;

/// One direction as the control thread sees it.
struct Way {
    shared: Shared,
    /// Where frames of this direction come in.
    port: Arc<Port>,
}

/// The running link.
struct Emulator {
    up: Way,
    down: Way,
    scheduling: &'static str,
}

fn main() -> ExitCode {
    process::die_with_parent();
    let mut words = std::env::args().skip(1).peekable();
    match words.peek().map(String::as_str) {
        Some("--version") => {
            println!(
                "link-emulator {} (rattan-core 0.1.1)",
                env!("CARGO_PKG_VERSION")
            );
            return ExitCode::SUCCESS;
        }
        None | Some("--help") => {
            println!("{}", arguments::USAGE);
            return ExitCode::SUCCESS;
        }
        Some(_) => {}
    }
    let outcome =
        arguments::parse(words).and_then(|given| run(given).map_err(|error| error.to_string()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("link-emulator: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Run the link in a thread of its own and answer commands in this one, which therefore never delays a frame.
///
/// One thread carries both directions: with tokio's pool of one or two threads the processor time and the lateness of
/// frames were the same within their noise at 10 and 50 Mbit/s, and several emulators must share few processors.
fn run(given: Arguments) -> Result<()> {
    let (started, emulator) = mpsc::channel();
    std::thread::spawn(move || {
        let scheduling = process::schedule_promptly();
        let runtime = match Builder::new_current_thread().enable_io().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(started.send(Err(error))),
        };
        let inside = runtime.enter();
        let _ = started.send(start(&given, scheduling));
        drop(inside);
        runtime.block_on(std::future::pending::<()>());
    });
    let emulator = emulator.recv().map_err(std::io::Error::other)??;
    serve(&emulator)
}

fn start(given: &Arguments, scheduling: &'static str) -> Result<Emulator> {
    let open = |name: &str| {
        let context =
            |error: std::io::Error| std::io::Error::other(format!("interface {name}: {error}"));
        Port::open(name).map(Arc::new).map_err(context)
    };
    let (client, server) = (open(&given.to_client)?, open(&given.to_server)?);
    let way = |from: &Arc<Port>, to: &Arc<Port>| -> Result<Way> {
        let counters = Arc::new(Counters::default());
        let shared = Shared {
            dice: Dice::new(counters.clone()),
            counters,
            refill: Arc::default(),
        };
        direction::start(&given.link, from.clone(), to.clone(), &shared)?;
        Ok(Way {
            shared,
            port: from.clone(),
        })
    };
    Ok(Emulator {
        up: way(&client, &server)?,
        down: way(&server, &client)?,
        scheduling,
    })
}

/// Answer commands until standard input ends.
fn serve(emulator: &Emulator) -> Result<()> {
    say("ready")?;
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["stats"] => say(&emulator.stats()?)?,
            ["drops"] => say(&emulator.drops())?,
            ["seed", up, down] => match (up.parse(), down.parse()) {
                (Ok(up), Ok(down)) => {
                    emulator.seed(up, down)?;
                    say("{\"ok\":true}")?;
                }
                _ => say("{\"error\":\"seeds are whole numbers from 0 to 2^64-1\"}")?,
            },
            _ => say("{\"error\":\"commands are: seed UP DOWN, stats, drops\"}")?,
        }
    }
    Ok(())
}

fn say(line: &str) -> Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

impl Emulator {
    fn seed(&self, up: u64, down: u64) -> Result<()> {
        for (way, seed) in [(&self.up, up), (&self.down, down)] {
            way.port.dropped()?; // reading it is what resets it
            way.shared.dice.seed(seed);
            way.shared.refill.store(true, Relaxed);
        }
        Ok(())
    }

    fn drops(&self) -> String {
        let [up, down] = [&self.up, &self.down].map(|way| way.shared.counters.drops.to_json());
        format!("{{\"up\":{up},\"down\":{down}}}")
    }

    fn stats(&self) -> Result<String> {
        for way in [&self.up, &self.down] {
            way.shared
                .counters
                .socket_dropped
                .fetch_add(way.port.dropped()?.into(), Relaxed);
        }
        Ok(format!(
            "{{\"up\":{},\"down\":{},\"receive_buffer_bytes\":[{},{}],\"scheduling\":\"{}\"}}",
            self.up.shared.counters.to_json(),
            self.down.shared.counters.to_json(),
            self.up.port.receive_buffer()?,
            self.down.port.receive_buffer()?,
            self.scheduling,
        ))
    }
}
