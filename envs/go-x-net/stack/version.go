package stack

import "howquick/contract"

// PrintVersion prints the library's version.
func PrintVersion() error {
	return contract.PrintVersion("golang.org/x/net", "golang.org/x/net")
}
