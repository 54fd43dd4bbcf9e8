//! Answers to the requests of one connection, each by a task of its own.

use std::sync::Arc;

use bytes::Bytes;
use contract::content::{first_byte, File};
use h3::server::{RequestResolver, RequestStream};
use h3_quinn::BidiStream;
use http::{header, Method, Request, Response, StatusCode};
use quinn::{RecvStream, SendStream};

use super::Shared;
use contract::settings::Protocol;

/// Bytes handed over at once. Fewer would cost more calls, more would sit in memory.
const WRITE_BYTES: usize = 1 << 18;

/// Longest request line of HTTP/0.9.
const REQUEST_BYTES: usize = 8192;

/// Answer until the connection ends. What went wrong with it is its close reason.
pub async fn all(connection: quinn::Connection, shared: &Arc<Shared>) {
    match shared.settings.protocol {
        Protocol::H3 => h3(connection, shared).await,
        Protocol::Hq => hq(connection, shared).await,
    }
}

async fn h3(connection: quinn::Connection, shared: &Arc<Shared>) {
    let mut builder = h3::server::builder();
    let transport = h3_quinn::Connection::new(connection);
    let Ok(mut http) = builder.send_grease(false).build(transport).await else {
        return;
    };
    while let Ok(Some(request)) = http.accept().await {
        tokio::spawn(respond(request, shared.clone()));
    }
}

async fn respond(resolver: RequestResolver<h3_quinn::Connection, Bytes>, shared: Arc<Shared>) {
    if let Ok((request, mut stream)) = resolver.resolve_request().await {
        // A client that no longer wants an object has stopped its stream: nothing is left to do.
        let _ = send(&request, &mut stream, &shared).await;
    }
}

async fn send(
    request: &Request<()>,
    stream: &mut RequestStream<BidiStream<Bytes>, Bytes>,
    shared: &Shared,
) -> Result<(), h3::error::StreamError> {
    let target = request.uri().path_and_query();
    let file = target.and_then(|target| shared.content.get(target.as_str().as_bytes()));
    let (status, body, kind) = match (request.method(), file) {
        (&Method::GET, Some(file)) => part(request, file),
        (&Method::GET, None) => message(StatusCode::NOT_FOUND, b"not found\n"),
        _ => message(StatusCode::METHOD_NOT_ALLOWED, b"only GET is served\n"),
    };
    let mut head = Response::new(());
    *head.status_mut() = status;
    let fields = head.headers_mut();
    fields.insert(header::SERVER, header::HeaderValue::from_static("quinn"));
    fields.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    fields.insert(header::CONTENT_LENGTH, body.len().into());
    stream.send_response(head).await?;
    let mut rest = body;
    while !rest.is_empty() {
        let next = rest.split_to(rest.len().min(WRITE_BYTES));
        stream.send_data(next).await?;
    }
    stream.finish().await?;
    // A request that is not read to its end would be stopped here, which some clients take for a failure.
    while stream.recv_data().await?.is_some() {}
    Ok(())
}

type Answer = (StatusCode, Bytes, &'static str);

/// The file, or what a `Range` asks for of it.
fn part(request: &Request<()>, file: &File) -> Answer {
    let range = request.headers().get(header::RANGE);
    let body = body(file);
    match range.and_then(|range| first_byte(range.as_bytes(), body.len())) {
        Some(first) => (
            StatusCode::PARTIAL_CONTENT,
            body.slice(first..),
            file.media_type,
        ),
        None => (StatusCode::OK, body, file.media_type),
    }
}

fn message(status: StatusCode, text: &'static [u8]) -> Answer {
    (status, Bytes::from_static(text), "text/plain")
}

/// A file's bytes, which are shared and not copied.
fn body(file: &File) -> Bytes {
    Bytes::from_owner(file.body.clone())
}

async fn hq(connection: quinn::Connection, shared: &Arc<Shared>) {
    while let Ok((sender, receiver)) = connection.accept_bi().await {
        tokio::spawn(respond_hq(sender, receiver, shared.clone()));
    }
}

/// HTTP/0.9: the line `GET PATH`, then the bytes; an object that is not there is a reset stream.
async fn respond_hq(mut sender: SendStream, mut receiver: RecvStream, shared: Arc<Shared>) {
    let Ok(line) = receiver.read_to_end(REQUEST_BYTES).await else {
        return;
    };
    let path = line.strip_prefix(b"GET ").unwrap_or_default().trim_ascii();
    let Some(file) = shared.content.get(path) else {
        let _ = sender.reset(quinn::VarInt::from_u32(0x101));
        return;
    };
    // As above: a stopped stream needs no more.
    if sender.write_chunk(body(file)).await.is_ok() {
        let _ = sender.finish();
    }
}
