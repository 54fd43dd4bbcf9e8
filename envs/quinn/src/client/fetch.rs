//! The requests of the client, each a task of its own.

use bytes::{Buf, Bytes};
use contract::requests::{authority, target};
use http::{header, Request};
use tokio::sync::mpsc;
use url::Url;

use super::link::Http;

/// Most bytes of an HTTP/0.9 stream that are taken at once.
const READ_BYTES: usize = 1 << 16;

/// Where events go.
pub type Sender = mpsc::Sender<Event>;

/// Something came of the object of that number.
pub enum Event {
    /// Status and length of what follows.
    Head(usize, u16, Option<u64>),
    Data(usize, Bytes),
    End(usize),
    Failed(usize, String),
}

/// Ask for an object from byte `from` on and tell what comes of it.
pub async fn fetch(http: Http, events: Sender, number: usize, url: Url, from: u64) {
    let told = match http {
        Http::H3(mut requests) => h3(&mut requests, &events, number, &url, from).await,
        Http::Hq(connection) => hq(&connection, &events, number, &url).await,
    };
    let last = match told {
        Ok(()) => Event::End(number),
        Err(reason) => Event::Failed(number, reason),
    };
    // Whoever does not listen any more has left the connection.
    let _ = events.send(last).await;
}

async fn h3(
    requests: &mut h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    events: &Sender,
    number: usize,
    url: &Url,
    from: u64,
) -> Result<(), String> {
    let mut stream = requests
        .send_request(request(url, from)?)
        .await
        .map_err(told)?;
    stream.finish().await.map_err(told)?;
    let response = stream.recv_response().await.map_err(told)?;
    let length = response.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    tell(
        events,
        Event::Head(number, response.status().as_u16(), length),
    )
    .await?;
    while let Some(mut data) = stream.recv_data().await.map_err(told)? {
        let bytes = data.copy_to_bytes(data.remaining());
        tell(events, Event::Data(number, bytes)).await?;
    }
    Ok(())
}

fn request(url: &Url, from: u64) -> Result<Request<()>, String> {
    let uri = format!("https://{}{}", authority(url), target(url));
    let request = Request::get(uri).header(header::USER_AGENT, "howquick-quinn");
    let request = if from > 0 {
        request.header(header::RANGE, format!("bytes={from}-"))
    } else {
        request
    };
    request.body(()).map_err(told)
}

/// HTTP/0.9 tells neither status nor length: the end of the stream is all there is.
async fn hq(
    connection: &quinn::Connection,
    events: &Sender,
    number: usize,
    url: &Url,
) -> Result<(), String> {
    let (mut sender, mut receiver) = connection.open_bi().await.map_err(told)?;
    let line = format!("GET {}\r\n", target(url));
    sender.write_all(line.as_bytes()).await.map_err(told)?;
    sender.finish().map_err(told)?;
    let mut head = Some(Event::Head(number, 200, None));
    while let Some(chunk) = receiver.read_chunk(READ_BYTES, true).await.map_err(told)? {
        if let Some(head) = head.take() {
            tell(events, head).await?;
        }
        tell(events, Event::Data(number, chunk.bytes)).await?;
    }
    match head {
        Some(head) => tell(events, head).await,
        None => Ok(()),
    }
}

async fn tell(events: &Sender, event: Event) -> Result<(), String> {
    events.send(event).await.map_err(told)
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
