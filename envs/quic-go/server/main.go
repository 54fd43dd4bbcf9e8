// Command server serves a folder over HTTP/1.1, HTTP/2, HTTP/3 or HTTP/0.9 over QUIC.
package main

import (
	"context"

	"howquick/contract"
	"howquick/stack"
)

const program = "quic-go server"

func main() {
	contract.Main(program, stack.PrintVersion, contract.UntilTerminated(run))
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, stack.Able)
	options := stack.ReadOptions(env)
	content, err := contract.OpenContent(env)
	if refused := env.Check(); refused != nil {
		return refused
	}
	if err == nil {
		err = options.Prepare()
	}
	if err != nil {
		return err
	}
	s := server{settings, options, content}
	switch settings.Protocol {
	case "h1", "h2":
		return s.serveTCP(ctx)
	}
	return s.serveQUIC(ctx)
}
