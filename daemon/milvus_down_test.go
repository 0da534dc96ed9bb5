package daemon

import (
	"strings"
	"testing"

	"knowledged/config"
	"knowledged/ipc"
)

// SPEC 3.6: with Milvus down the daemon starts, serves, and says what is wrong.
func TestMilvusDownAtStart_3_6(t *testing.T) {
	w := newWorld(t)
	w.cfg.L1.Backend = config.BackendMilvus
	w.cfg.L1.Milvus.Address = "127.0.0.1:1"
	w.save("ops/timeout.md", doc("Gateway timeouts", "timeout"))
	w.open().run()
	w.eventually("served", func() bool { return w.Ready() && w.answers("timeout", "ops/timeout.md") })
	w.eventually("the state says so", func() bool {
		s := w.status().L1
		return s.State == ipc.L1Down && strings.Contains(s.LastError, "l1.milvus.address")
	})
	if s := w.status(); s.Pending.L1 < 2 {
		t.Errorf("pending %+v", s.Pending)
	}
}
