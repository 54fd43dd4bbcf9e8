// Command version prints which quic-go the end point was built from.
package main

import (
	"fmt"
	"runtime/debug"

	_ "github.com/quic-go/quic-go"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/quic-go/quic-go" {
			fmt.Println("quic-go", module.Version, "(interop end point)")
		}
	}
}
