package kernel

import (
	"fmt"
	"os"
	"strings"

	"howquick/contract"
)

const (
	// NoSuchObject takes the place of the length in an answer where there is no object.
	NoSuchObject = 1<<64 - 1
	// LengthBytes is the size of the length in front of every answer, big-endian.
	LengthBytes = 8
	// LargestMessage is the size of buffers for messages.
	LargestMessage = 1 << 16
	smallest       = 1 << 10
	mostStreams    = 64
)

// Able is what both programs can do. The kernel's congestion control is that of RFC 9260.
var Able = contract.Abilities{
	"sctp": {CongestionControl: []string{"reno"}, Connection: []string{"cold"}, Moves: []string{"reconnect"}},
}

// Options are the knobs of endpoint.yaml.
type Options struct {
	MessageBytes      int
	SocketBufferBytes int
	Streams           uint16
}

// ReadOptions checks the knobs.
func ReadOptions(env *contract.Environment) Options {
	env.OptionChoice("ON_MOVE", "reconnect")
	return Options{
		MessageBytes:      int(env.OptionNumber("MESSAGE_BYTES", smallest, LargestMessage)),
		SocketBufferBytes: int(env.OptionNumber("SOCKET_BUFFER_BYTES", 0, 1<<30)),
		Streams:           uint16(env.OptionNumber("STREAMS", 1, mostStreams)),
	}
}

// PrintVersion names the kernel that runs: SCTP is its own.
func PrintVersion() error {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	_, err = fmt.Printf("SCTP of Linux %s\n", strings.TrimSpace(string(release)))
	return err
}
