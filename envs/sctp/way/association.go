package way

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/pion/dtls/v3"
	dtlsnet "github.com/pion/dtls/v3/pkg/net"
	"github.com/pion/logging"
	"github.com/pion/sctp"

	"howquick/contract"
)

// dtlsOverhead is what a record of DTLS 1.2 with AES-GCM adds to its content (RFC 6347, RFC 5288).
const dtlsOverhead = 13 + 8 + 16

func (o Options) association(conn net.Conn) []sctp.AssociationOption {
	mtu := o.MaxUDPPayload
	if o.DTLS {
		mtu -= dtlsOverhead
	}
	silent := &logging.DefaultLoggerFactory{DefaultLogLevel: logging.LogLevelDisabled}
	return []sctp.AssociationOption{
		sctp.WithNetConn(conn),
		sctp.WithLoggerFactory(silent),
		sctp.WithMTU(mtu),
		sctp.WithMaxReceiveBufferSize(o.ReceiveBufferBytes),
		sctp.WithMaxMessageSize(MessageBytes),
	}
}

// Connect begins an association over a connected UDP socket; what became of the socket is the caller's matter.
func (o Options) Connect(ctx context.Context, conn net.Conn, settings contract.Settings) (*sctp.Association, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if o.DTLS {
		authority, err := contract.Authority(settings.Certs)
		if err != nil {
			return nil, err
		}
		conn, err = secured(ctx, func() (*dtls.Conn, error) {
			return dtls.ClientWithOptions(dtlsnet.PacketConnFromConn(conn), conn.RemoteAddr(),
				dtls.WithRootCAs(authority), dtls.WithServerName(settings.Host),
				dtls.WithInsecureSkipVerify(!o.Verify))
		})
		if err != nil {
			return nil, err
		}
	}
	association, err := o.begin(ctx, conn)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no association: nothing from %s for %v", settings.Address, Patience)
	}
	return association, err
}

// Accept answers the beginning of an association.
func (o Options) Accept(conn net.Conn, settings contract.Settings) (*sctp.Association, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn = &patientConn{conn, o.IdleTimeout}
	if o.DTLS {
		certificate, err := contract.Certificate(settings.Certs)
		if err != nil {
			return nil, err
		}
		conn, err = secured(ctx, func() (*dtls.Conn, error) {
			return dtls.ServerWithOptions(dtlsnet.PacketConnFromConn(conn), conn.RemoteAddr(),
				dtls.WithCertificates(certificate))
		})
		if err != nil {
			return nil, err
		}
	}
	return o.begin(ctx, conn)
}

// begin sends an INIT, at either end: as in WebRTC, whose two ends begin at once (RFC 9260, section 5.2.1).
// An association of the library that only answers one has no slow start, for it learns its threshold
// from the INIT ACK that it gets. The answer to the client's INIT costs no more time by it.
func (o Options) begin(ctx context.Context, conn net.Conn) (*sctp.Association, error) {
	var options []sctp.ClientOption
	for _, option := range o.association(conn) {
		options = append(options, option)
	}
	return sctp.ClientContext(ctx, options...)
}

func secured(ctx context.Context, begin func() (*dtls.Conn, error)) (net.Conn, error) {
	conn, err := begin()
	if err == nil {
		err = conn.HandshakeContext(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("DTLS: %w", err)
	}
	return conn, nil
}

// patientConn fails after a time without a packet: the library itself would retransmit to a peer that has
// gone for ever.
type patientConn struct {
	net.Conn
	patience time.Duration
}

func (c *patientConn) Read(into []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(into)
}
