package contract

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Ability is what a role can do with one protocol, as in endpoint.yaml.
type Ability struct {
	CongestionControl []string
	Connection        []string
	Moves             []string
}

// Abilities are those of a role, by protocol.
type Abilities map[string]Ability

// Settings are what both roles are told.
type Settings struct {
	Protocol, Connection, Host, Certs string
	Address                           netip.AddrPort
	CongestionControl                 string
}

// ReadSettings checks what both roles are told against what the role can do.
func ReadSettings(env *Environment, able Abilities) Settings {
	protocol := env.Supported("PROTOCOL", slices.Sorted(maps.Keys(able)))
	ability := able[protocol]
	control := env.Text("CONGESTION_CONTROL")
	if len(ability.CongestionControl) > 0 {
		control = env.Supported("CONGESTION_CONTROL", ability.CongestionControl)
	}
	return Settings{
		Protocol:          protocol,
		CongestionControl: control,
		Connection:        env.Supported("CONNECTION", ability.Connection),
		Host:              env.Text("HOST"),
		Certs:             env.folder("CERTS"),
		Address:           env.address(),
	}
}

// LoadSettings are what a client is told of its load.
type LoadSettings struct {
	Paths      []string // the HTML first
	Timing     string
	Sequential bool
	Steered    bool // Paths has the first URL; the others come on stdin
	Hash       bool
	Moves      int
	OnMove     string
}

// ReadLoad checks what a client is to load.
func ReadLoad(env *Environment, settings Settings, able Abilities) LoadSettings {
	fetch := env.OneOf("FETCH", "page", "sequential", "steered")
	load := LoadSettings{
		Paths:      env.requests(settings.Host),
		Timing:     env.Text("TIMING"),
		Sequential: fetch == "sequential",
		Steered:    fetch == "steered",
		Hash:       env.OneOf("BODY", "sha256", "length") == "sha256",
		Moves:      env.Count("MOVES"),
	}
	known := able[settings.Protocol].Moves
	switch {
	case load.Moves == 0:
	case load.Steered:
		env.fail(NotSupported("MOVES=%d with FETCH=steered", load.Moves))
	case len(known) == 0:
		env.fail(NotSupported("MOVES=%d with PROTOCOL=%s", load.Moves, settings.Protocol))
	default:
		load.OnMove = env.Supported("OPTION_ON_MOVE", known)
	}
	return load
}

func (e *Environment) requests(host string) []string {
	var paths []string
	for word := range strings.FieldsSeq(e.Text("REQUESTS")) {
		path, err := pathOf(word, host)
		if err != nil {
			e.fail(fmt.Errorf("REQUESTS: %w", err))
			return nil
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		e.fail(errors.New("REQUESTS names no URL"))
	}
	return paths
}

// pathOf returns what follows the host in a URL.
func pathOf(word, host string) (string, error) {
	parsed, err := url.Parse(word)
	if err != nil || parsed.Scheme != "https" || parsed.Hostname() != host || parsed.Path == "" {
		return "", fmt.Errorf("%s is not https://%s/…", word, host)
	}
	return parsed.EscapedPath(), nil
}

// KeyLog opens SSLKEYLOGFILE for appending; nil if it is not set.
func KeyLog() (io.Writer, error) {
	path := os.Getenv("SSLKEYLOGFILE")
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("SSLKEYLOGFILE: %w", err)
	}
	return file, nil
}

// Authority returns the certificates of CERTS/ca.pem.
func Authority(certs string) (*x509.CertPool, error) {
	path := filepath.Join(certs, "ca.pem")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("CERTS: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("CERTS: %s holds no certificate", path)
	}
	return pool, nil
}

// Certificate returns the server's certificate with its key.
func Certificate(certs string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "cert.pem"), filepath.Join(certs, "priv.key"))
	if err != nil {
		return pair, fmt.Errorf("CERTS: %w", err)
	}
	return pair, nil
}
