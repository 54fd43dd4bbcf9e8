// Command client loads a page over SCTP in UDP: one stream an object.
package main

import (
	"context"
	"net/netip"

	"howquick/contract"
	"howquick/way"
)

const program = "sctp client"

func main() {
	contract.Main(program, way.PrintVersion, run)
}

func run(ctx context.Context) error {
	env := &contract.Environment{}
	settings := contract.ReadSettings(env, way.Able)
	load := contract.ReadLoad(env, settings, way.Able)
	options := way.ReadOptions(env)
	if err := env.Check(); err != nil {
		return err
	}
	if _, err := contract.Authority(settings.Certs); err != nil {
		return err // Said before the gate, and also where DTLS is off.
	}
	return contract.Program{
		Settings: settings,
		Load:     load,
		Dial: func(ctx context.Context) (contract.Session, error) {
			return dial(ctx, settings, options, netip.Addr{})
		},
		Move: func(ctx context.Context, _ contract.Session, to netip.Addr) (contract.Session, error) {
			return dial(ctx, settings, options, to)
		},
	}.Run(ctx)
}
