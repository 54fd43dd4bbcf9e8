package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/net/quic"

	"howquick/contract"
	"howquick/stack"
)

// dialer opens connections to the one server there is.
type dialer struct {
	settings contract.Settings
	options  stack.Options
	config   *quic.Config
}

// session is HTTP/0.9 over one connection.
type session struct {
	endpoint  *quic.Endpoint
	conn      *quic.Conn
	handshake time.Duration
	control   string
}

func (d *dialer) dial(ctx context.Context) (contract.Session, error) {
	begun := time.Now()
	endpoint, err := d.options.Open(netip.AddrPortFrom(netip.IPv4Unspecified(), 0), nil)
	if err != nil {
		return nil, err
	}
	conn, err := endpoint.Dial(ctx, "udp4", d.settings.Address.String(), d.config)
	if err != nil {
		stack.CloseNow(endpoint)
		return nil, fmt.Errorf("connection to %s: %w", d.settings.Address, err)
	}
	return &session{endpoint, conn, time.Since(begun), d.settings.CongestionControl}, nil
}

// Get asks by a line; the answer is the bytes up to the end of the stream.
func (s *session) Get(ctx context.Context, path string, _ int64) (contract.Answer, error) {
	stream, err := s.conn.NewStream(ctx)
	if err != nil {
		return contract.Answer{}, err
	}
	stream.SetReadContext(ctx)
	if _, err = fmt.Fprintf(stream, "GET %s\r\n", path); err == nil {
		err = stream.CloseWrite()
	}
	body := bufio.NewReader(stream)
	if err == nil {
		// The first byte is waited for, as that of an answer by any other protocol.
		_, err = body.Peek(1)
	}
	if err == io.EOF {
		err = nil // An object without a byte.
	}
	return contract.Answer{Status: http.StatusOK, Length: -1, Body: answer{body, stream}}, err
}

// answer is a stream of which some bytes may have been read already.
type answer struct {
	io.Reader
	stream *quic.Stream
}

// Close lets the library forget the stream, whether it was read to its end or not.
func (a answer) Close() error { return a.stream.CloseRead() }

// Facts tells what became of the connection.
func (s *session) Facts() contract.Facts {
	state := s.conn.ConnectionState()
	return contract.Facts{
		Handshake: &s.handshake, Connections: 1, Resumed: state.DidResume,
		Negotiated: stack.Negotiated(state, s.control),
	}
}

// Abandon is for changes of address, which no protocol of this client can follow.
func (s *session) Abandon() {}

// Close tells the server, and returns when the packet that says so has left.
func (s *session) Close() error {
	stack.CloseNow(s.endpoint)
	return nil
}
