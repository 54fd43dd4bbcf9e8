// Package stack makes TLS and QUIC what the environment asks for, for both roles.
package stack

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/quic"
	"golang.org/x/net/quic/qlog"

	"howquick/contract"
)

// ALPN is the protocol of HTTP/0.9 over QUIC. The module's HTTP/3 is for the standard library's own tests alone.
const ALPN = "hq-interop"

// handshakePatience bounds how long a client waits for a server that does not answer.
const handshakePatience = 10 * time.Second

// The library has one congestion control, that of RFC 9002.
var control = []string{"reno"}

// ServerAble is what the server can do: the library gives no session tickets.
var ServerAble = contract.Abilities{"hq": {CongestionControl: control, Connection: []string{"cold"}}}

// ClientAble is what the client can do: the library sends no early data.
var ClientAble = contract.Abilities{"hq": {CongestionControl: control, Connection: []string{"cold", "resumed"}}}

// Options are the knobs of endpoint.yaml.
type Options struct {
	Group             string
	Verify            bool
	IdleTimeout       time.Duration
	MaxData           int64
	MaxStreamData     int64
	MaxStreams        int64
	SocketBufferBytes int
}

// ReadOptions checks the knobs.
func ReadOptions(env *contract.Environment) Options {
	const largest = 1 << 40
	return Options{
		Group:             env.OptionChoice("GROUP", groupNames()...),
		Verify:            env.OptionSwitch("VERIFY"),
		IdleTimeout:       time.Duration(env.OptionNumber("IDLE_TIMEOUT_S", 1, 3600)) * time.Second,
		MaxData:           env.OptionNumber("INITIAL_MAX_DATA", 1<<14, largest),
		MaxStreamData:     env.OptionNumber("INITIAL_MAX_STREAM_DATA", 1<<14, largest),
		MaxStreams:        env.OptionNumber("MAX_STREAMS", 1, 1<<20),
		SocketBufferBytes: int(env.OptionNumber("SOCKET_BUFFER_BYTES", 0, 1<<30)),
	}
}

// QUIC returns the library's configuration.
func (o Options) QUIC(config *tls.Config) *quic.Config {
	return &quic.Config{
		TLSConfig:               config,
		MaxBidiRemoteStreams:    o.MaxStreams,
		MaxConnReadBufferSize:   o.MaxData,
		MaxStreamReadBufferSize: o.MaxStreamData,
		// What is under way has to fit here too: a smaller buffer would limit the sender before the window does.
		MaxStreamWriteBufferSize: o.MaxStreamData,
		HandshakeTimeout:         min(o.IdleTimeout, handshakePatience),
		MaxIdleTimeout:           o.IdleTimeout,
		QLogLogger:               qlogs(),
	}
}

// qlogs writes a file for each connection into QLOGDIR, each event at once: the library never closes one.
func qlogs() *slog.Logger {
	folder := os.Getenv("QLOGDIR")
	if folder == "" {
		return nil
	}
	return slog.New(qlog.NewJSONHandler(qlog.HandlerOptions{Dir: folder, Level: quic.QLogLevelFrame}))
}

// Open binds a UDP socket for QUIC; without a configuration no connections are accepted.
func (o Options) Open(address netip.AddrPort, accept *quic.Config) (*quic.Endpoint, error) {
	socket, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(address))
	if err != nil {
		return nil, err
	}
	if o.SocketBufferBytes > 0 {
		err = socket.SetReadBuffer(o.SocketBufferBytes)
	}
	if err == nil && o.SocketBufferBytes > 0 {
		err = socket.SetWriteBuffer(o.SocketBufferBytes)
	}
	if err != nil {
		return nil, err
	}
	return quic.NewEndpoint(socket, accept)
}
