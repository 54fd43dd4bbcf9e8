package main

import (
	"io"
	"net"
	"time"

	"github.com/pion/sctp"
)

// stalled is how long a full queue may stay full before its association counts as over.
const stalled = time.Minute

// queuedWriter writes to a stream as long as little of it waits, and then until some of that is acknowledged.
//
// The library grows its window only while data wait to be sent (RFC 9260, section 7.2.1: the window must be
// fully used). Its own blocking writes let one message in at a time, so that the window is hardly ever full
// and grows by a few packets a round trip.
type queuedWriter struct {
	stream  *sctp.Stream
	highest uint64
	lower   chan struct{}
}

// newQueuedWriter keeps two windows of the receiver's size: one in flight, one that waits.
func newQueuedWriter(stream *sctp.Stream, windowBytes uint32) io.Writer {
	w := &queuedWriter{stream, 2 * uint64(windowBytes), make(chan struct{}, 1)}
	stream.SetBufferedAmountLowThreshold(w.highest * 3 / 4)
	stream.OnBufferedAmountLow(func() {
		select {
		case w.lower <- struct{}{}:
		default:
		}
	})
	return w
}

func (w *queuedWriter) Write(message []byte) (int, error) {
	for w.stream.BufferedAmount() > w.highest {
		select {
		case <-w.lower:
		case <-time.After(stalled):
			return 0, net.ErrClosed
		}
	}
	return w.stream.Write(message)
}

// dealer writes one message after another to several streams in turn.
type dealer struct {
	writers []io.Writer
	turn    int
}

// newDealer deals out to the first stream and to as many as are asked for behind it.
func newDealer(association *sctp.Association, first *sctp.Stream, streams uint16, windowBytes uint32) (io.Writer, error) {
	d := &dealer{writers: []io.Writer{newQueuedWriter(first, windowBytes/uint32(streams))}}
	for i := uint16(1); i < streams; i++ {
		stream, err := association.OpenStream(first.StreamIdentifier()+i, sctp.PayloadTypeWebRTCBinary)
		if err != nil {
			return nil, err
		}
		d.writers = append(d.writers, newQueuedWriter(stream, windowBytes/uint32(streams)))
	}
	return d, nil
}

func (d *dealer) Write(message []byte) (int, error) {
	n, err := d.writers[d.turn].Write(message)
	d.turn = (d.turn + 1) % len(d.writers)
	return n, err
}
