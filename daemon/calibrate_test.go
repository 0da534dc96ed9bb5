package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"knowledged/lookup"
)

func (w *world) calibrated() lookup.Calibration {
	w.policy.Lock()
	defer w.policy.Unlock()
	return w.calibration
}

// SPEC 2.5: what another model's scores mean is measured by the user's own folder, kept over a reload, and measured anew when
// the folder has become another one.
func TestOtherModelsAreCalibrated_2_5(t *testing.T) {
	w, _ := remoteWorld(t)
	for i := range fewestDocuments {
		w.save(fmt.Sprintf("dir/%d.md", i), doc(fmt.Sprintf("Title %c%d", 'a'+i, i*i), fmt.Sprintf("kw-%d", i)))
	}
	w.start()
	var first lookup.Calibration
	w.eventually("calibrated", func() bool { first = w.calibrated(); return first.Unrelated.SD > 0 })
	if first.CosineWeight == 0 || first.Reference.SD == 0 || first.Unrelated == first.Reference {
		t.Errorf("calibration %+v", first)
	}
	if _, _, err := w.Reload(&w.cfg); err != nil {
		t.Fatal(err)
	}
	if w.lookupConfig().Calibration != first {
		t.Error("a reload forgets the calibration")
	}
	for i := range fewestDocuments {
		w.save(fmt.Sprintf("more/%d.md", i), doc(fmt.Sprintf("Another %d", i), fmt.Sprintf("other-%d", i)))
	}
	w.eventually("calibrated anew", func() bool { return w.calibrated() != first })
}

// SPEC 2.5: a restart with nothing to be embedded calibrates too.
func TestCalibrationAfterARestart_2_5(t *testing.T) {
	w, _ := remoteWorld(t)
	for i := range fewestDocuments {
		w.save(fmt.Sprintf("dir/%d.md", i), doc(fmt.Sprintf("Title %c%d", 'a'+i, i*i), fmt.Sprintf("kw-%d", i)))
	}
	w.start()
	w.halt()
	w.forgetMeasured()
	w.start()
	w.eventually("calibrated", func() bool { return w.calibrated().Unrelated.SD > 0 })
}

// forgetMeasured is for the time between two runs.
func (w *world) forgetMeasured() {
	if err := os.Remove(filepath.Join(w.cfg.StateDir, "l1", "calibration.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
}

// SPEC 3.4: at rest, the model has been measured; from then on neither touched files nor a restart ask the embedding server
// for anything, and the restarted daemon judges at once as the one before.
func TestCalibrationIsKept_3_4(t *testing.T) {
	w, fake := remoteWorld(t)
	for i := range fewestDocuments {
		w.save(fmt.Sprintf("dir/%d.md", i), doc(fmt.Sprintf("Title %c%d", 'a'+i, i*i), fmt.Sprintf("kw-%d", i)))
	}
	w.start()
	w.eventually("calibrated", func() bool { return w.calibrated().Unrelated.SD > 0 })
	w.idle()
	before, texts := w.calibrated(), fake.texts.Load()
	w.halt()
	w.start()
	if w.calibrated() != before {
		t.Errorf("after a restart %+v, before %+v", w.calibrated(), before)
	}
	w.idle()
	if n := fake.texts.Load() - texts; n != 0 {
		t.Errorf("a restart has %d texts embedded", n)
	}
	w.halt()
	w.cfg.Embedding.OpenAI.QueryPrefix = "query: " // another one puts questions elsewhere
	w.start()
	w.eventually("measured anew", func() bool { return w.calibrated() != before || fake.texts.Load() > texts })
}

// What is not a measurement of this model is none, whatever the file holds.
func TestKeptCalibrationIsChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "l1", "calibration.json")
	good := measured{Model: "m", Documents: fewestDocuments, Unrelated: lookup.Spread{Mean: 0.1, SD: 0.1}, Reference: lookup.Spread{Mean: 0.2, SD: 0.1}}
	for name, change := range map[string]func(*measured){
		"another model": func(m *measured) { m.Model = "n" },
		"no spread":     func(m *measured) { m.Unrelated.SD = 0 },
		"no documents":  func(m *measured) { m.Documents = 0 },
		"no reference":  func(m *measured) { m.Reference.SD = -1 },
	} {
		m := good
		change(&m)
		if err := m.write(file); err != nil {
			t.Fatal(err)
		}
		if _, ok := readMeasured(file, "m"); ok {
			t.Errorf("%s is taken", name)
		}
	}
	if err := good.write(file); err != nil {
		t.Fatal(err)
	}
	if m, ok := readMeasured(file, "m"); !ok || m != good {
		t.Errorf("%+v is not taken: %+v", good, m)
	}
	for _, damaged := range []string{"", "{", "null", "[]", `{"Model":"m","Documents":9}`} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := readMeasured(file, "m"); ok {
			t.Errorf("%q is taken", damaged)
		}
	}
}

// SPEC 2.5: a model whose server comes up after the daemon is calibrated all the same, although nothing else happens: all
// vectors are in the cache.
func TestCalibrationIsTriedAgain_2_5(t *testing.T) {
	calibrateAgain = 10 * time.Millisecond
	t.Cleanup(func() { calibrateAgain = time.Minute }) // runs after the daemon is halted: cleanups are last in, first out
	w, fake := remoteWorld(t)
	for i := range fewestDocuments {
		w.save(fmt.Sprintf("dir/%d.md", i), doc(fmt.Sprintf("Title %c%d", 'a'+i, i*i), fmt.Sprintf("kw-%d", i)))
	}
	w.start()
	w.halt()
	w.forgetMeasured()
	fake.down.Store(true)
	w.start()
	w.eventually("refused", func() bool {
		return len(w.log.lines("embedding model not calibrated, its scores do not count for `relevance`; tried again in a while")) > 0
	})
	fake.down.Store(false)
	w.eventually("calibrated", func() bool { return w.calibrated().Unrelated.SD > 0 })
}

// The built-in model comes with its measures, and a folder of a few documents says nothing of another one.
func TestWhatIsNotCalibrated_2_5(t *testing.T) {
	w := newWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	if c := w.lookupConfig().Calibration; c != lookup.BuiltinCalibration {
		t.Errorf("built-in: %+v", c)
	}
	w, fake := remoteWorld(t)
	w.save("a.md", doc("Alpha", "kw-alpha"))
	w.start()
	asked := fake.texts.Load()
	w.idle()
	if c := w.calibrated(); c != (lookup.Calibration{}) || fake.texts.Load() != asked {
		t.Errorf("a folder of one document: %+v", c)
	}
}

// At rest is only what has been measured as well: until then answers may say another `relevance` than a moment later.
func TestMeasuringIsPending(t *testing.T) {
	w := newWorld(t).start()
	w.idle()
	w.measuring.Store(true)
	if n := w.status().Pending.L1; n == 0 {
		t.Error("nothing pending while the model is measured")
	}
	w.measuring.Store(false)
	if n := w.status().Pending.L1; n != 0 {
		t.Errorf("%d pending", n)
	}
}
