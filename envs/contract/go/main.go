package contract

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// Main is all of a program's main: with --version it prints the version, else it runs.
func Main(program string, version func() error, run func(context.Context) error) {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		Exit(program, version())
	}
	Exit(program, run(context.Background()))
}

// UntilTerminated runs a server; the context that it is given ends with SIGTERM.
func UntilTerminated(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
		defer stop()
		return run(ctx)
	}
}

// PrintVersion prints the version of a module as it was built in, by the name given, and Go's, whose TLS it uses.
func PrintVersion(name, path string) error {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == path {
			fmt.Printf("%s %s (%s)\n", name, module.Version, runtime.Version())
			return nil
		}
	}
	return errors.New("built without module versions")
}
