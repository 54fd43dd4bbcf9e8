package stack

import (
	"crypto/tls"
	"maps"
	"slices"

	"howquick/contract"
)

var ciphers = map[uint16]string{
	tls.TLS_AES_128_GCM_SHA256:       "aes128",
	tls.TLS_AES_256_GCM_SHA384:       "aes256",
	tls.TLS_CHACHA20_POLY1305_SHA256: "chacha20",
}

var groups = map[string]tls.CurveID{
	"X25519":         tls.X25519,
	"P-256":          tls.CurveP256,
	"P-384":          tls.CurveP384,
	"X25519MLKEM768": tls.X25519MLKEM768,
}

func groupNames() []string { return slices.Sorted(maps.Keys(groups)) }

// ServerTLS returns a configuration with the certificate of CERTS.
func (o Options) ServerTLS(settings contract.Settings) (*tls.Config, error) {
	certificate, err := contract.Certificate(settings.Certs)
	if err != nil {
		return nil, err
	}
	// Besides the group asked for, those that every client has.
	config, err := commonTLS(groups[o.Group], tls.X25519, tls.CurveP256)
	config.Certificates = []tls.Certificate{certificate}
	return config, err
}

// ClientTLS returns a configuration that trusts CERTS/ca.pem for HOST and keeps no sessions.
func (o Options) ClientTLS(settings contract.Settings) (*tls.Config, error) {
	authority, err := contract.Authority(settings.Certs)
	if err != nil {
		return nil, err
	}
	config, err := commonTLS(groups[o.Group])
	config.RootCAs = authority
	config.ServerName = settings.Host
	config.InsecureSkipVerify = !o.Verify
	return config, err
}

func commonTLS(accepted ...tls.CurveID) (*tls.Config, error) {
	keys, err := contract.KeyLog()
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{ALPN}, CurvePreferences: accepted, KeyLogWriter: keys,
	}, err
}

// Negotiated names what the two ends agreed on, in the words of the options.
func Negotiated(state tls.ConnectionState, congestionControl string) contract.Negotiated {
	agreed := contract.Negotiated{Cipher: ciphers[state.CipherSuite], CongestionControl: congestionControl}
	for name, group := range groups {
		if group == state.CurveID {
			agreed.Group = name
		}
	}
	return agreed
}
