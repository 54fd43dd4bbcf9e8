package stack

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

const library = "golang.org/x/net"

// PrintVersion prints the library's version as it was built in, and Go's, whose TLS it uses.
func PrintVersion() error {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == library {
			fmt.Printf("%s %s (%s)\n", library, module.Version, runtime.Version())
			return nil
		}
	}
	return errors.New("built without module versions")
}
