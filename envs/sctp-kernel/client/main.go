// Command client loads a page over the kernel's SCTP.
package main

import (
	"context"
	"net/netip"

	"howquick/contract"
	"howquick/kernel"
)

const program = "sctp-kernel client"

func main() {
	contract.Main(program, kernel.PrintVersion, run)
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, kernel.Able)
	load := contract.ReadLoad(env, settings, kernel.Able)
	options := kernel.ReadOptions(env)
	if err := env.Check(); err != nil {
		return err
	}
	if _, err := contract.Authority(settings.Certs); err != nil {
		return err // Said before the gate, although nothing is encrypted.
	}
	return contract.Program{
		Settings: settings,
		Load:     load,
		Dial: func(context.Context) (contract.Session, error) {
			return dial(settings, options, netip.Addr{})
		},
		Move: func(_ context.Context, _ contract.Session, to netip.Addr) (contract.Session, error) {
			return dial(settings, options, to)
		},
	}.Run(ctx)
}
