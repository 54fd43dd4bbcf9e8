package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/pion/sctp"

	"howquick/contract"
	"howquick/way"
)

// session is one association.
type session struct {
	socket      *net.UDPConn
	association *sctp.Association
	handshake   time.Duration
	next        atomic.Uint32 // stream
	control     string
	streams     uint16 // of an answer
}

func dial(
	ctx context.Context, settings contract.Settings, options way.Options, local netip.Addr,
) (contract.Session, error) {
	begun := time.Now()
	var from *net.UDPAddr
	if local.IsValid() {
		from = net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	}
	socket, err := net.DialUDP("udp4", from, net.UDPAddrFromAddrPort(settings.Address))
	if err != nil {
		return nil, err
	}
	if options.SocketBufferBytes > 0 {
		err = errors.Join(
			socket.SetReadBuffer(options.SocketBufferBytes), socket.SetWriteBuffer(options.SocketBufferBytes))
	}
	var association *sctp.Association
	if err == nil {
		association, err = options.Connect(ctx, socket, settings)
	}
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &session{
		socket: socket, association: association, handshake: time.Since(begun),
		control: settings.CongestionControl, streams: options.Streams,
	}, nil
}

// Get opens the streams of an answer, sends the request on the first and waits for the length of the answer.
func (s *session) Get(_ context.Context, path string, first int64) (contract.Answer, error) {
	streams := make([]*sctp.Stream, s.streams)
	lowest := uint16(s.next.Add(uint32(s.streams)) - uint32(s.streams))
	for i := range streams {
		var err error
		if streams[i], err = s.association.OpenStream(lowest+uint16(i), sctp.PayloadTypeWebRTCBinary); err != nil {
			return contract.Answer{}, err
		}
	}
	stream := streams[0]
	request := "GET " + path
	if first > 0 || s.streams > 1 {
		request = fmt.Sprintf("%s %d", request, first)
	}
	if s.streams > 1 {
		request = fmt.Sprintf("%s %d", request, s.streams)
	}
	if _, err := stream.Write([]byte(request + "\n")); err != nil {
		return contract.Answer{}, err
	}
	head := make([]byte, way.LengthBytes)
	if n, err := stream.Read(head); err != nil || n != len(head) {
		return contract.Answer{}, fmt.Errorf("answer of %d bytes: %w", n, err)
	}
	length := binary.BigEndian.Uint64(head)
	if length == way.NoSuchObject {
		return contract.Answer{Status: http.StatusNotFound, Body: http.NoBody}, nil
	}
	body := io.LimitReader(&dealt{streams: streams}, int64(length))
	return contract.Answer{Status: http.StatusOK, Length: int64(length), Body: io.NopCloser(body)}, nil
}

// dealt puts an answer together whose messages came on several streams in turn.
type dealt struct {
	streams []*sctp.Stream
	turn    int
}

func (d *dealt) Read(into []byte) (int, error) {
	n, err := d.streams[d.turn].Read(into)
	d.turn = (d.turn + 1) % len(d.streams)
	return n, err
}

func (s *session) Facts() contract.Facts {
	return contract.Facts{
		Handshake: &s.handshake, Connections: 1,
		Negotiated: contract.Negotiated{CongestionControl: s.control},
	}
}

func (s *session) Abandon() {
	_ = s.socket.Close()
	_ = s.association.Close()
}

// Close shuts the association down as RFC 9260, section 9.2, says.
func (s *session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), way.Patience)
	defer cancel()
	err := s.association.Shutdown(ctx)
	s.Abandon()
	if err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}
