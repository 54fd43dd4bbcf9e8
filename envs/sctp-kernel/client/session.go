package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"howquick/contract"
	"howquick/kernel"
)

// session is one association; a goroutine of its own reads it and gives each stream its messages.
type session struct {
	socket    *kernel.Socket
	options   kernel.Options
	handshake time.Duration
	control   string
	mutex     sync.Mutex
	arrived   *sync.Cond
	next      uint16            // the first stream that no request has taken
	waiting   map[uint16][]byte // by stream: bytes that nobody has read yet
	over      error
}

func dial(settings contract.Settings, options kernel.Options, local netip.Addr) (contract.Session, error) {
	begun := time.Now()
	socket, err := kernel.Dial(settings.Address, local, options.SocketBufferBytes)
	if err != nil {
		return nil, err
	}
	s := &session{
		socket: socket, options: options, handshake: time.Since(begun), control: settings.CongestionControl,
		waiting: map[uint16][]byte{},
	}
	s.arrived = sync.NewCond(&s.mutex)
	go s.receive()
	return s, nil
}

func (s *session) receive() {
	buffer := make([]byte, kernel.LargestMessage)
	for {
		n, stream, err := s.socket.Receive(buffer)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		s.mutex.Lock()
		if err != nil {
			s.over = fmt.Errorf("the association ended: %w", err)
		} else {
			s.waiting[stream] = append(s.waiting[stream], buffer[:n]...)
		}
		s.arrived.Broadcast()
		s.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// take reads what has come on a stream, and waits until something has.
func (s *session) take(stream uint16, into []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.waiting[stream]) == 0 {
		if s.over != nil {
			return 0, s.over
		}
		s.arrived.Wait()
	}
	n := copy(into, s.waiting[stream])
	s.waiting[stream] = s.waiting[stream][n:]
	return n, nil
}

// Get asks on a stream of its own, and waits for the length of the answer.
func (s *session) Get(_ context.Context, path string, first int64) (contract.Answer, error) {
	s.mutex.Lock()
	stream := s.next
	s.next += s.options.Streams
	s.mutex.Unlock()
	request := fmt.Sprintf("GET %s %d %d\n", path, first, s.options.Streams)
	if err := s.socket.Send(stream, []byte(request)); err != nil {
		return contract.Answer{}, err
	}
	head := make([]byte, kernel.LengthBytes)
	if _, err := io.ReadFull(reader(func(into []byte) (int, error) { return s.take(stream, into) }), head); err != nil {
		return contract.Answer{}, fmt.Errorf("answer: %w", err)
	}
	length := binary.BigEndian.Uint64(head)
	if length == kernel.NoSuchObject {
		return contract.Answer{Status: http.StatusNotFound, Body: http.NoBody}, nil
	}
	body := &dealt{session: s, first: stream, rest: int64(length)}
	return contract.Answer{Status: http.StatusOK, Length: int64(length), Body: io.NopCloser(body)}, nil
}

type reader func([]byte) (int, error)

func (r reader) Read(into []byte) (int, error) { return r(into) }

// dealt puts an answer together whose messages came on several streams in turn.
type dealt struct {
	session *session
	first   uint16
	turn    uint16
	left    int   // of the message that is being read
	rest    int64 // of the answer
}

func (d *dealt) Read(into []byte) (int, error) {
	if d.rest == 0 {
		return 0, io.EOF
	}
	if d.left == 0 {
		d.left = int(min(int64(d.session.options.MessageBytes), d.rest))
	}
	n, err := d.session.take(d.first+d.turn, into[:min(len(into), d.left)])
	d.left -= n
	d.rest -= int64(n)
	if d.left == 0 {
		d.turn = (d.turn + 1) % d.session.options.Streams
	}
	return n, err
}

func (s *session) Facts() contract.Facts {
	return contract.Facts{
		Handshake: &s.handshake, Connections: 1,
		Negotiated: contract.Negotiated{CongestionControl: s.control},
	}
}

func (s *session) Abandon() {
	s.end(s.socket.Abort)
}

// Close shuts the association down as RFC 9260, section 9.2, says.
func (s *session) Close() error {
	return s.end(s.socket.Close)
}

func (s *session) end(how func() error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	ended := s.over != nil
	if !ended {
		s.over = net.ErrClosed
	}
	s.arrived.Broadcast()
	if ended {
		_ = how()
		return nil
	}
	return how()
}
