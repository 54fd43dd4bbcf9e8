package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"howquick/contract"
	"howquick/stack"
)

// noError closes a connection of HTTP/3 (RFC 9114, section 8.1); HTTP/0.9 has no codes of its own.
const noError = quic.ApplicationErrorCode(http3.ErrCodeNoError)

// quicSession is HTTP/3 or HTTP/0.9 over one QUIC connection.
type quicSession struct {
	dialer *dialer

	mutex      sync.Mutex
	method     string
	transports []*stack.Transport // the last is in use
	conn       *quic.Conn
	http       *http3.ClientConn // nil: HTTP/0.9
	handshake  *time.Duration
}

func (d *dialer) openQUIC(ctx context.Context, config *tls.Config, how wish) (contract.Session, error) {
	begun := time.Now()
	local := how.local
	if d.load.Moves > 0 && !local.IsValid() {
		// A socket bound to no address would follow a change by itself, whatever option on_move says.
		var err error
		if local, err = localAddress(d.settings.Address); err != nil {
			return nil, err
		}
	}
	transport, err := d.options.OpenTransport(bindTo(local))
	if err != nil {
		return nil, err
	}
	s := &quicSession{dialer: d, method: http.MethodGet, transports: []*stack.Transport{transport}}
	dial := transport.Dial
	if how.early {
		dial, s.method = transport.DialEarly, http3.MethodGet0RTT
	}
	peer := net.UDPAddrFromAddrPort(d.settings.Address)
	conn, err := dial(ctx, peer, config, d.options.QUIC(d.logs))
	if err != nil {
		return nil, errors.Join(err, transport.CloseNow())
	}
	s.use(conn)
	go s.noteHandshake(conn, begun)
	return s, nil
}

func bindTo(local netip.Addr) netip.AddrPort {
	if !local.IsValid() {
		local = netip.IPv4Unspecified()
	}
	return netip.AddrPortFrom(local, 0)
}

func (s *quicSession) use(conn *quic.Conn) {
	s.conn = conn
	if s.dialer.settings.Protocol == "h3" {
		transport := &http3.Transport{DisableCompression: true}
		s.http = transport.NewClientConn(conn)
	}
}

func (s *quicSession) noteHandshake(conn *quic.Conn, begun time.Time) {
	select {
	case <-conn.HandshakeComplete():
		took := time.Since(begun)
		s.mutex.Lock()
		s.handshake = &took
		s.mutex.Unlock()
	case <-conn.Context().Done():
	}
}

func (s *quicSession) Get(ctx context.Context, path string, first int64) (contract.Answer, error) {
	conn, client, method := s.current()
	answer, err := s.get(ctx, conn, client, method, path, first)
	if !errors.Is(err, quic.Err0RTTRejected) {
		return answer, err
	}
	// The server took no early data: the request is made again as it would be without.
	if err := s.goOnWithoutEarlyData(ctx, client); err != nil {
		return contract.Answer{}, err
	}
	conn, client, method = s.current()
	return s.get(ctx, conn, client, method, path, first)
}

func (s *quicSession) current() (*quic.Conn, *http3.ClientConn, string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.conn, s.http, s.method
}

func (s *quicSession) goOnWithoutEarlyData(ctx context.Context, rejected *http3.ClientConn) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.method == http.MethodGet && s.http != rejected {
		return nil // Another request has done it.
	}
	conn, err := s.conn.NextConnection(ctx)
	if err == nil {
		s.method = http.MethodGet
		s.use(conn)
	}
	return err
}

func (s *quicSession) get(
	ctx context.Context, conn *quic.Conn, client *http3.ClientConn, method, path string, first int64,
) (contract.Answer, error) {
	if client == nil {
		return get09(ctx, conn, path)
	}
	wanted, err := s.dialer.request(ctx, method, path, first)
	if err != nil {
		return contract.Answer{}, err
	}
	response, err := client.RoundTrip(wanted)
	if err != nil {
		return contract.Answer{}, err
	}
	return answerOf(response, first), nil
}

// get09 asks by HTTP/0.9: the request is a line, the answer the bytes up to the end of the stream.
func get09(ctx context.Context, conn *quic.Conn, path string) (contract.Answer, error) {
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return contract.Answer{}, err
	}
	if _, err = fmt.Fprintf(stream, "GET %s\r\n", path); err == nil {
		err = stream.Close()
	}
	// The first byte is waited for, as that of an answer by any other protocol.
	begun := make([]byte, 1)
	if err == nil {
		_, err = io.ReadFull(stream, begun)
	}
	if err == io.EOF {
		begun, err = nil, nil // An object without a byte.
	}
	return contract.Answer{Status: http.StatusOK, Length: -1, Body: &begunStream{begun, stream}}, err
}

// begunStream is a stream of which a byte has been read already.
type begunStream struct {
	begun []byte
	*quic.Stream
}

func (s *begunStream) Read(into []byte) (int, error) {
	if len(s.begun) > 0 {
		n := copy(into, s.begun)
		s.begun = s.begun[n:]
		return n, nil
	}
	return s.Stream.Read(into)
}

// Close is for what was not read to its end.
func (s *begunStream) Close() error {
	s.CancelRead(0)
	return nil
}

// migrate goes on with the same connection from another address (RFC 9000, section 9).
func (s *quicSession) migrate(ctx context.Context, options stack.Options, to netip.Addr) error {
	transport, err := options.OpenTransport(bindTo(to))
	if err != nil {
		return err
	}
	s.mutex.Lock()
	s.transports = append(s.transports, transport)
	s.mutex.Unlock()
	path, err := s.conn.AddPath(transport.Transport)
	if err == nil {
		probing, cancel := context.WithTimeout(ctx, options.IdleTimeout)
		defer cancel()
		err = path.Probe(probing)
	}
	if err == nil {
		err = path.Switch()
	}
	if err != nil {
		return fmt.Errorf("migration to %s: %w", to, err)
	}
	return nil
}

func (s *quicSession) Facts() contract.Facts {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	state := s.conn.ConnectionState()
	return contract.Facts{
		Handshake: s.handshake, Connections: 1, Resumed: state.TLS.DidResume, EarlyData: state.Used0RTT,
		Negotiated: stack.Negotiated(state.TLS, s.dialer.settings.CongestionControl),
	}
}

func (s *quicSession) Abandon() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, transport := range s.transports {
		_ = transport.CloseNow()
	}
}

// Close tells the server, and returns when the packet that says so has left.
func (s *quicSession) Close() error {
	err := s.conn.CloseWithError(noError, "")
	s.Abandon()
	return err
}
