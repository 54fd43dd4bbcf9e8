// Command client loads a page over HTTP/1.1, HTTP/2, HTTP/3 or HTTP/0.9 over QUIC.
package main

import (
	"context"

	"howquick/contract"
	"howquick/stack"
)

const program = "quic-go client"

func main() {
	contract.Main(program, stack.PrintVersion, run)
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, stack.Able)
	load := contract.ReadLoad(env, settings, stack.Able)
	options := stack.ReadOptions(env)
	if err := env.Check(); err != nil {
		return err
	}
	if err := options.Prepare(); err != nil {
		return err
	}
	dialer, err := newDialer(settings, load, options)
	if err != nil {
		return err
	}
	if settings.Connection != "cold" {
		if err := dialer.prime(ctx); err != nil {
			return err
		}
	}
	err = contract.Program{Settings: settings, Load: load, Dial: dialer.dial, Move: dialer.move}.Run(ctx)
	if logErr := dialer.logs.Wait(); err == nil {
		err = logErr
	}
	return err
}
