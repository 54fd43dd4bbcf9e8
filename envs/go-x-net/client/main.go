// Command client loads a page over HTTP/0.9 over QUIC.
package main

import (
	"context"

	"howquick/contract"
	"howquick/stack"
)

const program = "go-x-net client"

func main() {
	contract.Main(program, stack.PrintVersion, run)
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, stack.ClientAble)
	load := contract.ReadLoad(env, settings, stack.ClientAble)
	options := stack.ReadOptions(env)
	if err := env.Check(); err != nil {
		return err
	}
	config, err := options.ClientTLS(settings)
	if err != nil {
		return err
	}
	kept := newTicket()
	if settings.Connection == "resumed" {
		config.ClientSessionCache = kept
	}
	d := &dialer{settings, options, options.QUIC(config)}
	if settings.Connection == "resumed" {
		if err := prime(ctx, d, kept); err != nil {
			return err
		}
	}
	return contract.Program{Settings: settings, Load: load, Dial: d.dial}.Run(ctx)
}
