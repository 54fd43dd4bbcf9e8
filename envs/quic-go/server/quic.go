package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"howquick/stack"
)

const (
	hqALPN = "hq-interop"
	// noSuchObject resets a stream of HTTP/0.9, which has no status.
	noSuchObject = 404
	// longestRequest bounds the line of a request of HTTP/0.9.
	longestRequest = 4096
	copyBytes      = 1 << 18
)

func (s server) serveQUIC(ctx context.Context) error {
	config, err := s.options.ServerTLS(s.settings, hqALPN)
	if err != nil {
		return err
	}
	logs := stack.OpenLogs()
	quicConfig := s.options.QUIC(logs)
	quicConfig.Allow0RTT = s.settings.Connection == "0rtt" || s.options.OnMove == stack.Resume
	transport, err := s.options.OpenTransport(s.settings.Address)
	if err != nil {
		return err
	}
	serve := s.serve09
	if s.settings.Protocol == "h3" {
		config, serve = http3.ConfigureTLSConfig(config), s.serve3
	}
	listener, err := transport.ListenEarly(config, quicConfig)
	if err != nil {
		return err
	}
	err = serve(ctx, listener)
	return errors.Join(err, transport.CloseNow(), logs.Wait())
}

func (s server) serve3(ctx context.Context, listener *quic.EarlyListener) error {
	h3 := &http3.Server{Handler: s, Logger: slog.New(slog.DiscardHandler)}
	context.AfterFunc(ctx, func() { h3.Close() })
	if err := h3.ServeListener(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func (s server) serve09(ctx context.Context, listener *quic.EarlyListener) error {
	for {
		conn, err := listener.Accept(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { conn.CloseWithError(0, "") })
		go s.answerConnection(conn)
	}
}

func (s server) answerConnection(conn *quic.Conn) {
	for {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return // The connection is over.
		}
		go s.answerStream(stream)
	}
}

func (s server) answerStream(stream *quic.Stream) {
	line, err := bufio.NewReader(io.LimitReader(stream, longestRequest)).ReadString('\n')
	path, isGet := strings.CutPrefix(strings.TrimSpace(line), "GET ")
	if (err != nil && err != io.EOF) || !isGet {
		stream.CancelWrite(noSuchObject)
		return
	}
	body, _, err := s.content.Open(path)
	if err != nil {
		stream.CancelWrite(noSuchObject)
		return
	}
	defer body.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{stream}, body, make([]byte, copyBytes)); err != nil {
		stream.CancelWrite(noSuchObject)
		return
	}
	stream.Close()
}
