//! The QUIC that the h3 library asks for, made of s2n-quic's connections and streams.

use std::sync::Arc;
use std::task::{ready, Context, Poll};

use bytes::{Buf, Bytes};
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use s2n_quic::application;
use s2n_quic::connection::{self, Handle, StreamAcceptor};
use s2n_quic::stream::{self, BidirectionalStream, ReceiveStream, SendStream};

/// A connection: what opens streams and what accepts them.
pub struct Transport {
    opener: Opener,
    acceptor: StreamAcceptor,
}

impl Transport {
    pub fn new(connection: s2n_quic::Connection) -> Self {
        let (handle, acceptor) = connection.split();
        Self {
            opener: Opener(handle),
            acceptor,
        }
    }
}

impl<B: Buf> quic::Connection<B> for Transport {
    type RecvStream = Receiver;
    type OpenStreams = Opener;

    fn poll_accept_recv(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Receiver, ConnectionErrorIncoming>> {
        let accepted = ready!(self.acceptor.poll_accept_receive_stream(context));
        Poll::Ready(there(accepted).map(Receiver))
    }

    fn poll_accept_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, ConnectionErrorIncoming>> {
        let accepted = ready!(self.acceptor.poll_accept_bidirectional_stream(context));
        Poll::Ready(there(accepted).map(Bidirectional::new))
    }

    fn opener(&self) -> Opener {
        self.opener.clone()
    }
}

impl<B: Buf> quic::OpenStreams<B> for Transport {
    type BidiStream = Bidirectional<B>;
    type SendStream = Sender<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        self.opener.poll_open_bidi(context)
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Sender<B>, StreamErrorIncoming>> {
        self.opener.poll_open_send(context)
    }

    fn close(&mut self, code: h3::error::Code, reason: &[u8]) {
        quic::OpenStreams::<B>::close(&mut self.opener, code, reason);
    }
}

/// Opens streams.
#[derive(Clone)]
pub struct Opener(pub Handle);

impl<B: Buf> quic::OpenStreams<B> for Opener {
    type BidiStream = Bidirectional<B>;
    type SendStream = Sender<B>;

    fn poll_open_bidi(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Bidirectional<B>, StreamErrorIncoming>> {
        let opened = ready!(self.0.poll_open_bidirectional_stream(context));
        Poll::Ready(opened.map(Bidirectional::new).map_err(of_connection))
    }

    fn poll_open_send(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Sender<B>, StreamErrorIncoming>> {
        let opened = ready!(self.0.poll_open_send_stream(context));
        Poll::Ready(opened.map(Sender::new).map_err(of_connection))
    }

    fn close(&mut self, code: h3::error::Code, _: &[u8]) {
        self.0.close(application_error(code.value()));
    }
}

/// A stream to send on, and what waits to be sent.
pub struct Sender<B: Buf> {
    stream: SendStream,
    waiting: Option<WriteBuf<B>>,
    chunk: Bytes,
}

impl<B: Buf> Sender<B> {
    fn new(stream: SendStream) -> Self {
        Self {
            stream,
            waiting: None,
            chunk: Bytes::new(),
        }
    }
}

impl<B: Buf> quic::SendStream<B> for Sender<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        loop {
            if !self.chunk.is_empty() {
                ready!(self.stream.poll_send(&mut self.chunk, context)).map_err(of_stream)?;
            }
            let waiting = self.waiting.as_mut().filter(|data| data.has_remaining());
            let Some(data) = waiting else {
                self.waiting = None;
                return Poll::Ready(Ok(()));
            };
            let length = data.chunk().len();
            self.chunk = data.copy_to_bytes(length);
        }
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        if self.waiting.is_some() {
            let message = "more was sent before the stream was ready";
            return Err(StreamErrorIncoming::Unknown(message.into()));
        }
        self.waiting = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        ready!(self.poll_ready(context))?;
        Poll::Ready(self.stream.finish().map_err(of_stream))
    }

    fn reset(&mut self, code: u64) {
        // A stream that is over already needs no reset.
        let _ = self.stream.reset(application_error(code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

/// A stream to receive from.
pub struct Receiver(ReceiveStream);

impl quic::RecvStream for Receiver {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        self.0.poll_receive(context).map_err(of_stream)
    }

    fn stop_sending(&mut self, code: u64) {
        // As above.
        let _ = self.0.stop_sending(application_error(code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.0.id())
    }
}

/// A stream for both.
pub struct Bidirectional<B: Buf> {
    sender: Sender<B>,
    receiver: Receiver,
}

impl<B: Buf> Bidirectional<B> {
    fn new(stream: BidirectionalStream) -> Self {
        let (receiver, sender) = stream.split();
        Self {
            sender: Sender::new(sender),
            receiver: Receiver(receiver),
        }
    }
}

impl<B: Buf> quic::BidiStream<B> for Bidirectional<B> {
    type SendStream = Sender<B>;
    type RecvStream = Receiver;

    fn split(self) -> (Sender<B>, Receiver) {
        (self.sender, self.receiver)
    }
}

impl<B: Buf> quic::SendStream<B> for Bidirectional<B> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.sender.poll_ready(context)
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.sender.send_data(data)
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.sender.poll_finish(context)
    }

    fn reset(&mut self, code: u64) {
        self.sender.reset(code);
    }

    fn send_id(&self) -> StreamId {
        self.sender.send_id()
    }
}

impl<B: Buf> quic::RecvStream for Bidirectional<B> {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        self.receiver.poll_data(context)
    }

    fn stop_sending(&mut self, code: u64) {
        self.receiver.stop_sending(code);
    }

    fn recv_id(&self) -> StreamId {
        self.receiver.recv_id()
    }
}

/// The stream that was accepted. None means that the connection was closed without an error.
fn there<T>(accepted: connection::Result<Option<T>>) -> Result<T, ConnectionErrorIncoming> {
    let closed = ConnectionErrorIncoming::ApplicationClose {
        error_code: h3::error::Code::H3_NO_ERROR.value(),
    };
    accepted.map_err(told)?.ok_or(closed)
}

fn told(error: connection::Error) -> ConnectionErrorIncoming {
    match error {
        connection::Error::Application { error, .. } => ConnectionErrorIncoming::ApplicationClose {
            error_code: error.into(),
        },
        connection::Error::Closed { .. } => ConnectionErrorIncoming::ApplicationClose {
            error_code: h3::error::Code::H3_NO_ERROR.value(),
        },
        connection::Error::IdleTimerExpired { .. } => ConnectionErrorIncoming::Timeout,
        other => ConnectionErrorIncoming::Undefined(Arc::new(other)),
    }
}

fn of_connection(error: connection::Error) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: told(error),
    }
}

fn of_stream(error: stream::Error) -> StreamErrorIncoming {
    match error {
        stream::Error::StreamReset { error, .. } => StreamErrorIncoming::StreamTerminated {
            error_code: error.into(),
        },
        stream::Error::ConnectionError { error, .. } => of_connection(error),
        other => StreamErrorIncoming::Unknown(Box::new(other)),
    }
}

/// A code of HTTP/3, all of which QUIC can carry (RFC 9114, section 8.1).
pub fn application_error(code: u64) -> application::Error {
    application::Error::new(code).unwrap_or(application::Error::UNKNOWN)
}

fn stream_id(number: u64) -> StreamId {
    StreamId::try_from(number).unwrap_or_else(|_| unreachable!("QUIC numbers streams below 2^62"))
}
