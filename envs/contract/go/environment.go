package contract

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	optionPrefix = "OPTION_"
	mostMoves    = 1000
)

// Environment reads variables; the first that is wrong is kept in Err and the rest yields zero values.
type Environment struct {
	Err     error
	options map[string]bool // names of those that were asked for
}

func (e *Environment) fail(err error) {
	if e.Err == nil {
		e.Err = err
	}
}

// Text returns a variable that must be set.
func (e *Environment) Text(name string) string {
	value := os.Getenv(name)
	if value == "" {
		e.fail(fmt.Errorf("%s is not set (docs/formats.md, section 2)", name))
	}
	return value
}

// Supported returns a variable with one of the values that the program can do; others end it with 127.
func (e *Environment) Supported(name string, known []string) string {
	value := e.Text(name)
	if value != "" && !slices.Contains(known, value) {
		e.fail(NotSupported("%s=%s; it can do %s", name, value, strings.Join(known, ", ")))
	}
	return value
}

// OneOf returns an optional variable; the first of the values that are known is the default.
func (e *Environment) OneOf(name string, known ...string) string {
	if os.Getenv(name) == "" {
		return known[0]
	}
	return e.Supported(name, known)
}

// Count returns an optional whole number, 0 where it is not set.
func (e *Environment) Count(name string) int {
	value := os.Getenv(name)
	if value == "" {
		return 0
	}
	return int(e.number(name, value, 0, mostMoves))
}

// OptionNumber returns OPTION_<name>, a whole number from low to high.
func (e *Environment) OptionNumber(name string, low, high int64) int64 {
	return e.number(optionPrefix+name, e.option(name), low, high)
}

// OptionSwitch returns OPTION_<name>, true or false.
func (e *Environment) OptionSwitch(name string) bool {
	value := e.option(name)
	switch strings.ToLower(value) {
	case "true":
		return true
	case "false", "": // What is not set has failed already.
		return false
	}
	e.fail(fmt.Errorf("OPTION_%s: '%s' is neither true nor false", name, value))
	return false
}

// OptionChoice returns OPTION_<name>; values that are not known end the program with 127.
func (e *Environment) OptionChoice(name string, known ...string) string {
	if e.option(name) == "" {
		return ""
	}
	return e.Supported(optionPrefix+name, known)
}

func (e *Environment) option(name string) string {
	variable := optionPrefix + name
	if e.options == nil {
		e.options = map[string]bool{}
	}
	e.options[variable] = true
	value := os.Getenv(variable)
	if value == "" {
		e.fail(fmt.Errorf("%s is not set; endpoint.yaml has its default", variable))
	}
	return value
}

// Check returns the first failure; an option that was given and that nobody has asked for by now is one.
func (e *Environment) Check() error {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, optionPrefix) && !e.options[name] {
			e.fail(NotSupported("%s; there is no such option", name))
		}
	}
	return e.Err
}

func (e *Environment) number(name, value string, low, high int64) int64 {
	number, err := strconv.ParseInt(value, 10, 64)
	if value != "" && (err != nil || number < low || number > high) {
		e.fail(fmt.Errorf("%s: '%s' is not a whole number from %d to %d", name, value, low, high))
	}
	return number
}

func (e *Environment) folder(name string) string {
	path := e.Text(name)
	if path == "" {
		return ""
	}
	if status, err := os.Stat(path); err != nil || !status.IsDir() {
		e.fail(fmt.Errorf("%s: '%s' is not a folder", name, path))
	}
	return path
}

func (e *Environment) address() netip.AddrPort {
	text, port := e.Text("ADDRESS"), e.Text("PORT")
	if e.Err != nil {
		return netip.AddrPort{}
	}
	ip, err := netip.ParseAddr(text)
	if err != nil || !ip.Is4() {
		e.fail(fmt.Errorf("ADDRESS: '%s' is not an IPv4 address", text))
	}
	return netip.AddrPortFrom(ip, uint16(e.number("PORT", port, 1, 65535)))
}
