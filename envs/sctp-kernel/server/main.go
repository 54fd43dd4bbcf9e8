// Command server serves a folder over the kernel's SCTP.
package main

import (
	"context"

	"howquick/contract"
	"howquick/kernel"
)

const program = "sctp-kernel server"

func main() {
	contract.Main(program, kernel.PrintVersion, contract.UntilTerminated(run))
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, kernel.Able)
	options := kernel.ReadOptions(env)
	content, err := contract.OpenContent(env)
	if refused := env.Check(); refused != nil {
		return refused
	}
	if err != nil {
		return err
	}
	listener, err := kernel.Listen(settings.Address, options.SocketBufferBytes)
	if err != nil {
		return err
	}
	go acceptAll(listener, content, options)
	<-ctx.Done()
	return nil
}

func acceptAll(listener *kernel.Socket, content *contract.Content, options kernel.Options) {
	for {
		association, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(association, content, options)
	}
}
