package stack

import (
	"context"

	"golang.org/x/net/quic"
)

// CloseNow tells the peers of all connections and returns when the packets that say so have left. The library would
// wait for answers, which most peers do not give (RFC 9000, section 10.2.2).
func CloseNow(endpoint *quic.Endpoint) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = endpoint.Close(ended) // It fails only to say that nothing was waited for.
}
