package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"howquick/contract"
	"howquick/stack"
)

// ticketPatience bounds the wait for a session ticket that a priming connection was not given yet.
const ticketPatience = 10 * time.Second

// dialer opens sessions by the protocol asked for.
type dialer struct {
	settings contract.Settings
	load     contract.LoadSettings
	options  stack.Options
	tls      *tls.Config
	tickets  *tickets
	logs     *stack.Logs
	// priorities are the header fields that say how urgent the object of a path is.
	priorities map[string]string
}

func newDialer(settings contract.Settings, load contract.LoadSettings, options stack.Options) (*dialer, error) {
	alpn := map[string]string{"h1": "http/1.1", "h2": "h2", "h3": "h3", "hq": "hq-interop"}
	fields, err := priorities(settings, load, options.Urgency)
	if err != nil {
		return nil, err
	}
	config, err := options.ClientTLS(settings, alpn[settings.Protocol])
	return &dialer{settings, load, options, config, &tickets{}, stack.OpenLogs(), fields}, err
}

func (d *dialer) isQUIC() bool { return d.settings.Protocol == "h3" || d.settings.Protocol == "hq" }

// wish is how a session is to begin.
type wish struct {
	sessions tls.ClientSessionCache // nil: none is kept or used
	early    bool                   // send requests before the handshake is complete
	local    netip.Addr
}

// dial begins the session that the page is loaded by.
func (d *dialer) dial(ctx context.Context) (contract.Session, error) {
	how := wish{early: d.settings.Connection == "0rtt"}
	if d.settings.Connection != "cold" || d.load.OnMove == stack.Resume {
		how.sessions = d.tickets
	}
	return d.open(ctx, how)
}

// move goes on from another address as option on_move says.
func (d *dialer) move(ctx context.Context, session contract.Session, to netip.Addr) (contract.Session, error) {
	switch d.load.OnMove {
	case stack.Migrate:
		return session, session.(*quicSession).migrate(ctx, d.options, to)
	case stack.Resume:
		return d.open(ctx, wish{sessions: d.tickets, early: true, local: to})
	}
	return d.open(ctx, wish{local: to})
}

func (d *dialer) open(ctx context.Context, how wish) (contract.Session, error) {
	config := d.tls.Clone()
	config.ClientSessionCache = how.sessions
	if d.isQUIC() {
		return d.openQUIC(ctx, config, how)
	}
	return d.openTCP(ctx, config, how)
}

// prime gets a session ticket for each connection that the page will be loaded by.
func (d *dialer) prime(ctx context.Context) error {
	connections := 1
	if d.settings.Protocol == "h1" {
		connections = max(1, min(d.options.Connections, len(d.load.Paths)-1))
	}
	for range connections {
		if err := d.primeOne(ctx); err != nil {
			return fmt.Errorf("priming connection: %w", err)
		}
	}
	return nil
}

func (d *dialer) primeOne(ctx context.Context) error {
	given := newCollector(d.tickets)
	session, err := d.open(ctx, wish{sessions: given})
	if err != nil {
		return err
	}
	answer, err := session.Get(ctx, contract.PrimePath, 0)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s: HTTP status %d", contract.PrimePath, answer.Status)
	}
	if err == nil {
		err = given.wait(ticketPatience)
	}
	return errors.Join(err, session.Close())
}

// origin is what every URL begins with.
func (d *dialer) origin() string {
	return fmt.Sprintf("https://%s:%d", d.settings.Host, d.settings.Address.Port())
}

// request asks for an object by HTTP, from byte first on.
func (d *dialer) request(ctx context.Context, method, path string, first int64) (*http.Request, error) {
	wanted, err := http.NewRequestWithContext(ctx, method, d.origin()+path, nil)
	if err != nil {
		return nil, err
	}
	if first > 0 {
		wanted.Header.Set("Range", fmt.Sprintf("bytes=%d-", first))
	}
	if field := d.priorities[path]; field != "" {
		wanted.Header.Set("Priority", field)
	}
	return wanted, nil
}

// answerOf hides the difference between a whole object and the rest that was asked for.
func answerOf(response *http.Response, first int64) contract.Answer {
	status := response.StatusCode
	if first > 0 {
		switch status {
		case http.StatusPartialContent:
			status = http.StatusOK
		case http.StatusOK:
			status = http.StatusRequestedRangeNotSatisfiable // The whole again is not what was asked for.
		}
	}
	return contract.Answer{Status: status, Length: response.ContentLength, Body: response.Body}
}

// localAddress is the address that packets to the server leave from.
func localAddress(server netip.AddrPort) (netip.Addr, error) {
	socket, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return netip.Addr{}, err
	}
	defer socket.Close()
	return socket.LocalAddr().(*net.UDPAddr).AddrPort().Addr(), nil
}
