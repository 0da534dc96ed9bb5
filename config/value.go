package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time span, written "30ms".
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

func parseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return Duration(d), nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("%q lacks a unit: %sms, %ss, %sm or %sh", s, s, s, s, s)
	}
	return 0, fmt.Errorf("%q is not a duration such as 30ms, 1.5s or 5m", s)
}

// Size is a number of bytes, written "8MiB".
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 && u.bytes > 1 {
			return fmt.Sprintf("%d%s", int64(s)/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

func parseSize(s string) (Size, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range sizeUnits {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number, unit = strings.TrimSpace(number[:n]), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f)*float64(unit) > 1<<62 {
		return 0, fmt.Errorf("%q is not a size such as 8MiB, 500kB or 1048576", s)
	}
	return Size(f * float64(unit)), nil
}

// Score is a least score, or "auto": what was calibrated for the embedding model.
type Score struct {
	set   bool
	value float64
}

// Value is nil for auto.
func (s Score) Value() *float64 {
	if !s.set {
		return nil
	}
	v := s.value
	return &v
}

func (s Score) String() string {
	if !s.set {
		return "auto"
	}
	return formatFloat(s.value)
}

func parseScore(s string) (Score, error) {
	if strings.EqualFold(s, "auto") {
		return Score{}, nil
	}
	f, err := parseFloat(s)
	if err != nil {
		return Score{}, fmt.Errorf("%q is neither auto nor a number", s)
	}
	return Score{set: true, value: f}, nil
}

func parseFloat(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return f, nil
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func parseInt(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return int(n), nil
}

// parseBool takes what YAML 1.1 and people take for one.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}
