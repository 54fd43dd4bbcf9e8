// Command server serves a folder over SCTP in UDP: one stream an object.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/pion/sctp"
	"github.com/pion/transport/v5/udp"

	"howquick/contract"
	"howquick/way"
)

const program = "sctp server"

type server struct {
	settings contract.Settings
	options  way.Options
	content  *contract.Content
}

func main() {
	contract.Main(program, way.PrintVersion, contract.UntilTerminated(run))
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, way.Able)
	options := way.ReadOptions(env)
	content, err := contract.OpenContent(env)
	if env.Err != nil {
		return env.Err
	}
	if err != nil {
		return err
	}
	config := udp.ListenConfig{
		ReadBufferSize: options.SocketBufferBytes, WriteBufferSize: options.SocketBufferBytes,
	}
	listener, err := config.Listen("udp4", net.UDPAddrFromAddrPort(settings.Address))
	if err != nil {
		return err
	}
	s := server{settings, options, content}
	go s.acceptAll(listener)
	<-ctx.Done()
	return nil
}

func (s server) acceptAll(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go s.serve(conn)
	}
}

func (s server) serve(conn net.Conn) {
	defer conn.Close()
	association, err := s.options.Accept(conn, s.settings)
	if err != nil {
		return // A peer that does not finish the handshake is no matter of the server's.
	}
	defer association.Close()
	for {
		stream, err := association.AcceptStream()
		if err != nil {
			return
		}
		go s.answer(stream)
	}
}

// answer serves the one object that a stream is for.
func (s server) answer(stream *sctp.Stream) {
	request := make([]byte, way.MessageBytes)
	n, err := stream.Read(request)
	if err != nil {
		return
	}
	body, length, err := s.open(string(request[:n]))
	if err != nil {
		_, _ = stream.Write(binary.BigEndian.AppendUint64(nil, way.NoSuchObject))
		return
	}
	defer body.Close()
	if _, err := stream.Write(binary.BigEndian.AppendUint64(nil, uint64(length))); err != nil {
		return
	}
	// An error means that the association is over, which its own end tells.
	to := newQueuedWriter(stream, s.options.ReceiveBufferBytes)
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, io.LimitReader(body, length), request)
}

// open returns what `GET <path>` or `GET <path> <first-byte>` asks for, with its length.
func (s server) open(request string) (io.ReadCloser, int64, error) {
	words := strings.Fields(request)
	if len(words) < 2 || len(words) > 3 || words[0] != "GET" {
		return nil, 0, errors.New("no request")
	}
	body, length, err := s.content.Open(words[1])
	if err != nil || len(words) == 2 {
		return body, length, err
	}
	first, err := strconv.ParseInt(words[2], 10, 64)
	if err == nil && (first < 0 || first > length) {
		err = strconv.ErrRange
	}
	if err == nil {
		_, err = body.Seek(first, io.SeekStart)
	}
	if err != nil {
		body.Close()
		return nil, 0, err
	}
	return body, length - first, nil
}
