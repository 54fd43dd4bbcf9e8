package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"time"
)

// readBytes is how much of a body is taken at once: enough that system calls do not limit the rate.
const readBytes = 1 << 18

// object is one URL on its way. Its fetch alone changes it, but for the counters under the load's lock.
type object struct {
	path      string
	status    int
	length    int64 // of the whole; -1 until the server has told
	received  int64
	hash      hash.Hash // nil: bodies are counted only
	start     time.Duration
	firstByte time.Duration
	end       time.Duration
}

func newObject(path string, hashed bool) *object {
	o := &object{path: path, length: -1}
	if hashed {
		o.hash = sha256.New()
	}
	return o
}

// take reads the body up to its end and tells count how many bytes came each time.
func (o *object) take(body io.Reader, buffer []byte, count func(int)) error {
	for {
		n, err := body.Read(buffer)
		if o.hash != nil {
			o.hash.Write(buffer[:n])
		}
		count(n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (o *object) timing() objectTiming {
	entry := objectTiming{
		Path: o.path, Status: o.status, Bytes: o.received,
		Start: o.start.Seconds(), FirstByte: o.firstByte.Seconds(), End: o.end.Seconds(),
	}
	if o.hash != nil {
		sum := hex.EncodeToString(o.hash.Sum(nil))
		entry.SHA256 = &sum
	}
	return entry
}
