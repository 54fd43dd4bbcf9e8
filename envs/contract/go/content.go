package contract

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PrimePath is answered by every server; it is fetched to be given a session ticket.
const PrimePath = "/prime"

// PrimeBody is the answer to PrimePath.
const PrimeBody = "primed\n"

// Content is the folder to serve. Nothing outside of it is served, not even by a link that leads out.
type Content struct{ root *os.Root }

// OpenContent opens the folder WWW.
func OpenContent(env *Environment) (*Content, error) {
	folder := env.Text("WWW")
	if env.Err != nil {
		return nil, env.Err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("WWW: %w", err)
	}
	return &Content{root}, nil
}

// Open returns the object at an absolute path of a URL.
func (c *Content) Open(path string) (io.ReadSeekCloser, int64, error) {
	if path == PrimePath {
		return prime{strings.NewReader(PrimeBody)}, int64(len(PrimeBody)), nil
	}
	file, err := c.root.Open(filepath.FromSlash(strings.TrimPrefix(path, "/")))
	if err != nil {
		return nil, 0, err
	}
	status, err := file.Stat()
	if err == nil && !status.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, status.Size(), nil
}

type prime struct{ *strings.Reader }

func (prime) Close() error { return nil }
