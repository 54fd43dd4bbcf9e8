package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// Transport is a UDP socket with the library's packet handling.
type Transport struct {
	*quic.Transport
	socket *net.UDPConn
}

// OpenTransport binds a socket. With the option 0 its buffers are what the library makes of them.
func (o Options) OpenTransport(address netip.AddrPort) (*Transport, error) {
	socket, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(address))
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: newSteadySocket(socket)}
	if o.SocketBufferBytes > 0 {
		err = o.setBuffers(transport, socket)
	}
	return &Transport{transport, socket}, err
}

// setBuffers comes after the library has raised the buffers by itself, which it does when it starts.
func (o Options) setBuffers(transport *quic.Transport, socket *net.UDPConn) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := transport.ReadNonQUICPacket(ended, nil)
	if !errors.Is(err, context.Canceled) {
		return fmt.Errorf("UDP socket: %w", err)
	}
	return errors.Join(
		socket.SetReadBuffer(o.SocketBufferBytes), socket.SetWriteBuffer(o.SocketBufferBytes))
}

// CloseNow drops every connection without a packet and frees the port.
func (t *Transport) CloseNow() error {
	return errors.Join(t.Transport.Close(), t.socket.Close())
}

// steadySocket treats a packet that cannot leave as lost, as it would be further on the way: while the
// machine has no address, or no longer the one that the socket is bound to, the library would give up.
type steadySocket struct {
	*net.UDPConn
	batches *ipv4.PacketConn
}

func newSteadySocket(socket *net.UDPConn) *steadySocket {
	return &steadySocket{socket, ipv4.NewPacketConn(socket)}
}

// ReadBatch keeps the library's way to take several packets at once.
func (s *steadySocket) ReadBatch(messages []ipv4.Message, flags int) (int, error) {
	return s.batches.ReadBatch(messages, flags)
}

// WriteMsgUDP sends a packet.
func (s *steadySocket) WriteMsgUDP(b, oob []byte, to *net.UDPAddr) (int, int, error) {
	n, oobn, err := s.UDPConn.WriteMsgUDP(b, oob, to)
	for _, lost := range []error{unix.EINVAL, unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL, unix.ENETDOWN} {
		if errors.Is(err, lost) {
			return len(b), len(oob), nil
		}
	}
	return n, oobn, err
}
