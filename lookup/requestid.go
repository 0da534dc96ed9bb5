package lookup

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewRequestID returns eight random hex digits.
func NewRequestID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails: the runtime ends the program instead
	return hex.EncodeToString(b[:])
}

// ValidRequestID reports an id that may be taken over from a client: 1–64 characters of A-Z a-z 0-9 _ - (SPEC 7.1).
func ValidRequestID(id string) bool {
	const taken = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return id != "" && len(id) <= 64 && strings.Trim(id, taken) == ""
}
