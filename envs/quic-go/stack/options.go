// Package stack makes TLS and QUIC what the environment asks for, for both roles.
package stack

import (
	"os"
	"time"

	"github.com/quic-go/quic-go"

	"howquick/contract"
)

// Names of the options' values that the code asks for.
const (
	anyCipher = "default"
	// Resume names the answer to a move that needs the server's early data.
	Resume = "resume"
	// Migrate names the answer to a move that keeps the connection.
	Migrate = "migrate"
	// NoUrgency names the requests that say nothing of it.
	NoUrgency = "none"
	// Reverse names the order in which the last object of a page is the most urgent.
	Reverse = "reverse"
	// Incremental names the wish for all objects at once.
	Incremental = "incremental"
)

// handshakePatience bounds how long a client waits for a server that does not answer.
const handshakePatience = 10 * time.Second

// Both roles can do the same. The library sends by NewReno: its CUBIC cannot be switched on.
var (
	kernel     = []string{} // the kernel's, whatever the route says
	quicMoves  = []string{"reconnect", Resume, Migrate}
	quicAble   = []string{"reno"}
	everyStart = []string{"cold", "resumed", "0rtt"}
	// crypto/tls has no early data over TCP.
	tcpStart = []string{"cold", "resumed"}
)

// Able is what both programs can do.
var Able = contract.Abilities{
	"h1": {CongestionControl: kernel, Connection: tcpStart, Moves: []string{"reconnect"}},
	"h2": {CongestionControl: kernel, Connection: tcpStart, Moves: []string{"reconnect"}},
	"h3": {CongestionControl: quicAble, Connection: everyStart, Moves: quicMoves},
	"hq": {CongestionControl: quicAble, Connection: everyStart},
}

// Options are the knobs of endpoint.yaml.
type Options struct {
	Cipher, Group         string
	AESAcceleration       bool
	Verify                bool
	Connections           int
	GSO                   bool
	IdleTimeout           time.Duration
	InitialMaxData        uint64
	InitialMaxStreamData  uint64
	MaxData               uint64
	MaxStreamData         uint64
	MaxStreams            int64
	MaxUDPPayload         uint16
	SocketBufferBytes     int
	OnMove                string
	Urgency               string
	HTTP2ReceiveWindow    int
	HTTP2ReceiveWindowAll int
}

// ReadOptions checks the knobs.
func ReadOptions(env *contract.Environment) Options {
	const largest = 1 << 40
	return Options{
		Cipher:                env.OptionChoice("CIPHER", anyCipher, "aes128", "aes256", "chacha20"),
		Group:                 env.OptionChoice("GROUP", groupNames()...),
		AESAcceleration:       env.OptionSwitch("AES_ACCELERATION"),
		Verify:                env.OptionSwitch("VERIFY"),
		Connections:           int(env.OptionNumber("CONNECTIONS", 1, 100)),
		GSO:                   env.OptionSwitch("GSO"),
		IdleTimeout:           time.Duration(env.OptionNumber("IDLE_TIMEOUT_S", 1, 3600)) * time.Second,
		InitialMaxData:        uint64(env.OptionNumber("INITIAL_MAX_DATA", 1<<14, largest)),
		InitialMaxStreamData:  uint64(env.OptionNumber("INITIAL_MAX_STREAM_DATA", 1<<14, largest)),
		MaxData:               uint64(env.OptionNumber("MAX_DATA", 1<<14, largest)),
		MaxStreamData:         uint64(env.OptionNumber("MAX_STREAM_DATA", 1<<14, largest)),
		MaxStreams:            env.OptionNumber("MAX_STREAMS", 1, 1<<20),
		MaxUDPPayload:         uint16(env.OptionNumber("MAX_UDP_PAYLOAD", 0, 1452)),
		SocketBufferBytes:     int(env.OptionNumber("SOCKET_BUFFER_BYTES", 0, 1<<30)),
		OnMove:                env.OptionChoice("ON_MOVE", quicMoves...),
		Urgency:               env.OptionChoice("URGENCY", NoUrgency, "order", Reverse, Incremental),
		HTTP2ReceiveWindow:    int(env.OptionNumber("HTTP2_STREAM_WINDOW", 1<<16, 1<<30)),
		HTTP2ReceiveWindowAll: int(env.OptionNumber("HTTP2_CONNECTION_WINDOW", 1<<16, 1<<30)),
	}
}

// QUIC returns the library's configuration. A window beyond its maximum raises the maximum.
func (o Options) QUIC(logs *Logs) *quic.Config {
	config := &quic.Config{
		HandshakeIdleTimeout:           min(o.IdleTimeout, handshakePatience),
		MaxIdleTimeout:                 o.IdleTimeout,
		InitialStreamReceiveWindow:     o.InitialMaxStreamData,
		MaxStreamReceiveWindow:         max(o.MaxStreamData, o.InitialMaxStreamData),
		InitialConnectionReceiveWindow: o.InitialMaxData,
		MaxConnectionReceiveWindow:     max(o.MaxData, o.InitialMaxData),
		MaxIncomingStreams:             o.MaxStreams,
		Tracer:                         logs.Tracer(),
	}
	if o.MaxUDPPayload > 0 {
		config.InitialPacketSize = o.MaxUDPPayload
		config.DisablePathMTUDiscovery = true
	}
	return config
}

// Prepare sets what the library reads from the environment alone. It must come before the first socket.
func (o Options) Prepare() error {
	if !o.GSO {
		os.Setenv("QUIC_GO_DISABLE_GSO", "true")
	}
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	return o.prepareCiphers()
}
