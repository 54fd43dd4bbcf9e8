package main

import (
	"context"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"path"
	"time"

	"howquick/contract"
	"howquick/stack"
)

type server struct {
	settings contract.Settings
	options  stack.Options
	content  *contract.Content
}

// ServeHTTP answers with an object, or with a part of it.
func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _, err := s.content.Open(r.URL.Path)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer body.Close()
	kind := mime.TypeByExtension(path.Ext(r.URL.Path))
	if kind == "" {
		kind = "application/octet-stream" // Or ServeContent would look into the object.
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, body)
}

func (s server) serveTCP(ctx context.Context) error {
	config, err := s.options.ServerTLS(s.settings)
	if err != nil {
		return err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(s.settings.Protocol == "h1")
	protocols.SetHTTP2(s.settings.Protocol == "h2")
	httpServer := &http.Server{
		Handler: s, TLSConfig: config, Protocols: protocols,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: int(s.options.MaxStreams)},
		// It would tell of every probe that asks whether the port is open.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	listener, err := net.Listen("tcp4", s.settings.Address.String())
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { httpServer.Close() })
	if err := httpServer.ServeTLS(listener, "", ""); err != http.ErrServerClosed {
		return err
	}
	return nil
}
