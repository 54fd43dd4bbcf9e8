package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"howquick/contract"
)

// ticketPatience bounds the wait for a session ticket that the priming connection was not given yet.
const ticketPatience = 10 * time.Second

// ticket is the newest session that the one server there is has given.
type ticket struct {
	mutex sync.Mutex
	kept  *tls.ClientSessionState
	came  chan struct{} // closed once there is one
}

func newTicket() *ticket { return &ticket{came: make(chan struct{})} }

// Get offers the session.
func (t *ticket) Get(string) (*tls.ClientSessionState, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.kept, t.kept != nil
}

// Put keeps a session; nil, by which the library takes one away after use, is not heeded.
func (t *ticket) Put(_ string, session *tls.ClientSessionState) {
	if session == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.kept == nil {
		close(t.came)
	}
	t.kept = session
}

// prime lets the server give a ticket, on a connection that is closed before the load.
func prime(ctx context.Context, d *dialer, kept *ticket) error {
	session, err := d.dial(ctx)
	if err != nil {
		return fmt.Errorf("priming connection: %w", err)
	}
	defer session.Close()
	answer, err := session.Get(ctx, contract.PrimePath, 0)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return fmt.Errorf("priming connection: %s: %w", contract.PrimePath, err)
	}
	select {
	case <-kept.came:
		return nil
	case <-time.After(ticketPatience):
		return errors.New("priming connection: the server gave no session ticket")
	}
}
