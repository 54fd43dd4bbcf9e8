//go:build tools

// Package interop names what is built, so that go.sum covers it.
package interop

import (
	_ "github.com/quic-go/quic-go/interop/client"
	_ "github.com/quic-go/quic-go/interop/server"
)
