package stack

import "howquick/contract"

// PrintVersion prints the library's version.
func PrintVersion() error {
	return contract.PrintVersion("quic-go", "github.com/quic-go/quic-go")
}
