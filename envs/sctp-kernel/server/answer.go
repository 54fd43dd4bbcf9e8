package main

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"howquick/contract"
	"howquick/kernel"
)

// request is what `GET <path> <first byte> <streams>` asks for: the answer comes on so many streams from the
// request's own on, message after message in turn.
type request struct {
	path    string
	first   int64
	streams uint16
}

func parse(line string) (request, error) {
	words := strings.Fields(line)
	if len(words) != 4 || words[0] != "GET" {
		return request{}, errors.New("no request")
	}
	first, err := strconv.ParseInt(words[2], 10, 64)
	streams, other := strconv.ParseUint(words[3], 10, 16)
	if err = errors.Join(err, other); err == nil && (first < 0 || streams == 0) {
		err = strconv.ErrRange
	}
	return request{words[1], first, uint16(streams)}, err
}

// serve answers the requests of one association until its peer ends it.
func serve(association *kernel.Socket, content *contract.Content, options kernel.Options) {
	defer association.Close()
	buffer := make([]byte, kernel.LargestMessage)
	for {
		n, stream, err := association.Receive(buffer)
		if err != nil || n == 0 {
			return
		}
		asked, err := parse(string(buffer[:n]))
		if err != nil {
			return
		}
		// An error means that the association is over, which its own end tells.
		go func() { _ = answer(association, content, options, asked, stream) }()
	}
}

func answer(
	association *kernel.Socket, content *contract.Content, options kernel.Options, asked request, stream uint16,
) error {
	body, length, err := content.Open(asked.path)
	if err == nil {
		defer body.Close()
		_, err = body.Seek(asked.first, io.SeekStart)
	}
	if err != nil || asked.first > length {
		return association.Send(stream, binary.BigEndian.AppendUint64(nil, kernel.NoSuchObject))
	}
	rest := length - asked.first
	if err := association.Send(stream, binary.BigEndian.AppendUint64(nil, uint64(rest))); err != nil {
		return err
	}
	message := make([]byte, options.MessageBytes)
	for turn := uint16(0); rest > 0; turn = (turn + 1) % asked.streams {
		n, err := io.ReadFull(body, message[:min(int64(len(message)), rest)])
		if err != nil {
			return err
		}
		if err := association.Send(stream+turn, message[:n]); err != nil {
			return err
		}
		rest -= int64(n)
	}
	return nil
}
