package main

import (
	"crypto/tls"
	"errors"
	"sync"
	"time"
)

// tickets are the sessions that the one server there is has given.
type tickets struct {
	mutex sync.Mutex
	kept  []*tls.ClientSessionState
}

// Get takes the newest away, since a ticket is to be used once (RFC 8446, appendix C.4); the last is kept.
func (t *tickets) Get(string) (*tls.ClientSessionState, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.kept) == 0 {
		return nil, false
	}
	newest := t.kept[len(t.kept)-1]
	if len(t.kept) > 1 {
		t.kept = t.kept[:len(t.kept)-1]
	}
	return newest, true
}

// Put keeps a session; nil, by which the library takes one away after use, is not heeded.
func (t *tickets) Put(_ string, session *tls.ClientSessionState) {
	if session != nil {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.kept = append(t.kept, session)
	}
}

// collector keeps what a priming connection is given and offers it nothing.
type collector struct {
	into *tickets
	came chan struct{}
}

func newCollector(into *tickets) *collector { return &collector{into, make(chan struct{}, 1)} }

func (c *collector) Get(string) (*tls.ClientSessionState, bool) { return nil, false }

func (c *collector) Put(key string, session *tls.ClientSessionState) {
	c.into.Put(key, session)
	select {
	case c.came <- struct{}{}:
	default:
	}
}

func (c *collector) wait(patience time.Duration) error {
	select {
	case <-c.came:
		return nil
	case <-time.After(patience):
		return errors.New("the server gave no session ticket")
	}
}
