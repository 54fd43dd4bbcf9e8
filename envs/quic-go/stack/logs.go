package stack

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/quic-go/quic-go"
	_ "github.com/quic-go/quic-go/qlog" // registers the schema that the logs name
	"github.com/quic-go/quic-go/qlogwriter"
)

// Logs are the qlogs of a program, one a connection, in QLOGDIR.
type Logs struct {
	folder string
	open   sync.WaitGroup
	mutex  sync.Mutex
	err    error
}

// OpenLogs takes QLOGDIR from the environment; without it nothing is logged.
func OpenLogs() *Logs { return &Logs{folder: os.Getenv("QLOGDIR")} }

// Wait returns when every log is complete, with the first error. Connections must have been closed.
func (l *Logs) Wait() error {
	l.open.Wait()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.err
}

// Tracer starts the log of each connection; the two ends give that of one connection the same name.
func (l *Logs) Tracer() func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
	if l.folder == "" {
		return nil
	}
	return func(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
		file, err := os.Create(filepath.Join(l.folder, id.String()+".sqlog"))
		if err != nil {
			l.note(err)
			return nil
		}
		l.open.Add(1)
		trace := qlogwriter.NewConnectionFileSeq(&logFile{bufio.NewWriter(file), file, l}, isClient, id)
		go trace.Run()
		return trace
	}
}

func (l *Logs) note(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.err == nil && err != nil {
		l.err = fmt.Errorf("QLOGDIR: %w", err)
	}
}

type logFile struct {
	*bufio.Writer
	file *os.File
	logs *Logs
}

// Close is called by the library after the last event.
func (f *logFile) Close() error {
	defer f.logs.open.Done()
	f.logs.note(f.Flush())
	err := f.file.Close()
	f.logs.note(err)
	return err
}
