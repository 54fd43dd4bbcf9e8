package way

import (
	"fmt"
	"runtime/debug"
)

// PrintVersion prints the versions of the libraries as they were built in.
func PrintVersion() error {
	versions := map[string]string{}
	if build, known := debug.ReadBuildInfo(); known {
		for _, module := range build.Deps {
			versions[module.Path] = module.Version
		}
	}
	_, err := fmt.Printf("pion/sctp %s (pion/dtls %s)\n",
		versions["github.com/pion/sctp"], versions["github.com/pion/dtls/v3"])
	return err
}
