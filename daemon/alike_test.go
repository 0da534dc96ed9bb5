package daemon

import (
	"errors"
	"testing"

	"knowledged/ipc"
)

// SPEC 5.2: no upload makes a second file that another system would take for the first.
func TestUploadOfAlikeName_5_2(t *testing.T) {
	w := newWorld(t)
	w.save("api/caf\u00e9.md", doc("Coffee", "kw-coffee"))
	w.start()
	for _, name := range []string{"CAFE\u0301.md", "CAF\u00c9.md", "Caf\u00e9.MD"} {
		_, _, err := w.put("api", name, doc("Other "+name, "kw-other"))
		var exists *ipc.ExistsError
		if !errors.As(err, &exists) || !exists.Alike || exists.Record.Source != "kb/api/caf\u00e9.md" {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, _, err := w.put("api", "caf\u00e9.md", doc("New", "kw-new")); err != nil {
		t.Errorf("itself: %v", err)
	}
	if _, created, err := w.put("api", "cafe\u0301.md", doc("Newer", "kw-newer")); err != nil || created {
		t.Errorf("itself, decomposed: created %t, %v", created, err)
	}
	if _, _, err := w.put("api", "cafe.md", doc("Plain", "kw-plain")); err != nil {
		t.Errorf("another name: %v", err)
	}
	w.delete("api/caf\u00e9.md")
	if _, _, err := w.put("api", "CAF\u00c9.md", doc("Back", "kw-back")); err != nil {
		t.Errorf("after it went: %v", err)
	}
}
