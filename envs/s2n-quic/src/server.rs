//! Server of one folder, one thread, one socket.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use contract::content::{first_byte, Content};
use contract::environment::text;
use contract::logs::note;
use contract::settings::{Protocol, Role, Settings};
use contract::socket::{describe, plain};
use contract::{Context, Outcome};
use h3::server::RequestResolver;
use http::{header, Method, Request, Response, StatusCode};
use s2n_quic::provider::{congestion_controller, tls as tls_provider};
use s2n_quic::stream::BidirectionalStream;
use s2n_quic::{Connection, Server};
use tokio::signal::unix::{signal, SignalKind};

use crate::binding::{application_error, Transport};
use crate::transport::{io, limits, Control};
use crate::{run, settings, tls};

/// Bytes handed to the stream at once: few calls, little memory.
const PIECE_BYTES: usize = 1 << 18;

/// Longest request of HTTP/0.9.
const REQUEST_BYTES: usize = 8192;

/// H3_REQUEST_REJECTED, for an object of HTTP/0.9 that is not there.
const REJECTED: u64 = 0x10b;

/// Serve `WWW` until SIGTERM.
pub fn main() -> Outcome<()> {
    let settings = settings(Role::Server)?;
    let content = Arc::new(Content::load(&PathBuf::from(text("WWW")?))?);
    run(async move {
        let mut server = match Control::new(&settings) {
            Control::Cubic(control) => start(&settings, control, &content)?,
            Control::Bbr(control) => start(&settings, control, &content)?,
        };
        let mut stop = signal(SignalKind::terminate()).context(|| "signals".into())?;
        loop {
            let connection = tokio::select! {
                connection = server.accept() => connection,
                _ = stop.recv() => None,
            };
            let Some(connection) = connection else {
                return Ok(());
            };
            tokio::spawn(serve(connection, settings.protocol, content.clone()));
        }
    })
}

fn start(
    settings: &Settings,
    control: impl congestion_controller::Provider,
    content: &Content,
) -> Outcome<Server> {
    let socket = plain(settings.address, settings)?;
    note(describe(&socket, settings.address, content.count())?);
    let tls = tls_provider::rustls::Server::from(tls::server(settings)?);
    let builder = Server::builder().with_io(io(socket, settings)?);
    let builder = builder.and_then(|builder| builder.with_tls(tls));
    let builder = builder.context(|| "TLS".into())?;
    let builder = builder.with_congestion_controller(control);
    let builder = builder.context(|| "congestion control".into())?;
    let builder = builder.with_limits(limits(settings)?);
    let builder = builder.context(|| "limits".into())?;
    builder.start().context(|| "UDP socket".into())
}

/// Answer until the connection ends.
async fn serve(connection: Connection, protocol: Protocol, content: Arc<Content>) {
    let handle = connection.handle();
    match protocol {
        Protocol::H3 => serve_h3(connection, content).await,
        Protocol::Hq => serve_hq(connection, content).await,
    }
    if let Err(reason) = handle.local_addr() {
        note(format!("connection over: {reason}"));
    }
}

async fn serve_h3(connection: Connection, content: Arc<Content>) {
    let mut builder = h3::server::builder();
    let http = builder.send_grease(false);
    // Why there is none, or none any more, is the connection's end.
    let Ok(mut http) = http.build::<_, Bytes>(Transport::new(connection)).await else {
        return;
    };
    while let Ok(Some(request)) = http.accept().await {
        tokio::spawn(answer(request, content.clone()));
    }
}

async fn answer(
    request: RequestResolver<Transport, Bytes>,
    content: Arc<Content>,
) -> Result<(), h3::error::StreamError> {
    let (request, mut stream) = request.resolve_request().await?;
    let (head, mut body) = response(&request, &content);
    stream.send_response(head).await?;
    while !body.is_empty() {
        let piece = body.split_to(body.len().min(PIECE_BYTES));
        stream.send_data(piece).await?;
    }
    stream.finish().await?;
    // A request that is not read to its end would be stopped here, which some clients take for a failure.
    while stream.recv_data().await?.is_some() {}
    Ok(())
}

/// Head and body: the file, what a `Range` asks for of it, or why not.
fn response(request: &Request<()>, content: &Content) -> (Response<()>, Bytes) {
    let path = request.uri().path();
    let found = content.get(path.as_bytes());
    let (status, body, kind) = match found.filter(|_| request.method() == Method::GET) {
        None if request.method() != Method::GET => {
            (StatusCode::METHOD_NOT_ALLOWED, Bytes::new(), "text/plain")
        }
        None => (StatusCode::NOT_FOUND, Bytes::new(), "text/plain"),
        Some(file) => {
            let whole = Bytes::from_owner(file.body.clone());
            let range = request.headers().get(header::RANGE);
            let first = range.and_then(|range| first_byte(range.as_bytes(), whole.len()));
            let partial = first.map(|first| (StatusCode::PARTIAL_CONTENT, whole.slice(first..)));
            let (status, body) = partial.unwrap_or((StatusCode::OK, whole));
            (status, body, file.media_type)
        }
    };
    let mut head = Response::new(());
    *head.status_mut() = status;
    let fields = head.headers_mut();
    fields.insert(header::CONTENT_LENGTH, body.len().into());
    fields.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    (head, body)
}

async fn serve_hq(mut connection: Connection, content: Arc<Content>) {
    while let Ok(Some(stream)) = connection.accept_bidirectional_stream().await {
        tokio::spawn(answer_hq(stream, content.clone()));
    }
}

/// HTTP/0.9: the line `GET PATH`, then the bytes.
async fn answer_hq(
    mut stream: BidirectionalStream,
    content: Arc<Content>,
) -> s2n_quic::stream::Result<()> {
    let mut request = Vec::new();
    while let Some(bytes) = stream.receive().await? {
        request.extend_from_slice(&bytes);
        if request.len() > REQUEST_BYTES {
            return stream.reset(application_error(REJECTED));
        }
    }
    let path = request.strip_prefix(b"GET ").unwrap_or_default();
    match content.get(path.trim_ascii()) {
        None => stream.reset(application_error(REJECTED)),
        Some(file) => {
            stream.send(Bytes::from_owner(file.body.clone())).await?;
            stream.finish()
        }
    }
}
