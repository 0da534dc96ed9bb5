//go:build real

package service

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"knowledged/packaging"
)

// maxExposure is the highest score of `systemd-analyze security` that the system unit may have; 0 is best.
const maxExposure = 1.5

// unitFolder holds the units as they would be installed, with a program that is really there, and drop-ins.
func unitFolder(t *testing.T, scope string, dropIns ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, unit := range []string{"knowledged.service", "knowledged.socket"} {
		text := strings.ReplaceAll(text("systemd/"+scope+"/"+unit), packagedBinary, "/bin/true")
		write(t, filepath.Join(dir, unit), text)
	}
	for _, dropIn := range dropIns {
		write(t, filepath.Join(dir, "knowledged.service.d", filepath.Base(dropIn)), text(dropIn))
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func analyze(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
	if err != nil && !strings.HasPrefix(args[0], "security") { // which also fails for what it rates as exposed
		t.Fatalf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func examples(t *testing.T) []string {
	t.Helper()
	list, err := fs.Glob(packaging.Files, "systemd/examples/*.conf")
	if err != nil || len(list) < 3 {
		t.Fatalf("%d examples, %v", len(list), err)
	}
	return list
}

// SPEC 7.3: hardened. The examples must not cost it.
func TestRealExposure_7_3(t *testing.T) {
	for _, dropIn := range append([]string{""}, examples(t)...) {
		unit := filepath.Join(unitFolder(t, "system"), "knowledged.service")
		if dropIn != "" { // offline, drop-ins are not looked for: it is made a part of the unit
			write(t, unit, read(t, unit)+"\n"+text(dropIn))
		}
		out := analyze(t, "security", "--offline=true", "--no-pager", unit)
		m := regexp.MustCompile(`Overall exposure level for knowledged\.service: ([0-9.]+)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no score in\n%s", out)
		}
		score, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("exposure %.1f of at most %.1f, with %q", score, maxExposure, dropIn)
		if score > maxExposure {
			t.Errorf("exposure %.1f with %q:\n%s", score, dropIn, out)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// SPEC 7.3: no word of a unit is unknown to systemd.
func TestRealUnitsVerify_7_3(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // a user's manager has one
	for _, scope := range []string{"system", "user"} {
		dir := unitFolder(t, scope)
		if out := analyze(t, "verify", "--man=no", "--"+scope, filepath.Join(dir, "knowledged.service"), filepath.Join(dir, "knowledged.socket")); out != "" {
			t.Errorf("%s units:\n%s", scope, out)
		}
	}
	for _, dropIn := range examples(t) {
		dir := unitFolder(t, "system", dropIn)
		if out := analyze(t, "verify", "--man=no", filepath.Join(dir, "knowledged.service")); out != "" {
			t.Errorf("with %s:\n%s", dropIn, out)
		}
	}
	if systemdVersion() >= backoffSince {
		dir := unitFolder(t, "system", "systemd/backoff.conf")
		if out := analyze(t, "verify", "--man=no", filepath.Join(dir, "knowledged.service")); out != "" {
			t.Errorf("back-off:\n%s", out)
		}
	}
}

// A verification that finds nothing must be able to find something.
func TestRealVerifyFindsAFault(t *testing.T) {
	dir := unitFolder(t, "system")
	write(t, filepath.Join(dir, "knowledged.service.d", "x.conf"), "[Service]\nNoSuchSetting=1\n")
	if out := analyze(t, "verify", "--man=no", filepath.Join(dir, "knowledged.service")); !strings.Contains(out, "NoSuchSetting") {
		t.Errorf("said only %q", out)
	}
}
