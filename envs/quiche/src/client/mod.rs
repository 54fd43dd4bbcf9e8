//! HTTP/3 client that loads one page over one connection.

mod link;
mod page;
mod timing;

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use url::Url;

use crate::endpoint;
use crate::failure::{Context, Failure, Outcome};
use crate::settings::{text, Connection, Settings};
use crate::socket::Socket;
use crate::wait;
use link::Link;
use page::Page;
use timing::Timing;

/// Load the page of `REQUESTS`, prepared before the gate and timed after it.
pub fn main() -> Outcome<()> {
    let settings = Settings::from_environment()?;
    let urls = requested(&settings)?;
    let timing_path = PathBuf::from(text("TIMING")?);
    wait::exact_timers()?;
    let mut config = endpoint::client(&settings, settings.connection == Connection::ZeroRtt)?;
    let session = match settings.connection {
        Connection::Cold => None,
        Connection::Resumed | Connection::ZeroRtt => Some(prime(&settings, &urls[0], &mut config)?),
    };
    let socket = connected(&settings)?;
    pass_gate()?;
    load(&settings, &socket, &mut config, session, urls)?.write(&timing_path)
}

fn load(
    settings: &Settings, socket: &Socket, config: &mut quiche::Config, session: Option<Vec<u8>>,
    urls: Vec<Url>,
) -> Outcome<Timing> {
    let clock = (SystemTime::now(), Instant::now());
    let mut page = Page::new(urls);
    let mut link = Link::open(settings, socket, config, session.as_deref(), "client")?;
    if let Err(failure) = link.load(&mut page, false) {
        link.close()?;
        return Err(failure);
    }
    let start = clock.0 + link.start.duration_since(clock.1);
    let timing = Timing {
        protocol: "h3",
        start: start.duration_since(UNIX_EPOCH).context(|| "the clock".into())?.as_secs_f64(),
        handshake_s: link.handshake().map(|time| time.as_secs_f64()),
        resumed: link.is_resumed(),
        early_data: link.used_early_data(),
        connections: 1,
        objects: page.timings(link.start),
    };
    link.close()?;
    Ok(timing)
}

/// Fetch `/prime` on a connection of its own; return the session that the server gave.
fn prime(settings: &Settings, page: &Url, config: &mut quiche::Config) -> Outcome<Vec<u8>> {
    let url = page.join("/prime").context(|| "REQUESTS".into())?;
    let socket = connected(settings)?;
    let mut link = Link::open(settings, &socket, config, None, "client, priming connection")?;
    link.load(&mut Page::new(vec![url]), true)
        .map_err(|failure| Failure::new(format!("priming connection: {failure}")))?;
    let session = link.session();
    link.close()?;
    session.ok_or_else(|| Failure::new("the server gave no session ticket"))
}

fn connected(settings: &Settings) -> Outcome<Socket> {
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let mut socket = Socket::bind(any, settings.socket_buffer_bytes)?;
    socket.connect(settings.address)?;
    Ok(socket)
}

/// Tell the runner that only the load is left to do, and wait for its word.
fn pass_gate() -> Outcome<()> {
    let mut stdout = io::stdout();
    stdout.write_all(b"ready\n").and_then(|()| stdout.flush()).context(|| "stdout".into())?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).context(|| "stdin".into())?;
    match line.trim_end() {
        "go" => Ok(()),
        other => Err(Failure::new(format!("stdin: expected the line 'go', got '{other}'"))),
    }
}

/// The URLs of `REQUESTS`, all on `HOST`.
fn requested(settings: &Settings) -> Outcome<Vec<Url>> {
    let text = text("REQUESTS")?;
    let urls = text.split_ascii_whitespace().map(|word| {
        let url = Url::parse(word).context(|| format!("REQUESTS: {word}"))?;
        if url.scheme() != "https" || url.host_str() != Some(settings.host.as_str()) {
            let host = &settings.host;
            return Err(Failure::new(format!("REQUESTS: {word} is not https://{host}/…")));
        }
        Ok(url)
    });
    let urls = urls.collect::<Outcome<Vec<_>>>()?;
    if urls.is_empty() {
        return Err(Failure::new("REQUESTS names no URL"));
    }
    Ok(urls)
}
