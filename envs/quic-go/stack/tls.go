package stack

import (
	"crypto/tls"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	_ "unsafe" // for go:linkname

	"howquick/contract"
)

// crypto/tls lets nobody choose the suites of TLS 1.3. These two lists are what it offers and accepts, with
// and without AES in the processor; quic-go reaches for them in the same way.
//
//go:linkname defaultCipherSuitesTLS13 crypto/tls.defaultCipherSuitesTLS13
var defaultCipherSuitesTLS13 []uint16

//go:linkname defaultCipherSuitesTLS13NoAES crypto/tls.defaultCipherSuitesTLS13NoAES
var defaultCipherSuitesTLS13NoAES []uint16

var ciphers = map[string]uint16{
	"aes128":   tls.TLS_AES_128_GCM_SHA256,
	"aes256":   tls.TLS_AES_256_GCM_SHA384,
	"chacha20": tls.TLS_CHACHA20_POLY1305_SHA256,
}

var groups = map[string]tls.CurveID{
	"X25519":         tls.X25519,
	"P-256":          tls.CurveP256,
	"P-384":          tls.CurveP384,
	"X25519MLKEM768": tls.X25519MLKEM768,
}

// withoutAES makes Go's runtime report a processor without AES instructions. It is read at start-up only.
const withoutAES = "cpu.aes=off"

func groupNames() []string { return slices.Sorted(maps.Keys(groups)) }

func (o Options) prepareCiphers() error {
	if o.Cipher != anyCipher {
		suites := []uint16{ciphers[o.Cipher]}
		defaultCipherSuitesTLS13, defaultCipherSuitesTLS13NoAES = suites, suites
	}
	settings := os.Getenv("GODEBUG")
	if o.AESAcceleration || strings.Contains(settings, withoutAES) {
		return nil
	}
	os.Setenv("GODEBUG", strings.Trim(settings+","+withoutAES, ","))
	own, err := os.Executable()
	if err == nil {
		err = syscall.Exec(own, os.Args, os.Environ())
	}
	return fmt.Errorf("start without AES instructions: %w", err)
}

// ServerTLS returns a configuration that offers the protocols of ALPN.
func (o Options) ServerTLS(settings contract.Settings, alpn ...string) (*tls.Config, error) {
	certificate, err := contract.Certificate(settings.Certs)
	if err != nil {
		return nil, err
	}
	// Besides the one asked for, those that every client has.
	accepted := []tls.CurveID{groups[o.Group], tls.X25519, tls.CurveP256}
	config, err := o.commonTLS(slices.Compact(accepted), alpn)
	config.Certificates = []tls.Certificate{certificate}
	return config, err
}

// ClientTLS returns a configuration that trusts CERTS/ca.pem for HOST and keeps no sessions.
func (o Options) ClientTLS(settings contract.Settings, alpn ...string) (*tls.Config, error) {
	authority, err := contract.Authority(settings.Certs)
	if err != nil {
		return nil, err
	}
	config, err := o.commonTLS([]tls.CurveID{groups[o.Group]}, alpn)
	config.RootCAs = authority
	config.ServerName = settings.Host
	config.InsecureSkipVerify = !o.Verify
	return config, err
}

func (o Options) commonTLS(accepted []tls.CurveID, alpn []string) (*tls.Config, error) {
	keys, err := contract.KeyLog()
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: alpn, CurvePreferences: accepted, KeyLogWriter: keys,
	}, err
}

// Negotiated names what the two ends agreed on, in the words of the options where there is one.
func Negotiated(state tls.ConnectionState, congestionControl string) contract.Negotiated {
	agreed := contract.Negotiated{CongestionControl: congestionControl}
	for name, suite := range ciphers {
		if suite == state.CipherSuite {
			agreed.Cipher = name
		}
	}
	for name, group := range groups {
		if group == state.CurveID {
			agreed.Group = name
		}
	}
	return agreed
}
