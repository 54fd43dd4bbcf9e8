package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Negotiated is what the two ends agreed on; empty where it is not known.
type Negotiated struct {
	Cipher            string `json:"cipher,omitempty"`
	Group             string `json:"group,omitempty"`
	CongestionControl string `json:"congestion_control,omitempty"`
}

// Facts are what a session knows of itself once the load is over.
type Facts struct {
	Handshake   *time.Duration // from the session's start; nil where it is not known
	Resumed     bool
	EarlyData   bool
	Connections int
	Negotiated  Negotiated
}

type objectTiming struct {
	Path      string  `json:"path"`
	Status    int     `json:"status"`
	Bytes     int64   `json:"bytes"`
	SHA256    *string `json:"sha256"`
	Start     float64 `json:"start_s"`
	FirstByte float64 `json:"first_byte_s"`
	End       float64 `json:"end_s"`
}

type timing struct {
	Protocol    string             `json:"protocol"`
	Start       float64            `json:"start"`
	Handshake   *float64           `json:"handshake_s"`
	Resumed     bool               `json:"resumed"`
	EarlyData   bool               `json:"early_data"`
	Connections int                `json:"connections"`
	Negotiated  Negotiated         `json:"negotiated"`
	Metrics     map[string]float64 `json:"metrics,omitempty"`
	Objects     []objectTiming     `json:"objects"`
}

func (t timing) write(path string) error {
	text, err := json.Marshal(t)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("TIMING: %w", err)
	}
	return nil
}
