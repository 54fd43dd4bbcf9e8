package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"howquick/contract"
	"howquick/stack"
)

// tcpSession is HTTP/1.1 over up to `connections` connections, or HTTP/2 over one.
type tcpSession struct {
	dialer *dialer
	http   *http.Transport
	config *tls.Config
	local  netip.Addr
	begun  time.Time

	mutex sync.Mutex
	conns []*tls.Conn
	first time.Duration // handshakes of the first connection, TCP's and TLS's
}

func (d *dialer) openTCP(ctx context.Context, config *tls.Config, how wish) (contract.Session, error) {
	s := &tcpSession{dialer: d, config: config, local: how.local, begun: time.Now()}
	s.http = &http.Transport{
		DialTLSContext:      s.connect,
		DisableCompression:  true,
		MaxConnsPerHost:     1,
		MaxIdleConnsPerHost: d.options.Connections,
		ReadBufferSize:      1 << 16,
		Protocols:           new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			StrictMaxConcurrentRequests:   true,
			MaxReceiveBufferPerStream:     d.options.HTTP2ReceiveWindow,
			MaxReceiveBufferPerConnection: d.options.HTTP2ReceiveWindowAll,
		},
	}
	if d.settings.Protocol == "h1" {
		s.http.Protocols.SetHTTP1(true)
		s.http.MaxConnsPerHost = d.options.Connections
	} else {
		s.http.Protocols.SetHTTP2(true)
	}
	return s, nil
}

func (s *tcpSession) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	plain := net.Dialer{}
	if s.local.IsValid() {
		plain.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(s.local, 0))
	}
	raw, err := plain.DialContext(ctx, "tcp4", s.dialer.settings.Address.String())
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, s.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.conns = append(s.conns, conn)
	if len(s.conns) == 1 {
		s.first = time.Since(s.begun)
	}
	return conn, nil
}

func (s *tcpSession) Get(ctx context.Context, path string, first int64) (contract.Answer, error) {
	wanted, err := s.dialer.request(ctx, http.MethodGet, path, first)
	if err != nil {
		return contract.Answer{}, err
	}
	response, err := s.http.RoundTrip(wanted)
	if err != nil {
		return contract.Answer{}, err
	}
	return answerOf(response, first), nil
}

// Facts calls the session resumed if every connection was.
func (s *tcpSession) Facts() contract.Facts {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	facts := contract.Facts{Handshake: &s.first, Connections: len(s.conns), Resumed: len(s.conns) > 0}
	for _, conn := range s.conns {
		state := conn.ConnectionState()
		facts.Resumed = facts.Resumed && state.DidResume
		facts.Negotiated = stack.Negotiated(state, "")
	}
	return facts
}

func (s *tcpSession) Abandon() { _ = s.Close() }

// Close sends each connection's close_notify.
func (s *tcpSession) Close() error {
	s.http.CloseIdleConnections()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, conn := range s.conns {
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}
