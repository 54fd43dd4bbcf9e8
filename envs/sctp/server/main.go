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
	if refused := env.Check(); refused != nil {
		return refused
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
		go s.answer(association, stream)
	}
}

// answer serves the one object that a stream asks for, on it and as many streams behind it as it says.
func (s server) answer(association *sctp.Association, stream *sctp.Stream) {
	request := make([]byte, way.MessageBytes)
	n, err := stream.Read(request)
	if err != nil {
		return
	}
	body, length, streams, err := s.open(string(request[:n]))
	var to io.Writer
	if err == nil {
		defer body.Close()
		to, err = newDealer(association, stream, streams, s.options.ReceiveBufferBytes)
	}
	if err != nil {
		_, _ = stream.Write(binary.BigEndian.AppendUint64(nil, way.NoSuchObject))
		return
	}
	if _, err := stream.Write(binary.BigEndian.AppendUint64(nil, uint64(length))); err != nil {
		return
	}
	// An error means that the association is over, which its own end tells.
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, io.LimitReader(body, length), request)
}

// open returns what `GET <path> [<first byte> [<streams>]]` asks for, with its length and the number of streams.
func (s server) open(request string) (io.ReadCloser, int64, uint16, error) {
	words := strings.Fields(request)
	if len(words) < 2 || len(words) > 4 || words[0] != "GET" {
		return nil, 0, 0, errors.New("no request")
	}
	if len(words) == 2 {
		words = append(words, "0")
	}
	if len(words) == 3 {
		words = append(words, "1")
	}
	first, err := strconv.ParseInt(words[2], 10, 64)
	streams, other := strconv.ParseUint(words[3], 10, 16)
	if err = errors.Join(err, other); err == nil && (first < 0 || streams == 0) {
		err = strconv.ErrRange
	}
	if err != nil {
		return nil, 0, 0, err
	}
	body, length, err := s.content.Open(words[1])
	if err != nil {
		return nil, 0, 0, err
	}
	if first > length {
		err = strconv.ErrRange
	} else if first > 0 {
		_, err = body.Seek(first, io.SeekStart)
	}
	if err != nil {
		body.Close()
		return nil, 0, 0, err
	}
	return body, length - first, uint16(streams), nil
}
