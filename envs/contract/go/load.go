package contract

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Answer is what a server answers to a request.
type Answer struct {
	Status int
	Length int64 // of Body; -1 if it was not told
	Body   io.ReadCloser
}

// Session is one way to the server, of one or more connections.
type Session interface {
	// Get asks for the object at path, from byte first on.
	Get(ctx context.Context, path string, first int64) (Answer, error)
	// Facts tells what became of the session.
	Facts() Facts
	// Abandon gives the session up without a word to the peer, which could not hear it.
	Abandon()
	// Close ends the session as the protocol does.
	Close() error
}

// Program is what differs between protocols.
type Program struct {
	Settings Settings
	Load     LoadSettings
	// Dial begins the session that the page is loaded by.
	Dial func(context.Context) (Session, error)
	// Move goes on from another address: by the same session if it migrated, else by a new one.
	Move func(context.Context, Session, netip.Addr) (Session, error)
	// OneByOne: only one request at a time, as the protocol has no way to tell two answers apart.
	OneByOne bool
}

// load is a page load under way.
type load struct {
	Program
	clock   time.Time
	objects []*object
	way     way
	mutex   sync.Mutex
}

// Run passes the gate, loads the page and writes TIMING.
func (p Program) Run(ctx context.Context) error {
	if err := PassGate(); err != nil {
		return err
	}
	l := &load{Program: p, clock: time.Now()}
	l.way.cond = sync.NewCond(&l.mutex)
	for _, path := range p.Load.Paths {
		l.objects = append(l.objects, newObject(path, p.Load.Hash))
	}
	session, err := p.Dial(ctx)
	if err != nil {
		return err
	}
	l.way.session = session
	fetch := l.fetchAll
	if p.Load.Steered {
		fetch = l.fetchSteered
	}
	if err := fetch(ctx); err != nil {
		l.way.session.Close()
		return err
	}
	result := l.timing(session.Facts())
	if err := l.way.session.Close(); err != nil {
		return err
	}
	return result.write(p.Load.Timing)
}

func (l *load) fetchAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rest := l.objects
	for len(rest) > 0 && (l.Load.Sequential || l.OneByOne || len(rest) == len(l.objects)) {
		if err := l.fetch(ctx, rest[0]); err != nil {
			return err
		}
		rest = rest[1:]
	}
	var group sync.WaitGroup
	for _, o := range rest {
		group.Go(func() {
			if err := l.fetch(ctx, o); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// fetchSteered loads one object after another, as it is told once the one before is complete.
func (l *load) fetchSteered(ctx context.Context) error {
	for at := 0; at < len(l.objects); at++ {
		if err := l.fetch(ctx, l.objects[at]); err != nil {
			return err
		}
		next, err := askForNext()
		if err != nil {
			return err
		}
		if next == "" {
			continue
		}
		path, err := pathOf(next, l.Settings.Host)
		if err != nil {
			return err
		}
		l.objects = append(l.objects, newObject(path, l.Load.Hash))
	}
	return nil
}

// fetch loads one object, by as many sessions as it takes.
func (l *load) fetch(ctx context.Context, o *object) error {
	o.start = time.Since(l.clock)
	buffer := make([]byte, readBytes)
	for {
		session := l.way.current(&l.mutex)
		err := l.fetchBy(ctx, session, o, buffer)
		if err == nil {
			o.end = time.Since(l.clock)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if moveErr := l.way.replaced(&l.mutex, session); moveErr != nil {
			return moveErr
		} else if l.way.current(&l.mutex) == session {
			return fmt.Errorf("%s: %w", o.path, err)
		}
	}
}

func (l *load) fetchBy(ctx context.Context, session Session, o *object, buffer []byte) error {
	if o.length >= 0 && o.received == o.length {
		return nil // Only the end of the stream was missing when the session was given up.
	}
	answer, err := session.Get(ctx, o.path, o.received)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if o.firstByte == 0 {
		o.firstByte = time.Since(l.clock)
	}
	l.mutex.Lock()
	o.status = answer.Status
	if answer.Length >= 0 {
		o.length = o.received + answer.Length
	}
	l.mutex.Unlock()
	if o.status != http.StatusOK {
		return fmt.Errorf("HTTP status %d", o.status)
	}
	if err := o.take(answer.Body, buffer, func(n int) { l.count(ctx, o, n) }); err != nil {
		return err
	}
	if o.length >= 0 && o.received != o.length {
		return fmt.Errorf("%d bytes of %d arrived", o.received, o.length)
	}
	return nil
}

func (l *load) timing(facts Facts) timing {
	start := float64(l.clock.UnixNano()) / 1e9
	result := timing{
		Protocol: l.Settings.Protocol, Start: start, Resumed: facts.Resumed,
		EarlyData: facts.EarlyData, Connections: facts.Connections + l.way.furtherConnections(),
		Negotiated: facts.Negotiated, Metrics: l.way.metrics(l.Load.Moves),
	}
	if facts.Handshake != nil {
		seconds := facts.Handshake.Seconds()
		result.Handshake = &seconds
	}
	for _, o := range l.objects {
		result.Objects = append(result.Objects, o.timing())
	}
	return result
}
