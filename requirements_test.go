package knowledged

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// requirements are the numbered requirements that the code meets so far. Each must be named by at least one test, as
// "SPEC 2.4" in a comment or "_2_4_" in a test's name, so that whoever changes one finds what proves it.
var requirements = strings.Fields(`
	1.1 1.2 1.3 1.4 1.5
	2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10
	3.1 3.2 3.3 3.4 3.5
	4.1 4.2 4.3
	5.1 5.2
	6.1 6.2 6.3 6.4
	7.1 7.2 7.3`)

func TestEveryRequirementIsNamedByATest(t *testing.T) {
	var text strings.Builder
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || file == "requirements_test.go" {
			return err
		}
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".txtar") || strings.HasPrefix(file, "l1/l1test/") {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range requirements {
		spec := `SPEC (?:\d+\.\d+(?:[–-]\d+\.\d+)?(?:, | and ))*` + regexp.QuoteMeta(number) + `\b`
		name := `_` + strings.ReplaceAll(number, ".", "_") + `(?:_|\b)`
		if !regexp.MustCompile(spec + `|` + name).MatchString(text.String()) {
			t.Errorf("no test names SPEC %s", number)
		}
	}
}
