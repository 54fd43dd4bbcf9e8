// Package way makes associations as the environment asks for, for both roles.
package way

import (
	"time"

	"howquick/contract"
)

const (
	// NoSuchObject takes the place of the length in an answer where there is no object.
	NoSuchObject = 1<<64 - 1
	// LengthBytes is the size of the length in front of every answer, big-endian.
	LengthBytes = 8
	// MessageBytes is the largest message that is sent: what the library sends at most.
	MessageBytes = 1 << 16
	// Patience bounds each step of the beginning and of the end of an association.
	Patience = 10 * time.Second
	// mostStreams bounds what one answer takes.
	mostStreams = 64
)

// Able is what both programs can do. The library's congestion control is that of RFC 9260.
var Able = contract.Abilities{
	"sctp": {CongestionControl: []string{"reno"}, Connection: []string{"cold"}, Moves: []string{"reconnect"}},
}

// Options are the knobs of endpoint.yaml.
type Options struct {
	DTLS               bool
	Verify             bool
	IdleTimeout        time.Duration
	ReceiveBufferBytes uint32
	MaxUDPPayload      uint32
	SocketBufferBytes  int
	Streams            uint16
}

// ReadOptions checks the knobs.
func ReadOptions(env *contract.Environment) Options {
	env.OptionChoice("ON_MOVE", "reconnect")
	return Options{
		DTLS:               env.OptionSwitch("DTLS"),
		Verify:             env.OptionSwitch("VERIFY"),
		IdleTimeout:        time.Duration(env.OptionNumber("IDLE_TIMEOUT_S", 1, 3600)) * time.Second,
		ReceiveBufferBytes: uint32(env.OptionNumber("RECEIVE_BUFFER_BYTES", 1<<16, 1<<30)),
		MaxUDPPayload:      uint32(env.OptionNumber("MAX_UDP_PAYLOAD", 600, 1472)),
		SocketBufferBytes:  int(env.OptionNumber("SOCKET_BUFFER_BYTES", 0, 1<<30)),
		Streams:            uint16(env.OptionNumber("STREAMS", 1, mostStreams)),
	}
}
