// Package contract is what programs in Go share of docs/formats.md, section 2: the environment they are
// started with, the gate, the load of a page by any protocol, address changes and TIMING.
package contract

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// NotSupported is the exit status of a program that was asked for what it cannot do.
const notSupportedStatus = 127

type notSupported struct{ what string }

func (n notSupported) Error() string { return "not supported: " + n.what }

// NotSupported returns an error that ends the program with status 127.
func NotSupported(format string, values ...any) error {
	return notSupported{fmt.Sprintf(format, values...)}
}

// Exit ends the program: status 0 without an error, else with one line on stderr that names the program.
func Exit(program string, err error) {
	if err == nil {
		os.Exit(0)
	}
	line := strings.ReplaceAll(err.Error(), "\n", "; ")
	fmt.Fprintf(os.Stderr, "%s: %s\n", program, line)
	if errors.As(err, &notSupported{}) {
		os.Exit(notSupportedStatus)
	}
	os.Exit(1)
}
