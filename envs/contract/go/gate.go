package contract

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
)

// The runner's lines come in order on one stream, whatever part of the program waits for them.
var words = sync.OnceValue(func() *bufio.Reader { return bufio.NewReader(os.Stdin) })

func readWord() string {
	line, _ := words().ReadString('\n')
	return strings.TrimSpace(line)
}

// PassGate says that only the load is left to do and waits for the word.
func PassGate() error {
	fmt.Println("ready")
	if word := readWord(); word != "go" {
		return fmt.Errorf("stdin: expected the line 'go', got '%s'", word)
	}
	return nil
}

// askForNext says that what was asked for is complete and waits for the next URL; none if there is no more.
func askForNext() (string, error) {
	fmt.Println("done")
	line := readWord()
	next, found := strings.CutPrefix(line, "fetch ")
	if !found && line != "" {
		return "", fmt.Errorf("stdin: expected 'fetch' and a URL, got '%s'", line)
	}
	return next, nil
}

// askForMove asks for another address and waits until it is there.
func askForMove() (netip.Addr, error) {
	fmt.Println("move")
	line := readWord()
	text, found := strings.CutPrefix(line, "moved ")
	address, err := netip.ParseAddr(text)
	if !found || err != nil {
		return address, fmt.Errorf("stdin: expected 'moved' and an address, got '%s'", line)
	}
	return address, nil
}
