// Command server serves a folder over HTTP/0.9 over QUIC.
package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"golang.org/x/net/quic"

	"howquick/contract"
	"howquick/stack"
)

const (
	program = "go-x-net server"
	// noSuchObject resets a stream of HTTP/0.9, which has no status.
	noSuchObject = 404
	// longestRequest bounds the line of a request.
	longestRequest = 4096
	copyBytes      = 1 << 18
)

func main() {
	contract.Main(program, stack.PrintVersion, contract.UntilTerminated(run))
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, stack.ServerAble)
	options := stack.ReadOptions(env)
	content, err := contract.OpenContent(env)
	if refused := env.Check(); refused != nil {
		return refused
	}
	if err != nil {
		return err
	}
	config, err := options.ServerTLS(settings)
	if err != nil {
		return err
	}
	endpoint, err := options.Open(settings.Address, options.QUIC(config))
	if err != nil {
		return err
	}
	defer stack.CloseNow(endpoint)
	for {
		conn, err := endpoint.Accept(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go answerConnection(conn, content)
	}
}

func answerConnection(conn *quic.Conn, content *contract.Content) {
	// The library keeps a connection that its peer has closed until this end has closed it too.
	defer conn.Abort(nil)
	for {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return // The connection is over.
		}
		go answerStream(stream, content)
	}
}

func answerStream(stream *quic.Stream, content *contract.Content) {
	if err := answer(stream, content); err != nil {
		_ = stream.Reset(noSuchObject)
	}
	_ = stream.Close() // It waits until all has arrived; what fails here, the client sees.
}

func answer(stream *quic.Stream, content *contract.Content) error {
	line, err := bufio.NewReader(io.LimitReader(stream, longestRequest)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	// A line that is no request names no object.
	path, _ := strings.CutPrefix(strings.TrimSpace(line), "GET ")
	body, _, err := content.Open(path)
	if err != nil {
		return err
	}
	defer body.Close()
	// Hidden behind an interface, since a file would copy itself in smaller pieces.
	_, err = io.CopyBuffer(stream, struct{ io.Reader }{body}, make([]byte, copyBytes))
	return err
}
