package config

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// most is what settings may be at most, where more would be refused later or take all memory.
var most = map[string]float64{
	"chunker.max":                 16_000, // four bytes each in the 65,535 of a Milvus text field
	"lookup.top_k":                50,     // as a lookup's own topK
	"lookup.l1_top_k":             50,
	"lookup.candidates":           1000,  // each is compared word piece by word piece within lookup.l1_timeout
	"lookup.min_score":            10,    // a sum of shares and weights: nothing reaches it
	"embedding.openai.batch":      2048,  // OpenAI's own limit
	"embedding.openai.dimensions": 32768, // Milvus's
}

// validate finds every fault of the values that are known.
func (l *loader) validate() {
	l.validateNumbers()
	l.validateIPC()
	c := &l.Config
	if base := c.Knowledge.BasePath; l.known("knowledge.base_path") && (base == "" || filepath.Dir(base) == base) {
		l.problem("knowledge.base_path", "%q is not a folder that can hold documents", base)
	}
	if l.known("knowledge.base_path", "state_dir") && inside(c.StateDir, c.Knowledge.BasePath) {
		l.problem("state_dir", "%s lies in the base folder %s: name one outside of it", c.StateDir, c.Knowledge.BasePath)
	}
	l.ordered("watch.settle", "watch.max_settle", int64(c.Watch.Settle), int64(c.Watch.MaxSettle))
	l.ordered("chunker.target", "chunker.max", int64(c.Chunker.Target), int64(c.Chunker.Max))
	l.validateMilvus(&c.L1.Milvus)
	o := &c.Embedding.OpenAI
	if u, err := url.Parse(o.BaseURL); l.known("embedding.openai.base_url") && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		l.problem("embedding.openai.base_url", "%q is not a URL such as http://127.0.0.1:11434/v1", o.BaseURL)
	}
	if l.known("embedding.openai.model") && o.Model == "" {
		l.problem("embedding.openai.model", "is empty")
	}
}

// validateNumbers: all numbers are above zero, but for those that say otherwise here.
func (l *loader) validateNumbers() {
	for _, s := range l.settings {
		if !l.known(s.path) {
			continue
		}
		var n float64
		switch v := s.value.Interface().(type) {
		case int:
			n = float64(v)
		case float64:
			n = v
		case Duration:
			n = float64(v)
		case Size:
			n = float64(v)
		case Score:
			if v.Value() == nil {
				continue
			}
			n = *v.Value()
		default:
			continue
		}
		zero := s.path == "embedding.openai.dimensions" || s.path == "lookup.min_score" || strings.HasPrefix(s.path, "lookup.fusion.") && s.path != "lookup.fusion.rrf.k"
		switch {
		case zero && n < 0:
			l.problem(s.path, "%v is less than 0", s.value)
		case !zero && n <= 0:
			l.problem(s.path, "%v is not above 0", s.value)
		}
		if limit, ok := most[s.path]; ok && n > limit {
			l.problem(s.path, "%v is more than %.0f", s.value, limit)
		}
	}
	f := l.Config.Lookup.Fusion
	weights := []string{"lookup.fusion.rrf.exact", "lookup.fusion.rrf.fulltext", "lookup.fusion.rrf.semantic"}
	if l.known("lookup.fusion.method") && l.known(weights...) && f.Method == "rrf" && f.RRF.Exact == 0 && f.RRF.Fulltext == 0 && f.RRF.Semantic == 0 {
		l.problem("lookup.fusion.rrf.exact", "is 0, as are the other weights")
	}
}

// ordered tells of a pair at the place of the one that was set.
func (l *loader) ordered(low, high string, a, b int64) {
	switch {
	case !l.known(low, high), a <= b, b <= 0: // the last is a fault of its own
	case l.Origins[low].Kind == FromDefault:
		l.problem(high, "%v is less than %s (%v)", l.find(high).value, low, l.find(low).value)
	default:
		l.problem(low, "%v is more than %s (%v)", l.find(low).value, high, l.find(high).value)
	}
}

// inside tells whether a folder is base or lies in it where its files would be watched: what lies below a dot folder is
// not (a home folder as base holds ~/.local/state).
func inside(dir, base string) bool {
	rel, err := filepath.Rel(base, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part != "." && strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

func (l *loader) validateIPC() {
	ipc := &l.Config.IPC
	if limit := maxSocketPath(); l.known("ipc.socket") && len(ipc.Socket) > limit {
		l.problem("ipc.socket", "%s has %d bytes; the path of a Unix socket may have %d: name a shorter one", ipc.Socket, len(ipc.Socket), limit)
	}
	if strings.EqualFold(ipc.HTTP, HTTPOff) {
		ipc.HTTP = HTTPOff
	}
	if ipc.HTTP == HTTPOff || !l.known("ipc.http") {
		return
	}
	host, port, err := net.SplitHostPort(ipc.HTTP)
	if n, perr := strconv.Atoi(port); err != nil || perr != nil || n < 0 || n > 65535 {
		l.problem("ipc.http", "%q is neither an address such as 127.0.0.1:7420 nor off", ipc.HTTP)
		return
	}
	if loopback(host) {
		return
	}
	if !l.known("ipc.allow_remote", "ipc.token_file") {
		return
	}
	if !ipc.AllowRemote {
		l.problem("ipc.http", "%s is reached from other machines; that needs ipc.allow_remote and ipc.token_file", ipc.HTTP)
	} else if ipc.TokenFile == "" {
		l.problem("ipc.http", "%s is reached from other machines; that needs ipc.token_file", ipc.HTTP)
	}
}

// maxSocketPath is what sun_path holds, less the closing NUL.
func maxSocketPath() int {
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
		return 107
	}
	return 103
}

// loopback: an empty host is all interfaces.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

var milvusName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

func (l *loader) validateMilvus(m *Milvus) {
	if host, port, err := net.SplitHostPort(m.Address); l.known("l1.milvus.address") && (err != nil || host == "" || port == "") {
		l.problem("l1.milvus.address", "%q is not an address such as 127.0.0.1:19530", m.Address)
	}
	for _, path := range []string{"l1.milvus.database", "l1.milvus.collection"} {
		if name := l.find(path).value.String(); l.known(path) && !milvusName.MatchString(name) {
			l.problem(path, "%q is not a name of letters, digits and _ that Milvus takes", name)
		}
	}
	if !l.known("l1.milvus.username", "l1.milvus.password_file", "l1.milvus.token_file") {
		return
	}
	if m.Username != "" && m.PasswordFile == "" {
		l.problem("l1.milvus.username", "needs l1.milvus.password_file")
	}
	if m.Username != "" && m.TokenFile != "" {
		l.problem("l1.milvus.token_file", "is set beside l1.milvus.username; one of them is enough")
	}
}
